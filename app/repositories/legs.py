"""The one statement of a search: what each leg finds, and what ranking needs to know of every row found.

A leg ranks its rows first and then walks down, looking at each row only until enough may be served: the order of
joining is written down (LATERAL, OFFSET 0), because the planner's guesses about a few owners' rows are often far off.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import (
    ARRAY,
    CTE,
    BigInteger,
    ColumnElement,
    DateTime,
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
    false,
    func,
    literal_column,
    or_,
    select,
    true,
    union,
)
from sqlalchemy import column as sql_column
from sqlalchemy import values as sql_values

from app.db.models import key_aliases, memories
from app.db.types import Halfvec
from app.repositories.bm25 import TOKENS, bm25, idf, number, told_by_all
from app.repositories.models import ModelRecord

Path = Literal["exact", "selected", "hnsw"]
"""Every vector of the owners is compared, or of the few rows that a selection leaves, or an HNSW index is walked."""

RARE_POSTINGS: Final = 5_000
"""In large scopes words are looked up from the rarest on, until so many postings were met."""

FEW: Final = 20
"""Facts and constraints that their own legs bring at most."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts that are searched, with their postings and vectors.

    Args:
        rows: The texts.
        postings: Their tokens.
        vectors: Their vectors.
        target: How postings and vectors name a text.
        features: Columns that ranking needs.
    """

    rows: Table
    postings: Table
    vectors: Table
    target: str
    features: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LegShape:
    """Which legs are on, and how: everything but the values that the statement's text depends on.

    Args:
        path: How the dense leg looks for the nearest.
        model: The model of the question's vector; None switches the dense leg off.
        lexical: Whether words are looked up.
        time: Whether rows of a period are brought, or the newest, or neither.
        keyed: Whether facts under named keys are brought.
        constraints: Whether pinned constraints are brought.
        neighbours: Whether what stands before and after a row found is brought too.
    """

    path: Path
    model: ModelRecord | None
    lexical: bool
    time: Literal["period", "latest"] | None = None
    keyed: bool = False
    constraints: bool = False
    neighbours: bool = False

    @property
    def any(self) -> bool:
        """Whether any leg is on."""
        own = (self.lexical, self.keyed, self.constraints, self.time is not None)
        return self.model is not None or any(own)


_TENANT: Final = bindparam("tenant_id", type_=Uuid())
_OWNERS: Final = bindparam("owners", type_=ARRAY(Text(collation="C")))
_QUESTION: Final = bindparam("question", type_=Halfvec())
_LIMIT: Final = bindparam("leg_limit", type_=Integer())
_SINCE: Final = bindparam("since", type_=DateTime(timezone=True))
_UNTIL: Final = bindparam("until", type_=DateTime(timezone=True))
_KEYS: Final = bindparam("keys", type_=ARRAY(Text(collation="C")))


def legs_statement(corpus: Corpus, shape: LegShape, conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """Candidates of every leg that is on, each with its cosine and its BM25, whichever leg found it.

    Values: `tenant_id`, `owners`, `leg_limit`; `tokens`, `corpus` and `mean_length` for the lexical leg; `question` for
    the dense one; `since` and `until` for a period; `keys` for facts; and those of the conditions. Columns: `id`,
    `cosine` in [-1, 1], `bm25`, `coverage` in [0, 1], then the corpus's features.

    Args:
        corpus: What is searched.
        shape: Which legs, and how.
        conditions: What a row must meet to be served, on the corpus's rows.
    """
    legs = [_nearest(corpus, shape.model, shape.path, conditions)] if shape.model is not None else []
    idfs = None
    if shape.lexical:
        words, idfs = _words(corpus, shape.path)
        legs.append(_best_worded(corpus, words, shape.path, conditions))
    served = _served(corpus, conditions)
    if shape.time is not None:
        legs.append(_timed(corpus, served, shape.time))
    if shape.keyed:
        legs.append(served.where(_is_named(memories.c.key)).order_by(memories.c.id.desc()).limit(FEW))
    if shape.constraints:
        pinned = served.where(memories.c.pinned, memories.c.category == literal_column("'constraint'"))
        legs.append(pinned.order_by(memories.c.importance.desc(), memories.c.id).limit(FEW))
    core = _together([leg.cte(f"leg_{number}") for number, leg in enumerate(legs)])
    wide = _widened(corpus, core, conditions) if shape.neighbours else core
    return _described(corpus, shape, wide, idfs)


def extent_statement(corpus: Corpus, conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """Whose rows a selection leaves and how many, counted up to the value `most`."""
    rows = corpus.rows
    bounded = select(rows.c.owner).where(rows.c.tenant_id == _TENANT, *conditions)
    some = bounded.limit(bindparam("most", type_=Integer())).subquery()
    return select(some.c.owner, func.count().label("rows")).group_by(some.c.owner)


def _served(corpus: Corpus, conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
    rows = corpus.rows
    return select(rows.c.id).where(rows.c.tenant_id == _TENANT, rows.c.owner == func.any(_OWNERS), *conditions)


def _nearest(corpus: Corpus, model: ModelRecord, path: Path, conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """The dense leg; `+ 0` keeps the planner from an approximate index where every vector is to be compared."""
    vectors, rows = corpus.vectors, corpus.rows
    distance = _distance(vectors, model)
    if path == "selected":
        return (
            select(rows.c.id)
            .join_from(rows, vectors, and_(*_vector_of(corpus, vectors, rows, model)))
            .where(rows.c.tenant_id == _TENANT, rows.c.owner == func.any(_OWNERS), *conditions)
            .order_by(distance + number(0.0), rows.c.id)
            .limit(_LIMIT)
        )
    target = vectors.c[corpus.target]
    if path == "hnsw":
        return (
            select(target.label("id"))
            .join_from(vectors, rows, and_(*_walked(corpus, model)))
            .where(vectors.c.owner == func.any(_OWNERS), *conditions)
            .order_by(distance)
            .limit(_LIMIT)
        )
    ranked = select(target.label("id"), vectors.c.text_hash, distance.label("distance")).where(
        vectors.c.tenant_id == _TENANT,
        vectors.c.owner == func.any(_OWNERS),
        vectors.c.model_id == _model(model),
    )
    ordered = ranked.order_by(distance + number(0.0), target).offset(literal_column("0")).subquery("ranked")
    row = _row(corpus, ordered.c.id, [*conditions, rows.c.content_hash == ordered.c.text_hash])
    return select(row.c.id).join_from(ordered, row, true()).limit(_LIMIT)


def _walked(corpus: Corpus, model: ModelRecord) -> list[ColumnElement[bool]]:
    """A vector of the text that its row has now, and of the row's own owner.

    Both are asked for inside a CASE: as plain equalities the planner would expect next to no row to pass, and then
    never walk an index in the order of distance.
    """
    vectors, rows = corpus.vectors, corpus.rows
    return [
        vectors.c.tenant_id == _TENANT,
        rows.c.tenant_id == vectors.c.tenant_id,
        rows.c.id == vectors.c[corpus.target],
        vectors.c.model_id == _model(model),
        case((vectors.c.text_hash == rows.c.content_hash, true()), else_=false()),
        case((rows.c.owner == func.any(_OWNERS), true()), else_=false()),
    ]


def _words(corpus: Corpus, path: Path) -> tuple[CTE, CTE]:
    """BM25 (Robertson and Zaragoza 2009, k1 = 0.9, b = 0.4) of rows that share a word, in float8; and the words' idf.

    In a large scope only the rarest words bring rows; all of them count for a row that was brought.
    """
    postings = corpus.postings
    mine = (postings.c.tenant_id == _TENANT, postings.c.owner == func.any(_OWNERS))
    columns = (postings.c[corpus.target].label("id"), postings.c.token, postings.c.tf, postings.c.len)
    if path == "hnsw":
        asked = func.unnest(TOKENS).table_valued(sql_column("token", Text()), name="asked").render_derived()
        frequency = select(func.count()).where(*mine, postings.c.token == asked.c.token).scalar_subquery()
        counted = select(asked.c.token, frequency.label("df")).cte("counted").prefix_with("MATERIALIZED")
        before = func.sum(counted.c.df).over(order_by=[counted.c.df, counted.c.token]) - counted.c.df
        idfs = (
            select(counted.c.token, idf(counted.c.df).label("idf"), before.label("before"))
            .where(counted.c.df > 0)
            .cte("idfs")
            .prefix_with("MATERIALIZED")
        )
        rare = select(idfs.c.token).where(idfs.c.before < RARE_POSTINGS)
        hits = select(*columns).where(*mine, postings.c.token == func.any(func.array(rare.scalar_subquery())))
        found = hits.cte("hits").prefix_with("MATERIALIZED")
    else:
        hits = select(*columns).where(*mine, postings.c.token == func.any(TOKENS))
        found = hits.cte("hits").prefix_with("MATERIALIZED")
        idfs = (
            select(found.c.token, idf(func.count()).label("idf"))
            .group_by(found.c.token)
            .cte("idfs")
            .prefix_with("MATERIALIZED")
        )
    scored = (
        select(found.c.id, bm25(idfs, found).label("bm25"))
        .join_from(found, idfs, idfs.c.token == found.c.token)
        .group_by(found.c.id)
        .cte("words")
    )
    return scored, idfs


def _best_worded(corpus: Corpus, words: CTE, path: Path, conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """The lexical leg; ties go to the older id, so that the order is the same at every call."""
    if path == "selected":
        rows = corpus.rows
        return (
            select(rows.c.id)
            .join_from(rows, words, words.c.id == rows.c.id)
            .where(rows.c.tenant_id == _TENANT, rows.c.owner == func.any(_OWNERS), *conditions)
            .order_by(words.c.bm25.desc(), rows.c.id)
            .limit(_LIMIT)
        )
    ordered = (
        select(words.c.id).order_by(words.c.bm25.desc(), words.c.id).offset(literal_column("0")).subquery("worded")
    )
    row = _row(corpus, ordered.c.id, conditions)
    return select(row.c.id).join_from(ordered, row, true()).limit(_LIMIT)


def _timed(corpus: Corpus, served: Select[Any], time: Literal["period", "latest"]) -> Select[Any]:
    """The time leg: rows of the period, the newest first, or the newest of all."""
    happened = happened_at(corpus.rows)
    if time == "period":
        served = served.where(happened >= _SINCE, happened < _UNTIL)
    return served.order_by(happened.desc(), corpus.rows.c.id).limit(_LIMIT)


def happened_at(rows: Table) -> ColumnElement[Any]:
    """When a row's event was: as told, or when it was written down."""
    if rows is memories:
        return func.coalesce(rows.c.occurred_at, rows.c.created_at)
    occurred: ColumnElement[Any] = rows.c.occurred_at
    return occurred


