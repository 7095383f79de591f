"""Memories: one write path, which reinforces what is known instead of storing it twice."""

from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    DateTime,
    Integer,
    RowMapping,
    Text,
    Uuid,
    and_,
    bindparam,
    cast,
    delete,
    func,
    literal_column,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB, aggregate_order_by, insert

from app.db.models import memories, memory_events, memory_postings, memory_sources
from app.db.models.memories import CURRENT
from app.domain.memory import VISIBLE_STATUSES
from app.repositories.base import Repository, RowLike, filled
from app.repositories.dedupe import PUT, REINFORCED
from app.repositories.postings import INSERT, Posting, posted
from app.repositories.prepared import Prepared
from app.repositories.selection import PAST_STATUSES, Selection, Then, held_at, undeleted

ROWS_OF_ONE_STATEMENT: Final = 500
"""PostgreSQL takes 32,767 parameters in one statement."""


_TENANT: Final = bindparam("tenant_id", type_=Uuid())
_IDS: Final = bindparam("ids", type_=ARRAY(Uuid()))
_BY_IDS: Final = select(memories).where(memories.c.tenant_id == _TENANT, memories.c.id == func.any(_IDS))
_SOURCES: Final = (
    select(memory_sources)
    .where(memory_sources.c.tenant_id == _TENANT, memory_sources.c.memory_id == func.any(_IDS))
    .order_by(memory_sources.c.id)
)
_SOURCE_FIELDS: Final = ("session_id", "seqs", "message_ids", "external_ids", "quote")
_NAMED_FIELDS: Final = [(literal_column(f"'{name}'", Text()), memory_sources.c[name]) for name in _SOURCE_FIELDS]
_AS_OBJECT: Final = func.json_build_object(*chain.from_iterable(_NAMED_FIELDS))
_OF_MEMORY: Final = (
    select(func.coalesce(func.json_agg(aggregate_order_by(_AS_OBJECT, memory_sources.c.id)), literal_column("'[]'")))
    .where(memory_sources.c.tenant_id == _TENANT, memory_sources.c.memory_id == memories.c.id)
    .correlate(memories)
    .scalar_subquery()
)
SERVED_COLUMNS: Final = (
    *("id", "owner", "user_id", "agent_id", "app_id", "session_id", "status", "text", "tokens", "metadata"),
    *("kind", "category", "key", "value", "source", "uncertain", "confidence", "importance", "weight", "pinned"),
    *("occurred_at", "created_at", "valid_from", "valid_to", "expires_at", "last_seen_at", "needs_confirmation"),
    *("sensitive", "sealed", "flags"),
)
"""What a hit shows of a memory."""

_SERVED: Final = (memories.c[name] for name in SERVED_COLUMNS)
_WITH_SOURCES: Final = select(*_SERVED, cast(_OF_MEMORY, JSONB).label("sources")).where(
    memories.c.tenant_id == _TENANT, memories.c.id == func.any(_IDS)
)
_BOUND: Final = or_(
    memories.c.user_id == func.any(bindparam("bound_users", type_=ARRAY(Text(collation="C")))),
    and_(memories.c.user_id.is_(None), memories.c.session_id.is_(None)),
)
_WITH_SOURCES_OF: Final = {False: Prepared.of(_WITH_SOURCES), True: Prepared.of(_WITH_SOURCES.where(_BOUND))}
"""For keys that are, or are not, bound to users; in one statement, because it is in the path of every search."""


