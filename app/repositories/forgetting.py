"""Memories that expire, fade, are archived or are to be confirmed."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, RowMapping, delete, func, literal_column, or_, select, text, update

from app.db.models import memories
from app.domain.memory import Kind
from app.repositories.base import Repository
from app.repositories.selection import current_at

_M: Final = memories.c

TRACE: Final = (
    *("id", "owner", "kind", "category", "key", "importance", "uncertain", "pinned", "status", "metadata", "version"),
    *("access_count", "used_count", "ignored_count", "wrong_count", "text", "agent_id", "app_id", "session_id"),
    *("last_accessed_at", "last_seen_at", "created_at", "occurred_at", "expires_at", "archived_at"),
)
"""What is asked of a memory to decide about it."""

_EXPIRING: Final = text("memories.status IN ('active', 'disputed', 'archived')")
"""In words, as the partial index has it."""


class ForgettingRepository(Repository):
    """Which memories the rules of forgetting are about. What is changed must be locked, its owner before it."""

    async def expiring(self, at: datetime, limit: int, owner: str | None = None) -> list[RowMapping]:
        """Memories that are past their time and not yet marked so, the longest past first: id and owner."""
        statement = select(_M.id, _M.owner).where(_M.tenant_id == self._tenant_id, _M.expires_at <= at, _EXPIRING)
        if owner is not None:
            statement = statement.where(_M.owner == owner)
        return await self._all(statement.order_by(_M.expires_at).limit(limit))

    async def expired_before(self, before: datetime, limit: int) -> list[RowMapping]:
        """What expired before an instant, in whatever state, the longest past first: id and owner."""
        statement = select(_M.id, _M.owner).where(_M.tenant_id == self._tenant_id, _M.expires_at <= before)
        return await self._all(statement.order_by(_M.expires_at).limit(limit))

    async def deleted_before(self, before: datetime, limit: int) -> list[RowMapping]:
        """What was deleted before an instant, the longest ago first: id and owner."""
        statement = select(_M.id, _M.owner).where(
            _M.tenant_id == self._tenant_id, _M.deleted_at <= before, _M.status == "deleted"
        )
        return await self._all(statement.order_by(_M.deleted_at).limit(limit))

    async def erase(self, ids: Sequence[UUID]) -> int:
        """Remove memories with their history, sources, postings and vectors."""
        return await self._run(delete(memories).where(_M.tenant_id == self._tenant_id, _M.id == func.any(list(ids))))

    async def mark(self, ids: Sequence[UUID], values: dict[str, Any]) -> list[RowMapping]:
        """Write the same columns of many memories, each a new version of its own; the changed rows."""
        statement = update(memories).where(_M.tenant_id == self._tenant_id, _M.id == func.any(list(ids)))
        return await self._all(statement.values(version=_M.version + 1, **values).returning(memories))

    async def untouched(
        self, owner: str, kinds: Sequence[Kind], before: datetime, at: datetime, limit: int
    ) -> list[RowMapping]:
        """Current memories of an owner that may fade and that nobody has used since an instant, the longest ago first.

        Rows of `TRACE`.
        """
        touched = self._touched()
        statement = select(*self._trace()).where(*self._fading(owner, at), _M.kind.in_(list(kinds)), touched < before)
        return await self._all(statement.order_by(touched, _M.id).limit(limit))

    async def fading(self, owner: str, kinds: Sequence[Kind], at: datetime, limit: int) -> list[RowMapping]:
        """Current memories of an owner that may be archived for want of room: rows of `TRACE`, the eldest use first."""
        touched = self._touched()
        statement = select(*self._trace()).where(*self._fading(owner, at), _M.kind.in_(list(kinds)))
        return await self._all(statement.order_by(touched, _M.id).limit(limit))

    async def newest(self, owner: str) -> datetime | None:
        """When the newest memory of an owner was stored that is no conclusion of the service's own."""
        statement = select(_M.created_at).where(
            _M.tenant_id == self._tenant_id, _M.owner == owner, _M.source != "derived"
        )
        row = await self._first(statement.order_by(_M.id.desc()).limit(1))
        return None if row is None else row["created_at"]

    async def current_count(self, owner: str, at: datetime) -> int:
        """How many current memories an owner has."""
        statement = select(_M.id).where(_M.tenant_id == self._tenant_id, _M.owner == owner, *current_at(at))
        return await self._count(statement)

    async def archived_before(self, owner: str, before: datetime, limit: int) -> list[RowMapping]:
        """What of an owner's was archived before an instant and still is, the longest ago first: rows of `TRACE`."""
        statement = select(*self._trace()).where(
            _M.tenant_id == self._tenant_id,
            _M.owner == owner,
            _M.archived_at <= before,
            _M.status == "archived",
        )
        return await self._all(statement.order_by(_M.archived_at, _M.id).limit(limit))

    async def questionable(self, owner: str, important: int, before: datetime, at: datetime) -> list[RowMapping]:
        """Facts of an owner that may have to be confirmed, and those that are said to be: whole rows."""
        old = (_M.importance >= important) & (_M.last_seen_at <= before)
        statement = select(memories).where(
            _M.tenant_id == self._tenant_id,
            _M.owner == owner,
            _M.kind == "semantic",
            or_(old, _M.wrong_count > _M.used_count, _M.needs_confirmation),
            *current_at(at),
        )
        return await self._all(statement.order_by(_M.id))

    async def after(self, owner: str, last: UUID | None, at: datetime, limit: int) -> list[RowMapping]:
        """Current memories of an owner but lessons and procedures, in the order of their ids: whole rows."""
        statement = select(memories).where(
            _M.tenant_id == self._tenant_id, _M.owner == owner, _M.kind != "procedural", *current_at(at)
        )
        if last is not None:
            statement = statement.where(_M.id > last)
        return await self._all(statement.order_by(_M.id).limit(limit))

    def _trace(self) -> list[ColumnElement[Any]]:
        return [_M[name] for name in TRACE]

    @staticmethod
    def _touched() -> ColumnElement[datetime]:
        return func.greatest(_M.last_accessed_at, _M.last_seen_at, _M.created_at)

    def _fading(self, owner: str, at: datetime) -> list[ColumnElement[bool]]:
        """As `domain.lifecycle.strength.exempt` has it, and current."""
        return [
            _M.tenant_id == self._tenant_id,
            _M.owner == owner,
            _M.status == "active",
            _M.pinned.is_(False),
            _M.category != literal_column("'constraint'"),
            or_(_M.key.is_(None), _M.uncertain),
            *current_at(at),
        ]
