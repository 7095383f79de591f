"""The job `reconcile`: memories that were added by hand, held against what their owners have already."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from app.core import clock, ids
from app.domain.conflict.statements import Decision
from app.domain.scope import Scope
from app.repositories.base import Row
from app.repositories.owners import OwnerChange
from app.repositories.vectors import Embedded
from app.schemas.memories import Memory
from app.services.allowance import Allowance
from app.services.closing import since
from app.services.embedding import Embedder
from app.services.extraction import MOST_TOLD
from app.services.history import job_actor
from app.services.judging import Judging, Told, Verdicts
from app.services.neighbours import statement_in
from app.services.presenting import is_current
from app.services.reconciling import Reconciled, Reconciler
from app.services.tenancy import tenant_defaults
from app.services.vectorising import JobRun
from app.uow import Transaction, UnitOfWork

AT_ONCE: Final = 20
"""Memories that one call of a language model is about."""

MOST_REVIEWED: Final = 40
"""Memories of one job."""


async def review_later(tx: Transaction, stored: Sequence[Memory], user_id: str | None) -> None:
    """Jobs that hold memories which were just added against the rest: short ones, so that others get their turn."""
    memory_ids = [one.id for one in stored if one.kind != "procedural" and not one.uncertain and not one.sensitive]
    for start in range(0, len(memory_ids), MOST_REVIEWED):
        payload = {"memory_ids": memory_ids[start : start + MOST_REVIEWED]}
        await tx.jobs.enqueue("reconcile", str(ids.new_id()), clock.now(), user_id=user_id, payload=payload)


@dataclass(frozen=True, slots=True)
class ReviewService:
    """The use case of the job `reconcile`: what was added is never changed by it, but for becoming disputed."""

    uow: UnitOfWork
    embedder: Embedder
    judging: Judging

    async def run(self, run: JobRun) -> None:
        """Decide about each memory in its turn; one that is reviewed again decides the same."""
        wanted = [UUID(one) for one in run.payload["memory_ids"]]
        done: list[Reconciled] = []
        for start in range(0, len(wanted), AT_ONCE):
            done += await self._review(run, wanted[start : start + AT_ONCE])
        result: dict[str, Any] = {
            "reviewed": len(done),
            "ended_ids": [str(one) for each in done for one in each.displaced][:MOST_TOLD],
            "disputed_ids": [str(one) for each in done for one in each.disputed][:MOST_TOLD],
        }
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            await run.finish(tx, result)

    async def _review(self, run: JobRun, memory_ids: Sequence[UUID]) -> list[Reconciled]:
        model = await self.embedder.record()
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            rows = [row for row in await tx.memories.by_ids(memory_ids) if is_current(row, clock.now())]
            found = await tx.vectors.of_memories(model.id, memory_ids)
            used_up = await Allowance.used_up(tx, await tenant_defaults(tx))
        vectors = {
            row["id"]: Embedded(row["id"], bytes(row["content_hash"]), found[row["id"]], model.id)
            for row in rows
            if row["id"] in found
        }
        verdicts = Verdicts.none() if used_up else await self._verdicts(run, rows, vectors)
        return [await self._one(run, row, vectors.get(row["id"]), verdicts) for row in rows]

    async def _verdicts(self, run: JobRun, rows: Sequence[Row], vectors: dict[UUID, Embedded]) -> Verdicts:
        """What a language model thinks of them, owner by owner; a batch is most often one owner's."""
        decisions: dict[tuple[UUID, UUID], tuple[int, Decision]] = {}
        calls = tokens = 0
        for owner in sorted({row["owner"] for row in rows}):
            mine = [row for row in rows if row["owner"] == owner]
            told = [Told(row["id"], statement_in(row, since(row)), vectors.get(row["id"])) for row in mine]
            found = await self.judging.verdicts(run.tenant_id, Scope.of_owner(owner), told)
            decisions.update(found.decisions)
            calls, tokens = calls + found.calls, tokens + found.tokens
        await Allowance(self.uow).note(run.tenant_id, calls, tokens)
        return Verdicts(decisions, calls, tokens)

    async def _one(self, run: JobRun, row: Row, vector: Embedded | None, verdicts: Verdicts) -> Reconciled:
        model, at = await self.embedder.record(), clock.now()
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            await run.check(tx)
            await tx.owners.lock_and_change(row["owner"], OwnerChange())
            now = await tx.memories.get_for_update(row["id"])
            if now is None or _told(now) != _told(row) or not is_current(now, at):
                return Reconciled(row["id"], created=False, verdict="changed")
            actor, scope = job_actor(run.fence.job_id), Scope.of_owner(now["owner"])
            reconciler = Reconciler(tx, actor, at, scope, model, self.embedder.calibration, verdicts)
            return await reconciler.review(now, None if vector is None else vector.of(model.id))


def _told(row: Row) -> tuple[bytes, Any, Any]:
    """What a memory says. That it has become disputed meanwhile makes no other memory of it."""
    return bytes(row["content_hash"]), row["key"], row["value"]