class MemoryRepository(Repository):
    """The memories of a tenant that the key may see."""

    async def put(self, rows: Sequence[dict[str, Any]]) -> list[RowMapping]:
        """Store memories, or reinforce the active one that says the same; each row comes back with `created`.

        Rows must differ in what the dedupe index sees. Reinforcement moves `seen_count`, `last_seen_at` and
        `confidence`, and neither `version` nor `updated_at`; but what was uncertain becomes a fact, as a new version,
        when it comes from a source that is served as fact. Of two ends of life the later one holds; what has ended
        already stays so.
        """
        stored: list[RowMapping] = []
        for start in range(0, len(rows), ROWS_OF_ONE_STATEMENT):
            stored += await self._put(rows[start : start + ROWS_OF_ONE_STATEMENT])
        return stored

    async def _put(self, rows: Sequence[dict[str, Any]]) -> list[RowMapping]:
        return await self._all(*filled(PUT, [{"tenant_id": self._tenant_id, **row} for row in rows]))

    async def reinforce(self, memory_id: UUID, said: RowLike) -> RowMapping:
        """Count one more saying of a memory, as `put` does for the same text; what was uncertain may become a fact."""
        known = memories.c
        values: dict[str, Any] = {
            "seen_count": known.seen_count + 1,
            "last_seen_at": func.greatest(known.last_seen_at, said["last_seen_at"]),
            "confidence": REINFORCED,
            "needs_confirmation": False,
        }
        statement = update(memories).where(*self._one(memory_id)).values(values).returning(memories)
        row = await self._one_row(statement)
        if not row["uncertain"] or said["uncertain"]:
            return row
        settled = {
            "uncertain": False,
            "source": said["source"],
            "confidence": max(row["confidence"], said["confidence"]),
            "updated_at": said["updated_at"],
        }
        return await self.change(memory_id, settled)

    async def index(self, owner: str, postings: Sequence[Posting]) -> None:
        """Store the postings of one owner's new texts."""
        values = posted(self._tenant_id, owner, postings)
        if values is not None:
            await self._run(INSERT[memory_postings.name], values)

    async def unindex(self, memory_id: UUID) -> None:
        """Remove a text's postings, before it is indexed anew."""
        statement = memory_postings.delete().where(
            memory_postings.c.tenant_id == self._tenant_id, memory_postings.c.memory_id == memory_id
        )
        await self._run(statement)

    async def get(self, memory_id: UUID, *, unexpired_at: datetime | None = None) -> RowMapping | None:
        """One memory, in any state but deleted; None where it is absent or another's, or past its time by then."""
        return await self._first(select(memories).where(*self._there(memory_id), *undeleted(unexpired_at)))

    async def get_for_update(self, memory_id: UUID, *, unexpired_at: datetime | None = None) -> RowMapping | None:
        """The same, its row locked until the commit."""
        return await self._first(
            select(memories).where(*self._there(memory_id), *undeleted(unexpired_at)).with_for_update()
        )

    async def get_any(self, memory_id: UUID) -> RowMapping | None:
        """One memory, a deleted one too."""
        return await self._first(select(memories).where(*self._there(memory_id)))

    async def get_any_for_update(self, memory_id: UUID) -> RowMapping | None:
        """The same, its row locked until the commit."""
        return await self._first(select(memories).where(*self._there(memory_id)).with_for_update())

    async def owners_of(self, selection: Selection) -> list[str]:
        """Whose the selected memories are, in the order in which owners are locked."""
        statement = select(memories.c.owner).distinct().where(*self._selected(selection))
        return sorted((await self._connection.execute(statement)).scalars().all())

    async def lock_selected(self, selection: Selection, owners: Sequence[str], limit: int) -> list[RowMapping]:
        """Selected memories of owners that are locked, oldest first, their rows locked until the commit."""
        theirs = memories.c.owner == func.any(bindparam(None, list(owners), type_=ARRAY(Text(collation="C"))))
        statement = select(memories).where(*self._selected(selection), theirs).order_by(memories.c.id).limit(limit)
        return await self._all(statement.with_for_update())

    async def delete_many(self, ids: Sequence[UUID], at: datetime) -> list[RowMapping]:
        """Mark memories as deleted whose rows are locked."""
        statement = update(memories).where(
            memories.c.tenant_id == self._tenant_id, memories.c.id == func.any(list(ids))
        )
        values = {"status": "deleted", "deleted_at": at, "updated_at": at, "version": memories.c.version + 1}
        return await self._all(statement.values(values).returning(memories))

    async def erase(self, memory_id: UUID) -> None:
        """Remove a memory with its history, sources, postings and vectors."""
        await self._run(delete(memories).where(*self._one(memory_id)))

    async def twin(self, wanted: RowLike) -> UUID | None:
        """Another current memory that the dedupe index would not let stand beside `wanted`, a row as it is to be."""
        same = ("agent_id", "app_id", "session_id", "key")
        value = cast(bindparam(None, wanted["value"], type_=JSONB(none_as_null=True)), Text())
        statement = select(memories.c.id).where(
            memories.c.tenant_id == self._tenant_id,
            memories.c.owner == wanted["owner"],
            memories.c.kind == wanted["kind"],
            memories.c.content_hash == wanted["content_hash"],
            text(CURRENT),
            memories.c.id != wanted["id"],
            func.md5(cast(memories.c.value, Text())).is_not_distinct_from(func.md5(value)),
            *(memories.c[name].is_not_distinct_from(wanted[name]) for name in same),
        )
        found = await self._first(statement.limit(1))
        return None if found is None else found["id"]

    async def by_ids(self, ids: Sequence[UUID], *, served: bool = False) -> list[RowMapping]:
        """Memories by id, in no order; `served` leaves out those of sessions that are past their time."""
        seen = self._served() if served else self._seen()
        statement = _BY_IDS.where(*seen) if seen else _BY_IDS
        return await self._all(statement, {"tenant_id": self._tenant_id, "ids": list(ids)})

    async def with_sources(self, ids: Sequence[UUID]) -> list[dict[str, Any]]:
        """What is served of memories, in no order, with where each came from as `sources`: objects, oldest first."""
        values = {"tenant_id": self._tenant_id, "ids": list(ids), "bound_users": sorted(self._user_ids or ())}
        return await _WITH_SOURCES_OF[self._user_ids is not None].read(self._connection, values)

    async def change(self, memory_id: UUID, values: dict[str, Any]) -> RowMapping:
        """Write columns and raise the version of a memory whose row is locked."""
        statement = (
            update(memories)
            .where(*self._one(memory_id))
            .values(version=memories.c.version + 1, **values)
            .returning(memories)
        )
        return await self._one_row(statement)

    async def accessed(self, seen: Sequence[tuple[UUID, int, datetime]]) -> int:
        """Count accesses: pairs of a memory, how often, and when last. Rows that others hold are passed over."""
        given = (
            func.unnest(
                bindparam(None, [one[0] for one in seen], type_=ARRAY(Uuid())),
                bindparam(None, [one[1] for one in seen], type_=ARRAY(Integer())),
                bindparam(None, [one[2] for one in seen], type_=ARRAY(DateTime(timezone=True))),
            )
            .table_valued("id", "times", "last")
            .render_derived()
        )
        free = (
            select(memories.c.id, given.c.times, given.c.last)
            .join_from(given, memories, memories.c.id == given.c.id)
            .where(memories.c.tenant_id == self._tenant_id)
            .with_for_update(of=memories, key_share=True, skip_locked=True)
            .cte("free")
        )
        statement = (
            update(memories)
            .where(memories.c.tenant_id == self._tenant_id, memories.c.id == free.c.id)
            .values(
                access_count=memories.c.access_count + free.c.times,
                last_accessed_at=func.greatest(memories.c.last_accessed_at, free.c.last),
            )
        )
        return await self._run(statement)

    async def page(self, selection: Selection, before: UUID | None, limit: int) -> list[RowMapping]:
        """Memories, newest first, before a keyset position."""
        statement = select(memories).where(*self._selected(selection))
        if before is not None:
            statement = statement.where(memories.c.id < before)
        return await self._all(statement.order_by(memories.c.id.desc()).limit(limit))

    async def important(self, selection: Selection, limit: int) -> list[RowMapping]:
        """Memories that matter most, the newest of equals first."""
        statement = select(*(memories.c[name] for name in SERVED_COLUMNS)).where(*self._selected(selection))
        order = (memories.c.pinned.desc(), memories.c.importance.desc(), memories.c.id.desc())
        return await self._all(statement.order_by(*order).limit(limit))

    async def count(self, selection: Selection) -> int:
        """How many memories the selection leaves."""
        statement = select(func.count()).select_from(memories).where(*self._selected(selection))
        return int((await self._connection.execute(statement)).scalar_one())

    async def drawn_from_only(self, session_id: str) -> list[RowMapping]:
        """Current memories whose every source is this session, their rows locked. Their owners must be locked."""
        drawn = select(memory_sources.c.memory_id).where(
            memory_sources.c.tenant_id == self._tenant_id, memory_sources.c.session_id == session_id
        )
        elsewhere = select(memory_sources.c.id).where(
            memory_sources.c.tenant_id == self._tenant_id,
            memory_sources.c.memory_id == memories.c.id,
            memory_sources.c.session_id.is_distinct_from(session_id),
        )
        statement = select(memories).where(
            memories.c.tenant_id == self._tenant_id,
            memories.c.id.in_(drawn),
            memories.c.status.in_(VISIBLE_STATUSES),
            ~elsewhere.exists(),
            *self._seen(),
        )
        return await self._all(statement.order_by(memories.c.id).with_for_update())

    async def record(self, events: Sequence[dict[str, Any]]) -> None:
        """Append to the history."""
        if events:
            rows = [{"tenant_id": self._tenant_id, **event} for event in events]
            await self._run(*filled(insert(memory_events), rows))

    async def history(self, memory_id: UUID) -> list[RowMapping]:
        """Everything that happened to a memory, oldest first."""
        statement = select(memory_events).where(
            memory_events.c.tenant_id == self._tenant_id, memory_events.c.memory_id == memory_id
        )
        return await self._all(statement.order_by(memory_events.c.id))

    async def held(self, memory_id: UUID, then: Then) -> bool:
        """Whether a memory was there and true at another time."""
        as_of, known_at = then.as_of or then.known_at, then.known_at
        if as_of is None:
            return True
        then_true = [memories.c.status.in_(PAST_STATUSES), *held_at(then, as_of, known_at or as_of)]
        return await self._first(select(memories.c.id).where(*self._there(memory_id), *then_true)) is not None

    async def any_for_update(self, ids: Sequence[UUID]) -> list[RowMapping]:
        """Memories in any state that the key may see, in the order of their ids, rows locked until the commit."""
        statement = _BY_IDS.where(*self._served()).order_by(memories.c.id).with_for_update()
        return await self._all(statement, {"tenant_id": self._tenant_id, "ids": list(ids)})

    async def exists(self, memory_id: UUID) -> bool:
        """Whether there is such a memory for this key, deleted ones included."""
        return await self._first(select(memories.c.id).where(*self._there(memory_id))) is not None

    async def add_sources(self, sources: Sequence[dict[str, Any]]) -> None:
        """Store where memories came from, each place once. The memories' owners must be locked."""
        if not sources:
            return
        known = {_place(row) for row in await self.sources(sorted({source["memory_id"] for source in sources}))}
        fresh: dict[tuple[Any, ...], dict[str, Any]] = {}
        for source in sources:
            if _place(source) not in known:
                fresh.setdefault(_place(source), {"tenant_id": self._tenant_id, **source})
        rows = list(fresh.values())
        for start in range(0, len(rows), ROWS_OF_ONE_STATEMENT):
            await self._run(*filled(insert(memory_sources), rows[start : start + ROWS_OF_ONE_STATEMENT]))

    async def drawn(self, session_id: str, seqs: Sequence[int]) -> list[RowMapping]:
        """What memories, deleted ones too, have been drawn from these messages: rows of `content_hash` and `seqs`."""
        statement = (
            select(memories.c.content_hash, memory_sources.c.seqs)
            .join_from(
                memory_sources,
                memories,
                and_(memories.c.tenant_id == self._tenant_id, memories.c.id == memory_sources.c.memory_id),
            )
            .where(
                memory_sources.c.tenant_id == self._tenant_id,
                memory_sources.c.session_id == session_id,
                memory_sources.c.seqs.bool_op("&&")(bindparam(None, list(seqs), type_=ARRAY(BigInteger()))),
            )
        )
        return await self._all(statement)

    async def sources(self, ids: Sequence[UUID]) -> list[RowMapping]:
        """Where these memories came from, oldest first."""
        return await self._all(_SOURCES, {"tenant_id": self._tenant_id, "ids": list(ids)})

    def _selected(self, selection: Selection) -> list[ColumnElement[bool]]:
        return [memories.c.tenant_id == self._tenant_id, *self._served(), *selection.conditions()]

    def _one(self, memory_id: UUID) -> list[Any]:
        return [memories.c.tenant_id == self._tenant_id, memories.c.id == memory_id, *self._seen()]

    def _there(self, memory_id: UUID) -> list[Any]:
        return [memories.c.tenant_id == self._tenant_id, memories.c.id == memory_id, *self._served()]

    def _seen(self) -> list[ColumnElement[bool]]:
        return self._own_or_shared(memories.c.user_id, memories.c.session_id)

    def _served(self) -> list[ColumnElement[bool]]:
        """What a caller may be shown: a session's memories only as long as the session lasts."""
        return [*self._seen(), self._outside_expired(memories.c.session_id)]


def _place(source: RowMapping | dict[str, Any]) -> tuple[Any, ...]:
    """What makes two sources of a memory the same."""
    return (source["memory_id"], source["session_id"], tuple(source["seqs"]), source["quote"])
