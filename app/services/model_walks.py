"""A job that goes through all texts of all tenants for one embedding model: resumed where its progress stands."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from app.core import clock
from app.domain.embedding import Progress
from app.domain.jobs import JobKind
from app.repositories.base import Row
from app.repositories.reembedding import CORPORA, Corpus
from app.services.vectorising import JobRun
from app.uow import UnitOfWork

SLICE_SECONDS: Final = 30.0
"""How long one job works before a fresh one goes on: no deployment uses up the attempts of a long walk."""

Step = Callable[[UUID, Corpus, Sequence[str] | None], Awaitable["Stepped"]]


@dataclass(frozen=True, slots=True)
class Stepped:
    """What a step did: texts it looked at, vectors made or removed, the last text; None: there was none left."""

    looked: int
    done: int
    last: Sequence[str] | None


class Overtaken(Exception):  # noqa: N818 - a state of affairs, not an error
    """The model has another status by now: there is nothing more to do."""


@dataclass(slots=True)
class Walk:
    """One run of the job. Its writes lie in the transactions of many tenants; its progress in that of its own job."""

    uow: UnitOfWork
    run: JobRun
    kind: JobKind
    model: Row
    progress: Progress

    async def go(self, step: Step) -> bool:
        """Go on until the end, or until the time is up; whether it was the end.

        Raises:
            JobLost: Another worker goes on, or somebody has cancelled the job.
            Overtaken: The model's status has changed.
        """
        ends = clock.monotonic() + SLICE_SECONDS
        if self.progress.total == 0:
            self.progress = replace(self.progress, total=await self._total())
        async for tenant, corpus, after in self._left():
            place = after
            while True:
                stepped = await step(tenant, corpus, place)
                if stepped.last is None:
                    break
                place = stepped.last
                self.progress = replace(
                    self.progress,
                    tenant=str(tenant),
                    corpus=corpus,
                    after=tuple(place),
                    looked=self.progress.looked + stepped.looked,
                    done=self.progress.done + stepped.done,
                    waits_for=None,
                )
                await self.note()
                if clock.monotonic() >= ends:
                    return False
        self.progress = self.progress.ended(clock.now())
        return True

    async def again(self) -> None:
        """Begin another walk."""
        self.progress = self.progress.again(clock.now(), await self._total())

    async def note(self) -> None:
        """Write down how far it is. Raises `JobLost`, `Overtaken`."""
        async with self.uow.begin_tenant(self.run.tenant_id) as tx:
            await self.run.check(tx)
            now = await tx.models.one(self.model["id"])
            if now is None or (now["status"] == "retired") != (self.model["status"] == "retired"):
                raise Overtaken
            await tx.models.note(self.model["id"], self.progress.as_json())

    async def later(self, delay: timedelta, waits_for: str | None = None) -> None:
        """End this job and queue a fresh one that goes on after `delay`."""
        self.progress = replace(self.progress, waits_for=waits_for)
        at = clock.now()
        async with self.uow.begin_tenant(self.run.tenant_id) as tx:
            await self.run.finish(tx, self.result() | {"goes_on": True})
            await tx.models.note(self.model["id"], self.progress.as_json())
            await tx.jobs.enqueue(self.kind, self.run.subject, at, delay=delay, payload=dict(self.run.payload))

    def result(self) -> dict[str, Any]:
        """What the job's record tells."""
        progress = self.progress
        return {"done": progress.done, "looked": progress.looked, "total": progress.total, "walks": progress.walks}

    async def _left(self) -> AsyncIterator[tuple[UUID, Corpus, Sequence[str] | None]]:
        async with self.uow.begin_global() as tx:
            tenants = sorted(await tx.access.tenant_ids())
        stopped = self.progress
        for tenant in tenants:
            if stopped.tenant is not None and tenant < UUID(stopped.tenant):
                continue
            begun = stopped.tenant == str(tenant) and stopped.corpus in CORPORA
            first = CORPORA.index(stopped.corpus) if begun else 0
            for place, corpus in enumerate(CORPORA[first:]):
                yield tenant, corpus, stopped.after if begun and place == 0 else None

    async def _total(self) -> int:
        async with self.uow.begin_global() as tx:
            tenants = list(await tx.access.tenant_ids())
        total = 0
        for tenant in tenants:
            async with self.uow.begin_tenant(tenant) as tx:
                total += await tx.reembedding.total()
        return total
