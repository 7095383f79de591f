"""A query's legs over memories or messages, as candidates with their raw scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, Literal
from uuid import UUID

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector
from sqlalchemy import (
    ARRAY,
    Column,
    ColumnElement,
    DateTime,
    Integer,
    Select,
    Text,
    bindparam,
    func,
    literal_column,
    or_,
    select,
    text,
)

from app.core import clock
from app.db.models import (
    memories,
    memory_postings,
    memory_vectors,
    message_postings,
    message_vectors,
    messages,
    owner_stats,
    sessions,
)
from app.domain.memory import VISIBLE_STATUSES
from app.domain.scope import Scope
from app.repositories.base import Repository, outside_expired
from app.repositories.corpus import OWNERS, TENANT, Corpus, Path
from app.repositories.legs import LegShape, extent_statement, legs_statement
from app.repositories.models import ModelRecord
from app.repositories.prepared import Prepared
from app.repositories.selection import Selection

EXACT_UP_TO: Final = 5_000
"""Rows in scope up to which every vector is compared: exact, and faster than the index (ADR 6)."""

_ANEW: Final = "set_config('plan_cache_mode', 'auto', true), set_config('enable_seqscan', 'on', true)"
"""Takes back what a transaction that plans once has set, for statements whose joins the planner is to order."""

# A walk goes on, in order, until enough rows in scope were met: the default of 20,000 would end it among other owners'.
_WALK: Final = text(
    "SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', '100', true), "
    "set_config('hnsw.max_scan_tuples', '200000', true), set_config('hnsw.scan_mem_multiplier', '4', true), "
    f"{_ANEW}, "
    "set_config('enable_sort', 'off', true)"  # the planner would rather compare every vector than walk the index
)


_PLANNED_ANEW: Final = text(f"SELECT {_ANEW}")
_ESTIMATE: Final = text("SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass(:name)")
"""The planner's own estimate: no count would be worth its time."""


_SOME_PROCEDURAL: Final = (
    select(memories.c.id)
    .where(
        memories.c.tenant_id == TENANT,
        memories.c.owner == func.any(OWNERS),
        memories.c.kind == literal_column("'procedural'"),  # in words, as the partial index has it
        memories.c.status.in_([literal_column(f"'{status}'") for status in VISIBLE_STATUSES]),
    )
    .limit(bindparam("most", type_=Integer()))
    .subquery()
)
_PROCEDURAL: Final = Prepared.of(select(func.count().label("rows")).select_from(_SOME_PROCEDURAL))


@dataclass(frozen=True, slots=True)
class DenseQuery:
    """A question's vector, shape (dimension,), and the model that made it."""

    vector: npt.NDArray[np.float32]
    model: ModelRecord


@dataclass(frozen=True, slots=True)
class TimeQuery:
    """Rows of a period [since, until), or the newest where it has no bounds."""

    since: datetime | None = None
    until: datetime | None = None

    @property
    def how(self) -> Literal["period", "latest"]:
        """Whether there is a bound."""
        return "latest" if self.since is None and self.until is None else "period"


@dataclass(frozen=True, slots=True)
class LegQuery:
    """What to look for, and among whom.

    Args:
        owners: Whose rows.
        tokens: The question's distinct tokens; empty switches the lexical leg off.
        dense: The question's vector; None switches the dense leg off.
        limit: How many rows each leg brings.
        path: How the dense leg looks for the nearest.
        time: Which time the question names; None switches the time leg off.
        keys: Keys that the question may mean; empty switches the key leg off.
        constraints: Whether pinned constraints are brought.
        neighbours: Whether what stands directly before and after a message found is brought too.
    """

    owners: Sequence[str]
    tokens: Sequence[str]
    dense: DenseQuery | None
    limit: int
    path: Path = "exact"
    time: TimeQuery | None = None
    keys: Sequence[str] = ()
    constraints: bool = False
    neighbours: bool = False

    @property
    def shape(self) -> LegShape:
        """What the statement's text depends on."""
        return LegShape(
            path=self.path,
            model=None if self.dense is None else self.dense.model,
            lexical=bool(self.tokens),
            time=None if self.time is None else self.time.how,
            keyed=bool(self.keys),
            constraints=self.constraints,
            neighbours=self.neighbours,
        )

    def values(self) -> dict[str, Any]:
        """The values of the statement's parameters, by name."""
        time = self.time or TimeQuery()
        return {
            "owners": list(self.owners),
            "leg_limit": self.limit,
            "tokens": list(self.tokens),
            "question": None if self.dense is None else HalfVector(self.dense.vector),
            "since": time.since or datetime.min.replace(tzinfo=UTC),
            "until": time.until or datetime.max.replace(tzinfo=UTC),
            "keys": list(self.keys),
        }


@dataclass(frozen=True, slots=True)
class Extent:
    """How many rows a selection leaves, counted up to a bound, and whose they are."""

    owners: list[str]
    rows: int


