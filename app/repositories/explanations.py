"""How searches went, for a while."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, insert, select

from app.db.models import search_explanations
from app.repositories.base import Repository, Row


class ExplanationRepository(Repository):
    """search_explanations: each is read by the key that asked."""

    async def add(self, row: dict[str, Any]) -> None:
        """Keep one."""
        await self._run(insert(search_explanations).values(tenant_id=self._tenant_id, **row))

    async def get(self, explanation_id: UUID, key_id: UUID) -> Row | None:
        """One of this key's own."""
        table = search_explanations
        statement = select(table).where(
            table.c.tenant_id == self._tenant_id, table.c.id == explanation_id, table.c.key_id == key_id
        )
        return await self._first(statement)

    async def recent(self, limit: int) -> list[Row]:
        """The last questions of the tenant that were explained: text and user_id, newest first."""
        table = search_explanations
        statement = (
            select(table.c.content["question"]["text"].astext.label("text"), table.c.user_id)
            .where(table.c.tenant_id == self._tenant_id)
            .order_by(table.c.created_at.desc())
            .limit(limit)
        )
        return await self._all(statement)

    async def forget(self, before: datetime) -> int:
        """Remove what is older."""
        table = search_explanations
        statement = delete(table).where(table.c.tenant_id == self._tenant_id, table.c.created_at < before)
        return await self._run(statement)
