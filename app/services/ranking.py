"""From what the legs found to an order: fusion and scoring are the domain's."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from app.domain.fusion import Candidate, Fused, Leg, fuse
from app.domain.scoring import Weights, importance_factor, recency, score
from app.repositories.base import Row
from app.repositories.search import Found
from app.services.questions import Question

HitType = Literal["memory", "message"]


@dataclass(frozen=True, slots=True)
class Scored:
    """A found row with its place in the order; every factor is in [0, 1]."""

    type: HitType
    row: Row
    fused: Fused[UUID]
    recency: float
    importance: float
    score: float


def rank(
    kind: HitType, found: Sequence[Found], rows: Iterable[Row], question: Question, at: datetime, weights: Weights
) -> list[Scored]:
    """The found rows with their scores, best first."""
    by_id = {row["id"]: row for row in rows}
    candidates = [_candidate(one) for one in found if one.id in by_id]
    newest = max((_happened(row) for row in by_id.values()), default=None)
    scored = [
        _score(kind, by_id[fused.id], fused, newest, at, weights)
        for fused in fuse(candidates, question.rule, question.calibration)
    ]
    return sorted(scored, key=lambda hit: -hit.score)


def _score(
    kind: HitType, row: Row, fused: Fused[UUID], newest: datetime | None, at: datetime, weights: Weights
) -> Scored:
    accessed = row["last_accessed_at"] if kind == "memory" else None
    freshness = recency(happened_at=_happened(row), accessed_at=accessed, newest_at=newest, now=at)
    importance = importance_factor(row["importance"] if kind == "memory" else None)
    return Scored(kind, row, fused, freshness, importance, score(fused.relevance, freshness, importance, weights))


def _candidate(found: Found) -> Candidate[UUID]:
    ranks: Mapping[Leg, int | None] = {Leg.DENSE: found.dense_rank, Leg.LEXICAL: found.lexical_rank}
    return Candidate(
        found.id,
        similarity_raw=found.cosine,
        bm25=found.bm25,
        ranks={leg: rank for leg, rank in ranks.items() if rank is not None},
    )


def _happened(row: Row) -> datetime:
    happened: datetime = row["occurred_at"] or row["created_at"]
    return happened
