"""What was prepared for the next context of a session; lost with a crash of the server, and made again."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import Text, Uuid, bindparam, delete, select
from sqlalchemy.dialects.postgresql import insert

from app.db.models import context_cache
from app.repositories.base import Repository
from app.repositories.prepared import Prepared

_OF_SESSION: Final = Prepared.of(
    select(context_cache)
    .where(
        context_cache.c.tenant_id == bindparam("tenant_id", type_=Uuid()),
        context_cache.c.session_id == bindparam("session", type_=Text(collation="C")),
    )
    .order_by(context_cache.c.created_at.desc())
)


class ContextRepository(Repository):
    """context_cache. The caller has looked whether the key may see the session."""

    async def prepared(self, session_id: str) -> list[dict[str, Any]]:
        """What there is, the newest first: one for the last turn, one for what somebody is typing."""
        return await _OF_SESSION.read(self._connection, {"tenant_id": self._tenant_id, "session": session_id})

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

    async def expire(self, before: datetime) -> int:
        """Drop what was prepared before an instant: it is served no more, and may hold what was erased since."""
        statement = delete(context_cache).where(context_cache.c.tenant_id == self._tenant_id)
        return await self._run(statement.where(context_cache.c.created_at < before))

    async def forget(self, session_id: str) -> None:
        """Drop what was prepared for a session."""
        statement = delete(context_cache).where(context_cache.c.tenant_id == self._tenant_id)
        await self._run(statement.where(context_cache.c.session_id == session_id))
