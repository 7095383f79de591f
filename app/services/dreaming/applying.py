"""What a dream changes, one change after the other, each in a transaction of its own under the job's id.

Killed anywhere, the next run goes through the same list: what is done already is not as it was looked at any more, and
is left alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.dreaming.changes import Change
from app.repositories.base import Row
from app.services.dreaming.reviewing import Reviewer
from app.services.embedding import Embedder
from app.services.forgetting.joining import Joiner
from app.services.forgetting.marking import Marker, locked
from app.services.presenting import is_current
from app.services.profiles import EVOLUTION
from app.services.vectorising import JobRun
from app.uow import UnitOfWork


@dataclass(frozen=True, slots=True)
class DreamApplier:
    """Writes for one job about one owner."""

    uow: UnitOfWork
    embedder: Embedder
    reviewer: Reviewer
    run: JobRun
    owner: str
    at: datetime

    async def apply(self, changes: Sequence[Change]) -> None:
        """Do what is accepted; what somebody has changed since it was looked at stays as it is."""
        for change in changes:
            if change.accepted:
                await self._apply(change)

    async def _apply(self, change: Change) -> None:
        joiner = Joiner(self.uow, self.embedder, self.run, self.owner, self.at)
        match change.step:
            case "review":
                await self.reviewer.write(self.run, change, self.at)
            case "merge":
                await self._merge(joiner, change)
            case "conflict":
                rows = await self._rows(change)
                if rows is not None and any(row["status"] != "disputed" for row in rows):
                    await joiner.dispute(rows[0], rows[1])
            case "shorten" | "dates":
                await self._reword(joiner, change)
            case "evolution":
                await self._note(change)

    async def _merge(self, joiner: Joiner, change: Change) -> None:
        rows = await self._rows(change, versions=True)
        if rows is None or not await joiner.join(rows[0], rows[1:]):
            rows = await self._rows(change, only_first=True)
        if rows is not None and change.after not in {None, rows[0]["text"]}:  # edited, or killed between the two
            kept = await self._rows(change, only_first=True)
            if kept is not None and kept[0]["text"] == change.before[0]:
                await joiner.reword(kept[0], str(change.after))

    async def _reword(self, joiner: Joiner, change: Change) -> None:
        rows = await self._rows(change)
        if rows is not None and rows[0]["text"] == change.before[0] and change.after:
            await joiner.reword(rows[0], change.after, "dated" if change.step == "dates" else "shortened")

    async def _note(self, change: Change) -> None:
        memory_id = UUID(change.memory_ids[0])
        async with self.uow.begin_tenant(self.run.tenant_id) as tx:
            rows = await locked(tx, self.owner, [memory_id])
            await self.run.check(tx)
            row = rows[0] if rows else None
            if row is None or not is_current(row, self.at) or row["metadata"].get(EVOLUTION) == change.after:
                return
            metadata = row["metadata"] | {EVOLUTION: change.after}
            after = await tx.memories.change(memory_id, {"metadata": metadata, "updated_at": self.at})
            await tx.memories.record([Marker.of(tx, self.run, self.at).event("noted", row, after, change.after)])

    async def _rows(self, change: Change, *, versions: bool = False, only_first: bool = False) -> list[Row] | None:
        """The memories as they are, in the change's order; None where one is not what it was."""
        names = [UUID(one) for one in change.memory_ids][: 1 if only_first else None]
        async with self.uow.begin_tenant(self.run.tenant_id) as tx:
            found = {row["id"]: row for row in await tx.memories.by_ids(names)}
        if any(name not in found or not is_current(found[name], self.at) for name in names):
            return None
        rows = [found[name] for name in names]
        same = [row["version"] for row in rows] == list(change.versions)[: len(rows)]
        return rows if same or not versions else None
