"""From what the legs of a search found to one relevance in [0, 1] for each candidate."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, assert_never

import numpy as np
import numpy.typing as npt

from app.domain.calibration import Calibration

Column = npt.NDArray[np.float64]
"""One number for each candidate, shape (candidates,); NaN where there is none."""


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


DEFAULT_WEIGHTS: Final[Mapping[Leg, float]] = {
    Leg.DENSE: 0.3,
    Leg.LEXICAL: 0.7,
    Leg.TIME: 0.3,
    Leg.KEY: 0.3,
    Leg.CONSTRAINT: 0.05,
}
"""Measured in ADR 8. A leg that cannot say anything about a question is left out and takes nothing from the others."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the legs say of the candidates, a column each: all have the same length.

    Args:
        cosine: Raw cosine to the question in [-1, 1]; NaN where the candidate or the question has no vector.
        bm25: BM25 score, >= 0; NaN where no word is shared.
        coverage: The share of what the question's words tell (their idf) that the candidate's words have, in [0, 1].
        signals: What the other legs (time, key, constraint) give, in [0, 1].
    """

    cosine: Column
    bm25: Column
    coverage: Column
    signals: Mapping[Leg, Column] = field(default_factory=dict)

    def raw(self, leg: Leg) -> Column:
        """A leg's own column; all NaN where the leg said nothing."""
        match leg:
            case Leg.DENSE:
                return self.cosine
            case Leg.LEXICAL:
                return self.bm25
            case Leg.TIME | Leg.KEY | Leg.CONSTRAINT:
                return self.signals.get(leg, np.full(len(self.cosine), np.nan))
            case _:
                assert_never(leg)


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
    weights: Mapping[Leg, float] = field(default_factory=lambda: DEFAULT_WEIGHTS)
    bm25_half: float = 16.0
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


def relevance(evidence: Evidence, rule: FusionRule, calibration: Calibration) -> Column:
    """Each candidate's relevance in [0, 1]: the weighted mean of one value in [0, 1] for each leg that is on.

    A leg that did not find a candidate gives it 0. With every leg off all relevances are 0.
    """
    fused = np.zeros(len(evidence.cosine))
    for leg, share in rule.shares.items():
        fused += share * np.nan_to_num(_mapped(leg, evidence, rule, calibration))
    return np.clip(fused, 0.0, 1.0)


def similarity(cosine: Column, calibration: Calibration) -> Column:
    """Calibrated similarity in [0, 1]; NaN where there is no cosine."""
    return np.clip((cosine - calibration.low) / (calibration.high - calibration.low), 0.0, 1.0)


def saturate(bm25: Column, half: float) -> Column:
    """The fixed map of BM25 to [0, 1): bm25 / (bm25 + half), the form of BM25's own term saturation."""
    least = np.maximum(bm25, 0.0)
    return least / (least + half)


def ranks(raw: Column) -> list[int | None]:
    """Each candidate's rank in a leg, from 1; equals as they came, None where the leg did not find it."""
    found: list[int | None] = [None] * len(raw)
    order = np.argsort(-raw, kind="stable")  # NaN is sorted to the end
    for rank, row in enumerate(order.tolist(), start=1):
        if not math.isnan(raw[row]):
            found[row] = rank
    return found


def _mapped(leg: Leg, evidence: Evidence, rule: FusionRule, calibration: Calibration) -> Column:
    """One leg's value in [0, 1] for each candidate, NaN where it has none."""
    raw = evidence.raw(leg)
    match rule.method:
        case Fusion.FIXED:
            return _fixed(leg, evidence, rule, calibration)
        case Fusion.RRF:
            return _reciprocal(raw, rule.rrf_k)
        case Fusion.MIN_MAX:
            return _scaled(raw, _min_max)
        case Fusion.Z_SCORE:
            return _scaled(raw, _z_score)
        case _:
            assert_never(rule.method)


def _fixed(leg: Leg, evidence: Evidence, rule: FusionRule, calibration: Calibration) -> Column:
    raw = evidence.raw(leg)
    match leg:
        case Leg.DENSE:
            return similarity(raw, calibration)
        case Leg.LEXICAL:
            return saturate(raw, rule.bm25_half) * np.clip(evidence.coverage, 0.0, 1.0)
        case Leg.TIME | Leg.KEY | Leg.CONSTRAINT:
            return np.clip(raw, 0.0, 1.0)
        case _:
            assert_never(leg)


def _reciprocal(raw: Column, k: float) -> Column:
    """1 / (k + rank), scaled so that rank 1 gives 1."""
    return np.array([math.nan if rank is None else (k + 1) / (k + rank) for rank in ranks(raw)])


def _scaled(raw: Column, scale: Callable[[Column], Column]) -> Column:
    scaled = np.full(len(raw), np.nan)
    known = ~np.isnan(raw)
    if known.any():
        scaled[known] = np.clip(scale(raw[known]), 0.0, 1.0)
    return scaled


def _min_max(values: Column) -> Column:
    low, high = values.min(), values.max()
    return (values - low) / (high - low) if high > low else np.ones(len(values))


def _z_score(values: Column) -> Column:
    """Standard scores, by the normal distribution to (0, 1): a value at the mean gives 0.5."""
    deviation = float(values.std())
    if deviation == 0 or not math.isfinite(deviation):
        return np.full(len(values), 0.5)
    scores = (values - values.mean()) / (deviation * math.sqrt(2))
    return np.array([0.5 * (1 + math.erf(score)) for score in scores.tolist()])
