"""What a row that is brought in hangs on, and whose that is."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ARRAY, RowMapping, Table, Text, Uuid, bindparam, func, select, tuple_, update

from app.db.models import (
    blocks,
    checkpoint_threads,
    lessons,
    memories,
    messages,
    procedures,
    sessions,
    store_items,
)
from app.domain.scope import Scope
from app.repositories.base import Repository


@dataclass(frozen=True, slots=True)
class Parent:
    """A table that others hang on: by which column, and in which it says whose a row is."""

    table: Table
    key: str
    whose: str = "owner"


@dataclass(frozen=True, slots=True)
class Tie:
    """A column that names a row of another table.

    `one_owner`: both rows have the same owner. `may_be_nobodys`: a user's row may hang on what is no user's.
    """

    column: str
    parent: Parent
    one_owner: bool = False
    may_be_nobodys: bool = False


SESSION: Final = Parent(sessions, "id")
MEMORY: Final = Parent(memories, "id")
_PROCEDURE: Final = Parent(procedures, "id")
_LESSON: Final = Parent(lessons, "id")
_BLOCK: Final = Parent(blocks, "id")
_THREAD: Final = Parent(checkpoint_threads, "thread_id", "user_id")
_ITEM: Final = Parent(store_items, "id", "user_id")

_OF_SESSION: Final = (Tie("session_id", SESSION),)
_OF_MEMORY: Final = (Tie("memory_id", MEMORY),)
_OF_THREAD: Final = (Tie("thread_id", _THREAD),)

TIES: Final[Mapping[str, tuple[Tie, ...]]] = {
    "messages": (Tie("session_id", SESSION, one_owner=True),),
    "session_states": _OF_SESSION,
    "summaries": _OF_SESSION,
    "memories": (Tie("session_id", SESSION, may_be_nobodys=True),),
    "memory_sources": _OF_MEMORY,
    "memory_events": _OF_MEMORY,
    "memory_conflicts": (*_OF_MEMORY, Tie("other_id", MEMORY)),
    "memory_links": (Tie("id", MEMORY), Tie("superseded_by", MEMORY)),
    "procedures": (Tie("id", MEMORY, one_owner=True), Tie("lesson_id", MEMORY)),
    "procedure_versions": (Tie("procedure_id", _PROCEDURE),),
    "lessons": (Tie("id", MEMORY, one_owner=True),),
    "experiences": (Tie("lesson_id", _LESSON),),
    "block_versions": (Tie("block_id", _BLOCK),),
    "checkpoint_threads": _OF_SESSION,
    "checkpoints": _OF_THREAD,
    "checkpoint_blobs": _OF_THREAD,
    "checkpoint_writes": _OF_THREAD,
    "checkpoint_steps": _OF_THREAD,
    "store_texts": (Tie("item_id", _ITEM),),
}
"""By table. What a row may name that is not there any more (the session of a source) is no tie."""

PLACE: Final = frozenset({"owner", "user_id", "seq", "memory_id", "lesson_id", "id"})
"""Columns by which a row that has the same key is seen to be another."""


class TieRepository(Repository):
    """Rows of the tables that others hang on."""

    async def owners_of(self, parent: Parent, keys: Collection[Any], *, locked: bool = False) -> dict[Any, str]:
        """The owners of those of these rows that there are, by their keys; `locked` holds the rows until the commit."""
        if not keys:
            return {}
        key, whose = parent.table.c[parent.key], parent.table.c[parent.whose]
        kind = Uuid() if isinstance(key.type, Uuid) else Text(collation="C")
        named = func.any(bindparam(None, sorted(keys), type_=ARRAY(kind)))
        statement = select(key.label("key"), whose.label("whose")).where(
            parent.table.c.tenant_id == self._tenant_id, key == named
        )
        if locked:
            statement = statement.order_by(key).with_for_update()
        rows = await self._all(statement)
        if parent.whose == "user_id":
            return {row["key"]: Scope(row["whose"]).owner for row in rows}
        return {row["key"]: row["whose"] for row in rows}

    async def standing(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> list[RowMapping]:
        """What is stored under the keys of these rows: the keys, and where in the whole each stands (`PLACE`)."""
        keys = keys_of(table)
        columns = [column for column in table.columns if column.name in {*keys, *PLACE} - {"tenant_id"}]
        if table is messages:
            columns.append(messages.c.session_id)
        named = tuple_(*(table.c[name] for name in keys)).in_([tuple(row[name] for name in keys) for row in rows])
        return await self._all(select(*columns).where(table.c.tenant_id == self._tenant_id, named))

    async def follow(self, last: Mapping[str, int]) -> None:
        """Let sessions whose rows are locked know of messages up to these numbers."""
        for session_id, seq in last.items():
            said = select(func.count()).where(
                messages.c.tenant_id == self._tenant_id, messages.c.session_id == session_id
            )
            behind = update(sessions).where(
                sessions.c.tenant_id == self._tenant_id, sessions.c.id == session_id, sessions.c.last_seq < seq
            )
            await self._run(behind.values(last_seq=seq, message_count=said.scalar_subquery()))


def keys_of(table: Table) -> list[str]:
    """The columns of a table's primary key within its tenant."""
    return [column.name for column in table.primary_key.columns if column.name != "tenant_id"]
