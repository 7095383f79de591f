"""Background work that gives texts their vectors: killed anywhere, it resumes where its cursor stands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self
from uuid import UUID

from app.core import clock
from app.repositories.base import Row
from app.repositories.jobs import Fence
from app.repositories.vectors import Embedded
from app.services.embedding import Embedder, TextToEmbed
from app.uow import Transaction, UnitOfWork

WINDOW: Final = 128
"""Messages that are embedded between two commits."""


class JobLost(Exception):  # noqa: N818 - a state of affairs, not an error
    """The job was cancelled, or another worker has taken it over: nothing of this run may be written."""


@dataclass(frozen=True, slots=True)
class JobRun:
    """One run of a job; its writes are fenced."""

    tenant_id: UUID
    fence: Fence
    subject: str
    payload: Mapping[str, Any]

    @classmethod
    def of(cls, row: Row) -> Self:
        """The run that a claim has just begun."""
        fence = Fence(row["id"], row["attempts"], row["started_at"])
        return cls(row["tenant_id"], fence, row["subject"], row["payload"])

    async def finish(self, tx: Transaction, result: dict[str, Any], window: dict[str, Any] | None = None) -> None:
        """End the job in the transaction of its last writes. Raises `JobLost`."""
        at = clock.now()
        if not await tx.jobs.finish(self.fence, "succeeded", at, result=result, window=window):
            raise JobLost

    async def check(self, tx: Transaction) -> None:
        """Lock the job's row: it is still ours until this transaction ends. Raises `JobLost`."""
        if not await tx.jobs.still_running(self.fence, clock.now()):
            raise JobLost


@dataclass(frozen=True, slots=True)
class Vectorising:
    """The use cases of the jobs `embed_messages` and `embed_memories`."""

    uow: UnitOfWork
    embedder: Embedder

    async def messages(self, run: JobRun) -> None:
        """Embed what a session has after its cursor, window by window."""
        embedded = 0
        span: dict[str, int | None] = {"from_seq": None, "to_seq": None}
        while True:
            window = await self._window(run)
            vectors = await self.embedder.passages(_texts(window))
            if window:
                span = {"from_seq": span["from_seq"] or window[0]["seq"], "to_seq": window[-1]["seq"]}
            last = len(window) < WINDOW  # what is appended meanwhile has a job of its own
            embedded = await self._store(run, window, vectors, embedded, span if last else None)
            if last:
                return

    async def memories(self, run: JobRun) -> None:
        """Embed the memories that the job names and whose text has no vector."""
        wanted = [UUID(memory_id) for memory_id in run.payload["memory_ids"]]
        record = await self.embedder.record()
        embedded = 0
        for start in range(0, len(wanted), WINDOW):
            async with self.uow.begin_tenant(run.tenant_id) as tx:
                rows = await tx.vectors.memories_without(record.id, wanted[start : start + WINDOW])
            vectors = await self.embedder.passages(_texts(rows))
            async with self.uow.begin_tenant(run.tenant_id) as tx:
                await hold_owners(tx, [vector.target for vector in vectors])
                embedded += await tx.vectors.put_memories(record.id, vectors)
                await run.check(tx)
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            await run.finish(tx, {"embedded": embedded})

    async def _window(self, run: JobRun) -> list[Row]:
        """Read under the session's lock: an append that has its numbers and no commit yet is waited for."""
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            session = await tx.sessions.get_for_update(run.subject)
            if session is None:
                return []
            return await tx.messages.window(run.subject, session["embedded_seq"], WINDOW)

    async def _store(
        self, run: JobRun, window: list[Row], vectors: list[Embedded], before: int, span: dict[str, int | None] | None
    ) -> int:
        """Store vectors, and with a span end the job; how many it has stored with these."""
        record = await self.embedder.record()
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            stored = before
            if window and await tx.sessions.get_for_update(run.subject) is not None:
                stored += await tx.vectors.put_messages(record.id, vectors)
                await tx.sessions.embedded_to(run.subject, window[-1]["seq"])
            if span is None:
                await run.check(tx)
            else:
                await run.finish(tx, {"embedded": stored}, span)
        return stored


async def hold_owners(tx: Transaction, memory_ids: Sequence[UUID]) -> None:
    """Lock whose these memories are: a vector copies its memory's owner, which must not change before the commit."""
    held: set[str] = set()
    while fresh := set(await tx.owners.of_memories(memory_ids)) - held:
        await tx.owners.lock(sorted(fresh))
        held |= fresh


def _texts(rows: list[Row]) -> list[TextToEmbed]:
    return [TextToEmbed(row["id"], row["text"], bytes(row["content_hash"])) for row in rows]