@dataclass(frozen=True, slots=True)
class Period:
    """Which messages: said by whom, from when to when; empty and None do not restrict."""

    roles: Sequence[str] = ()
    since: datetime | None = None
    until: datetime | None = None

    @property
    def restricts(self) -> bool:
        """Whether it leaves anything out."""
        return bool(self.roles) or self.since is not None or self.until is not None


def _counted(kind: str) -> tuple[Column[int], Column[int]]:
    return owner_stats.c[f"{kind}_count"], owner_stats.c[f"{kind}_tokens"]


_FOUND: Final = ("id", "cosine", "bm25", "coverage")
_MEMORY_FEATURES: Final = ("last_accessed_at", "importance", "weight", "confidence")
_MESSAGE_FEATURES: Final = ("session_id", "seq")
MEMORY_COLUMNS: Final = (*_FOUND, "happened", *_MEMORY_FEATURES, "constraint", "named")
MESSAGE_COLUMNS: Final = (*_FOUND, "happened", *_MESSAGE_FEATURES)
"""What a row of candidates holds, in this order."""

_MEMORIES: Final = Corpus(memories, memory_postings, memory_vectors, _counted("memory"), "memory_id", _MEMORY_FEATURES)
_MESSAGES: Final = Corpus(
    messages, message_postings, message_vectors, _counted("message"), "message_id", _MESSAGE_FEATURES
)


@dataclass(frozen=True, slots=True)
class MessageSelection:
    """Which messages may be served: those of sessions in scope that last, in a period."""

    scope: Scope
    period: Period
    bound: bool

    @property
    def shape(self) -> tuple[bool, ...]:
        """What the text of the conditions depends on."""
        scope, period = self.scope, self.period
        named = (scope.agent_id, scope.app_id, scope.session_id, period.since, period.until)
        return (*(value is not None for value in named), bool(period.roles), self.bound)

    def values(self) -> dict[str, Any]:
        """The values of the conditions' parameters, by name."""
        scope, period = self.scope, self.period
        return {
            "of_agent": scope.agent_id,
            "of_app": scope.app_id,
            "of_session": scope.session_id,
            "said_since": period.since,
            "said_until": period.until,
            "of_roles": list(period.roles),
        }

    def conditions(self) -> list[ColumnElement[bool]]:
        """A user's messages are known by their owner; any other scope is the session's, and so is the expiry."""
        scope, period = self.scope, self.period
        lasting = outside_expired(messages.c.session_id, TENANT, _at("now"))
        conditions = [messages.c.redacted_at.is_(None), lasting]
        if scope.session_id is not None:
            conditions.append(messages.c.session_id == _name("of_session"))
        if self.bound:
            conditions.append(messages.c.owner == _any_of("bound_owners"))
        if scope.agent_id is not None or scope.app_id is not None:
            within = select(sessions.c.id).where(sessions.c.tenant_id == TENANT, sessions.c.id == messages.c.session_id)
            if scope.agent_id is not None:
                within = within.where(sessions.c.agent_id == _name("of_agent"))
            if scope.app_id is not None:
                within = within.where(sessions.c.app_id == _name("of_app"))
            conditions.append(within.exists())
        if period.roles:
            conditions.append(messages.c.role == _any_of("of_roles"))
        if period.since is not None:
            conditions.append(messages.c.occurred_at >= _at("said_since"))
        if period.until is not None:
            conditions.append(messages.c.occurred_at < _at("said_until"))
        return conditions


