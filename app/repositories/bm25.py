"""BM25 (Robertson and Zaragoza 2009) as SQL expressions over postings, in float8."""

from functools import lru_cache
from typing import Any, Final

from sqlalchemy import ARRAY, CTE, ColumnElement, Double, Text, bindparam, cast, func, literal_column, select

K1: Final = 0.9
B: Final = 0.4

TOKENS: Final = bindparam("tokens", type_=ARRAY(Text(collation="C")))
_CORPUS: ColumnElement[float] = bindparam("corpus", type_=Double())
_MEAN: ColumnElement[float] = bindparam("mean_length", type_=Double())


@lru_cache
def number(value: float) -> ColumnElement[float]:
    """A float8 literal: numeric arithmetic costs three times as much."""
    return literal_column(f"{value!r}::float8", Double())


def idf(frequency: ColumnElement[Any]) -> ColumnElement[float]:
    """How much a word tells. The corpus may have grown since its size was read: it is never negative."""
    df: ColumnElement[float] = cast(frequency, Double())
    rest = func.greatest(_CORPUS - df + number(0.5), number(0.5))
    return func.ln(number(1.0) + rest / (df + number(0.5)))


def bm25(idfs: CTE, postings: Any) -> ColumnElement[float]:  # noqa: ANN401 - a table or CTE with tf and len
    """The score of a text, summed over the postings of the question's words that it has."""
    tf: ColumnElement[float] = cast(postings.c.tf, Double())
    length: ColumnElement[float] = cast(postings.c.len, Double())
    norm = tf + number(K1) * (number(1 - B) + number(B) * length / _MEAN)
    return func.sum(idfs.c.idf * tf * number(K1 + 1) / norm)


def told_by_all(idfs: CTE) -> ColumnElement[float]:
    """What all the question's words tell together; one that no text has tells the most."""
    unknown = func.cardinality(TOKENS) - func.count()
    most = func.ln(number(1.0) + (_CORPUS + number(0.5)) / number(0.5))
    known = func.coalesce(func.sum(idfs.c.idf), number(0.0))
    return select(known + cast(unknown, Double()) * most).scalar_subquery()
