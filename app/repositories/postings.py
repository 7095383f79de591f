"""Postings: which owner's text holds which token how often; the ground of BM25 under row-level security."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ARRAY, Integer, Table, Text, Uuid, bindparam, func, select
from sqlalchemy.dialects.postgresql import Insert, insert

from app.db.models import memory_postings, message_postings


@dataclass(frozen=True, slots=True)
class Posting:
    """One text's tokens: term frequencies and their sum."""

    target: UUID
    frequencies: Mapping[str, int]
    length: int


TARGET_COLUMN: Final[dict[str, str]] = {memory_postings.name: "memory_id", message_postings.name: "message_id"}


def _inserting(table: Table) -> Insert:
    arrays: dict[str, Any] = {"targets": Uuid(), "tokens": Text(), "frequencies": Integer(), "lengths": Integer()}
    rows = (
        func.unnest(*(bindparam(f"posted_{name}", type_=ARRAY(of)) for name, of in arrays.items()))
        .table_valued("target", "token", "tf", "len")
        .render_derived()
    )
    owned = (bindparam("posted_tenant", type_=Uuid()), bindparam("posted_owner", type_=Text()))
    columns = ["tenant_id", "owner", TARGET_COLUMN[table.name], "token", "tf", "len"]
    return insert(table).from_select(columns, select(*owned, *rows.c))


INSERT: Final[dict[str, Insert]] = {table.name: _inserting(table) for table in (memory_postings, message_postings)}
"""The statements that store postings of one owner's texts, by table; `posted` has their values. Built once."""


def posted(tenant_id: UUID, owner: str, postings: Sequence[Posting]) -> dict[str, Any] | None:
    """The values for `INSERT`; None where no text has a token."""
    targets, tokens, frequencies, lengths = [], [], [], []
    for posting in postings:
        for token, frequency in posting.frequencies.items():
            targets.append(posting.target)
            tokens.append(token)
            frequencies.append(frequency)
            lengths.append(posting.length)
    if not tokens:
        return None
    return {
        "posted_tenant": tenant_id,
        "posted_owner": owner,
        "posted_targets": targets,
        "posted_tokens": tokens,
        "posted_frequencies": frequencies,
        "posted_lengths": lengths,
    }
