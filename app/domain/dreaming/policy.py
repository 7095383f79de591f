"""When an owner's memories are put in order without anybody asking for it."""

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Final, Literal, get_args

DreamTrigger = Literal["idle", "nightly", "weekly", "session_closed", "near_capacity"]
DREAM_TRIGGERS: Final[tuple[DreamTrigger, ...]] = get_args(DreamTrigger)

NIGHT: Final = (1, 5)
"""Hours in the tenant's zone between which a nightly or weekly dream begins."""

IDLE: Final = timedelta(minutes=30)
REST: Final = timedelta(hours=6)
"""Between two dreams of an owner that is idle, or near its capacity."""

A_NIGHT: Final = timedelta(hours=20)
A_WEEK: Final = timedelta(days=6, hours=20)
NEAR: Final = 0.9
"""Of its capacity so much must an owner have."""

AFTER_CLOSING: Final = timedelta(seconds=30)
"""Until the session's last extraction has begun; a dream waits for nothing else."""


@dataclass(frozen=True, slots=True)
class Dreamer:
    """An owner whose turn it may be.

    Args:
        dreamed_at: When it last was; None: never.
        active_at: When something last came of it; None: never.
        memories: How many it has.
    """

    dreamed_at: datetime | None
    active_at: datetime | None
    memories: int


@dataclass(frozen=True, slots=True)
class DreamingPolicy:
    """A tenant's triggers; without any, memories are put in order when it is asked for."""

    when: tuple[DreamTrigger, ...] = ()

    @property
    def by_time(self) -> bool:
        """Whether an owner's turn may come without a call."""
        return bool(set(self.when) - {"session_closed"})

    def due(self, one: Dreamer, at: datetime, zone: tzinfo, capacity: int | None) -> DreamTrigger | None:
        """Why it is an owner's turn; None where it is not. Where nothing came since the last dream it never is."""
        if one.active_at is None or (one.dreamed_at is not None and one.active_at <= one.dreamed_at):
            return None
        since = None if one.dreamed_at is None else at - one.dreamed_at
        night = NIGHT[0] <= at.astimezone(zone).hour < NIGHT[1]
        checks: dict[DreamTrigger, bool] = {
            "weekly": night and _rested(since, A_WEEK),
            "nightly": night and _rested(since, A_NIGHT),
            "near_capacity": capacity is not None and one.memories >= NEAR * capacity and _rested(since, REST),
            "idle": at - one.active_at >= IDLE and _rested(since, REST),
        }
        return next((name for name, due in checks.items() if due and name in self.when), None)


def _rested(since: timedelta | None, least: timedelta) -> bool:
    return since is None or since >= least
