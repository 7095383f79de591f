"""What a search looks through: memories or messages, with their postings and vectors."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import ARRAY, Column, ColumnElement, FromClause, Integer, Table, Text, Uuid, bindparam, func

from app.db.models import memories
from app.db.types import Halfvec

Path = Literal["exact", "selected", "hnsw"]
"""Every vector of the owners is compared, or of the few rows that a selection leaves, or an HNSW index is walked."""

TENANT: Final = bindparam("tenant_id", type_=Uuid())
OWNERS: Final = bindparam("owners", type_=ARRAY(Text(collation="C")))
QUESTION: Final = bindparam("question", type_=Halfvec())
LIMIT: Final = bindparam("leg_limit", type_=Integer())


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts that are searched, with their postings and vectors.

    Args:
        rows: The texts.
        postings: Their tokens.
        vectors: Their vectors.
        counted: Owners' counters of texts and of their tokens.
        target: How postings and vectors name a text.
        features: Columns that ranking needs.
    """

    rows: Table
    postings: Table
    vectors: Table
    counted: tuple[Column[int], Column[int]]
    target: str
    features: tuple[str, ...]


def happened_at(corpus: Corpus, rows: FromClause) -> ColumnElement[Any]:
    """When a row's event was: as told, or when it was written down."""
    if corpus.rows is memories:
        return func.coalesce(rows.c.occurred_at, rows.c.created_at)
    occurred: ColumnElement[Any] = rows.c.occurred_at
    return occurred
