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
    FromClause,
    Integer,
    Select,
    Text,
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
from app.repositories.bm25 import number, told_by_all
from app.repositories.corpus import LIMIT, OWNERS, QUESTION, TENANT, Corpus, Path, happened_at
from app.repositories.models import ModelRecord
from app.repositories.words import marked, statistics_of, told_of, words_of

FEW: Final = 20
"""Facts and constraints that their own legs bring at most."""


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


_SINCE: Final = bindparam("since", type_=DateTime(timezone=True))
_UNTIL: Final = bindparam("until", type_=DateTime(timezone=True))
_KEYS: Final = bindparam("keys", type_=ARRAY(Text(collation="C")))


def legs_statement(corpus: Corpus, shape: LegShape, conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """Candidates of every leg that is on, each with its cosine and its BM25, whichever leg found it.

    Values: `tenant_id`, `owners`, `leg_limit`; `tokens` for the lexical leg; `question` for
    the dense one; `since` and `until` for a period; `keys` for facts; and those of the conditions. Columns: `id`,
    `cosine` in [-1, 1], `bm25`, `coverage` in [0, 1], then the corpus's features.

    Args:
        corpus: What is searched.
        shape: Which legs, and how.
        conditions: What a row must meet to be served, on the corpus's rows.
    """
    legs = [_nearest(corpus, shape.model, shape.path, conditions)] if shape.model is not None else []
    words = idfs = None
    whole = statistics_of(corpus)
    if shape.lexical:
        words, idfs = words_of(corpus, shape.path, whole)
        legs.append(_best_worded(corpus, words, shape.path, conditions))
    served = _served(corpus, conditions)
    if shape.time is not None:
        legs.append(_timed(corpus, served, shape.time))
    if shape.keyed:
        legs.append(served.where(_is_named(memories.c.key)).order_by(memories.c.id.desc()).limit(FEW))
    if shape.constraints:
        pinned = served.where(_is_constraint(memories))
        legs.append(pinned.order_by(memories.c.importance.desc(), memories.c.id).limit(FEW))
    core = _together([leg.cte(f"leg_{number}") for number, leg in enumerate(legs)])
    wide = _widened(corpus, core, conditions) if shape.neighbours else core
    if words is None or idfs is None:
        return _described(corpus, shape, wide)
    told = told_of(corpus, wide, idfs, whole) if shape.path == "hnsw" else words
    return _described(corpus, shape, marked(wide, told), told_by_all(idfs, whole))


def extent_statement(corpus: Corpus, conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """Whose rows a selection leaves and how many, counted up to the value `most`."""
    rows = corpus.rows
    bounded = select(rows.c.owner).where(rows.c.tenant_id == TENANT, *conditions)
    some = bounded.limit(bindparam("most", type_=Integer())).subquery()
    return select(some.c.owner, func.count().label("rows")).group_by(some.c.owner)


def _served(corpus: Corpus, conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
    rows = corpus.rows
    return select(rows.c.id).where(rows.c.tenant_id == TENANT, rows.c.owner == func.any(OWNERS), *conditions)


def _nearest(corpus: Corpus, model: ModelRecord, path: Path, conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """The dense leg; `+ 0` keeps the planner from an approximate index where every vector is to be compared."""
    vectors, rows = corpus.vectors, corpus.rows
    distance = _distance(vectors, model)
    if path == "selected":
        return (
            select(rows.c.id)
            .join_from(rows, vectors, and_(*_vector_of(corpus, vectors, rows, model)))
            .where(rows.c.tenant_id == TENANT, rows.c.owner == func.any(OWNERS), *conditions)
            .order_by(distance + number(0.0), rows.c.id)
            .limit(LIMIT)
        )
    target = vectors.c[corpus.target]
    if path == "hnsw":
        return (
            select(target.label("id"))
            .join_from(vectors, rows, and_(*_walked(corpus, model)))
            .where(vectors.c.owner == func.any(OWNERS), *conditions)
            .order_by(distance)
            .limit(LIMIT)
        )
    ranked = select(target.label("id"), vectors.c.text_hash, distance.label("distance")).where(
        vectors.c.tenant_id == TENANT,
        vectors.c.owner == func.any(OWNERS),
        vectors.c.model_id == _model(model),
    )
    ordered = ranked.order_by(distance + number(0.0), target).offset(literal_column("0")).subquery("ranked")
    row = _row(corpus, ordered.c.id, [*conditions, rows.c.content_hash == ordered.c.text_hash])
    return select(row.c.id).join_from(ordered, row, true()).limit(LIMIT)


def _walked(corpus: Corpus, model: ModelRecord) -> list[ColumnElement[bool]]:
    """A vector of the text that its row has now, and of the row's own owner.

    Both are asked for inside a CASE: as plain equalities the planner would expect next to no row to pass, and then
    never walk an index in the order of distance.
    """
    vectors, rows = corpus.vectors, corpus.rows
    return [
        vectors.c.tenant_id == TENANT,
        rows.c.tenant_id == vectors.c.tenant_id,
        rows.c.id == vectors.c[corpus.target],
        vectors.c.model_id == _model(model),
        case((vectors.c.text_hash == rows.c.content_hash, true()), else_=false()),
        case((rows.c.owner == func.any(OWNERS), true()), else_=false()),
    ]


def _best_worded(corpus: Corpus, words: CTE, path: Path, conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
    """The lexical leg; ties go to the older id, so that the order is the same at every call."""
    if path == "selected":
        rows = corpus.rows
        return (
            select(rows.c.id)
            .join_from(rows, words, words.c.id == rows.c.id)
            .where(rows.c.tenant_id == TENANT, rows.c.owner == func.any(OWNERS), *conditions)
            .order_by(words.c.bm25.desc(), rows.c.id)
            .limit(LIMIT)
        )
    ordered = (
        select(words.c.id).order_by(words.c.bm25.desc(), words.c.id).offset(literal_column("0")).subquery("worded")
    )
    row = _row(corpus, ordered.c.id, conditions)
    return select(row.c.id).join_from(ordered, row, true()).limit(LIMIT)


def _timed(corpus: Corpus, served: Select[Any], time: Literal["period", "latest"]) -> Select[Any]:
    """The time leg: rows of the period, the newest first, or the newest of all."""
    happened = happened_at(corpus, corpus.rows)
    if time == "period":
        served = served.where(happened >= _SINCE, happened < _UNTIL)
    return served.order_by(happened.desc(), corpus.rows.c.id).limit(LIMIT)


def _is_constraint(rows: FromClause) -> ColumnElement[bool]:
    return and_(rows.c.pinned, rows.c.category == literal_column("'constraint'"))


def _row(corpus: Corpus, wanted: ColumnElement[Any], conditions: Sequence[ColumnElement[bool]]) -> Any:  # noqa: ANN401
    """The row of an id if it may be served; looked up one by one, in the order of the ids."""
    rows = corpus.rows
    owned = rows.c.owner == func.any(OWNERS)  # the text's own, whatever its posting or its vector says
    one = select(rows.c.id).where(rows.c.tenant_id == TENANT, rows.c.id == wanted, owned, *conditions)
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
        .join_from(core, found, and_(found.c.tenant_id == TENANT, found.c.id == core.c.id))
        .join(step, true())
        .join(
            rows,
            and_(
                rows.c.tenant_id == TENANT,
                rows.c.session_id == found.c.session_id,
                rows.c.seq == found.c.seq + step.c.step,
            ),
        )
        .where(rows.c.owner == func.any(OWNERS), or_(rows.c.id == core.c.id, and_(*conditions)))
    )
    return next_to.cte("wide").prefix_with("MATERIALIZED")


def _is_named(key: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether a key, its end after a dot, or an alias of it in the tenant's registry is among those asked for."""
    asked = func.unnest(_KEYS).table_valued(sql_column("key", Text()), name="asked").render_derived()
    ending = func.right(key, func.length(asked.c.key) + 1) == literal_column("'.'").op("||")(asked.c.key)
    spelled = select(literal_column("1")).select_from(asked).where(or_(key == asked.c.key, ending)).exists()
    aliased = select(key_aliases.c.key).where(key_aliases.c.tenant_id == TENANT, key_aliases.c.alias == func.any(_KEYS))
    return and_(key.is_not(None), or_(spelled, key.in_(aliased)))


def _described(corpus: Corpus, shape: LegShape, core: CTE, all_told: ColumnElement[float] | None = None) -> Select[Any]:
    """Every candidate with both raw scores and its features."""
    model = shape.model
    rows, vectors = corpus.rows.alias("row"), corpus.vectors.alias("vector")
    joins: Any = core.join(rows, and_(rows.c.tenant_id == TENANT, rows.c.id == core.c.id))
    nothing: ColumnElement[Any] = literal_column("NULL::float8", Float())
    cosine = score = coverage = nothing
    if model is not None:
        joins = joins.outerjoin(vectors, and_(*_vector_of(corpus, vectors, rows, model)))
        cosine = number(1.0) - _distance(vectors, model)
    if all_told is not None:
        score, coverage = core.c.bm25, core.c.matched / func.greatest(all_told, number(1e-9), type_=Float())
    features = [happened_at(corpus, rows).label("happened"), *(rows.c[name] for name in corpus.features)]
    if corpus.rows is memories:
        features.append(_is_constraint(rows).label("constraint"))
        features.append((_is_named(rows.c.key) if shape.keyed else false()).label("named"))
    found = (cosine.label("cosine"), score.label("bm25"), coverage.label("coverage"))
    return select(core.c.id, *found, *features).select_from(joins)


def _vector_of(corpus: Corpus, vectors: Any, rows: Any, model: ModelRecord) -> list[ColumnElement[bool]]:  # noqa: ANN401
    """A row's vector by the model, made from the text that it has now."""
    return [
        vectors.c.tenant_id == TENANT,
        vectors.c[corpus.target] == rows.c.id,
        vectors.c.model_id == _model(model),
        vectors.c.text_hash == rows.c.content_hash,
    ]


def _model(model: ModelRecord) -> ColumnElement[int]:
    """The model's id as a literal: a parameter would keep a generic plan from the model's partial index."""
    return literal_column(str(int(model.id)))


def _distance(vectors: Any, model: ModelRecord) -> ColumnElement[float]:  # noqa: ANN401
    kind = Halfvec(model.dimension)
    return cast(vectors.c.embedding, kind).op("<=>", return_type=Float())(cast(QUESTION, kind))
