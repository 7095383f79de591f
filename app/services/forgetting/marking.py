"""Many memories get a new state, with their owners' counters and a line of history each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from app.domain.memory import VISIBLE_STATUSES, EventAction
from app.repositories.base import Row
from app.repositories.owners import OwnerChange
from app.services.disputes import follow
from app.services.history import event_row, job_actor
from app.services.vectorising import JobRun
from app.uow import Transaction

SHOWN: frozenset[str] = frozenset({"status", "needs_confirmation"})
"""What history tells of it; it keeps all that changed."""


@dataclass(frozen=True, slots=True)
class Marker:
    """Writes for one job, whose id undoes it: within transactions that hold the locks of the memories' owners."""

    tx: Transaction
    job_id: UUID
    at: datetime

    @classmethod
    def of(cls, tx: Transaction, run: JobRun, at: datetime) -> Self:
        """For a run."""
        return cls(tx, run.fence.job_id, at)

    @property
    def actor(self) -> str:
        """How history names the job."""
        return job_actor(self.job_id)

    async def mark(
        self,
        rows: Sequence[Row],
        action: EventAction,
        values: Mapping[str, Any],
        reasons: Mapping[UUID, str] | None = None,
    ) -> list[Row]:
        """Write `values` to rows that are locked; the rows as they are then. A few statements, however many rows."""
        if not rows:
            return []
        before = {row["id"]: row for row in rows}
        changed: list[Row] = list(await self.tx.forgetting.mark(list(before), {**values, "updated_at": self.at}))
        await self._count([(before[row["id"]], row) for row in changed])
        await self.tx.memories.record(
            [self.event(action, before[row["id"]], row, (reasons or {}).get(row["id"])) for row in changed]
        )
        await follow(self.tx, [(before[row["id"]], row) for row in changed], self.actor, self.at)
        return changed

    def event(self, action: EventAction, before: Row | None, after: Row, reason: str | None = None) -> dict[str, Any]:
        """A line of history that `POST /v1/undo` finds by the job's id, as job_id and as undo_id."""
        line = event_row(action, before, after, self.actor, self.at, SHOWN)
        return line | {"undo_id": self.job_id, "reason": reason}

    async def _count(self, pairs: Sequence[tuple[Row, Row]]) -> None:
        """The owners' counters; each owner has a new version by it, also where nothing is counted otherwise."""
        changes: dict[str, OwnerChange] = {}
        for before, after in pairs:
            step = (after["status"] in VISIBLE_STATUSES) - (before["status"] in VISIBLE_STATUSES)
            known = changes.get(after["owner"], OwnerChange())
            changes[after["owner"]] = OwnerChange(known.memories + step, known.memory_tokens + step * after["length"])
        await self.tx.owners.change_all(changes)


async def locked(tx: Transaction, owner: str, ids: Sequence[UUID]) -> list[Row]:
    """Memories of an owner, locked after it; what is another's by now is left out."""
    await tx.owners.lock_and_change(owner, OwnerChange())
    return [row for row in await tx.memories.any_for_update(ids) if row["owner"] == owner]
