"""What a language model thinks of new statements and their neighbours, asked before anything is locked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Self
from uuid import UUID

from app.core import clock
from app.domain.conflict.deciding import RELATED
from app.domain.conflict.keys import same_key
from app.domain.conflict.statements import Decision, Statement
from app.domain.extraction.candidates import Candidate
from app.domain.scope import Scope
from app.repositories.base import Row
from app.repositories.vectors import Embedded
from app.services.embedding import Embedder
from app.services.extractors.judging import MOST_PAIRS, JudgeModel
from app.services.keys import canonical_key
from app.services.neighbours import Neighbour, Neighbours, statement_of
from app.services.writing import Draft
from app.uow import UnitOfWork

PAIRS_OF_ONE: Final = 6
"""Neighbours of one statement that a model is asked about: the nearest."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a new memory says: its id, its statement, and the vector of its text, if there is one."""

    id: UUID
    statement: Statement
    vector: Embedded | None


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Decisions about pairs of a new and a stored memory, each with the version of the memory that was judged."""

    decisions: Mapping[tuple[UUID, UUID], tuple[int, Decision]] = field(default_factory=dict)
    calls: int = 0
    tokens: int = 0

    @classmethod
    def none(cls) -> Self:
        """Rules decide everything."""
        return cls()

    def of(self, own: UUID, rows: Sequence[Row]) -> dict[UUID, Decision]:
        """Those about a new memory that still hold: one that has changed since is judged by rules."""
        found = ((row, self.decisions.get((own, row["id"]))) for row in rows)
        return {row["id"]: known[1] for row, known in found if known is not None and known[0] == row["version"]}


@dataclass(frozen=True, slots=True)
class Judging:
    """Asks the model about all pairs of a batch in one call; without a model there are no verdicts."""

    uow: UnitOfWork
    embedder: Embedder
    judge: JudgeModel

    async def verdicts(self, tenant_id: UUID, scope: Scope, news: Sequence[Told]) -> Verdicts:
        """Verdicts on new statements and what is near them now.

        Never fails: where the model says nothing, rules decide.
        """
        if self.judge.model is None or not news:
            return Verdicts.none()
        asked = await self._pairs(tenant_id, scope, news)
        judged = await self.judge.judge([(new, near.statement) for _, new, near in asked])
        return Verdicts(
            {
                (own, near.row["id"]): (near.row["version"], decision)
                for (own, _, near), decision in zip(asked, judged.decisions, strict=True)
                if decision is not None
            },
            judged.calls,
            judged.tokens,
        )

    async def _pairs(
        self, tenant_id: UUID, scope: Scope, news: Sequence[Told]
    ) -> list[tuple[UUID, Statement, Neighbour]]:
        """Pairs that may have something to do with each other, the likeliest first, as many as one call takes."""
        model = await self.embedder.record()
        found: list[tuple[UUID, Statement, Neighbour]] = []
        async with self.uow.begin_tenant(tenant_id) as tx:
            look = Neighbours(tx, clock.now(), scope, model, self.embedder.calibration)
            for told in news:
                key = None if told.statement.key is None else await canonical_key(tx, told.statement.key)
                new = replace(told.statement, key=None if key is None else key.key)
                near = await look.of(new, told.id, None if told.vector is None else told.vector.of(model.id))
                likely = sorted((one for one in near if _related(new, one)), key=lambda one: -_nearness(new, one))
                found += [(told.id, new, one) for one in likely[:PAIRS_OF_ONE]]
        return sorted(found, key=lambda pair: -_nearness(pair[1], pair[2]))[:MOST_PAIRS]


def told_by(candidates: Sequence[Candidate], drafts: Sequence[Draft], vectors: Sequence[Embedded]) -> list[Told]:
    """What candidates say, as their drafts would have it."""
    made = {vector.target: vector for vector in vectors}
    return [
        Told(draft.row["id"], statement_of(candidate, draft, None), made.get(draft.row["id"]))
        for candidate, draft in zip(candidates, drafts, strict=True)
    ]


def _related(new: Statement, near: Neighbour) -> bool:
    return same_key(new, near.statement) or (near.similarity or 0.0) >= RELATED


def _nearness(new: Statement, near: Neighbour) -> float:
    return (near.similarity or 0.0) + same_key(new, near.statement)
