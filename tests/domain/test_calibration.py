import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.calibration import IDENTICAL, Calibration


def test_the_bounds_become_0_and_1() -> None:
    calibration = Calibration(low=0.2, high=0.8)
    assert calibration.similarity(0.2) == 0
    assert calibration.similarity(0.5) == pytest.approx(0.5)
    assert calibration.similarity(0.8) == 1


@given(st.floats(-1, 0.98), st.floats(0.985, 1))
def test_identical_text_is_similar_under_every_calibration(low: float, high: float) -> None:
    assert Calibration(low, high).similarity(1.0) >= IDENTICAL


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_similarities_stay_in_bounds_and_in_order(first: float, second: float) -> None:
    calibration = Calibration(low=0.1)
    lower, higher = sorted([first, second])
    assert 0 <= calibration.similarity(lower) <= calibration.similarity(higher) <= 1


def test_a_cosine_that_is_no_number_is_no_similarity() -> None:
    assert Calibration().similarity(math.nan) == 0


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.5), (0.9, 0.1), (-2, 1), (0, 2), (math.nan, 1)])
def test_bounds_that_make_no_map_are_refused(low: float, high: float) -> None:
    with pytest.raises(ValueError, match="low < high"):
        Calibration(low, high)