def _row(corpus: Corpus, wanted: ColumnElement[Any], conditions: Sequence[ColumnElement[bool]]) -> Any:  # noqa: ANN401
    """The row of an id if it may be served; looked up one by one, in the order of the ids."""
    rows = corpus.rows
    owned = rows.c.owner == func.any(_OWNERS)  # the text's own, whatever its posting or its vector says
    one = select(rows.c.id).where(rows.c.tenant_id == _TENANT, rows.c.id == wanted, owned, *conditions)
    return one.offset(literal_column("0")).lateral()


def _together(legs: Sequence[CTE]) -> CTE:
    if len(legs) == 1:
        return select(legs[0].c.id).cte("core").prefix_with("MATERIALIZED")
    return union(*(select(leg.c.id) for leg in legs)).cte("core").prefix_with("MATERIALIZED")


def _widened(corpus: Corpus, core: CTE, conditions: Sequence[ColumnElement[bool]]) -> CTE:
    """Messages found, and those that stand directly before and after them."""
    found, rows = corpus.rows.alias("found"), corpus.rows
    step = sql_values(sql_column("step", BigInteger()), name="steps").data([(-1,), (0,), (1,)])
    next_to = (
        select(rows.c.id)
        .distinct()
        .join_from(core, found, and_(found.c.tenant_id == _TENANT, found.c.id == core.c.id))
        .join(step, true())
        .join(
            rows,
            and_(
                rows.c.tenant_id == _TENANT,
                rows.c.session_id == found.c.session_id,
                rows.c.seq == found.c.seq + step.c.step,
            ),
        )
        .where(rows.c.owner == func.any(_OWNERS), or_(rows.c.id == core.c.id, and_(*conditions)))
    )
    return next_to.cte("wide").prefix_with("MATERIALIZED")


