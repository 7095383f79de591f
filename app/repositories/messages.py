"""Messages of a session, ordered by their sequence number and by nothing else."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ARRAY, BigInteger, RowMapping, Text, Uuid, bindparam, delete, func, literal, select, update
from sqlalchemy.dialects.postgresql import Insert, insert

from app.db.models import message_postings, message_vectors, messages
from app.domain.scope import Scope
from app.repositories.base import Repository
from app.repositories.lineage import WITH_MEMORIES
from app.repositories.postings import INSERT, Posting, posted
from app.repositories.prepared import Prepared

_VECTOR_COLUMNS: Final = ("model_id", "text_hash", "embedding")

_TENANT: Final = messages.c.tenant_id == bindparam("tenant_id", type_=Uuid())
_OF_SESSION: Final = (_TENANT, messages.c.session_id == bindparam("session", type_=Text(collation="C")))
_CURSOR: Final = bindparam("cursor", type_=BigInteger())
_MOST: Final = bindparam("most", type_=BigInteger())

_BY_IDS: Final = Prepared.of(
    select(messages).where(_TENANT, messages.c.id == func.any(bindparam("ids", type_=ARRAY(Uuid()))))
)
_LATEST: Final = Prepared.of(select(messages).where(*_OF_SESSION).order_by(messages.c.seq.desc()).limit(_MOST))
"""In the path of every context."""

_SPANS: Final = (
    func.unnest(
        bindparam("sessions", type_=ARRAY(Text(collation="C"))),
        bindparam("firsts", type_=ARRAY(BigInteger())),
        bindparam("lasts", type_=ARRAY(BigInteger())),
    )
    .table_valued("session_id", "first", "last")
    .render_derived()
)
_AROUND: Final = Prepared.of(
    select(messages)
    .join_from(
        _SPANS,
        messages,
        (messages.c.session_id == _SPANS.c.session_id) & messages.c.seq.between(_SPANS.c.first, _SPANS.c.last),
    )
    .where(_TENANT)
    .order_by(messages.c.session_id, messages.c.seq)
)

_SAID: Final = select(messages).where(*_OF_SESSION, messages.c.redacted_at.is_(None)).limit(_MOST)
_SAID_BEFORE: Final = _SAID.where(messages.c.seq <= _CURSOR).order_by(messages.c.seq.desc())
_SAID_AFTER: Final = _SAID.where(messages.c.seq > _CURSOR).order_by(messages.c.seq)
_WINDOW: Final = (
    select(messages.c.id, messages.c.seq, messages.c.owner, messages.c.text, messages.c.content_hash)
    .where(*_OF_SESSION, messages.c.seq > _CURSOR)
    .order_by(messages.c.seq)
    .limit(_MOST)
)
"""What workers read of a session again and again; built once."""

_TOKENS: Final = INSERT[message_postings.name].cte("tokens")


@cache
def _insert_one(columns: tuple[str, ...], *, with_tokens: bool) -> Insert:
    """Built once: an append of one message is what agents do most."""
    statement = insert(messages).values({name: bindparam(f"new_{name}") for name in columns})
    return statement.add_cte(_TOKENS) if with_tokens else statement


def _of_one(row: Mapping[str, Any]) -> dict[str, Any]:
    return {f"new_{name}": value for name, value in row.items()}


class MessageRepository(Repository):
    """The messages of sessions that the key may see."""

    async def index(self, owner: str, postings: Sequence[Posting]) -> None:
        """Store the postings of messages that are there."""
        values = posted(self._tenant_id, owner, postings)
        if values is not None:
            await self._run(INSERT[message_postings.name], values)

    async def insert(self, owner: str, rows: Sequence[dict[str, Any]], postings: Sequence[Posting]) -> None:
        """Store messages of one session, searchable at once: rows and postings go in one statement."""
        given = [{"tenant_id": self._tenant_id, "owner": owner, **row} for row in rows]
        tokens = posted(self._tenant_id, owner, postings)
        if len(given) == 1:
            statement, values = _insert_one(tuple(given[0]), with_tokens=tokens is not None), _of_one(given[0])
        else:
            statement, values = insert(messages).values(given), {}
            statement = statement if tokens is None else statement.add_cte(_TOKENS)
        await self._run(statement, values | (tokens or {}))

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

    async def latest(self, session_id: str, limit: int) -> list[dict[str, Any]]:
        """The last messages of a session, newest first, redacted ones among them."""
        return await _LATEST.read(
            self._connection, {"tenant_id": self._tenant_id, "session": session_id, "most": limit}
        )

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

    async def said(self, session_id: str, after_seq: int, limit: int, overlap: int) -> list[RowMapping]:
        """What comes after a cursor and the last `overlap` messages before it, oldest first, whole rows.

        Read it only under the session's lock: see `get_for_update`. Redacted ones are left out.
        """
        values = {"tenant_id": self._tenant_id, "session": session_id, "cursor": after_seq}
        earlier = await self._all(_SAID_BEFORE, values | {"most": overlap})
        return [*earlier[::-1], *await self._all(_SAID_AFTER, values | {"most": limit})]

    async def window(self, session_id: str, after_seq: int, limit: int) -> list[RowMapping]:
        """What comes after a cursor, oldest first. Read it only under the session's lock: see `get_for_update`."""
        values = {"tenant_id": self._tenant_id, "session": session_id, "cursor": after_seq, "most": limit}
        return await self._all(_WINDOW, values)

    async def by_ids(self, ids: Sequence[UUID]) -> list[dict[str, Any]]:
        """Messages by id, in no order."""
        return await _BY_IDS.read(self._connection, {"tenant_id": self._tenant_id, "ids": list(ids)})

    async def with_memories(self, ids: Sequence[UUID]) -> list[dict[str, Any]]:
        """Messages by id, in no order, with what was learnt from each: see `WITH_MEMORIES`."""
        return await WITH_MEMORIES.read(self._connection, {"tenant_id": self._tenant_id, "ids": list(ids)})

    async def last(self, session_id: str, limit: int) -> list[RowMapping]:
        """The last messages of a session that the key may see, oldest first; none of one that is past its time."""
        seen = [] if self._user_ids is None else [messages.c.owner.in_([Scope(one).owner for one in self._user_ids])]
        statement = select(messages.c.seq, messages.c.role, messages.c.text).where(
            *self._of(session_id),
            messages.c.redacted_at.is_(None),
            self._outside_expired(messages.c.session_id),
            *seen,
        )
        return (await self._all(statement.order_by(messages.c.seq.desc()).limit(limit)))[::-1]

    async def last_said(self, limit: int) -> list[RowMapping]:
        """What users said last that the key may see, newest first: text and owner. Of the last messages, not of all."""
        seen = [] if self._user_ids is None else [messages.c.owner.in_([Scope(one).owner for one in self._user_ids])]
        latest = (
            select(messages.c.id, messages.c.role, messages.c.text, messages.c.owner)
            .where(messages.c.tenant_id == self._tenant_id, messages.c.redacted_at.is_(None), *seen)
            .order_by(messages.c.id.desc())
            .limit(10 * limit)
            .subquery("latest")
        )
        statement = select(latest.c.text, latest.c.owner).where(latest.c.role == "user")
        return await self._all(statement.order_by(latest.c.id.desc()).limit(limit))

    async def around(self, spans: Sequence[tuple[str, int, int]]) -> list[dict[str, Any]]:
        """Messages within spans of (session, first seq, last seq), by session and number."""
        values = {
            "tenant_id": self._tenant_id,
            "sessions": [span[0] for span in spans],
            "firsts": [span[1] for span in spans],
            "lasts": [span[2] for span in spans],
        }
        return await _AROUND.read(self._connection, values)

    async def redact(self, message_id: UUID, values: dict[str, Any]) -> RowMapping:
        """Overwrite a message's content and take it out of both indexes."""
        for index in (message_postings, message_vectors):
            statement = delete(index).where(index.c.tenant_id == self._tenant_id, index.c.message_id == message_id)
            await self._run(statement)
        changed = update(messages).where(messages.c.tenant_id == self._tenant_id, messages.c.id == message_id)
        return await self._one_row(changed.values(values).returning(messages))

    async def pop(self, session_id: str) -> RowMapping | None:
        """Remove the last message of a session whose row is locked; None where there is none."""
        last = select(func.max(messages.c.seq)).where(*self._of(session_id)).scalar_subquery()
        statement = delete(messages).where(*self._of(session_id), messages.c.seq == last)
        return await self._first(statement.returning(messages))

    async def extent(self, session_id: str) -> tuple[int, int]:
        """How many messages a session has, and the sum of their lengths in tokens."""
        statement = select(func.count(), func.coalesce(func.sum(messages.c.length), 0)).where(*self._of(session_id))
        count, length = (await self._connection.execute(statement)).one()
        return int(count), int(length)

    async def clear(self, session_id: str) -> int:
        """Remove every message of a session whose row is locked."""
        return await self._run(delete(messages).where(*self._of(session_id)))

    async def copy_index(self, pairs: Sequence[tuple[UUID, UUID]], owner: str) -> None:
        """Give copied messages the postings and vectors of their originals: pairs of (original, copy)."""
        mapping = func.unnest(
            bindparam(None, [pair[0] for pair in pairs], type_=ARRAY(Uuid())),
            bindparam(None, [pair[1] for pair in pairs], type_=ARRAY(Uuid())),
        )
        copies = mapping.table_valued("original", "copy").render_derived()
        for index, columns in ((message_postings, ("token", "tf", "len")), (message_vectors, _VECTOR_COLUMNS)):
            rows = (
                select(index.c.tenant_id, literal(owner, Text()), copies.c.copy, *(index.c[name] for name in columns))
                .join_from(copies, index, index.c.message_id == copies.c.original)
                .where(index.c.tenant_id == self._tenant_id)
            )
            await self._run(insert(index).from_select(["tenant_id", "owner", "message_id", *columns], rows))

    def _of(self, session_id: str) -> list[Any]:
        return [messages.c.tenant_id == self._tenant_id, messages.c.session_id == session_id]
