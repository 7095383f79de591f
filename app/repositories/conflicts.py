"""Pairs of memories that cannot both be true, until somebody decides."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, RowMapping, func, insert, or_, select, update

from app.core.ids import new_id
from app.db.models import memories, memory_conflicts
from app.repositories.base import Repository, filled

_C = memory_conflicts.c


class ConflictRepository(Repository):
    """The conflicts whose two memories the key may see."""

    async def open(self, memory_id: UUID, others: Sequence[UUID], reason: str, at: datetime) -> None:
        """Note what a memory contradicts."""
        rows = [
            {
                "tenant_id": self._tenant_id,
                "id": new_id(),
                "memory_id": memory_id,
                "other_id": other,
                "reason": reason,
                "created_at": at,
            }
            for other in others
        ]
        if rows:
            await self._run(*filled(insert(memory_conflicts), rows))

    async def page(self, before: UUID | None, limit: int) -> list[RowMapping]:
        """Open conflicts, newest first."""
        statement = select(memory_conflicts).where(*self._open())
        if before is not None:
            statement = statement.where(_C.id < before)
        return await self._all(statement.order_by(_C.id.desc()).limit(limit))

    async def count(self) -> int:
        """How many are open."""
        return await self._count(select(_C.id).where(*self._open()))

    async def get(self, conflict_id: UUID) -> RowMapping | None:
        """One, open or resolved; None where it is absent or another's."""
        statement = select(memory_conflicts).where(
            _C.tenant_id == self._tenant_id, _C.id == conflict_id, *self._visible()
        )
        return await self._first(statement)

    async def touching(self, memory_ids: Sequence[UUID]) -> list[RowMapping]:
        """Open conflicts of any of these memories, their rows locked."""
        ids = list(memory_ids)
        statement = select(memory_conflicts).where(
            _C.tenant_id == self._tenant_id,
            _C.resolved_at.is_(None),
            or_(_C.memory_id == func.any(ids), _C.other_id == func.any(ids)),
        )
        return await self._all(statement.order_by(_C.id).with_for_update())

    async def resolve(self, conflict_ids: Sequence[UUID], resolution: str, at: datetime) -> int:
        """Close conflicts; how many were open."""
        statement = update(memory_conflicts).where(
            _C.tenant_id == self._tenant_id, _C.id == func.any(list(conflict_ids)), _C.resolved_at.is_(None)
        )
        return await self._run(statement.values(resolution=resolution, resolved_at=at))

    async def closed(self, memory_ids: Sequence[UUID], times: Sequence[datetime]) -> list[RowMapping]:
        """Conflicts of any of these memories that were resolved at one of these instants, their rows locked."""
        ids = list(memory_ids)
        statement = select(memory_conflicts).where(
            _C.tenant_id == self._tenant_id,
            _C.resolved_at == func.any(list(times)),
            or_(_C.memory_id == func.any(ids), _C.other_id == func.any(ids)),
        )
        return await self._all(statement.order_by(_C.id).with_for_update())

    async def reopen(self, conflict_ids: Sequence[UUID]) -> None:
        """Take back that conflicts were resolved."""
        statement = update(memory_conflicts).where(
            _C.tenant_id == self._tenant_id, _C.id == func.any(list(conflict_ids))
        )
        await self._run(statement.values(resolution=None, resolved_at=None))

    def _open(self) -> list[ColumnElement[bool]]:
        return [_C.tenant_id == self._tenant_id, _C.resolved_at.is_(None), *self._visible()]

    def _visible(self) -> list[Any]:
        """Confine a bound key to conflicts about its users' memories; both sides belong to one owner."""
        if self._user_ids is None:
            return []
        mine = select(memories.c.id).where(
            memories.c.tenant_id == self._tenant_id,
            memories.c.id == _C.memory_id,
            memories.c.user_id.in_(sorted(self._user_ids)),
        )
        return [mine.exists()]
