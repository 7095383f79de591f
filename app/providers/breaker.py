"""Leaving a host alone that has failed several times in a row."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from app.core import clock


class CircuitOpen(Exception):  # noqa: N818 - a state of the circuit
    """The host is left alone for now; nothing was sent."""


class CircuitBreaker:
    """Closed while calls succeed, open for some seconds after failures in a row, then half-open: one call tries.

    After M. Nygard, Release It! (2nd ed., 2018), chapter 5. For one event loop: nothing here awaits.

    Args:
        failures: Failures in a row that open it.
        seconds: For how long no call is let through.
        counts: The failures that say something about the host; any other end of a call says nothing.
        monotonic: The clock.
    """

    def __init__(
        self,
        failures: int,
        seconds: float,
        counts: type[Exception] | tuple[type[Exception], ...],
        monotonic: Callable[[], float] = clock.monotonic,
    ) -> None:
        self._limit = failures
        self._seconds = seconds
        self._counts = counts
        self._monotonic = monotonic
        self._failures = 0
        self._opened: float | None = None
        self._trying = False

    @contextmanager
    def call(self) -> Iterator[None]:
        """Let one call through, and learn from how it ends. A cancelled trial makes room for the next one.

        Raises:
            CircuitOpen: It is open, or another call is trying.
        """
        trial = self._admitted()
        try:
            yield
        except self._counts:
            self._failed()
            raise
        else:
            self._failures, self._opened = 0, None
        finally:
            if trial:
                self._trying = False

    def _admitted(self) -> bool:
        """Whether this call is the one that tries."""
        if self._opened is None:
            return False
        if self._trying or self._monotonic() - self._opened < self._seconds:
            raise CircuitOpen
        self._trying = True
        return True

    def _failed(self) -> None:
        self._failures += 1
        if self._failures >= self._limit:
            self._opened = self._monotonic()
