"""Facts: keyed memories, read by exact key."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping, Select, func, or_, select, update

from app.db.models import memories
from app.repositories.base import Repository, RowLike
from app.repositories.selection import current_at

LAST_CHARACTER = "\U0010ffff"


class FactRepository(Repository):
    """The current memories under a key that belong to a user and to no narrower scope."""

    async def current(self, owner: str, key: str, at: datetime) -> list[RowMapping]:
        """What is current under this key, newest first."""
        statement = select(memories).where(*self._facts(owner, at), memories.c.key == key)
        return await self._all(statement.order_by(memories.c.id.desc()))

    async def keys(self, owner: str, at: datetime, limit: int) -> list[str]:
        """Keys under which an owner has something current, in their order."""
        statement = select(memories.c.key).where(*self._facts(owner, at), memories.c.key.is_not(None)).distinct()
        return list((await self._connection.execute(statement.order_by(memories.c.key).limit(limit))).scalars().all())

    async def current_for_update(self, owner: str, key: str, at: datetime) -> list[RowMapping]:
        """The same, their rows locked until the commit. Call it under the owner's lock."""
        statement = select(memories).where(*self._facts(owner, at), memories.c.key == key)
        return await self._all(statement.order_by(memories.c.id.desc()).with_for_update())

    async def sealed(self, places: Collection[tuple[str, str]], at: datetime) -> set[tuple[str, str]]:
        """Of these owners and keys, those whose present value is sealed."""
        owners, keys = sorted({owner for owner, _ in places}), sorted({key for _, key in places})
        statement = select(memories.c.owner, memories.c.key, memories.c.sensitive).where(
            memories.c.tenant_id == self._tenant_id,
            memories.c.owner.in_(owners),
            memories.c.key.in_(keys),
            *self._plain(),
            *current_at(at),
        )
        found = {(row["owner"], row["key"]) for row in await self._all(statement) if row["sensitive"]}
        return found & set(places)

    async def go_on_from(self, memory_id: UUID, version: int) -> None:
        """Let a memory's versions go on after another's, if they have not got so far."""
        mine = (memories.c.tenant_id == self._tenant_id, memories.c.id == memory_id)
        above = func.greatest(memories.c.version, version + 1)
        await self._run(update(memories).where(*mine).values(version=above))

    async def history(self, owner: str, key: str, before: UUID | None, limit: int) -> list[RowMapping]:
        """Every value that a key of this owner has had, newest first, those too that were taken back."""
        statement = select(memories).where(
            memories.c.tenant_id == self._tenant_id,
            memories.c.owner == owner,
            memories.c.key == key,
            *self._plain(),
        )
        if before is not None:
            statement = statement.where(memories.c.id < before)
        return await self._all(statement.order_by(memories.c.id.desc()).limit(limit))

    async def rivals(self, row: RowLike, at: datetime) -> list[RowMapping]:
        """What else is current and certain under a row's key in the row's own scope, newest first, rows locked."""
        same = ("agent_id", "app_id", "session_id")
        statement = select(memories).where(
            memories.c.tenant_id == self._tenant_id,
            memories.c.owner == row["owner"],
            memories.c.key == row["key"],
            memories.c.id != row["id"],
            memories.c.uncertain.is_(False),
            *(memories.c[name].is_not_distinct_from(row[name]) for name in same),
            *current_at(at),
        )
        return await self._all(statement.order_by(memories.c.id.desc()).with_for_update())

    async def contested(self, owner: str, at: datetime) -> list[RowMapping]:
        """Current rows of an owner whose key others of the same scope have too, newest first. After a merge."""
        scope = (memories.c.key, memories.c.agent_id, memories.c.app_id, memories.c.session_id)
        several = func.count().over(partition_by=scope).label("several")
        keyed = (
            select(memories, several)
            .where(
                memories.c.tenant_id == self._tenant_id,
                memories.c.owner == owner,
                memories.c.key.is_not(None),
                memories.c.uncertain.is_(False),
                *current_at(at),
            )
            .subquery()
        )
        statement = select(keyed).where(keyed.c.several > 1)
        return await self._all(statement.order_by(keyed.c.valid_from.desc(), keyed.c.id.desc()))

    async def page(
        self, owner: str, prefix: str, after: tuple[str, UUID] | None, limit: int, at: datetime
    ) -> list[RowMapping]:
        """Facts by key; a prefix is a range of keys."""
        statement = self._listed(owner, prefix, at)
        if after is not None:
            key, memory_id = after
            statement = statement.where(
                (memories.c.key > key) | ((memories.c.key == key) & (memories.c.id > memory_id))
            )
        return await self._all(statement.order_by(memories.c.key, memories.c.id).limit(limit))

    async def count(self, owner: str, prefix: str, at: datetime) -> int:
        """How many facts begin with a prefix."""
        return await self._count(self._listed(owner, prefix, at))

    async def supersede(self, ids: Sequence[UUID], by: UUID, at: datetime, valid_to: datetime) -> list[RowMapping]:
        """Close memories in favour of a newer one; they stay readable by history."""
        ended = func.greatest(valid_to, func.coalesce(memories.c.valid_from, valid_to))
        values: dict[str, Any] = {
            "status": "superseded",
            "superseded_by": by,
            "superseded_at": at,
            "valid_to": ended,
            "updated_at": at,
            "version": memories.c.version + 1,
        }
        statement = update(memories).where(memories.c.tenant_id == self._tenant_id, memories.c.id.in_(list(ids)))
        return await self._all(statement.values(values).returning(memories))

    def _listed(self, owner: str, prefix: str, at: datetime) -> Select[Any]:
        statement = select(memories).where(*self._facts(owner, at), memories.c.key.is_not(None))
        if prefix:
            statement = statement.where(memories.c.key >= prefix, memories.c.key < prefix + LAST_CHARACTER)
        return statement

    def _facts(self, owner: str, at: datetime) -> list[Any]:
        return [memories.c.tenant_id == self._tenant_id, memories.c.owner == owner, *self._plain(), *current_at(at)]

    def _plain(self) -> list[Any]:
        """Of the owner and of no narrower scope."""
        return [
            memories.c.session_id.is_(None),
            or_(memories.c.extracted, memories.c.agent_id.is_(None) & memories.c.app_id.is_(None)),
            *self._own(memories.c.user_id),
        ]
