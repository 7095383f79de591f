import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.scoring import NEUTRAL, Weights, importance_factor, recency, score

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FACTOR = st.floats(0, 1)
WEIGHTS = st.tuples(st.floats(0, 1e9), st.floats(0, 1e9), st.floats(0, 1e9)).filter(any).map(lambda w: Weights(*w))
MOMENTS = st.datetimes(timezones=st.just(UTC))


@given(FACTOR, FACTOR, FACTOR, WEIGHTS)
def test_a_score_lies_between_its_factors(relevance: float, recent: float, importance: float, weights: Weights) -> None:
    result = score(relevance, recent, importance, weights)
    factors = (relevance, recent, importance)
    assert 0 <= result <= 1
    assert min(factors) - 1e-9 <= result <= max(factors) + 1e-9


@given(FACTOR, FACTOR, FACTOR, FACTOR, WEIGHTS)
def test_more_relevance_never_lowers_a_score(low: float, high: float, recent: float, heavy: float, w: Weights) -> None:
    low, high = sorted([low, high])
    assert score(low, recent, heavy, w) <= score(high, recent, heavy, w)


@given(st.floats())
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
    assert recency(happened_at=NOW, accessed_at=accessed, newest_at=NOW, now=NOW) == pytest.approx(0.995**10)


def test_history_loaded_later_is_recent_relative_to_its_own_newest_row() -> None:
    newest = NOW - timedelta(days=900)
    assert recency(happened_at=newest, accessed_at=None, newest_at=newest, now=NOW) == 1
    day_before = newest - timedelta(hours=24)
    assert recency(happened_at=day_before, accessed_at=None, newest_at=newest, now=NOW) == pytest.approx(0.995**24)


def test_recency_is_neutral_where_nothing_is_known() -> None:
    assert recency(happened_at=NOW, accessed_at=None, newest_at=None, now=NOW) == NEUTRAL


@given(MOMENTS, st.none() | MOMENTS, st.none() | MOMENTS, MOMENTS)
def test_recency_stays_in_bounds_also_for_the_future(
    happened: datetime, accessed: datetime | None, newest: datetime | None, now: datetime
) -> None:
    assert 0 <= recency(happened_at=happened, accessed_at=accessed, newest_at=newest, now=now) <= 1


@pytest.mark.parametrize(("importance", "factor"), [(1, 0.1), (10, 1), (None, NEUTRAL), (12, 1), (-3, 0)])
def test_importance_is_a_tenth_of_its_mark(importance: int | None, factor: float) -> None:
    assert importance_factor(importance) == pytest.approx(factor)
