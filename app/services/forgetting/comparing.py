"""Which memories of an owner say the same, and which cannot both be true: looked up by index, decided by words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from app.core.text.tokens import tokens
from app.domain.calibration import Calibration
from app.domain.conflict.settling import settle
from app.domain.conflict.statements import Decision
from app.domain.lifecycle.merging import mergeable, since
from app.domain.scope import Scope
from app.repositories.base import Row
from app.repositories.models import ModelRecord
from app.repositories.search import DenseQuery, LegQuery
from app.repositories.selection import Selection
from app.services.candidates import path_for
from app.services.keys import canonical_keys
from app.services.neighbours import WORDS, statement_in
from app.uow import Transaction

NEAREST: Final = 8
"""Memories that one is compared with: the nearest by meaning, and as many by words."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories that may say the same.

    Args:
        newer: The one that was said later.
        older: The other one.
        similarity: Calibrated; None where only words brought them together.
        multivalued: Whether the key of both holds several values.
    """

    newer: Row
    older: Row
    similarity: float | None
    multivalued: bool

    def verdict(self, judged: Decision | None) -> str:
        """`same`, `contradict` or `other`: rules decide, and check what a model said.

        What replaces what was decided when it was said: nothing that was said before is taken for a change of it now.
        """
        new, old = (statement_in(row, since(row)) for row in (self.newer, self.older))
        known: Mapping[UUID, Decision] = {} if judged is None else {self.older["id"]: judged}
        plan = settle(new, [(self.older["id"], old, self.similarity)], multivalued=self.multivalued, judged=known)
        if plan.outcome == "reinforce":
            return "same" if mergeable(self.newer, self.older) else "other"
        return plan.verdict if plan.verdict == "contradict" else "other"


@dataclass(frozen=True, slots=True)
class Compared:
    """Memories that were looked at, and the pairs that they were nominated for."""

    rows: list[Row]
    pairs: list[Pair] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Comparer:
    """Reads within a transaction: so many look-ups for n memories as there are memories, never n squared."""

    tx: Transaction
    owner: str
    at: datetime
    model: ModelRecord
    calibration: Calibration

    async def compare(self, last: UUID | None, limit: int) -> Compared:
        """The next memories after `last` in the order of their ids, each with those of lower ids that are near it."""
        rows = list(await self.tx.forgetting.after(self.owner, last, self.at, limit))
        vectors = await self.tx.vectors.of_memories(self.model.id, [row["id"] for row in rows])
        size = await self.tx.owners.size([self.owner])
        path = await path_for(self.tx, "memories", size.memories)
        near: dict[UUID, dict[UUID, float | None]] = {}
        for row in rows:
            vector = vectors.get(row["id"])
            if vector is None:
                continue
            words = list(dict.fromkeys(tokens(row["text"])))[:WORDS]
            query = LegQuery([self.owner], words, DenseQuery(vector, self.model), NEAREST, path)
            chosen = Selection(Scope.of_owner(self.owner), self.at, kinds=[row["kind"]], uncertain=True)
            found = await self.tx.search.memories(query, chosen)
            near[row["id"]] = {
                one["id"]: None if one["cosine"] is None else self.calibration.similarity(one["cosine"])
                for one in found
                if one["id"] < row["id"]
            }
        return Compared(rows, await self._pairs(rows, near))

    async def _pairs(self, rows: Sequence[Row], near: Mapping[UUID, Mapping[UUID, float | None]]) -> list[Pair]:
        likely = {
            name: {
                other: similarity
                for other, similarity in others.items()
                if similarity is not None and similarity >= self.calibration.duplicate
            }
            for name, others in near.items()
        }
        wanted = sorted({other for others in likely.values() for other in others})
        by_id = {row["id"]: row for row in await self.tx.memories.by_ids(wanted)} if wanted else {}
        keys = {row["key"] for row in rows if row["key"] is not None}
        many = {key: entry.multi_valued for key, entry in (await canonical_keys(self.tx, keys)).items()} if keys else {}
        found = []
        for row in rows:
            for other, similarity in likely.get(row["id"], {}).items():
                pair = sorted((row, by_id[other]), key=lambda one: (since(one), one["id"]))
                found.append(Pair(pair[1], pair[0], similarity, many.get(row["key"], False)))
        return found
