"""The three-factor score: how relevant a memory is, how recent, how important."""

import math
from dataclasses import dataclass
from datetime import datetime
from typing import Final

DECAY_PER_HOUR: Final = 0.995
"""Generative Agents (Park et al., UIST 2023), section 4.1, "Retrieval"."""

NEUTRAL: Final = 0.5
"""The value of a factor about which nothing is known."""

MAX_IMPORTANCE: Final = 10

_SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each factor counts; only their proportions matter.

    Relevance dominates: recency and importance settle what relevance leaves close. The paper weighs all three alike,
    which lets the newest small talk of a store win against the answer.
    """

    relevance: float = 1.0
    recency: float = 0.03
    importance: float = 0.03

    def __post_init__(self) -> None:
        """Refuses weights that are negative, not finite, or all 0."""
        weights = (self.relevance, self.recency, self.importance)
        if any(not math.isfinite(weight) or weight < 0 for weight in weights):
            raise ValueError("A weight is a finite number, at least 0.")
        if not any(weights):
            raise ValueError("At least one weight is above 0.")


def score(relevance: float, recency: float, importance: float, weights: Weights) -> float:
    """The weighted mean of the three factors, each and the result in [0, 1], higher is better.

    Sum form of Generative Agents, section 4.1, as a mean so that a score means the same under every choice of weights.
    """
    largest = max(weights.relevance, weights.recency, weights.importance)
    shares = (weights.relevance / largest, weights.recency / largest, weights.importance / largest)
    factors = (_unit(relevance), _unit(recency), _unit(importance))
    return _unit(math.fsum(s * f for s, f in zip(shares, factors, strict=True)) / math.fsum(shares))


def recency(*, happened_at: datetime, accessed_at: datetime | None, newest_at: datetime | None, now: datetime) -> float:
    """0.995 ** hours in [0, 1]: since the last access, or else between this row and the owner's newest one.

    Without an access the real clock says nothing: history that was loaded today is old in all its rows alike. All times
    are aware.

    Args:
        happened_at: When the row's event occurred.
        accessed_at: When the row was last served; None if it never was.
        newest_at: When the owner's newest row occurred; None if unknown, which gives the neutral 0.5.
        now: The reference time of the question.
    """
    if accessed_at is not None:
        return _decay((now - accessed_at).total_seconds())
    if newest_at is None:
        return NEUTRAL
    return _decay((newest_at - happened_at).total_seconds())


def importance_factor(importance: float | None) -> float:
    """Importance of 1 to 10 as a factor in [0, 1]; unknown is the neutral 0.5."""
    return NEUTRAL if importance is None else _unit(importance / MAX_IMPORTANCE)


def _decay(seconds: float) -> float:
    return float(DECAY_PER_HOUR ** (max(0.0, seconds) / _SECONDS_PER_HOUR))


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))
