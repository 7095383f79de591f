"""What consolidation writes: memories joined, contradictions decided, long texts reworded. Each in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.domain.lifecycle.merging import taken_over
from app.domain.memory import EventAction
from app.domain.scope import Scope
from app.repositories.base import Row
from app.repositories.owners import OwnerChange
from app.repositories.postings import Posting
from app.services.analysis import analyse_all
from app.services.closing import supersede
from app.services.disputes import hand_over
from app.services.embedding import Embedder, TextToEmbed
from app.services.forgetting.digesting import copied
from app.services.forgetting.marking import Marker, locked
from app.services.presenting import is_current
from app.services.reconciling import Reconciler
from app.services.vectorising import JobRun
from app.services.writing import embed_later
from app.uow import Transaction, UnitOfWork

SAME: str = "merged: same"


@dataclass(frozen=True, slots=True)
class Joiner:
    """Writes for one job about one owner. Whatever has changed since it was read is left alone."""

    uow: UnitOfWork
    embedder: Embedder
    run: JobRun
    owner: str
    at: datetime

    async def join(self, kept: Row, others: Sequence[Row]) -> bool:
        """Make memories history in favour of one that says the same and takes over their sources and counts."""
        async with self.uow.begin_tenant(self.run.tenant_id) as tx:
            marker = await self._marker(tx)
            rows = await self._unchanged(tx, [kept, *others])
            if rows is None:
                return False
            (now, *gone) = rows
            if await tx.conflicts.between([row["id"] for row in rows]):
                return False
            sources = await tx.memories.sources([row["id"] for row in gone])
            await tx.memories.add_sources([copied(source, now["id"], self.at) for source in sources])
            values = taken_over(now, gone) | {"updated_at": self.at}
            after = await tx.memories.change(now["id"], values)
            event = marker.event("merged", now, after, f"{SAME} as {len(gone)}")
            await tx.memories.record([event])
            await hand_over(tx, [row["id"] for row in gone if row["status"] == "disputed"], now["id"], self.at)
            await supersede(tx, gone, after, marker.actor, self.at, SAME)
        return True

    async def dispute(self, newer: Row, older: Row) -> bool:
        """Mark two memories that cannot both be true: a person, or the next words about it, decide."""
        model = await self.embedder.record()
        async with self.uow.begin_tenant(self.run.tenant_id) as tx:
            marker = await self._marker(tx)
            rows = await self._unchanged(tx, [newer, older], versions=False)
            if rows is None:
                return False
            scope = Scope.of_owner(self.owner)
            reconciler = Reconciler(tx, marker.actor, self.at, scope, model, self.embedder.calibration)
            return bool(await reconciler.dispute(rows[1:], rows[0], "contradict", "contradict: met in consolidation"))

    async def reword(self, row: Row, text: str, action: EventAction = "shortened") -> bool:
        """Give a memory another text, with its words at once and its vector if the embedder is up."""
        model = await self.embedder.record()
        (analysis,) = await analyse_all([text])
        vectors = await self.embedder.passages_if_up([TextToEmbed(row["id"], text, analysis.content_hash)])
        values = {
            "text": text,
            "content_hash": analysis.content_hash,
            "tokens": analysis.tokens,
            "length": analysis.length,
            "updated_at": self.at,
        }
        async with self.uow.begin_tenant(self.run.tenant_id) as tx:
            marker = await self._marker(tx)
            rows = await self._unchanged(tx, [row])
            if rows is None or await tx.memories.twin({**rows[0], **values}) is not None:
                return False
            (before,) = rows
            after = await tx.memories.change(row["id"], values)
            await tx.owners.lock_and_change(self.owner, OwnerChange(0, after["length"] - before["length"]))
            await tx.memories.unindex(row["id"])
            await tx.memories.index(self.owner, [Posting(row["id"], analysis.frequencies, analysis.length)])
            if vectors:
                await tx.vectors.put_memories(model.id, vectors)
            else:
                await embed_later(tx, [row["id"]], self.at, row["user_id"])
            await tx.memories.record([marker.event(action, before, after)])
        return True

    async def _marker(self, tx: Transaction) -> Marker:
        await tx.owners.lock_and_change(self.owner, OwnerChange())
        await self.run.check(tx)
        return Marker.of(tx, self.run, self.at)

    async def _unchanged(self, tx: Transaction, seen: Sequence[Row], *, versions: bool = True) -> list[Row] | None:
        """The rows, locked, in the order in which they were seen; None where one is no longer what it was."""
        rows = {row["id"]: row for row in await locked(tx, self.owner, [row["id"] for row in seen])}
        for row in seen:
            now = rows.get(row["id"])
            if now is None or not is_current(now, self.at) or (versions and now["version"] != row["version"]):
                return None
        return [rows[row["id"]] for row in seen]