def _is_named(key: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether a key, its end after a dot, or an alias of it in the tenant's registry is among those asked for."""
    asked = func.unnest(_KEYS).table_valued(sql_column("key", Text()), name="asked").render_derived()
    ending = func.right(key, func.length(asked.c.key) + 1) == literal_column("'.'").op("||")(asked.c.key)
    spelled = select(literal_column("1")).select_from(asked).where(or_(key == asked.c.key, ending)).exists()
    aliased = select(key_aliases.c.key).where(
        key_aliases.c.tenant_id == _TENANT, key_aliases.c.alias == func.any(_KEYS)
    )
    return and_(key.is_not(None), or_(spelled, key.in_(aliased)))


def _described(corpus: Corpus, shape: LegShape, core: CTE, idfs: CTE | None) -> Select[Any]:
    """Every candidate with both raw scores and its features."""
    model = shape.model
    rows, vectors, postings = corpus.rows.alias("row"), corpus.vectors.alias("vector"), corpus.postings
    joins: Any = core.join(rows, and_(rows.c.tenant_id == _TENANT, rows.c.id == core.c.id))
    cosine: ColumnElement[Any] = literal_column("NULL::float8")
    score: ColumnElement[Any] = literal_column("NULL::float8")
    coverage: ColumnElement[Any] = literal_column("NULL::float8")
    if model is not None:
        joins = joins.outerjoin(vectors, and_(*_vector_of(corpus, vectors, rows, model)))
        cosine = number(1.0) - _distance(vectors, model)
    if idfs is not None:
        target = postings.c[corpus.target]
        ids = func.array(select(core.c.id).scalar_subquery())
        scores = (
            select(target.label("id"), bm25(idfs, postings).label("bm25"), func.sum(idfs.c.idf).label("matched"))
            .join_from(postings, idfs, idfs.c.token == postings.c.token)
            .where(
                postings.c.tenant_id == _TENANT,
                postings.c.owner == func.any(_OWNERS),
                postings.c.token == func.any(TOKENS),
                target == func.any(ids),
            )
            .group_by(target)
            .cte("scores")
            .prefix_with("MATERIALIZED")
        )
        joins = joins.outerjoin(scores, scores.c.id == core.c.id)
        score, coverage = scores.c.bm25, scores.c.matched / func.greatest(told_by_all(idfs), number(1e-9))
    features: list[ColumnElement[Any]] = [rows.c[name] for name in corpus.features]
    if corpus.rows is memories:
        features.append((_is_named(rows.c.key) if shape.keyed else false()).label("named"))
    found = (cosine.label("cosine"), score.label("bm25"), coverage.label("coverage"))
    return select(core.c.id, *found, *features).select_from(joins)


def _vector_of(corpus: Corpus, vectors: Any, rows: Any, model: ModelRecord) -> list[ColumnElement[bool]]:  # noqa: ANN401
    """A row's vector by the model, made from the text that it has now."""
    return [
        vectors.c.tenant_id == _TENANT,
        vectors.c[corpus.target] == rows.c.id,
        vectors.c.model_id == _model(model),
        vectors.c.text_hash == rows.c.content_hash,
    ]


def _model(model: ModelRecord) -> ColumnElement[int]:
    """The model's id as a literal: a parameter would keep a generic plan from the model's partial index."""
    return literal_column(str(int(model.id)))


def _distance(vectors: Any, model: ModelRecord) -> ColumnElement[float]:  # noqa: ANN401
    kind = Halfvec(model.dimension)
    return cast(vectors.c.embedding, kind).op("<=>", return_type=Float())(cast(_QUESTION, kind))
