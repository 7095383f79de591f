"""Dreams: what was proposed, and what stood before the memories that are current."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import RowMapping, delete, select, update
from sqlalchemy.dialects.postgresql import insert

from app.db.models import dreams, memories, memory_events
from app.repositories.base import Repository

_D: Final = dreams.c
_M: Final = memories.c


class DreamRepository(Repository):
    """The dreams of users that the key may see. Every change of state names the state it came from."""

    async def add(self, row: dict[str, Any]) -> RowMapping:
        """Keep a dream."""
        return await self._one_row(insert(dreams).values(tenant_id=self._tenant_id, **row).returning(dreams))

    async def get(self, user_id: str, dream_id: UUID) -> RowMapping | None:
        """One dream of a user."""
        return await self._first(select(dreams).where(*self._one(user_id, dream_id)))

    async def get_for_update(self, user_id: str, dream_id: UUID) -> RowMapping | None:
        """The same, its row locked until the commit."""
        return await self._first(select(dreams).where(*self._one(user_id, dream_id)).with_for_update())

    async def page(self, user_id: str, before: UUID | None, limit: int) -> list[RowMapping]:
        """A user's dreams, newest first, before a keyset position."""
        statement = select(dreams).where(_D.tenant_id == self._tenant_id, _D.user_id == user_id)
        if before is not None:
            statement = statement.where(_D.id < before)
        return await self._all(statement.where(*self._own(_D.user_id)).order_by(_D.id.desc()).limit(limit))

    async def change(self, dream_id: UUID, values: dict[str, Any]) -> RowMapping:
        """Write columns and raise the version of a dream whose row is locked."""
        statement = update(dreams).where(_D.tenant_id == self._tenant_id, _D.id == dream_id)
        return await self._one_row(statement.values(version=_D.version + 1, **values).returning(dreams))

    async def forget(self, before: datetime) -> int:
        """Delete dreams that are older than an instant."""
        return await self._run(delete(dreams).where(_D.tenant_id == self._tenant_id, _D.created_at < before))

    async def forget_of(self, user_id: str | None) -> int:
        """Delete a user's dreams: they quote memories, of which one is erased."""
        return await self._run(delete(dreams).where(_D.tenant_id == self._tenant_id, _D.user_id == user_id))

    async def predecessors(self, ids: Sequence[UUID]) -> list[RowMapping]:
        """What these memories have replaced because it was no longer so: id, text, key, value, since, superseded_by.

        Other wordings that were merged into them are not among it.
        """
        events = memory_events.c
        merged = select(events.id).where(
            events.tenant_id == self._tenant_id,
            events.memory_id == _M.id,
            events.action == "superseded",
            events.reason.startswith("merged"),
        )
        statement = select(_M.id, _M.text, _M.key, _M.value, _M.valid_from, _M.created_at, _M.superseded_by).where(
            _M.tenant_id == self._tenant_id,
            _M.superseded_by.in_(list(ids)),
            _M.status == "superseded",
            _M.sealed.is_(None),
            ~merged.correlate(memories).exists(),
        )
        return await self._all(statement)

    def _one(self, user_id: str, dream_id: UUID) -> list[Any]:
        return [
            _D.tenant_id == self._tenant_id,
            _D.id == dream_id,
            _D.user_id == user_id,
            *self._own(_D.user_id),
        ]
