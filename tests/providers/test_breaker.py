"""When a host is left alone, and when it is tried again."""

from contextlib import suppress

import pytest

from app.providers.breaker import CircuitBreaker, CircuitOpen


class HostError(Exception):
    pass


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def time() -> Clock:
    return Clock()


@pytest.fixture
def breaker(time: Clock) -> CircuitBreaker:
    return CircuitBreaker(failures=2, seconds=30, counts=HostError, monotonic=time)


def call(breaker: CircuitBreaker, error: BaseException | None = None) -> None:
    with suppress(HostError, ValueError, KeyboardInterrupt), breaker.call():
        if error is not None:
            raise error


def is_open(breaker: CircuitBreaker) -> bool:
    try:
        breaker._admitted()
    except CircuitOpen:
        return True
    breaker._trying = False
    return False


def test_failures_in_a_row_open_it(breaker: CircuitBreaker) -> None:
    call(breaker, HostError())
    assert not is_open(breaker)
    call(breaker, HostError())
    assert is_open(breaker)


def test_a_success_between_failures_keeps_it_closed(breaker: CircuitBreaker) -> None:
    for _ in range(5):
        call(breaker, HostError())
        call(breaker)
    assert not is_open(breaker)


@pytest.mark.parametrize("error", [ValueError(), KeyboardInterrupt()])
def test_other_ends_say_nothing(breaker: CircuitBreaker, error: BaseException) -> None:
    call(breaker, HostError())
    for _ in range(5):
        call(breaker, error)
    assert not is_open(breaker)
    call(breaker, HostError())
    assert is_open(breaker)


def test_after_the_pause_one_call_tries_and_closes_it(breaker: CircuitBreaker, time: Clock) -> None:
    call(breaker, HostError())
    call(breaker, HostError())
    time.seconds = 29.9
    assert is_open(breaker)
    time.seconds = 30.0
    with breaker.call(), pytest.raises(CircuitOpen), breaker.call():
        pass
    with breaker.call(), breaker.call():
        pass


def test_a_trial_that_fails_opens_it_for_another_pause(breaker: CircuitBreaker, time: Clock) -> None:
    call(breaker, HostError())
    call(breaker, HostError())
    time.seconds = 30.0
    call(breaker, HostError())
    time.seconds = 59.0
    assert is_open(breaker)
    time.seconds = 60.0
    assert not is_open(breaker)


def test_a_cancelled_trial_makes_room_for_another(breaker: CircuitBreaker, time: Clock) -> None:
    call(breaker, HostError())
    call(breaker, HostError())
    time.seconds = 30.0
    call(breaker, KeyboardInterrupt())
    assert not is_open(breaker)
