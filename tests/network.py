"""Signals and patience for tests that start processes."""

import signal
import time
from collections.abc import Callable


def interruptible() -> None:
    """For a child before it begins: Ctrl-C reaches it, also where the tests run in a shell's background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_until(true: Callable[[], bool], seconds: float, every: float = 0.1) -> None:
    """Return as soon as `true` is; fail when it is not within so many seconds."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s")
        time.sleep(every)
