"""The tenant's own canonical keys and aliases, before the built-in ones."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import RowMapping, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from app.db.models import key_aliases, memories, memory_keys
from app.domain.memory import VISIBLE_STATUSES
from app.repositories.base import Repository


class KeyRepository(Repository):
    """memory_keys and key_aliases."""

    async def entries(self, spellings: Sequence[str]) -> list[RowMapping]:
        """Entries that one of these spellings names, as key or alias: rows of (spelling, key, multi_valued)."""
        named = select(memory_keys.c.key.label("spelling"), memory_keys.c.key, memory_keys.c.multi_valued).where(
            memory_keys.c.tenant_id == self._tenant_id, memory_keys.c.key.in_(spellings)
        )
        aliased = (
            select(key_aliases.c.alias, memory_keys.c.key, memory_keys.c.multi_valued)
            .join_from(
                key_aliases,
                memory_keys,
                (memory_keys.c.tenant_id == key_aliases.c.tenant_id) & (memory_keys.c.key == key_aliases.c.key),
            )
            .where(key_aliases.c.tenant_id == self._tenant_id, key_aliases.c.alias.in_(spellings))
        )
        return await self._all(named.union_all(aliased))

    async def page(self, after: str | None, limit: int) -> list[RowMapping]:
        """The tenant's own entries by key, each with its aliases."""
        aliases = (
            select(func.array_agg(key_aliases.c.alias))
            .where(key_aliases.c.tenant_id == memory_keys.c.tenant_id, key_aliases.c.key == memory_keys.c.key)
            .scalar_subquery()
        )
        statement = select(memory_keys, aliases.label("aliases")).where(memory_keys.c.tenant_id == self._tenant_id)
        if after is not None:
            statement = statement.where(memory_keys.c.key > after)
        return await self._all(statement.order_by(memory_keys.c.key).limit(limit))

    async def count(self) -> int:
        """How many canonical keys the tenant has of its own."""
        return await self._count(select(memory_keys.c.key).where(memory_keys.c.tenant_id == self._tenant_id))

    async def put(self, key: str, *, multi_valued: bool, description: str | None, at: datetime) -> None:
        """Enter or change a canonical key."""
        row = {"multi_valued": multi_valued, "description": description}
        statement = insert(memory_keys).values(tenant_id=self._tenant_id, key=key, created_at=at, **row)
        await self._run(statement.on_conflict_do_update(index_elements=["tenant_id", "key"], set_=row))

    async def set_aliases(self, key: str, aliases: Iterable[str]) -> None:
        """Give a key these aliases and no others; an alias leads to one key."""
        mine = key_aliases.c.tenant_id == self._tenant_id
        await self._run(delete(key_aliases).where(mine, key_aliases.c.key == key))
        rows = [{"tenant_id": self._tenant_id, "alias": alias, "key": key} for alias in sorted(set(aliases))]
        if rows:
            statement = insert(key_aliases).values(rows)
            await self._run(statement.on_conflict_do_update(index_elements=["tenant_id", "alias"], set_={"key": key}))

    async def delete(self, key: str) -> bool:
        """Forget a canonical key and its aliases; memories keep the key they have."""
        mine = memory_keys.c.tenant_id == self._tenant_id
        return await self._run(delete(memory_keys).where(mine, memory_keys.c.key == key)) > 0

    async def in_use(self, owner: str) -> list[str]:
        """The keys of an owner's current memories."""
        statement = select(memories.c.key).where(
            memories.c.tenant_id == self._tenant_id,
            memories.c.owner == owner,
            memories.c.key.is_not(None),
            memories.c.status.in_(VISIBLE_STATUSES),
        )
        return sorted(set((await self._connection.execute(statement)).scalars().all()))
