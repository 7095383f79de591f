"""A query's legs over memories or messages, as ranked ids with their raw scores."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector
from sqlalchemy import ARRAY, ColumnElement, Text, bindparam, func, select, text

from app.db.models import (
    memories,
    memory_postings,
    memory_vectors,
    message_postings,
    message_vectors,
    messages,
    sessions,
)
from app.domain.scope import Scope
from app.repositories.base import Repository
from app.repositories.legs import Corpus, legs_statement
from app.repositories.models import ModelRecord
from app.repositories.selection import Selection

EXACT_UP_TO: Final = 5_000
"""Rows in scope up to which every vector is compared: exact, and faster than the index (ADR 6)."""

# A walk goes on, in order, until enough rows in scope were met: the default of 20,000 would end it among other owners'.
_WALK: Final = text(
    "SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', '100', true), "
    "set_config('hnsw.max_scan_tuples', '200000', true), set_config('hnsw.scan_mem_multiplier', '4', true)"
)

Path = Literal["exact", "hnsw"]


@dataclass(frozen=True, slots=True)
class DenseQuery:
    """A question's vector, shape (dimension,), and the model that made it."""

    vector: npt.NDArray[np.float32]
    model: ModelRecord


@dataclass(frozen=True, slots=True)
class LegQuery:
    """What to look for, and among whom.

    Args:
        owners: Whose rows.
        tokens: The question's distinct tokens; empty switches the lexical leg off.
        dense: The question's vector; None switches the dense leg off.
        corpus: How many texts the owners have, for BM25's idf.
        mean_length: Their mean length in tokens.
        limit: How many rows each leg brings.
    """

    owners: Sequence[str]
    tokens: Sequence[str]
    dense: DenseQuery | None
    corpus: int
    mean_length: float
    limit: int
    path: Path = field(default="exact")


@dataclass(frozen=True, slots=True)
class Found:
    """A row that a leg found: raw cosine in [-1, 1], BM25, and its rank in each leg, from 1."""

    id: UUID
    cosine: float | None
    bm25: float | None
    dense_rank: int | None
    lexical_rank: int | None


_MEMORIES: Final = Corpus(memories, memory_postings, memory_vectors, "memory_id")
_MESSAGES: Final = Corpus(messages, message_postings, message_vectors, "message_id")


@dataclass(frozen=True, slots=True)
class Period:
    """Which messages: said by whom, from when to when; empty and None do not restrict."""

    roles: Sequence[str] = ()
    since: datetime | None = None
    until: datetime | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """The conditions on `messages`."""
        chosen: list[ColumnElement[bool]] = []
        if self.roles:
            chosen.append(messages.c.role.in_(self.roles))
        if self.since is not None:
            chosen.append(messages.c.occurred_at >= self.since)
        if self.until is not None:
            chosen.append(messages.c.occurred_at < self.until)
        return chosen


class SearchRepository(Repository):
    """Dense and lexical legs. Both rank only rows that may be served, so that nothing visible is crowded out."""

    async def memories(self, query: LegQuery, selection: Selection) -> list[Found]:
        """The legs over memories."""
        seen = self._own_or_shared(memories.c.user_id, memories.c.session_id)
        lasting = self._outside_expired(memories.c.session_id)
        return await self._find(_MEMORIES, query, [*selection.conditions(), *seen, lasting])

    async def messages(self, query: LegQuery, scope: Scope, period: Period | None = None) -> list[Found]:
        """The legs over messages of sessions in scope."""
        chosen = [] if period is None else period.conditions()
        if chosen:  # named here too, so that the period is a range within the owner's rows
            chosen.append(_owned(query.owners))
        return await self._find(_MESSAGES, query, [*self._message_conditions(scope), *chosen])

    async def latest(self, owners: Sequence[str], scope: Scope, period: Period, limit: int) -> list[UUID]:
        """Messages in scope and period, newest first, where nothing in particular is looked for."""
        statement = select(messages.c.id).where(
            messages.c.tenant_id == self._tenant_id,
            _owned(owners),
            messages.c.redacted_at.is_(None),
            *self._message_conditions(scope),
            *period.conditions(),
        )
        latest = statement.order_by(messages.c.occurred_at.desc(), messages.c.id.desc()).limit(limit)
        return list((await self._connection.execute(latest)).scalars().all())

    def _message_conditions(self, scope: Scope) -> list[ColumnElement[bool]]:
        """A user's messages are known by their owner; any other scope is the session's, and so is the expiry."""
        named = {"agent_id": scope.agent_id, "app_id": scope.app_id}
        equal = [sessions.c[name] == value for name, value in named.items() if value is not None]
        conditions = [] if scope.session_id is None else [messages.c.session_id == scope.session_id]
        if self._user_ids is not None:
            conditions.append(messages.c.owner.in_([Scope(user_id).owner for user_id in sorted(self._user_ids)]))
        if equal:
            conditions.append(self._within(equal))
        conditions.append(self._outside_expired(messages.c.session_id))
        return conditions

    def _within(self, equal: Sequence[ColumnElement[bool]]) -> ColumnElement[bool]:
        within = select(sessions.c.id).where(
            sessions.c.tenant_id == self._tenant_id,
            sessions.c.id == messages.c.session_id,
            *equal,
        )
        return within.exists()

    async def _find(self, corpus: Corpus, query: LegQuery, conditions: Sequence[ColumnElement[bool]]) -> list[Found]:
        model = None if query.dense is None else query.dense.model
        if not query.owners or (model is None and not query.tokens):
            return []
        if model is not None and query.path == "hnsw":
            await self._connection.execute(_WALK)
        statement = legs_statement(
            corpus, model, conditions, lexical=bool(query.tokens), approximate=query.path == "hnsw"
        )
        rows = await self._connection.execute(statement, self._values(query))
        return [Found(*row) for row in rows.all()]

    def _values(self, query: LegQuery) -> dict[str, Any]:
        values = {"tenant_id": self._tenant_id, "owners": list(query.owners), "leg_limit": query.limit}
        if query.tokens:
            values |= {"tokens": list(query.tokens), "corpus": float(query.corpus), "mean_length": query.mean_length}
        if query.dense is not None:
            values["question"] = HalfVector(query.dense.vector)
        return values


def _owned(owners: Sequence[str]) -> ColumnElement[bool]:
    """Messages of these owners; of a single one the index gives them in the order of time."""
    if len(owners) == 1:
        return messages.c.owner == owners[0]
    return messages.c.owner == func.any(bindparam(None, list(owners), type_=ARRAY(Text(collation="C"))))
