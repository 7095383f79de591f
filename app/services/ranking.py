"""From what the legs found to an order: fusion, surroundings and scoring are the domain's."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

import numpy as np

from app.domain.fusion import Column, Evidence, Leg, ranks, relevance, similarity
from app.domain.neighbourhood import Neighbourhood, Place, in_context
from app.domain.periods import AskedTime, time_match
from app.domain.scoring import NEUTRAL, Factors, RecencyOf, Weights, importance_factor, recencies, scores
from app.services.questions import Question

HitType = Literal["memory", "message"]

LATEST_HALF_LIFE_DAYS: Final = 7.0
"""How fast the time leg's signal falls behind the newest row, where a question asks for what was last."""

NEIGHBOURHOOD: Final = Neighbourhood()


@dataclass(frozen=True, slots=True)
class Scoring:
    """How candidates are scored: the weights, the reference time, and what recency is counted from."""

    weights: Weights
    at: datetime
    recency_of: RecencyOf = "access"
    half_life_days: float = 30.0


@dataclass(frozen=True, slots=True)
class Pool:
    """Candidates of one corpus and what ranking needs to know of them, a column each."""

    type: HitType
    ids: list[UUID]
    cosine: Column
    bm25: Column
    happened: list[datetime]
    accessed: list[datetime | None]
    importance: list[float]
    weight: list[float]
    confidence: list[float]
    named: list[bool]
    constraint: list[bool]
    places: list[Place]

    @classmethod
    def of_memories(cls, rows: Sequence[Any]) -> "Pool":
        """Rows of the memories' legs."""
        return cls(
            type="memory",
            ids=[UUID(int=row.id.int) for row in rows],
            cosine=_column(row.cosine for row in rows),
            bm25=_column(row.bm25 for row in rows),
            happened=[row.occurred_at or row.created_at for row in rows],
            accessed=[row.last_accessed_at for row in rows],
            importance=[importance_factor(row.importance) for row in rows],
            weight=[row.weight for row in rows],
            confidence=[row.confidence for row in rows],
            named=[row.named for row in rows],
            constraint=[row.pinned and row.category == "constraint" for row in rows],
            places=[],
        )

    @classmethod
    def of_messages(cls, rows: Sequence[Any]) -> "Pool":
        """Rows of the messages' legs."""
        count = len(rows)
        return cls(
            type="message",
            ids=[UUID(int=row.id.int) for row in rows],
            cosine=_column(row.cosine for row in rows),
            bm25=_column(row.bm25 for row in rows),
            happened=[row.occurred_at for row in rows],
            accessed=[None] * count,
            importance=[NEUTRAL] * count,
            weight=[1.0] * count,
            confidence=[1.0] * count,
            named=[False] * count,
            constraint=[False] * count,
            places=[(row.session_id, row.seq) for row in rows],
        )


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its place in the order; every factor is in [0, 1]."""

    type: HitType
    id: UUID
    happened: datetime
    score: float
    relevance: float
    recency: float
    importance: float
    weight: float
    confidence: float
    constraint: bool
    similarity: float | None
    similarity_raw: float | None
    bm25: float | None
    ranks: dict[str, int]
    signals: dict[str, float]
    context: float | None
    rerank: float | None = None

    def reranked(self, mark: float, weights: Weights) -> "Scored":
        """The same with a reranker's mark in [0, 1] for its relevance."""
        one = (np.array([value]) for value in (mark, self.recency, self.importance, self.weight, self.confidence))
        score = float(scores(Factors(*one), weights)[0])
        return replace(self, relevance=mark, score=score, rerank=mark)


def rank(pool: Pool, question: Question, scoring: Scoring) -> list[Scored]:
    """The candidates with their scores, best first; equals by raw similarity, then BM25, then by id."""
    if not pool.ids:
        return []
    signals = _signals(pool, question)
    heard = {leg: weight for leg, weight in question.rule.weights.items() if leg in signals or leg in _RAW}
    evidence = Evidence(pool.cosine, pool.bm25, signals)
    own = relevance(evidence, replace(question.rule, weights=heard), question.calibration)
    whole = in_context(own, pool.places, NEIGHBOURHOOD) if pool.places else own
    recent = recencies(
        pool.happened, pool.accessed, scoring.at, of=scoring.recency_of, half_life=scoring.half_life_days
    )
    factors = Factors(whole, recent, np.array(pool.importance), np.array(pool.weight), np.array(pool.confidence))
    total = scores(factors, scoring.weights)
    return _ordered(pool, evidence, question, factors, own, total)


_RAW: Final = frozenset({Leg.DENSE, Leg.LEXICAL})


def _ordered(
    pool: Pool, evidence: Evidence, question: Question, factors: Factors, own: Column, total: Column
) -> list[Scored]:
    order = np.lexsort(
        (np.arange(len(pool.ids)), -np.nan_to_num(pool.bm25), -np.nan_to_num(pool.cosine, nan=-2.0), -total)
    )
    alike = similarity(pool.cosine, question.calibration).tolist()
    raw, bm25 = pool.cosine.tolist(), pool.bm25.tolist()
    by_leg = {leg.value: ranks(evidence.raw(leg)) for leg in (Leg.DENSE, Leg.LEXICAL)}
    signals = {leg.value: column.tolist() for leg, column in evidence.signals.items()}
    whole, recent, marks = factors.relevance.tolist(), factors.recency.tolist(), total.tolist()
    share = (factors.relevance - own).tolist() if pool.places else None
    return [
        Scored(
            type=pool.type,
            id=pool.ids[row],
            happened=pool.happened[row],
            score=marks[row],
            relevance=whole[row],
            recency=recent[row],
            importance=pool.importance[row],
            weight=pool.weight[row],
            confidence=pool.confidence[row],
            constraint=pool.constraint[row],
            similarity=_known(alike[row]),
            similarity_raw=_known(raw[row]),
            bm25=_known(bm25[row]),
            ranks={name: found for name, column in by_leg.items() if (found := column[row]) is not None},
            signals={name: column[row] for name, column in signals.items() if column[row] > 0},
            context=None if share is None else share[row],
        )
        for row in order.tolist()
    ]


def _signals(pool: Pool, question: Question) -> dict[Leg, Column]:
    """What the legs beside meaning and words give; one that marks no candidate says nothing and is left out."""
    weights = question.rule.weights
    given = {
        Leg.TIME: _of_time(pool, question.time, latest=question.latest) if weights.get(Leg.TIME) else None,
        Leg.KEY: np.array(pool.named, np.float64) if weights.get(Leg.KEY) else None,
        Leg.CONSTRAINT: np.array(pool.constraint, np.float64) if weights.get(Leg.CONSTRAINT) else None,
    }
    return {leg: column for leg, column in given.items() if column is not None and column.any()}


def _of_time(pool: Pool, time: AskedTime | None, *, latest: bool) -> Column | None:
    if time is not None:
        return np.array([time_match(time, happened) for happened in pool.happened])
    if not latest:
        return None
    newest = max(pool.happened)
    nothing: list[datetime | None] = [None] * len(pool.ids)
    return recencies(pool.happened, nothing, newest, of="creation", half_life=LATEST_HALF_LIFE_DAYS)


def _column(values: Any) -> Column:  # noqa: ANN401 - numbers and None
    return np.array([math.nan if value is None else value for value in values], np.float64)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
