"""The one door for the time: every instant that is written or compared comes from here, as a bound parameter."""

import time
from datetime import UTC, datetime


def now() -> datetime:
    """The current instant in UTC, with microseconds."""
    return datetime.now(UTC)  # noqa: TID251 - this is the door


def monotonic() -> float:
    """Seconds on a clock that never goes back, for durations and deadlines."""
    return time.monotonic()