class SearchRepository(Repository):
    """The legs. Each ranks only rows that may be served, so that nothing visible is crowded out."""

    async def memories(self, query: LegQuery, selection: Selection) -> list[Any]:
        """Candidates among memories: rows of `MEMORY_COLUMNS`."""
        return await self._find(_MEMORIES, query, selection)

    async def messages(self, query: LegQuery, scope: Scope, period: Period | None = None) -> list[Any]:
        """Candidates among messages of sessions in scope: rows of `MESSAGE_COLUMNS`."""
        return await self._find(_MESSAGES, query, self._said(scope, period or Period()))

    async def extent_of_memories(self, selection: Selection, most: int) -> Extent:
        """How many memories a selection leaves, and whose they are."""
        return await self._extent(_MEMORIES, selection, most)

    async def procedural(self, owners: Sequence[str], most: int) -> int:
        """How many lessons and procedures owners have, counted up to `most`."""
        values = {"tenant_id": self._tenant_id, "owners": list(owners), "most": most}
        (row,) = await _PROCEDURAL.run(self._connection, values)
        return int(row["rows"])

    async def extent_of_messages(self, scope: Scope, period: Period, most: int) -> Extent:
        """How many messages there are in scope and period, and whose they are."""
        return await self._extent(_MESSAGES, self._said(scope, period), most)

    async def indexed(self, corpus: Literal["memories", "messages"]) -> int:
        """How many vectors there are about, of every tenant: what an approximate index walks through."""
        table = _MEMORIES.vectors if corpus == "memories" else _MESSAGES.vectors
        count = (await self._connection.execute(_ESTIMATE, {"name": table.name})).scalar_one()
        return max(0, int(count))

    async def latest(self, owners: Sequence[str], scope: Scope, period: Period, limit: int) -> list[UUID]:
        """Messages in scope and period, newest first, where nothing in particular is looked for."""
        selection = self._said(scope, period)
        statement = select(messages.c.id).where(
            messages.c.tenant_id == self._tenant_id, _owned(owners), *selection.conditions()
        )
        latest = statement.order_by(messages.c.occurred_at.desc(), messages.c.id.desc()).limit(limit)
        values = {**selection.values(), **self._values()}
        wanted = {name: value for name, value in values.items() if name in latest.compile().params}
        return list((await self._connection.execute(latest, wanted)).scalars().all())

    def _said(self, scope: Scope, period: Period) -> MessageSelection:
        return MessageSelection(scope, period, self._user_ids is not None)

    async def _find(self, corpus: Corpus, query: LegQuery, selection: Selection | MessageSelection) -> list[Any]:
        shape = query.shape
        if not query.owners or not shape.any:
            return []
        if shape.model is not None and shape.path == "hnsw":
            await self._connection.execute(_WALK)
        bound = self._user_ids is not None
        values = {**selection.values(), **query.values(), **self._values()}
        if isinstance(selection, Selection) and selection.filter is not None:
            return await self._once(legs_statement(corpus, shape, _conditions(selection, bound=bound)), values)
        return await _legs(corpus.rows.name, shape, _Kept(selection, bound)).run(self._connection, values)

    async def _once(self, statement: Select[Any], values: dict[str, Any]) -> list[Any]:
        """Run a statement whose text is this request's own, as a filter's is."""
        named = statement.compile().params
        given = {name: value for name, value in values.items() if name in named}
        await self._connection.execute(_PLANNED_ANEW)
        return list((await self._connection.execute(statement, given)).all())

    async def _extent(self, corpus: Corpus, selection: Selection | MessageSelection, most: int) -> Extent:
        conditions = _conditions(selection, bound=self._user_ids is not None)
        values = {**selection.values(), **self._values(), "most": most}
        rows = await self._once(extent_statement(corpus, conditions), values)
        return Extent([row.owner for row in rows], sum(row.rows for row in rows))

    def _values(self) -> dict[str, Any]:
        bound = sorted(self._user_ids or ())
        return {
            "tenant_id": self._tenant_id,
            "now": clock.now(),
            "bound_users": bound,
            "bound_owners": [Scope(user_id).owner for user_id in bound],
        }


class _Kept:
    """A selection as the key under which its statement is kept: what differs in values alone is the same."""

    __slots__ = ("bound", "key", "selection")

    def __init__(self, selection: Selection | MessageSelection, bound: bool) -> None:  # noqa: FBT001 - private
        self.selection, self.bound = selection, bound
        self.key = (selection.shape, bound)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kept) and self.key == other.key


@lru_cache(maxsize=512)
def _legs(corpus: str, shape: LegShape, kept: _Kept) -> Prepared:
    chosen = _MEMORIES if corpus == memories.name else _MESSAGES
    return Prepared.of(legs_statement(chosen, shape, _conditions(kept.selection, bound=kept.bound)))


def _conditions(selection: Selection | MessageSelection, *, bound: bool) -> list[ColumnElement[bool]]:
    """What a row must meet to be served to a key that is, or is not, bound to users."""
    conditions = selection.conditions()
    if isinstance(selection, MessageSelection):
        return conditions
    if bound:
        shared = memories.c.user_id.is_(None) & memories.c.session_id.is_(None)
        conditions.append(or_(memories.c.user_id == _any_of("bound_users"), shared))
    apart = selection.sessions_apart and selection.scope.session_id is None
    if not apart:
        conditions.append(outside_expired(memories.c.session_id, TENANT, _at("now")))
    return conditions


def _owned(owners: Sequence[str]) -> ColumnElement[bool]:
    """Messages of these owners; of a single one the index gives them in the order of time."""
    if len(owners) == 1:
        return messages.c.owner == owners[0]
    return messages.c.owner == func.any(bindparam(None, list(owners), type_=ARRAY(Text(collation="C"))))


def _name(name: str) -> Any:  # noqa: ANN401 - a bound parameter
    return bindparam(name, type_=Text(collation="C"))


def _at(name: str) -> Any:  # noqa: ANN401 - a bound parameter
    return bindparam(name, type_=DateTime(timezone=True))


def _any_of(name: str) -> Any:  # noqa: ANN401 - SQLAlchemy's any()
    return func.any(bindparam(name, type_=ARRAY(Text(collation="C"))))
