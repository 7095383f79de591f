"""The one statement of a search: both legs, their ranks, and both raw scores of every candidate."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    CTE,
    ColumnElement,
    Double,
    Float,
    Integer,
    Select,
    Table,
    Text,
    Uuid,
    and_,
    bindparam,
    case,
    cast,
    column,
    false,
    func,
    literal_column,
    select,
    table,
    true,
    union,
)

from app.db.types import Halfvec
from app.repositories.models import ModelRecord

K1: Final = 0.9
B: Final = 0.4


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts that are searched, with their postings and vectors; `target` is how those name a text."""

    rows: Table
    postings: Table
    vectors: Table
    target: str


def legs_statement(
    corpus: Corpus,
    model: ModelRecord | None,
    conditions: Sequence[ColumnElement[bool]],
    *,
    lexical: bool,
    approximate: bool,
) -> Select[Any]:
    """The one statement of a search: candidates of both legs, each with both raw scores, whichever leg found it.

    Only the conditions are built anew for each search; the rest is the same expression every time, because building it
    takes longer than running it. Values: `tenant_id`, `owners`, `leg_limit`; for the lexical leg `tokens`, `corpus` and
    `mean_length`; for the dense leg `question`.

    Args:
        corpus: What is searched.
        model: The model of the question's vector; None switches the dense leg off.
        conditions: What a row must meet to be served, on the corpus's rows.
        lexical: Whether the lexical leg is on; one of the two must be.
        approximate: Whether the dense leg may use the model's HNSW index.
    """
    legs = []
    if lexical:
        legs.append(_hits(corpus).where(*conditions).cte("hits"))
    if model is not None:
        legs.append(_nearest(corpus, model, approximate=approximate).where(*conditions).cte("nearest"))
    return _frame(corpus, model, lexical=lexical).add_cte(*legs)


_TENANT: Final = bindparam("tenant_id", type_=Uuid())
_OWNERS: Final = bindparam("owners", type_=ARRAY(Text(collation="C")))
_TOKENS: Final = bindparam("tokens", type_=ARRAY(Text(collation="C")))
_QUESTION: Final = bindparam("question", type_=Halfvec())
_LIMIT: Final = bindparam("leg_limit", type_=Integer())

# The legs' common table expressions as the frame sees them.
_HITS: Final = table(
    "hits", column("id", Uuid()), column("token", Text()), column("tf", Integer()), column("len", Integer())
)
_NEAREST: Final = table("nearest", column("id", Uuid()), column("distance", Double()))


@lru_cache
def _hits(corpus: Corpus) -> Select[Any]:
    """Every posting of the question's tokens among the owners' rows."""
    postings, rows = corpus.postings, corpus.rows
    target = postings.c[corpus.target]
    return (
        select(target.label("id"), postings.c.token, postings.c.tf, postings.c.len)
        .join_from(postings, rows, and_(rows.c.tenant_id == postings.c.tenant_id, rows.c.id == target))
        .where(
            postings.c.tenant_id == _TENANT,
            postings.c.owner == func.any(_OWNERS),
            postings.c.token == func.any(_TOKENS),
            rows.c.owner == func.any(_OWNERS),  # the text's own, whatever its posting says
        )
    )


@lru_cache
def _nearest(corpus: Corpus, model: ModelRecord, *, approximate: bool) -> Select[Any]:
    """The dense leg; `+ 0` keeps the planner from an approximate index over other owners' rows."""
    vectors, rows = corpus.vectors, corpus.rows
    distance = _distance(vectors, model)
    return (
        select(vectors.c[corpus.target].label("id"), distance.label("distance"))
        .join_from(vectors, rows, and_(*_vector_of(corpus, vectors, rows, model)))
        .where(vectors.c.owner == func.any(_OWNERS), _owned_too(rows))
        .order_by(distance if approximate else distance + _f(0.0))
        .limit(_LIMIT)
    )


