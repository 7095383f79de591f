"""The pauses between the attempts of a job."""

from datetime import timedelta

import pytest

from app.domain.jobs import FINISHED, JOB_STATES, backoff

FIRST = timedelta(seconds=2)


@pytest.mark.parametrize(("attempts", "seconds"), [(0, 2), (1, 2), (2, 4), (3, 8), (8, 256), (9, 512), (10, 600)])
def test_each_pause_is_twice_the_one_before_up_to_ten_minutes(attempts: int, seconds: int) -> None:
    assert backoff(attempts, FIRST) == timedelta(seconds=seconds)


def test_no_number_of_attempts_overflows() -> None:
    assert backoff(10**9, FIRST) == timedelta(minutes=10)
    assert backoff(-5, FIRST) == FIRST
    assert backoff(50, FIRST, timedelta(days=1)) == timedelta(days=1)


def test_four_states_are_ends() -> None:
    assert frozenset(JOB_STATES) - FINISHED == {"queued", "running"}
