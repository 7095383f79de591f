"""A bucket of calls fills up evenly, and never holds more than it may."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from app.domain.rates import MINUTE, Rate

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_all_calls_of_a_minute_may_come_at_once_and_the_next_one_waits() -> None:
    rate, full_at = Rate(3), None
    for _ in range(3):
        full_at = rate.after(full_at, NOW)
        assert full_at is not None
    assert rate.after(full_at, NOW) is None
    assert rate.pause(full_at, NOW) == 20
    assert rate.after(full_at, NOW + timedelta(seconds=19)) is None
    assert rate.after(full_at, NOW + timedelta(seconds=20)) is not None


def test_a_clock_that_was_put_back_shuts_nobody_out() -> None:
    rate = Rate(3)
    assert rate.after(NOW + timedelta(hours=1), NOW) == NOW + rate.spacing


@given(st.integers(1, 50), st.lists(st.integers(0, 30_000), max_size=200))
def test_no_minute_has_more_than_twice_the_calls_and_no_pause_is_too_short(calls: int, steps: list[int]) -> None:
    rate, full_at, now, made = Rate(calls), None, NOW, []
    for step in steps:
        now += timedelta(milliseconds=step)
        after = rate.after(full_at, now)
        if after is None:
            assert full_at is not None
            assert rate.after(full_at, now + timedelta(seconds=rate.pause(full_at, now))) is not None
        else:
            full_at = after
            made.append(now)
    for first in made:
        assert sum(first <= one < first + MINUTE for one in made) <= 2 * calls
