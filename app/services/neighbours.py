"""What a new statement is compared with: what is current under its key, and what is near its text."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from app.core.text.tokens import tokens
from app.domain.calibration import Calibration
from app.domain.conflict.statements import Statement
from app.domain.extraction.candidates import Candidate
from app.domain.scope import Scope
from app.repositories.base import Row, RowLike
from app.repositories.models import ModelRecord
from app.repositories.search import DenseQuery, LegQuery
from app.repositories.selection import Selection
from app.repositories.vectors import Vector
from app.services.closing import since
from app.services.keys import CanonicalKey
from app.services.procedural import facts_among
from app.services.writing import Draft
from app.uow import Transaction

NEIGHBOURS: Final = 8
"""Memories near a text by meaning, and as many by words, that it is compared with."""

WORDS: Final = 32


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A stored memory.

    Args:
        row: As it stands.
        statement: What it says.
        similarity: To the new text, calibrated; None where only its key or its words brought it.
    """

    row: Row
    statement: Statement
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Looks up neighbours among one owner's memories."""

    tx: Transaction
    at: datetime
    scope: Scope
    model: ModelRecord
    calibration: Calibration

    async def of(self, new: Statement, own: UUID, vector: Vector | None) -> list[Neighbour]:
        """The neighbours of a statement, but for the memory that says it, or is to; in the order of their ids."""
        dense = None if vector is None else DenseQuery(vector, self.model)
        words = list(dict.fromkeys(tokens(f"{new.text} {new.before or ''}")))[:WORDS]
        query = LegQuery([self.scope.owner], words, dense, NEIGHBOURS)
        found = await self.tx.search.memories(query, Selection(self.scope, self.at, uncertain=True))
        cosines = {row["id"]: row["cosine"] for row in found}
        similar = {one: None if raw is None else self.calibration.similarity(raw) for one, raw in cosines.items()}
        keyed = []
        if new.key is not None:
            keyed = await self.tx.facts.current(self.scope.owner, new.key, self.at)
        ids = dict.fromkeys([*(row["id"] for row in keyed), *similar])
        rows = await facts_among(self.tx, await self.tx.memories.by_ids([one for one in ids if one != own]))
        ordered = sorted(rows, key=lambda row: row["id"])
        return [Neighbour(row, statement_in(row, since(row)), similar.get(row["id"])) for row in ordered]


def statement_of(candidate: Candidate, draft: Draft, key: CanonicalKey | None) -> Statement:
    """What a candidate says, as its draft would have it, under the canonical key if that is known."""
    return Statement(
        text=candidate.text,
        key=candidate.key if key is None else key.key,
        value=candidate.value,
        kind=candidate.kind,
        category=candidate.category,
        source=candidate.source,
        occurred_at=draft.row["valid_from"],
        uncertain=draft.row["uncertain"],
        change=candidate.change,
        before=candidate.before,
    )


def statement_in(row: RowLike, occurred_at: datetime) -> Statement:
    """What a stored memory says, and has said since then."""
    return Statement(
        text=row["text"],
        key=row["key"],
        value=row["value"],
        kind=row["kind"],
        category=row["category"],
        source=row["source"],
        occurred_at=occurred_at,
        uncertain=row["uncertain"],
    )
