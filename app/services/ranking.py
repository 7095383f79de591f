"""From what the legs found to an order: fusion, surroundings and scoring are the domain's."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Final, Literal
from uuid import UUID

import numpy as np

from app.domain.fusion import Column, Evidence, Leg, ranks, relevance, similarity
from app.domain.neighbourhood import Neighbourhood, Place, in_context
from app.domain.periods import AskedTime, time_match
from app.domain.scoring import NEUTRAL, Factors, RecencyOf, Weights, importance_factor, recencies, scores
from app.repositories.search import MEMORY_COLUMNS, MESSAGE_COLUMNS
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
    coverage: Column
    happened: list[datetime]
    accessed: list[datetime | None]
    importance: list[float]
    weight: list[float]
    confidence: list[float]
    named: list[bool]
    constraint: list[bool]
    places: list[Place]

    @classmethod
    def of_memories(cls, rows: Sequence[Sequence[Any]]) -> "Pool":
        """Rows of the memories' legs."""
        of = _by_name(rows, MEMORY_COLUMNS)
        return cls(
            type="memory",
            ids=list(of["id"]),
            cosine=_column(of["cosine"]),
            bm25=_column(of["bm25"]),
            coverage=_column(of["coverage"]),
            happened=list(of["happened"]),
            accessed=list(of["last_accessed_at"]),
            importance=[importance_factor(importance) for importance in of["importance"]],
            weight=list(of["weight"]),
            confidence=list(of["confidence"]),
            named=list(of["named"]),
            constraint=list(of["constraint"]),
            places=[],
        )

    @classmethod
    def of_messages(cls, rows: Sequence[Sequence[Any]]) -> "Pool":
        """Rows of the messages' legs."""
        of, count = _by_name(rows, MESSAGE_COLUMNS), len(rows)
        return cls(
            type="message",
            ids=list(of["id"]),
            cosine=_column(of["cosine"]),
            bm25=_column(of["bm25"]),
            coverage=_column(of["coverage"]),
            happened=list(of["happened"]),
            accessed=[None] * count,
            importance=[NEUTRAL] * count,
            weight=[1.0] * count,
            confidence=[1.0] * count,
            named=[False] * count,
            constraint=[False] * count,
            places=list(zip(of["session_id"], of["seq"], strict=True)),
        )


