"""What happened to memories, line by line."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import DateTime, LargeBinary, RowMapping, Uuid, delete, func, or_, select, update

from app.db.models import memories, memory_events, memory_sources
from app.repositories.base import Repository


class HistoryRepository(Repository):
    """Lines of history, for those who undo them. Whether a key may see their memories is asked of the memories."""

    async def events_of(self, *, job_id: UUID | None = None, undo_id: UUID | None = None) -> list[RowMapping]:
        """What a job, or a bulk deletion, did to memories, oldest first."""
        events = memory_events.c
        chosen = events.job_id == job_id
        if undo_id is not None:  # a job's own id undoes all that it did, whichever way its lines name it
            chosen = or_(events.undo_id == undo_id, events.job_id == undo_id)
        statement = select(memory_events).where(events.tenant_id == self._tenant_id, chosen)
        return await self._all(statement.order_by(events.id))

    async def event(self, event_id: UUID) -> RowMapping | None:
        """One line of history."""
        events = memory_events.c
        return await self._first(
            select(memory_events).where(events.tenant_id == self._tenant_id, events.id == event_id)
        )

    async def events_since(self, ids: Sequence[UUID], at: datetime) -> list[RowMapping]:
        """What has happened to these memories since an instant, oldest first."""
        events = memory_events.c
        statement = select(memory_events).where(
            events.tenant_id == self._tenant_id, events.memory_id == func.any(list(ids)), events.created_at >= at
        )
        return await self._all(statement.order_by(events.id))

    async def rejected(self, owner: str, limit: int) -> list[RowMapping]:
        """What of an owner's was rejected and is deleted, newest first: rows of text, key, value, content_hash."""
        rows, events = memories.c, memory_events.c
        said_no = (
            select(events.id)
            .where(events.tenant_id == self._tenant_id, events.memory_id == rows.id, events.action == "rejected")
            .exists()
        )
        statement = select(rows.text, rows.key, rows.value, rows.content_hash).where(
            rows.tenant_id == self._tenant_id,
            rows.owner == owner,
            rows.status == "deleted",
            rows.deleted_at.is_not(None),
            said_no,
        )
        return await self._all(statement.order_by(rows.id.desc()).limit(limit))

    async def displaced_by(self, memory_id: UUID) -> list[UUID]:
        """Memories that are history in favour of this one."""
        statement = select(memories.c.id).where(
            memories.c.tenant_id == self._tenant_id, memories.c.superseded_by == memory_id
        )
        return list((await self._connection.execute(statement)).scalars().all())

    async def gather(self, ids: Sequence[UUID], actor: str, after: UUID, undo_id: UUID, reason: str) -> None:
        """Give what an actor has done to memories since a line's id one id that undoes all of it."""
        events = memory_events.c
        statement = update(memory_events).where(
            events.tenant_id == self._tenant_id,
            events.memory_id == func.any(list(ids)),
            events.id > after,
            events.actor == actor,
        )
        await self._run(statement.values(undo_id=undo_id, reason=func.coalesce(events.reason, reason)))

    async def drop_sources(self, memory_id: UUID, at: datetime) -> None:
        """Remove the sources that a memory got at an instant."""
        sources = memory_sources.c
        await self._run(
            delete(memory_sources).where(
                sources.tenant_id == self._tenant_id, sources.memory_id == memory_id, sources.created_at == at
            )
        )

    @staticmethod
    def columns(values: Mapping[str, Any]) -> dict[str, Any]:
        """Columns of a memory from the JSON in which history keeps them."""
        return {name: _column(name, value) for name, value in values.items()}


def _column(name: str, value: Any) -> Any:  # noqa: ANN401 - a column's value
    kind = memories.c[name].type
    if value is None:
        return None
    if isinstance(kind, DateTime):
        return datetime.fromisoformat(value)
    if isinstance(kind, Uuid):
        return UUID(value)
    return bytes.fromhex(value) if isinstance(kind, LargeBinary) else value
