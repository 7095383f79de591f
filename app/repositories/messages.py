"""Messages of a session, ordered by their sequence number and by nothing else."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping, func, select
from sqlalchemy.dialects.postgresql import insert

from app.db.models import message_postings, messages
from app.repositories.base import Repository
from app.repositories.postings import Posting, insert_postings


class MessageRepository(Repository):
    """The messages of sessions that the key may see."""

    async def insert(self, owner: str, rows: Sequence[dict[str, Any]], postings: Sequence[Posting]) -> None:
        """Store messages of one session, searchable at once: rows and postings go in one statement."""
        statement = insert(messages).values([{"tenant_id": self._tenant_id, "owner": owner, **row} for row in rows])
        tokens = insert_postings(message_postings, self._tenant_id, owner, postings)
        if tokens is not None:
            statement = statement.add_cte(tokens.cte("tokens"))
        await self._run(statement)

    async def by_external_ids(self, session_id: str, external_ids: Sequence[str]) -> list[RowMapping]:
        """Messages that a session already has under these external ids."""
        statement = select(messages).where(
            messages.c.tenant_id == self._tenant_id,
            messages.c.session_id == session_id,
            messages.c.external_id.in_(list(external_ids)),
        )
        return await self._all(statement)

    async def page(
        self, session_id: str, *, after: int | None, limit: int, newest_first: bool, from_seq: int, to_seq: int | None
    ) -> list[RowMapping]:
        """Messages by sequence number, after a keyset position."""
        conditions = [*self._of(session_id), messages.c.seq >= from_seq]
        if to_seq is not None:
            conditions.append(messages.c.seq <= to_seq)
        if after is not None:
            conditions.append(messages.c.seq < after if newest_first else messages.c.seq > after)
        order = messages.c.seq.desc() if newest_first else messages.c.seq
        return await self._all(select(messages).where(*conditions).order_by(order).limit(limit))

    async def count(self, session_id: str, from_seq: int = 0, to_seq: int | None = None) -> int:
        """How many messages a session has, between two numbers."""
        conditions = [*self._of(session_id), messages.c.seq >= from_seq]
        if to_seq is not None:
            conditions.append(messages.c.seq <= to_seq)
        statement = select(func.count()).select_from(messages).where(*conditions)
        return int((await self._connection.execute(statement)).scalar_one())

    async def get(self, session_id: str, seq: int) -> RowMapping | None:
        """One message by its number."""
        return await self._first(select(messages).where(*self._of(session_id), messages.c.seq == seq))

    async def by_seqs(self, session_id: str, seqs: Sequence[int]) -> list[RowMapping]:
        """Messages by their numbers, oldest first."""
        if not seqs:
            return []
        statement = select(messages.c.id, messages.c.seq, messages.c.external_id).where(
            *self._of(session_id), messages.c.seq == func.any(sorted(set(seqs)))
        )
        return await self._all(statement.order_by(messages.c.seq))

    async def window(self, session_id: str, after_seq: int, limit: int) -> list[RowMapping]:
        """What comes after a cursor, oldest first. Read it only under the session's lock: see `get_for_update`."""
        columns = (messages.c.id, messages.c.seq, messages.c.owner, messages.c.text, messages.c.content_hash)
        statement = select(*columns).where(*self._of(session_id), messages.c.seq > after_seq)
        return await self._all(statement.order_by(messages.c.seq).limit(limit))

    async def by_ids(self, ids: Sequence[UUID]) -> list[RowMapping]:
        """Messages by id, in no order."""
        statement = select(messages).where(
            messages.c.tenant_id == self._tenant_id, messages.c.id == func.any(list(ids))
        )
        return await self._all(statement)

    def _of(self, session_id: str) -> list[Any]:
        return [messages.c.tenant_id == self._tenant_id, messages.c.session_id == session_id]
