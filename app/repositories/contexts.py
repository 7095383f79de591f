"""What was prepared for the next context of a session; lost with a crash of the server, and made again."""

from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, delete, select
from sqlalchemy.dialects.postgresql import insert

from app.db.models import context_cache
from app.repositories.base import Repository


class ContextRepository(Repository):
    """context_cache. The caller has looked whether the key may see the session."""

    async def prepared(self, session_id: str) -> list[RowMapping]:
        """What there is, the newest first: one for the last turn, one for what somebody is typing."""
        statement = select(context_cache).where(
            context_cache.c.tenant_id == self._tenant_id, context_cache.c.session_id == session_id
        )
        return await self._all(statement.order_by(context_cache.c.created_at.desc()))

    async def prepare(
        self, session_id: str, variant: str, owner_version: int, last_seq: int, content: dict[str, Any], at: datetime
    ) -> None:
        """Keep it in the place of what was prepared before."""
        values = {"owner_version": owner_version, "last_seq": last_seq, "content": content, "created_at": at}
        row = {"tenant_id": self._tenant_id, "session_id": session_id, "variant": variant}
        statement = insert(context_cache).values(row | values)
        await self._run(
            statement.on_conflict_do_update(index_elements=["tenant_id", "session_id", "variant"], set_=values)
        )

    async def forget(self, session_id: str) -> None:
        """Drop what was prepared for a session."""
        statement = delete(context_cache).where(context_cache.c.tenant_id == self._tenant_id)
        await self._run(statement.where(context_cache.c.session_id == session_id))
