"""From what the legs of a search found to one relevance in [0, 1]."""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar, assert_never

from app.domain.calibration import Calibration

Id = TypeVar("Id")


class Leg(StrEnum):
    """A way to find memories."""

    DENSE = "dense"
    LEXICAL = "lexical"
    TIME = "time"
    KEY = "key"
    CONSTRAINT = "constraint"


class Fusion(StrEnum):
    """A way to make one relevance of the legs' results."""

    FIXED = "fixed"
    RRF = "rrf"
    MIN_MAX = "min_max"
    Z_SCORE = "z_score"


@dataclass(frozen=True, slots=True)
class Candidate(Generic[Id]):
    """A row that at least one leg found.

    Args:
        id: The row.
        similarity_raw: Its raw cosine to the question in [-1, 1]; None where the row or the question has no vector.
        bm25: Its BM25 score, >= 0; None where it shares no token with the question.
        ranks: Its rank, from 1, in each leg that found it.
        signals: What the other legs (time, key, constraint) give it, each in [0, 1].
    """

    id: Id
    similarity_raw: float | None = None
    bm25: float | None = None
    ranks: Mapping[Leg, int] = field(default_factory=dict)
    signals: Mapping[Leg, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fused(Generic[Id]):
    """A candidate with its relevance: the parts of `score_breakdown` that come from the legs."""

    id: Id
    relevance: float
    similarity: float | None
    similarity_raw: float | None
    bm25: float | None
    ranks: Mapping[Leg, int]


@dataclass(frozen=True, slots=True)
class FusionRule:
    """How legs are fused.

    Args:
        method: Fixed maps by default: their relevance means the same in every query.
        weights: Weight of each leg that is switched on; a leg that is absent or has weight 0 is off. A leg that cannot
            say anything about the question (no time is named in it, the embedder is down) is to be left out too.
        bm25_half: The BM25 score that the fixed map takes to 0.5.
        rrf_k: The k of reciprocal rank fusion (60 in Cormack, Clarke and Buettcher, SIGIR 2009).
    """

    method: Fusion = Fusion.FIXED
    weights: Mapping[Leg, float] = field(default_factory=lambda: {Leg.DENSE: 0.35, Leg.LEXICAL: 0.65})
    bm25_half: float = 8.0
    rrf_k: float = 60.0

    def __post_init__(self) -> None:
        """Refuses numbers under which a relevance could leave [0, 1]."""
        if any(not math.isfinite(weight) or weight < 0 for weight in self.weights.values()):
            raise ValueError("The weight of a leg is a finite number, at least 0.")
        if not (math.isfinite(self.bm25_half) and self.bm25_half > 0):
            raise ValueError("bm25_half is a finite number above 0.")
        if not (math.isfinite(self.rrf_k) and self.rrf_k >= 0):
            raise ValueError("rrf_k is a finite number, at least 0.")

    @property
    def shares(self) -> dict[Leg, float]:
        """The legs that are on, their weights brought to a sum of 1; empty when all are off."""
        largest = max(self.weights.values(), default=0.0)
        scaled = {leg: weight / largest for leg, weight in self.weights.items() if weight > 0}
        total = math.fsum(scaled.values())
        return {leg: weight / total for leg, weight in scaled.items()}


def fuse(candidates: Iterable[Candidate[Id]], rule: FusionRule, calibration: Calibration) -> list[Fused[Id]]:
    """The candidates with their relevance in [0, 1], best first.

    The relevance is the weighted mean of one value in [0, 1] for each leg that is on; a leg that did not find a
    candidate gives it 0. Equals are ordered by raw similarity, then BM25, then as they came, so that the order never
    contradicts the relevance and is the same at every call. With every leg off all relevances are 0.
    """
    found = list(candidates)
    shares = rule.shares
    columns = {leg: _column(leg, found, rule, calibration) for leg in shares}
    fused = [
        Fused(
            id=candidate.id,
            relevance=_unit(math.fsum(shares[leg] * columns[leg][row] for leg in shares)),
            similarity=None if candidate.similarity_raw is None else calibration.similarity(candidate.similarity_raw),
            similarity_raw=candidate.similarity_raw,
            bm25=candidate.bm25,
            ranks=candidate.ranks,
        )
        for row, candidate in enumerate(found)
    ]
    return sorted(fused, key=_precedence)


def saturate(bm25: float, half: float) -> float:
    """The fixed map of BM25 to [0, 1): bm25 / (bm25 + half), the form of BM25's own term saturation."""
    return max(0.0, bm25) / (max(0.0, bm25) + half)


def _column(leg: Leg, found: Sequence[Candidate[Id]], rule: FusionRule, calibration: Calibration) -> list[float]:
    """One leg's value in [0, 1] for each candidate."""
    match rule.method:
        case Fusion.FIXED:
            return [_fixed(leg, candidate, rule, calibration) for candidate in found]
        case Fusion.RRF:
            return [_reciprocal(candidate.ranks.get(leg), rule.rrf_k) for candidate in found]
        case Fusion.MIN_MAX:
            return _scaled([_raw(leg, candidate) for candidate in found], _min_max)
        case Fusion.Z_SCORE:
            return _scaled([_raw(leg, candidate) for candidate in found], _z_score)
        case _:
            assert_never(rule.method)


def _raw(leg: Leg, candidate: Candidate[Id]) -> float | None:
    match leg:
        case Leg.DENSE:
            return candidate.similarity_raw
        case Leg.LEXICAL:
            return candidate.bm25
        case Leg.TIME | Leg.KEY | Leg.CONSTRAINT:
            return candidate.signals.get(leg)
        case _:
            assert_never(leg)


def _fixed(leg: Leg, candidate: Candidate[Id], rule: FusionRule, calibration: Calibration) -> float:
    raw = _raw(leg, candidate)
    if raw is None:
        return 0.0
    match leg:
        case Leg.DENSE:
            return calibration.similarity(raw)
        case Leg.LEXICAL:
            return saturate(raw, rule.bm25_half)
        case Leg.TIME | Leg.KEY | Leg.CONSTRAINT:
            return _unit(raw)
        case _:
            assert_never(leg)


def _reciprocal(rank: int | None, k: float) -> float:
    """1 / (k + rank), scaled so that rank 1 gives 1."""
    return 0.0 if rank is None else (k + 1) / (k + max(1, rank))


def _scaled(values: Sequence[float | None], scale: Callable[[list[float]], list[float]]) -> list[float]:
    scaled = iter(scale([value for value in values if value is not None]))
    return [0.0 if value is None else _unit(next(scaled)) for value in values]


def _min_max(values: list[float]) -> list[float]:
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / (high - low) if high > low else 1.0 for value in values]


def _z_score(values: list[float]) -> list[float]:
    """Standard scores, by the normal distribution to (0, 1): a value at the mean gives 0.5."""
    deviation = statistics.pstdev(values) if values else 0.0
    if deviation == 0:
        return [0.5 for _ in values]
    mean = math.fsum(values) / len(values)
    return [0.5 * (1 + math.erf((value - mean) / (deviation * math.sqrt(2)))) for value in values]


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))


def _precedence(hit: Fused[Id]) -> tuple[float, float, float]:
    similarity = -math.inf if hit.similarity_raw is None else hit.similarity_raw
    return (-hit.relevance, -similarity, -(hit.bm25 or 0.0))
