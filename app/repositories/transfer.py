"""Rows on their way out of an installation and into another one, in an order in which they can be stored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import asyncpg
from sqlalchemy import ARRAY, Column, RowMapping, Table, Text, Uuid, bindparam, func, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import DBAPIError

from app.db.faults import driver_error
from app.db.models import (
    block_versions,
    blocks,
    checkpoint_blobs,
    checkpoint_steps,
    checkpoint_threads,
    checkpoint_writes,
    checkpoints,
    experiences,
    key_aliases,
    lessons,
    memories,
    memory_conflicts,
    memory_events,
    memory_keys,
    memory_sources,
    messages,
    owner_stats,
    procedure_versions,
    procedures,
    session_states,
    sessions,
    store_items,
    store_texts,
    summaries,
    users,
)
from app.repositories.base import Repository

LEFT_OUT: Final[Mapping[str, frozenset[str]]] = {
    "sessions": frozenset({"embedded_seq"}),
    "memories": frozenset({"superseded_by", "sealed", "content_hash"}),
    "store_texts": frozenset({"model_id", "embedding", "second_model_id", "second_embedding"}),
}
"""What is computed anew where it arrives, or told by a line of its own."""

TABLES: Final[Mapping[str, Table]] = {
    table.name: table
    for table in (
        *(memory_keys, key_aliases, users, sessions, messages, session_states, summaries),
        *(memories, memory_sources, memory_events, memory_conflicts),
        *(procedures, procedure_versions, lessons, experiences, blocks, block_versions),
        *(checkpoint_threads, checkpoints, checkpoint_blobs, checkpoint_writes, checkpoint_steps),
        *(store_items, store_texts),
    )
}
"""Every table of which rows are carried."""

CHILDREN: Final[Mapping[str, tuple[tuple[Table, str], ...]]] = {
    "sessions": ((session_states, "session_id"), (summaries, "session_id")),
    "memories": ((memory_sources, "memory_id"), (memory_events, "memory_id")),
    "procedures": ((procedure_versions, "procedure_id"),),
    "lessons": ((experiences, "lesson_id"),),
    "blocks": ((block_versions, "block_id"),),
    "checkpoint_threads": tuple(
        (table, "thread_id") for table in (checkpoints, checkpoint_blobs, checkpoint_writes, checkpoint_steps)
    ),
    "store_items": ((store_texts, "item_id"),),
    "memory_keys": ((key_aliases, "key"),),
}
"""Which rows go along with those of a table, and by which column."""


def carried(table: Table) -> list[Column[Any]]:
    """The columns that are carried, in their order."""
    left_out = LEFT_OUT.get(table.name, frozenset()) | {"tenant_id"}
    return [column for column in table.columns if column.name not in left_out]


@dataclass(frozen=True, slots=True)
class Kept:
    """Rows that are listed page by page: of one owner (by `owner`), or of one user or of none (by `user_id`)."""

    table: Table
    by: str
    order: tuple[str, ...]


SESSIONS: Final = Kept(sessions, "owner", ("created_at", "id"))
MEMORIES: Final = Kept(memories, "owner", ("id",))
PROCEDURES: Final = Kept(procedures, "owner", ("id",))
LESSONS: Final = Kept(lessons, "owner", ("id",))
BLOCKS: Final = Kept(blocks, "user_id", ("id",))
THREADS: Final = Kept(checkpoint_threads, "user_id", ("thread_id",))
ITEMS: Final = Kept(store_items, "user_id", ("path", "key"))
KEYS: Final = Kept(memory_keys, "", ("key",))


_OF_THE_ROWS: Final = (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError, asyncpg.ProgramLimitExceededError)


class Unstorable(Exception):  # noqa: N818 - a state of affairs
    """A row contradicts what is stored, or refers to what is not there."""


class TransferRepository(Repository):
    """The tables of `TABLES`."""

    async def owners(self, after: str, limit: int) -> list[str]:
        """Owners of anything, by name."""
        statement = select(owner_stats.c.owner).where(
            owner_stats.c.tenant_id == self._tenant_id, owner_stats.c.owner > after
        )
        return [row["owner"] for row in await self._all(statement.order_by(owner_stats.c.owner).limit(limit))]

    async def users(self, after: str, limit: int) -> list[RowMapping]:
        """Users, by id."""
        statement = select(users).where(users.c.tenant_id == self._tenant_id, users.c.id > after)
        return await self._all(statement.order_by(users.c.id).limit(limit))

    async def page(self, kept: Kept, of: str | None, after: Sequence[Any] | None, limit: int) -> list[RowMapping]:
        """Rows of one owner or user (None: of no user), in a fixed order, behind a place."""
        table = kept.table
        order = [table.c[name] for name in kept.order]
        statement = select(table).where(table.c.tenant_id == self._tenant_id)
        if kept.by:
            statement = statement.where(table.c[kept.by].is_(None) if of is None else table.c[kept.by] == of)
        if after is not None:
            statement = statement.where(tuple_(*order) > tuple_(*after))
        return await self._all(statement.order_by(*order).limit(limit))

    async def children(self, table: Table, column: str, of: Sequence[Any]) -> list[RowMapping]:
        """Rows that go along with others, in the order of their keys."""
        kind = Uuid() if isinstance(table.c[column].type, Uuid) else Text(collation="C")
        named = func.any(bindparam(None, list(of), type_=ARRAY(kind)))
        statement = select(table).where(table.c.tenant_id == self._tenant_id, table.c[column] == named)
        return await self._all(statement.order_by(*table.primary_key.columns))

    async def messages(self, session_id: str, after: int, limit: int) -> list[RowMapping]:
        """A session's messages behind a number."""
        statement = select(messages).where(
            messages.c.tenant_id == self._tenant_id, messages.c.session_id == session_id, messages.c.seq > after
        )
        return await self._all(statement.order_by(messages.c.seq).limit(limit))

    async def conflicts(self, memory_ids: Sequence[UUID]) -> list[RowMapping]:
        """Contradictions in which these memories came first."""
        statement = select(memory_conflicts).where(
            memory_conflicts.c.tenant_id == self._tenant_id, memory_conflicts.c.memory_id == func.any(list(memory_ids))
        )
        return await self._all(statement.order_by(memory_conflicts.c.id))

    async def put(self, table: Table, rows: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
        """Store rows that are not there yet; the keys of those that were stored."""
        keys = [column for column in table.primary_key.columns if column.name != "tenant_id"]
        alike: dict[frozenset[str], list[dict[str, Any]]] = {}
        for row in rows:  # one INSERT has the same columns in every row
            alike.setdefault(frozenset(row), []).append({"tenant_id": self._tenant_id, **row})
        stored: list[tuple[Any, ...]] = []
        for given in alike.values():
            statement = insert(table).values(given).on_conflict_do_nothing().returning(*keys)
            try:
                stored += [tuple(row) for row in (await self._connection.execute(statement)).all()]
            except DBAPIError as error:
                if isinstance(driver_error(error), _OF_THE_ROWS):
                    raise Unstorable from error
                raise
        return stored

    async def link(self, links: Sequence[tuple[UUID, UUID]]) -> None:
        """Say of memories what has superseded them, where nothing is said yet."""
        given = (
            func.unnest(
                bindparam(None, [one for one, _ in links], type_=ARRAY(Uuid())),
                bindparam(None, [by for _, by in links], type_=ARRAY(Uuid())),
            )
            .table_valued("id", "by")
            .render_derived()
        )
        ids = func.any(bindparam(None, [one for one, _ in links], type_=ARRAY(Uuid())))
        statement = update(memories).where(
            memories.c.tenant_id == self._tenant_id,
            memories.c.id == given.c.id,
            memories.c.id == ids,
            memories.c.superseded_by.is_(None),
        )
        await self._run(statement.values(superseded_by=given.c.by))
