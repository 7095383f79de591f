"""Postings: which owner's text holds which token how often; the ground of BM25 under row-level security."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ARRAY, Integer, Table, Text, Uuid, bindparam, func, literal, select
from sqlalchemy.dialects.postgresql import Insert, insert

from app.db.models import memory_postings, message_postings


@dataclass(frozen=True, slots=True)
class Posting:
    """One text's tokens: term frequencies and their sum."""

    target: UUID
    frequencies: Mapping[str, int]
    length: int


TARGET_COLUMN: Final[dict[str, str]] = {memory_postings.name: "memory_id", message_postings.name: "message_id"}


def insert_postings(table: Table, tenant_id: UUID, owner: str, postings: Sequence[Posting]) -> Insert | None:
    """The statement that stores the postings of one owner's texts; None where no text has a token."""
    targets, tokens, frequencies, lengths = [], [], [], []
    for posting in postings:
        for token, frequency in posting.frequencies.items():
            targets.append(posting.target)
            tokens.append(token)
            frequencies.append(frequency)
            lengths.append(posting.length)
    if not tokens:
        return None
    rows = (
        func.unnest(
            _array(targets, Uuid()), _array(tokens, Text()), _array(frequencies, Integer()), _array(lengths, Integer())
        )
        .table_valued("target", "token", "tf", "len")
        .render_derived()
    )
    source = select(literal(tenant_id, Uuid()), literal(owner, Text()), *rows.c)
    column = TARGET_COLUMN[table.name]
    return insert(table).from_select(["tenant_id", "owner", column, "token", "tf", "len"], source)


def _array(values: Sequence[Any], of: Any) -> Any:  # noqa: ANN401 - SQLAlchemy's types
    return bindparam(None, list(values), type_=ARRAY(of))
