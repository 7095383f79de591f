import math
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.scoring import NEUTRAL, Factors, Weights, importance_factor, recencies, scores

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FACTOR = st.floats(0, 1)
WEIGHTS = st.tuples(st.floats(0, 1e9), st.floats(0, 1e9), st.floats(0, 1e9)).filter(any).map(lambda w: Weights(*w))
MOMENTS = st.datetimes(timezones=st.just(UTC))


def score(
    relevance: float, recent: float, importance: float, weights: Weights, weight: float = 1.0, confidence: float = 1.0
) -> float:
    """Of one candidate."""
    one = (np.array([value]) for value in (relevance, recent, importance, weight, confidence))
    return float(scores(Factors(*one), weights)[0])


def by_access(happened: datetime, accessed: datetime | None, others: list[datetime], now: datetime = NOW) -> float:
    """Of the first of some rows."""
    rows = [happened, *others]
    return float(recencies(rows, [accessed, *[None] * len(others)], now, of="access", half_life=30)[0])


@given(FACTOR, FACTOR, FACTOR, WEIGHTS)
def test_a_score_lies_between_its_factors(relevance: float, recent: float, importance: float, weights: Weights) -> None:
    result = score(relevance, recent, importance, weights)
    factors = (relevance, recent, importance)
    assert 0 <= result <= 1
    assert min(factors) - 1e-9 <= result <= max(factors) + 1e-9


@given(FACTOR, FACTOR, FACTOR, FACTOR, WEIGHTS)
def test_more_relevance_never_lowers_a_score(low: float, high: float, recent: float, heavy: float, w: Weights) -> None:
    low, high = sorted([low, high])
    assert score(low, recent, heavy, w) <= score(high, recent, heavy, w) + 1e-12


@given(st.floats(allow_nan=False))
def test_a_score_stays_in_bounds_whatever_the_factors(value: float) -> None:
    assert 0 <= score(value, 0.5, 0.5, Weights()) <= 1


def test_by_default_relevance_outweighs_the_other_two() -> None:
    assert score(0.6, 0, 0, Weights()) > score(0.5, 1, 1, Weights())
    assert score(0.5, 1, 0.5, Weights()) > score(0.5, 0.2, 0.5, Weights())


def test_weights_count_by_their_proportion() -> None:
    assert score(0.3, 0.7, 0.1, Weights(1, 2, 3)) == pytest.approx(score(0.3, 0.7, 0.1, Weights(10, 20, 30)))
    assert score(0.3, 0.7, 0.1, Weights(0, 1, 0)) == pytest.approx(0.7)


@pytest.mark.parametrize("weights", [(0, 0, 0), (-1, 1, 1), (math.nan, 1, 1), (1, math.inf, 1)])
def test_weights_that_make_no_mean_are_refused(weights: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="weight"):
        Weights(*weights)


def test_recency_falls_by_half_a_percent_an_hour_since_the_last_access() -> None:
    accessed = NOW - timedelta(hours=10)
    assert by_access(NOW, accessed, [NOW]) == pytest.approx(0.995**10)


def test_history_loaded_later_is_recent_relative_to_its_own_newest_row() -> None:
    newest = NOW - timedelta(days=900)
    assert by_access(newest, None, [newest - timedelta(days=5)]) == 1
    assert by_access(newest - timedelta(hours=24), None, [newest]) == pytest.approx(0.995**24)


def test_recency_by_creation_is_halved_every_half_life() -> None:
    rows = [NOW - timedelta(days=days) for days in (0, 30, 60)]
    found = recencies(rows, [NOW] * 3, NOW, of="creation", half_life=30).tolist()
    assert found == [1, pytest.approx(0.5), pytest.approx(0.25)]
    assert recencies([], [], NOW, of="creation", half_life=30).tolist() == []


@given(MOMENTS, st.none() | MOMENTS, st.lists(MOMENTS, max_size=3), MOMENTS, st.sampled_from(["access", "creation"]))
def test_recency_stays_in_bounds_also_for_the_future(
    happened: datetime, accessed: datetime | None, others: list[datetime], now: datetime, of: Any
) -> None:
    rows = [happened, *others]
    found = recencies(rows, [accessed, *[None] * len(others)], now, of=of, half_life=30).tolist()
    assert all(0 <= value <= 1 for value in found)


@given(FACTOR, FACTOR, FACTOR, st.floats(0, 100), st.floats(0, 100))
def test_a_memorys_weight_raises_or_lowers_its_score_within_the_bounds(
    relevance: float, recent: float, importance: float, first: float, second: float
) -> None:
    low, high = sorted([first, second])
    least, most = (score(relevance, recent, importance, Weights(), weight) for weight in (low, high))
    assert 0 <= least <= most + 1e-12 <= 1 + 1e-12
    assert score(relevance, recent, importance, Weights(), 0) == 0


def test_a_weight_of_two_is_worth_two_independent_reasons() -> None:
    assert score(0.5, 0, 0, Weights(1, 0, 0), weight=2) == pytest.approx(0.75)


def test_confidence_scales_as_far_as_it_is_asked_to() -> None:
    assert score(0.8, 0, 0, Weights(1, 0, 0, confidence=1), confidence=0.5) == pytest.approx(0.4)
    assert score(0.8, 0, 0, Weights(1, 0, 0, confidence=0.5), confidence=0.5) == pytest.approx(0.6)
    assert score(0.8, 0, 0, Weights(1, 0, 0), confidence=0.5) == pytest.approx(0.8)


@pytest.mark.parametrize("confidence", [-0.1, 1.1, math.nan])
def test_a_weight_of_confidence_outside_0_to_1_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        Weights(confidence=confidence)


@pytest.mark.parametrize(("importance", "factor"), [(1, 0.1), (10, 1), (None, NEUTRAL), (12, 1), (-3, 0)])
def test_importance_is_a_tenth_of_its_mark(importance: int | None, factor: float) -> None:
    assert importance_factor(importance) == pytest.approx(factor)