class Columns:
    """What is known of a pool's candidates after ranking; what is shown of a few is worked out for those alone."""

    def __init__(self, pool: Pool, question: Question, evidence: Evidence, factors: Factors, own: Column) -> None:
        self.pool, self.evidence, self.factors = pool, evidence, factors
        self._own = own
        self._question = question
        self._calibration = question.calibration

    @cached_property
    def ranks(self) -> dict[str, list[int | None]]:
        """Each candidate's rank in the legs that compare texts, from 1."""
        return {leg.value: ranks(self.evidence.raw(leg)) for leg in (Leg.DENSE, Leg.LEXICAL)}

    @cached_property
    def similarity(self) -> Column:
        """Calibrated similarities; NaN where there is no cosine."""
        return similarity(self.evidence.cosine, self._calibration)

    @cached_property
    def unasked(self) -> Column:
        """The relevance of each but for its being a constraint."""
        signals: dict[Leg, Column] = {**self.evidence.signals}
        signals.pop(Leg.CONSTRAINT, None)
        rule = self._question.rule
        heard = {leg: weight for leg, weight in rule.weights.items() if leg in signals or leg in _RAW}
        return relevance(replace(self.evidence, signals=signals), replace(rule, weights=heard), self._calibration)

    @cached_property
    def context(self) -> Column | None:
        """What each relevance owes to its surroundings; None for memories, which stand alone."""
        return self.factors.relevance - self._own if self.pool.places else None


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its place in the order; every factor is in [0, 1]."""

    columns: Columns
    row: int
    score: float
    relevance: float
    rerank: float | None = None

    @property
    def type(self) -> HitType:
        """Memory or message."""
        return self.columns.pool.type

    @property
    def id(self) -> UUID:
        """The memory's or the message's."""
        return self.columns.pool.ids[self.row]

    @property
    def happened(self) -> datetime:
        """When its event was."""
        return self.columns.pool.happened[self.row]

    @property
    def constraint(self) -> bool:
        """Whether it is a pinned constraint."""
        return self.columns.pool.constraint[self.row]

    @property
    def unasked(self) -> float:
        """How relevant it is but for being a constraint; a reranker's mark where there is one."""
        return float(self.columns.unasked[self.row]) if self.rerank is None else self.rerank

    @property
    def recency(self) -> float:
        """The factor."""
        return float(self.columns.factors.recency[self.row])

    @property
    def importance(self) -> float:
        """The factor."""
        return self.columns.pool.importance[self.row]

    @property
    def similarity(self) -> float | None:
        """Calibrated."""
        return _known(self.columns.similarity[self.row])

    @property
    def similarity_raw(self) -> float | None:
        """The cosine."""
        return _known(self.columns.evidence.cosine[self.row])

    @property
    def bm25(self) -> float | None:
        """The raw score."""
        return _known(self.columns.evidence.bm25[self.row])

    @property
    def coverage(self) -> float | None:
        """How much of the question's words it has."""
        return _known(self.columns.evidence.coverage[self.row])

    @property
    def ranks(self) -> dict[str, int]:
        """In the legs that found it."""
        return {name: found for name, column in self.columns.ranks.items() if (found := column[self.row]) is not None}

    @property
    def signals(self) -> dict[str, float]:
        """What the other legs give it."""
        given = ((leg.value, float(column[self.row])) for leg, column in self.columns.evidence.signals.items())
        return {name: value for name, value in given if value > 0}

    @property
    def context(self) -> float | None:
        """What its relevance owes to its surroundings."""
        share = self.columns.context
        return None if share is None else float(share[self.row])

    def reranked(self, mark: float, weights: Weights) -> "Scored":
        """The same with a reranker's mark in [0, 1] for its relevance."""
        pool, row = self.columns.pool, self.row
        values = (mark, self.recency, self.importance, pool.weight[row], pool.confidence[row])
        one = (np.array([value]) for value in values)
        score = float(scores(Factors(*one), weights)[0])
        return replace(self, relevance=mark, score=score, rerank=mark)


def rank(pool: Pool, question: Question, scoring: Scoring) -> list[Scored]:
    """The candidates with their scores, best first; equals by raw similarity, then BM25, then by id."""
    if not pool.ids:
        return []
    signals = _signals(pool, question)
    heard = {leg: weight for leg, weight in question.rule.weights.items() if leg in signals or leg in _RAW}
    evidence = Evidence(pool.cosine, pool.bm25, pool.coverage, signals)
    own = relevance(evidence, replace(question.rule, weights=heard), question.calibration)
    whole = in_context(own, pool.places, NEIGHBOURHOOD) if pool.places else own
    recent = recencies(
        pool.happened, pool.accessed, scoring.at, of=scoring.recency_of, half_life=scoring.half_life_days
    )
    factors = Factors(whole, recent, np.array(pool.importance), np.array(pool.weight), np.array(pool.confidence))
    total = scores(factors, scoring.weights)
    arrival = np.arange(len(pool.ids))
    order = np.lexsort((arrival, -np.nan_to_num(pool.bm25), -np.nan_to_num(pool.cosine, nan=-2.0), -total))
    columns = Columns(pool, question, evidence, factors, own)
    marks, relevances = total.tolist(), whole.tolist()
    return [Scored(columns, row, marks[row], relevances[row]) for row in order.tolist()]


_RAW: Final = frozenset({Leg.DENSE, Leg.LEXICAL})


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


def _by_name(rows: Sequence[Sequence[Any]], names: Sequence[str]) -> dict[str, Sequence[Any]]:
    """The columns of some rows; each is empty where there is no row."""
    return dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(names, ())


def _column(values: Sequence[float | None]) -> Column:
    return np.array(values, np.float64)  # None is NaN


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
