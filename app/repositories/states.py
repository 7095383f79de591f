"""Session state: every version is kept; the newest is current."""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import RowMapping, Text, Uuid, bindparam, func, literal_column, select
from sqlalchemy.dialects.postgresql import insert

from app.db.models import session_states
from app.repositories.base import Repository, RowLike
from app.repositories.prepared import Prepared

_NEWEST: Final = Prepared.of(
    select(session_states)
    .where(
        session_states.c.tenant_id == bindparam("tenant_id", type_=Uuid()),
        session_states.c.session_id == bindparam("session", type_=Text(collation="C")),
    )
    .order_by(session_states.c.version.desc())
    .limit(literal_column("1"))
)


class StateRepository(Repository):
    """session_states. The caller has looked whether the key may see the session, and locked it before it writes."""

    async def current(self, session_id: str) -> RowLike | None:
        """The newest version."""
        rows = await _NEWEST.read(self._connection, {"tenant_id": self._tenant_id, "session": session_id})
        return rows[0] if rows else None

    async def at_message(self, session_id: str, seq: int) -> RowMapping | None:
        """The version that was current when a message was the last one; those of unknown place count as older."""
        written = func.coalesce(session_states.c.at_seq, 0)
        statement = select(session_states).where(*self._of(session_id), written <= seq)
        return await self._first(statement.order_by(session_states.c.version.desc()).limit(1))

    async def version(self, session_id: str, version: int) -> RowMapping | None:
        """One version."""
        return await self._first(
            select(session_states).where(*self._of(session_id), session_states.c.version == version)
        )

    async def add(
        self, session_id: str, version: int, document: dict[str, Any], actor: str, at: datetime, at_seq: int
    ) -> RowMapping:
        """A further version, written when the session had messages up to a number."""
        row = {"session_id": session_id, "version": version, "document": document, "actor": actor, "created_at": at}
        row |= {"at_seq": at_seq}
        statement = insert(session_states).values(tenant_id=self._tenant_id, **row)
        return await self._one_row(statement.returning(session_states))

    async def page(self, session_id: str, before: int | None, limit: int) -> list[RowMapping]:
        """Versions, newest first."""
        statement = select(session_states).where(*self._of(session_id))
        if before is not None:
            statement = statement.where(session_states.c.version < before)
        return await self._all(statement.order_by(session_states.c.version.desc()).limit(limit))

    def _of(self, session_id: str) -> list[Any]:
        return [session_states.c.tenant_id == self._tenant_id, session_states.c.session_id == session_id]