@lru_cache
def _frame(corpus: Corpus, model: ModelRecord | None, *, lexical: bool) -> Select[Any]:
    """What is done with the legs: rank each, unite them, give each candidate both scores."""
    scored = _scored() if lexical else None
    words = None if scored is None else _top(scored, scored.c.bm25.desc()).cte("lexical")
    dense = None if model is None else _top(_NEAREST, _NEAREST.c.distance).cte("dense")
    candidates = union(*(select(leg.c.id) for leg in (words, dense) if leg is not None)).cte("candidates")
    joins: Any = candidates
    cosine: ColumnElement[Any] = literal_column("NULL::float8")
    bm25: ColumnElement[Any] = literal_column("NULL::float8")
    dense_rank: ColumnElement[Any] = literal_column("NULL::bigint")
    lexical_rank: ColumnElement[Any] = literal_column("NULL::bigint")
    if dense is not None and model is not None:
        vectors, rows = corpus.vectors.alias("candidate_vectors"), corpus.rows.alias("candidate_rows")
        joins = joins.outerjoin(dense, dense.c.id == candidates.c.id)
        joins = joins.join(rows, and_(rows.c.tenant_id == _TENANT, rows.c.id == candidates.c.id))
        joins = joins.outerjoin(vectors, and_(*_vector_of(corpus, vectors, rows, model)))
        cosine, dense_rank = _f(1.0) - _distance(vectors, model), dense.c.rank
    if scored is not None and words is not None:
        joins = joins.outerjoin(words, words.c.id == candidates.c.id)
        joins = joins.outerjoin(scored, scored.c.id == candidates.c.id)
        bm25, lexical_rank = scored.c.bm25, words.c.rank
    columns = (
        cosine.label("cosine"),
        bm25.label("bm25"),
        dense_rank.label("dense_rank"),
        lexical_rank.label("lexical_rank"),
    )
    return select(candidates.c.id, *columns).select_from(joins)


def _top(leg: Any, order: ColumnElement[Any]) -> Select[Any]:  # noqa: ANN401 - a table or CTE
    """The leg's best rows with their ranks; ties go to the older id, so that ranks are the same at every call."""
    rank = func.row_number().over(order_by=[order, leg.c.id]).label("rank")
    return select(leg.c.id, rank).order_by(order, leg.c.id).limit(_LIMIT)


def _scored() -> CTE:
    """BM25 (Robertson and Zaragoza 2009) with k1 = 0.9, b = 0.4 of every row that shares a token, in float8."""
    size: ColumnElement[float] = bindparam("corpus", type_=Double())
    mean: ColumnElement[float] = bindparam("mean_length", type_=Double())
    frequency: ColumnElement[float] = cast(func.count(), Double())
    # The corpus may have grown since its size was read: an idf is never negative.
    idf = func.ln(_f(1.0) + func.greatest(size - frequency + _f(0.5), _f(0.5)) / (frequency + _f(0.5)))
    idfs = select(_HITS.c.token, idf.label("idf")).group_by(_HITS.c.token).cte("idfs")
    tf: ColumnElement[float] = cast(_HITS.c.tf, Double())
    length: ColumnElement[float] = cast(_HITS.c.len, Double())
    weight = idfs.c.idf * tf * _f(K1 + 1) / (tf + _f(K1) * (_f(1 - B) + _f(B) * length / mean))
    return (
        select(_HITS.c.id, func.sum(weight).label("bm25"))
        .join_from(_HITS, idfs, idfs.c.token == _HITS.c.token)
        .group_by(_HITS.c.id)
        .cte("scored")
    )


def _vector_of(corpus: Corpus, vectors: Any, rows: Any, model: ModelRecord) -> list[ColumnElement[bool]]:  # noqa: ANN401
    """A row's vector by the model, made from the text that it has now.

    The model id is a literal: a parameter would keep a generic plan from the model's partial index. The hashes are
    compared inside a CASE: as a plain equality the planner would expect next to no row to pass, and then never walk an
    index in the order of distance.
    """
    return [
        vectors.c.tenant_id == _TENANT,
        vectors.c[corpus.target] == rows.c.id,
        rows.c.tenant_id == vectors.c.tenant_id,
        vectors.c.model_id == literal_column(str(int(model.id))),
        case((vectors.c.text_hash == rows.c.content_hash, true()), else_=false()),
    ]


def _owned_too(rows: Table) -> ColumnElement[bool]:
    """That the text itself is the owners', whatever its vector says; in a CASE as the hashes are."""
    return case((rows.c.owner == func.any(_OWNERS), true()), else_=false())


def _distance(vectors: Any, model: ModelRecord) -> ColumnElement[float]:  # noqa: ANN401
    kind = Halfvec(model.dimension)
    return cast(vectors.c.embedding, kind).op("<=>", return_type=Float())(cast(_QUESTION, kind))


def _f(value: float) -> ColumnElement[float]:
    """A float8 literal: numeric arithmetic costs three times as much."""
    return literal_column(f"{value!r}::float8", Double())
