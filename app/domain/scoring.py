"""The three-factor score: how relevant a memory is, how recent, how important."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

import numpy as np

from app.domain.fusion import Column

DECAY_PER_HOUR: Final = 0.995
"""Generative Agents (Park et al., UIST 2023), section 4.1, "Retrieval"."""

NEUTRAL: Final = 0.5
"""The value of a factor about which nothing is known."""

MAX_IMPORTANCE: Final = 10

HALF_LIFE_DAYS: Final = 30.0

_SECONDS_PER_HOUR = 3600.0
_SECONDS_PER_DAY = 86_400.0

RecencyOf = Literal["access", "creation"]


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each factor counts; only their proportions matter.

    Relevance dominates: recency and importance settle what relevance leaves close. The paper weighs all three alike,
    which lets the newest small talk of a store win against the answer.

    Args:
        relevance: Weight of the relevance.
        recency: Weight of the recency.
        importance: Weight of the importance.
        confidence: How far the score is scaled by the memory's confidence, in [0, 1]; 0 leaves it alone.
    """

    relevance: float = 1.0
    recency: float = 0.03
    importance: float = 0.03
    confidence: float = 0.0

    def __post_init__(self) -> None:
        """Refuses weights that are negative, not finite, or all 0."""
        weights = (self.relevance, self.recency, self.importance)
        if any(not math.isfinite(weight) or weight < 0 for weight in weights):
            raise ValueError("A weight is a finite number, at least 0.")
        if not any(weights):
            raise ValueError("At least one weight is above 0.")
        if not 0 <= self.confidence <= 1:
            raise ValueError("The weight of confidence is in [0, 1].")


@dataclass(frozen=True, slots=True)
class Factors:
    """What a score is made of, a column each, all in [0, 1] but `weight`, which is at least 0."""

    relevance: Column
    recency: Column
    importance: Column
    weight: Column
    confidence: Column


def scores(factors: Factors, weights: Weights) -> Column:
    """The weighted mean of the three factors, raised or lowered by each memory's own weight; in [0, 1].

    Sum form of Generative Agents, section 4.1, as a mean so that a score means the same under every choice of weights.
    A memory's weight w takes the mean s to 1 - (1 - s) ** w: 1 leaves it, 2 is as good as two independent reasons, 0
    gives 0, and nothing leaves [0, 1], as a plain product would.
    """
    total = weights.relevance + weights.recency + weights.importance
    largest = max(weights.relevance, weights.recency, weights.importance)
    parts = (
        weights.relevance / largest * np.clip(factors.relevance, 0, 1),
        weights.recency / largest * np.clip(factors.recency, 0, 1),
        weights.importance / largest * np.clip(factors.importance, 0, 1),
    )
    scale = (
        total / largest
        if math.isfinite(total)
        else math.fsum(weight / largest for weight in (weights.relevance, weights.recency, weights.importance))
    )
    mean = np.clip((parts[0] + parts[1] + parts[2]) / scale, 0.0, 1.0)
    weighed = 1 - (1 - mean) ** np.maximum(factors.weight, 0)
    return np.clip(weighed * (1 - weights.confidence + weights.confidence * factors.confidence), 0.0, 1.0)


def recencies(
    happened: Sequence[datetime], accessed: Sequence[datetime | None], now: datetime, *, of: RecencyOf, half_life: float
) -> Column:
    """How recent each row is, in (0, 1]. All times are aware.

    By access: 0.995 ** hours since the last access, or else between this row and the newest of all. Without an access
    the real clock says nothing: history that was loaded today is old in all its rows alike. By creation: halved every
    `half_life` days between the row and `now`.
    """
    if not happened:
        return np.zeros(0)
    at = now.timestamp()
    when = np.array([one.timestamp() for one in happened])
    if of == "creation":
        return np.asarray(0.5 ** (np.maximum(at - when, 0) / _SECONDS_PER_DAY / half_life))
    since = when.max() - when
    known = [(row, one.timestamp()) for row, one in enumerate(accessed) if one is not None]
    for row, last in known:
        since[row] = at - last
    return np.asarray(DECAY_PER_HOUR ** (np.maximum(since, 0) / _SECONDS_PER_HOUR))


def importance_factor(importance: float | None) -> float:
    """Importance of 1 to 10 as a factor in [0, 1]; unknown is the neutral 0.5."""
    return NEUTRAL if importance is None else min(1.0, max(0.0, importance / MAX_IMPORTANCE))
