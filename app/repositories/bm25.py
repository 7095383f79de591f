"""BM25 (Robertson and Zaragoza 2009) as SQL expressions over postings, in float8."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ARRAY, CTE, ColumnElement, Double, Text, bindparam, cast, func, literal_column, select

K1: Final = 0.9
B: Final = 0.4

TOKENS: Final = bindparam("tokens", type_=ARRAY(Text(collation="C")))


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 knows of the texts as a whole: how many there are, and their mean length in tokens, at least 1."""

    texts: ColumnElement[float]
    mean_length: ColumnElement[float]


@lru_cache
def number(value: float) -> ColumnElement[float]:
    """A float8 literal: numeric arithmetic costs three times as much."""
    return literal_column(f"{value!r}::float8", Double())


def statistics(count: Any, length: Any, *conditions: ColumnElement[bool]) -> Statistics:  # noqa: ANN401 - columns
    """Of the owners that meet the conditions, from their counters of texts and of tokens."""
    texts: ColumnElement[float] = func.coalesce(cast(func.sum(count), Double()), number(0.0), type_=Double())
    lengths: ColumnElement[float] = cast(func.sum(length), Double())
    mean = func.coalesce(func.greatest(lengths / func.nullif(texts, number(0.0)), number(1.0)), number(1.0))
    whole = select(texts.label("texts"), mean.label("mean_length")).where(*conditions).cte("whole")
    known = whole.prefix_with("MATERIALIZED")
    return Statistics(select(known.c.texts).scalar_subquery(), select(known.c.mean_length).scalar_subquery())


def idf(frequency: ColumnElement[Any], of: Statistics) -> ColumnElement[float]:
    """How much a word tells. Counters may lag behind the rows: it is never negative."""
    df: ColumnElement[float] = cast(frequency, Double())
    rest = func.greatest(of.texts - df + number(0.5), number(0.5))
    return func.ln(number(1.0) + rest / (df + number(0.5)))


def bm25(idfs: CTE, postings: Any, of: Statistics) -> ColumnElement[float]:  # noqa: ANN401 - has tf and len
    """The score of a text, summed over the postings of the question's words that it has."""
    tf: ColumnElement[float] = cast(postings.c.tf, Double())
    length: ColumnElement[float] = cast(postings.c.len, Double())
    norm = tf + number(K1) * (number(1 - B) + number(B) * length / of.mean_length)
    return func.sum(idfs.c.idf * tf * number(K1 + 1) / norm)


def told_by_all(idfs: CTE, of: Statistics) -> ColumnElement[float]:
    """What all the question's words tell together; one that no text has tells the most."""
    unknown = func.cardinality(TOKENS) - func.count()
    most = func.ln(number(1.0) + (of.texts + number(0.5)) / number(0.5))
    known = func.coalesce(func.sum(idfs.c.idf), number(0.0))
    return select(known + cast(unknown, Double()) * most).scalar_subquery()
