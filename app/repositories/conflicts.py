"""Pairs of memories that cannot both be true, until somebody decides."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, RowMapping, Select, and_, func, insert, or_, select, union_all, update

from app.core.ids import new_id
from app.db.models import memories, memory_conflicts
from app.repositories.base import Repository, filled
from app.repositories.selection import current_at

_C = memory_conflicts.c
SIDES: Final = ("memory_id", "other_id")
DECIDED_BY_GOING: Final = ("displaced", "newer", "older", "neither")
"""Resolutions with which a side is history. Where it is current all the same, nobody has decided any more."""


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

    async def page(self, before: UUID | None, limit: int, at: datetime) -> list[RowMapping]:
        """Open conflicts, newest first; none with a side that is over."""
        statement = select(memory_conflicts).where(*self._open(at))
        if before is not None:
            statement = statement.where(_C.id < before)
        return await self._all(statement.order_by(_C.id.desc()).limit(limit))

    async def count(self, at: datetime) -> int:
        """How many are open."""
        return await self._count(select(_C.id).where(*self._open(at)))

    async def get(self, conflict_id: UUID) -> RowMapping | None:
        """One, open or resolved; None where it is absent or another's."""
        statement = select(memory_conflicts).where(
            _C.tenant_id == self._tenant_id, _C.id == conflict_id, *self._visible()
        )
        return await self._first(statement)

    async def touching(self, memory_ids: Sequence[UUID]) -> list[RowMapping]:
        """Open conflicts of any of these memories, their rows locked."""
        statement = select(memory_conflicts).where(
            _C.tenant_id == self._tenant_id,
            _C.resolved_at.is_(None),
            self._of(memory_ids),
        )
        return await self._all(statement.order_by(_C.id).with_for_update())

    async def resolve(self, conflict_ids: Sequence[UUID], resolution: str, at: datetime) -> int:
        """Close conflicts; how many were open."""
        statement = update(memory_conflicts).where(
            _C.tenant_id == self._tenant_id, _C.id == func.any(list(conflict_ids)), _C.resolved_at.is_(None)
        )
        return await self._run(statement.values(resolution=resolution, resolved_at=at))

    async def between(self, memory_ids: Sequence[UUID]) -> bool:
        """Whether two of these memories stand against each other."""
        ids = list(memory_ids)
        both = (_C.memory_id == func.any(ids), _C.other_id == func.any(ids))
        statement = select(_C.id).where(_C.tenant_id == self._tenant_id, _C.resolved_at.is_(None), *both)
        return await self._first(statement.limit(1)) is not None

    async def parted(self, memory_ids: Sequence[UUID], times: Sequence[datetime], at: datetime) -> list[RowMapping]:
        """Closed conflicts of any of these memories whose sides are both current, their rows locked.

        Those that were closed at one of these instants, however, and those in which a side had to go.
        """
        gone = and_(_C.resolved_at.is_not(None), _C.resolution.in_(DECIDED_BY_GOING))
        statement = select(memory_conflicts).where(
            _C.tenant_id == self._tenant_id,
            self._of(memory_ids),
            or_(gone, _C.resolved_at == func.any(list(times))),
            *(self._stands(name, at) for name in SIDES),
        )
        return await self._all(statement.order_by(_C.id).with_for_update())

    async def opened(self, memory_ids: Sequence[UUID], times: Sequence[datetime]) -> list[RowMapping]:
        """Open conflicts of any of these memories that were opened, or opened again, at one of these instants."""
        then = func.any(list(times))
        statement = select(memory_conflicts).where(
            _C.tenant_id == self._tenant_id,
            _C.resolved_at.is_(None),
            self._of(memory_ids),
            or_(_C.reopened_at == then, and_(_C.reopened_at.is_(None), _C.created_at == then)),
        )
        return await self._all(statement.order_by(_C.id).with_for_update())

    async def reopen(self, conflict_ids: Sequence[UUID], at: datetime) -> None:
        """Take back that conflicts were resolved."""
        if conflict_ids:
            statement = update(memory_conflicts).where(
                _C.tenant_id == self._tenant_id, _C.id == func.any(list(conflict_ids))
            )
            await self._run(statement.values(resolution=None, resolved_at=None, reopened_at=at))

    async def torn(self, owner: str, at: datetime) -> list[RowMapping]:
        """Open conflicts of an owner's memories one side of which is not current."""
        whole = and_(*(self._stands(name, at) for name in SIDES))
        statement = select(memory_conflicts).where(
            _C.tenant_id == self._tenant_id, _C.resolved_at.is_(None), self._of_owner(owner), ~whole
        )
        return await self._all(statement.order_by(_C.id).with_for_update())

    async def unfounded(self, owner: str) -> list[RowMapping]:
        """An owner's memories that are disputed and in no open conflict."""
        return await self._all(self._marked(owner, "disputed").where(~self._in_conflict()))

    async def unmarked(self, owner: str) -> list[RowMapping]:
        """An owner's memories that are active and in an open conflict."""
        return await self._all(self._marked(owner, "active").where(self._in_conflict()))

    def _marked(self, owner: str, status: str) -> Select[Any]:
        mine = (memories.c.tenant_id == self._tenant_id, memories.c.owner == owner, memories.c.status == status)
        return select(memories).where(*mine).order_by(memories.c.id)

    def _in_conflict(self) -> ColumnElement[bool]:
        """Whether a memory is in an open conflict. By a list: open conflicts are few, an owner's memories many."""
        sides = union_all(
            *(select(_C[name]).where(_C.tenant_id == self._tenant_id, _C.resolved_at.is_(None)) for name in SIDES)
        )
        return memories.c.id.in_(sides)

    def _stands(self, name: str, at: datetime) -> ColumnElement[bool]:
        side = memories.alias(name)
        return (
            select(side.c.id)
            .where(side.c.tenant_id == _C.tenant_id, side.c.id == _C[name], *current_at(at, side))
            .exists()
        )

    def _of_owner(self, owner: str) -> ColumnElement[bool]:
        theirs = select(memories.c.id).where(
            memories.c.tenant_id == self._tenant_id, memories.c.id == _C.memory_id, memories.c.owner == owner
        )
        return theirs.exists()

    @staticmethod
    def _of(memory_ids: Sequence[UUID]) -> ColumnElement[bool]:
        ids = list(memory_ids)
        return or_(_C.memory_id == func.any(ids), _C.other_id == func.any(ids))

    def _open(self, at: datetime) -> list[ColumnElement[bool]]:
        stand = (self._stands(name, at) for name in SIDES)
        return [_C.tenant_id == self._tenant_id, _C.resolved_at.is_(None), *stand, *self._visible()]

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
