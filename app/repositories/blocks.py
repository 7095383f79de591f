"""Core memory blocks, with every version they had."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, RowMapping, Select, and_, delete, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from app.db.models import block_versions, blocks
from app.repositories.base import Repository


class BlockRepository(Repository):
    """The blocks that the key may see: its users' and those of no user."""

    async def get(self, label: str, user_id: str | None, agent_id: str | None) -> RowMapping | None:
        """The block of exactly this scope."""
        return await self._first(select(blocks).where(*self._exactly(label, user_id, agent_id)))

    async def get_for_update(self, label: str, user_id: str | None, agent_id: str | None) -> RowMapping | None:
        """The same, its row locked until the commit."""
        return await self._first(select(blocks).where(*self._exactly(label, user_id, agent_id)).with_for_update())

    async def in_reach(self, user_id: str | None, agent_id: str | None) -> list[RowMapping]:
        """Blocks that stand in the contexts of a user with an agent: theirs together, each one's, and everybody's."""
        users, agents = {user_id, None}, {agent_id, None}
        named = [and_(_is(blocks.c.user_id, user), _is(blocks.c.agent_id, agent)) for user in users for agent in agents]
        statement = select(blocks).where(blocks.c.tenant_id == self._tenant_id, or_(*named), *self._seen())
        return await self._all(statement.order_by(blocks.c.label, blocks.c.id))

    async def create(self, row: dict[str, Any]) -> RowMapping | None:
        """A new block; None where its scope has one of this label."""
        statement = insert(blocks).values(tenant_id=self._tenant_id, **row)
        taken = statement.on_conflict_do_nothing(index_elements=["tenant_id", "user_id", "agent_id", "label"])
        return await self._first(taken.returning(blocks))

    async def change(self, block_id: UUID, values: dict[str, Any]) -> RowMapping:
        """Write columns of a block whose row is locked, and raise its version."""
        statement = update(blocks).where(blocks.c.tenant_id == self._tenant_id, blocks.c.id == block_id)
        return await self._one_row(statement.values(version=blocks.c.version + 1, **values).returning(blocks))

    async def delete(self, block_id: UUID) -> None:
        """Remove a block and its versions."""
        await self._run(delete(blocks).where(blocks.c.tenant_id == self._tenant_id, blocks.c.id == block_id))

    async def note(self, row: RowMapping, actor: str, at: datetime) -> None:
        """Keep a version's text."""
        values = {"block_id": row["id"], "version": row["version"], "text": row["text"]}
        statement = insert(block_versions).values(tenant_id=self._tenant_id, actor=actor, created_at=at, **values)
        await self._run(statement)

    async def versions(self, block_id: UUID, before: int | None, limit: int) -> list[RowMapping]:
        """A block's versions, newest first."""
        statement = select(block_versions).where(
            block_versions.c.tenant_id == self._tenant_id, block_versions.c.block_id == block_id
        )
        if before is not None:
            statement = statement.where(block_versions.c.version < before)
        return await self._all(statement.order_by(block_versions.c.version.desc()).limit(limit))

    async def page(self, user_id: str | None, agent_id: str | None, after: UUID | None, limit: int) -> list[RowMapping]:
        """Blocks by age; an absent scope field does not restrict."""
        statement = self._listed(user_id, agent_id)
        if after is not None:
            statement = statement.where(blocks.c.id > after)
        return await self._all(statement.order_by(blocks.c.id).limit(limit))

    async def count(self, user_id: str | None, agent_id: str | None) -> int:
        """How many blocks there are in a scope."""
        return await self._count(self._listed(user_id, agent_id))

    def _listed(self, user_id: str | None, agent_id: str | None) -> Select[Any]:
        statement = select(blocks).where(blocks.c.tenant_id == self._tenant_id, *self._seen())
        if user_id is not None:
            statement = statement.where(blocks.c.user_id == user_id)
        if agent_id is not None:
            statement = statement.where(blocks.c.agent_id == agent_id)
        return statement

    def _exactly(self, label: str, user_id: str | None, agent_id: str | None) -> list[Any]:
        user = blocks.c.user_id.is_(None) if user_id is None else blocks.c.user_id == user_id
        agent = blocks.c.agent_id.is_(None) if agent_id is None else blocks.c.agent_id == agent_id
        return [blocks.c.tenant_id == self._tenant_id, blocks.c.label == label, user, agent, *self._seen()]

    def _seen(self) -> list[Any]:
        if self._user_ids is None:
            return []
        return [or_(blocks.c.user_id.is_(None), blocks.c.user_id.in_(sorted(self._user_ids)))]


def _is(column: ColumnElement[Any], value: str | None) -> ColumnElement[bool]:
    return column.is_(None) if value is None else column == value
