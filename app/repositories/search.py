"""A query's legs over memories or messages, as ranked ids with their raw scores."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal
from uuid import UUID

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector
from sqlalchemy import (
    ARRAY,
    CTE,
    ColumnElement,
    Double,
    Float,
    Label,
    Select,
    Table,
    Text,
    and_,
    bindparam,
    cast,
    func,
    literal_column,
    select,
    text,
    union,
)

from app.db.models import (
    memories,
    memory_postings,
    memory_vectors,
    message_postings,
    message_vectors,
    messages,
    sessions,
)
from app.db.types import Halfvec
from app.domain.scope import Scope
from app.repositories.base import Repository
from app.repositories.models import ModelRecord
from app.repositories.selection import Selection

K1: Final = 0.9
B: Final = 0.4
EXACT_UP_TO: Final = 5_000
"""Rows in scope up to which every vector is compared: exact, and faster than the index (ADR 6)."""

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


@dataclass(frozen=True, slots=True)
class _Corpus:
    rows: Table
    postings: Table
    vectors: Table
    target: str


_MEMORIES: Final = _Corpus(memories, memory_postings, memory_vectors, "memory_id")
_MESSAGES: Final = _Corpus(messages, message_postings, message_vectors, "message_id")


class SearchRepository(Repository):
    """Dense and lexical legs. Both rank only rows that may be served, so that nothing visible is crowded out."""

    async def memories(self, query: LegQuery, selection: Selection) -> list[Found]:
        """The legs over memories."""
        seen = self._own_or_shared(memories.c.user_id, memories.c.session_id)
        return await self._find(_MEMORIES, query, [*selection.conditions(), *seen])

    async def messages(self, query: LegQuery, scope: Scope) -> list[Found]:
        """The legs over messages of sessions in scope."""
        return await self._find(_MESSAGES, query, self._message_conditions(scope))

    def _message_conditions(self, scope: Scope) -> list[ColumnElement[bool]]:
        """A user's messages are known by their owner; any other scope is the session's."""
        named = {"agent_id": scope.agent_id, "app_id": scope.app_id}
        equal = [sessions.c[name] == value for name, value in named.items() if value is not None]
        conditions = [] if scope.session_id is None else [messages.c.session_id == scope.session_id]
        if equal or self._user_ids is not None:
            conditions.append(self._within(equal))
        return conditions

    def _within(self, equal: Sequence[ColumnElement[bool]]) -> ColumnElement[bool]:
        within = select(sessions.c.id).where(
            sessions.c.tenant_id == self._tenant_id,
            sessions.c.id == messages.c.session_id,
            *self._own(sessions.c.user_id),
            *equal,
        )
        return within.exists()

    async def _find(self, corpus: _Corpus, query: LegQuery, conditions: Sequence[ColumnElement[bool]]) -> list[Found]:
        legs = _Legs(corpus, self._tenant_id, query, conditions)
        statement = legs.statement()
        if statement is None or not query.owners:
            return []
        if query.dense is not None and query.path == "hnsw":
            await self._connection.execute(text("SET LOCAL hnsw.iterative_scan = strict_order"))
            await self._connection.execute(text("SET LOCAL hnsw.ef_search = 100"))
        return [Found(*row) for row in (await self._connection.execute(statement)).all()]


class _Legs:
    """Builds the one statement of a search."""

    def __init__(
        self, corpus: _Corpus, tenant_id: UUID, query: LegQuery, conditions: Sequence[ColumnElement[bool]]
    ) -> None:
        self._corpus = corpus
        self._tenant_id = tenant_id
        self._query = query
        self._conditions = conditions
        self._owners = bindparam("owners", list(query.owners), type_=ARRAY(Text(collation="C")))

    def statement(self) -> Select[Any] | None:
        """Candidates of both legs; each with both raw scores, whichever leg found it."""
        legs: list[Select[Any]] = []
        scored = self._scored() if self._query.tokens else None
        lexical = dense = None
        if scored is not None:
            lexical = self._top(scored, scored.c.bm25.desc()).cte("lexical")
            legs.append(select(lexical.c.id))
        if self._query.dense is not None:
            nearest = self._nearest(self._query.dense).cte("nearest")
            dense = self._top(nearest, nearest.c.distance).cte("dense")
            legs.append(select(dense.c.id))
        if not legs:
            return None
        candidates = union(*legs).cte("candidates")
        return self._joined(candidates, scored, lexical, dense)

    def _joined(self, candidates: CTE, scored: CTE | None, lexical: CTE | None, dense: CTE | None) -> Select[Any]:
        joins: Any = candidates
        none: ColumnElement[Any] = literal_column("NULL::float8")
        columns: list[ColumnElement[Any]] = [candidates.c.id]
        if dense is not None and self._query.dense is not None:
            vectors = self._corpus.vectors.alias("candidate_vectors")
            rows = self._corpus.rows.alias("candidate_rows")
            joins = joins.outerjoin(dense, dense.c.id == candidates.c.id)
            joins = joins.join(rows, and_(rows.c.tenant_id == self._tenant_id, rows.c.id == candidates.c.id))
            joins = joins.outerjoin(vectors, and_(*self._vector_of(vectors, rows, self._query.dense.model)))
            columns.append((1.0 - self._distance(vectors, self._query.dense)).label("cosine"))
        else:
            columns.append(none.label("cosine"))
        if scored is not None and lexical is not None:
            joins = joins.outerjoin(lexical, lexical.c.id == candidates.c.id)
            joins = joins.outerjoin(scored, scored.c.id == candidates.c.id)
            columns.append(scored.c.bm25)
        else:
            columns.append(none.label("bm25"))
        columns.append(dense.c.rank if dense is not None else literal_column("NULL::bigint").label("dense_rank"))
        columns.append(lexical.c.rank if lexical is not None else literal_column("NULL::bigint").label("lexical_rank"))
        return select(*columns).select_from(joins)

    def _top(self, leg: CTE, order: ColumnElement[Any]) -> Select[Any]:
        """The leg's best rows with their ranks; ties go to the older id, so that ranks are the same at every call."""
        rank = func.row_number().over(order_by=[order, leg.c.id]).label("rank")
        return select(leg.c.id, rank).order_by(order, leg.c.id).limit(self._query.limit)

    def _scored(self) -> CTE:
        """BM25 (Robertson and Zaragoza 2009) with k1 = 0.9, b = 0.4 of every row that shares a token, in float8."""
        postings, rows = self._corpus.postings, self._corpus.rows
        target = postings.c[self._corpus.target]
        tokens = bindparam("tokens", list(self._query.tokens), type_=ARRAY(Text(collation="C")))
        hits = (
            select(target.label("id"), postings.c.token, postings.c.tf, postings.c.len)
            .join_from(postings, rows, and_(rows.c.tenant_id == postings.c.tenant_id, rows.c.id == target))
            .where(
                postings.c.tenant_id == self._tenant_id,
                postings.c.owner == func.any(self._owners),
                postings.c.token == func.any(tokens),
                *self._conditions,
            )
            .cte("hits")
        )
        size: ColumnElement[float] = bindparam("corpus", float(self._query.corpus), type_=Double())
        mean: ColumnElement[float] = bindparam("mean_length", self._query.mean_length, type_=Double())
        frequency: ColumnElement[float] = cast(func.count(), Double())
        # The corpus may have grown since its size was read: an idf is never negative.
        idf = func.ln(_f(1.0) + func.greatest(size - frequency + _f(0.5), _f(0.5)) / (frequency + _f(0.5)))
        idfs = select(hits.c.token, idf.label("idf")).group_by(hits.c.token).cte("idfs")
        tf: ColumnElement[float] = cast(hits.c.tf, Double())
        length: ColumnElement[float] = cast(hits.c.len, Double())
        weight = idfs.c.idf * tf * _f(K1 + 1) / (tf + _f(K1) * (_f(1 - B) + _f(B) * length / mean))
        return (
            select(hits.c.id, func.sum(weight).label("bm25"))
            .join(idfs, idfs.c.token == hits.c.token)
            .group_by(hits.c.id)
            .cte("scored")
        )

    def _nearest(self, dense: DenseQuery) -> Select[Any]:
        """The dense leg; `+ 0` keeps the planner from an approximate index over other owners' rows."""
        vectors, rows = self._corpus.vectors, self._corpus.rows
        distance = self._distance(vectors, dense)
        order = distance if self._query.path == "hnsw" else distance + _f(0.0)
        return (
            select(vectors.c[self._corpus.target].label("id"), distance.label("distance"))
            .join_from(vectors, rows, and_(*self._vector_of(vectors, rows, dense.model)))
            .where(vectors.c.owner == func.any(self._owners), *self._conditions)
            .order_by(order)
            .limit(self._query.limit)
        )

    def _vector_of(self, vectors: Any, rows: Any, model: ModelRecord) -> list[ColumnElement[bool]]:  # noqa: ANN401
        """A row's vector by the model, made from the text that it has now. The model id is a literal: a
        parameter would keep a generic plan from the model's partial index.
        """
        return [
            vectors.c.tenant_id == self._tenant_id,
            vectors.c[self._corpus.target] == rows.c.id,
            rows.c.tenant_id == vectors.c.tenant_id,
            vectors.c.model_id == literal_column(str(int(model.id))),
            vectors.c.text_hash == rows.c.content_hash,
        ]

    @staticmethod
    def _distance(vectors: Any, dense: DenseQuery) -> Label[float] | ColumnElement[float]:  # noqa: ANN401
        kind = Halfvec(dense.model.dimension)
        question = cast(bindparam("question", HalfVector(dense.vector), type_=Halfvec()), kind)
        return cast(vectors.c.embedding, kind).op("<=>", return_type=Float())(question)


def _f(value: float) -> ColumnElement[float]:
    """A float8 literal: numeric arithmetic costs three times as much."""
    return literal_column(f"{value!r}::float8", Double())
