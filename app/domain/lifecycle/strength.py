"""How strong a memory is: by its importance, by how often it was used, and by the time since its last use.

The curve is Ebbinghaus' as memory services have it (Zhong et al., MemoryBank, 2023, section 3.3: retention falls
exponentially with the time since the last recall, and each recall makes it fall more slowly). Age weakens nothing.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Self

from app.domain.lifecycle.policy import ForgettingPolicy
from app.domain.memory import Columns, Kind

DAY: Final = timedelta(days=1)

A_YEAR: Final = 400.0
"""Days: what has been of use has at least such a half-life, so that what is needed once a year is kept."""

STEP: Final = 3.0
"""Points of importance that double a half-life."""

AVERAGE: Final = 5


@dataclass(frozen=True, slots=True)
class Trace:
    """What the strength of a memory depends on.

    Args:
        kind: Of memory.
        importance: 1 to 10.
        accesses: How often it was served in a context or a search, or marked as used.
        ignored: How often what was served was marked as ignored.
        used: How often it was marked as used.
        wrong: How often it was marked as wrong.
        last: When it was last accessed, said or written.
    """

    kind: Kind
    importance: int
    accesses: int
    ignored: int
    used: int
    wrong: int
    last: datetime

    @classmethod
    def of(cls, row: Columns) -> Self:
        """From a memory's columns."""
        times = (row["last_accessed_at"], row["last_seen_at"], row["created_at"])
        return cls(
            kind=row["kind"],
            importance=row["importance"],
            accesses=row["access_count"],
            ignored=row["ignored_count"],
            used=row["used_count"],
            wrong=row["wrong_count"],
            last=max(at for at in times if at is not None),
        )

    @property
    def uses(self) -> int:
        """How often it was of use as far as anybody knows: served, and not said to have been ignored."""
        return max(self.accesses - self.ignored - self.wrong, self.used)


def half_life(trace: Trace, policy: ForgettingPolicy) -> float | None:
    """Days without use after which half of the strength is left; None for what does not fade.

    h = base(kind) * 2^((importance - 5) / 3) * (1 + log2(1 + uses)), at least 400 days once it was of use; halved where
    it was ignored more often than used, and for each time more that it was wrong than right.
    """
    base = policy.half_life_of(trace.kind)
    if base is None:
        return None
    days: float = base * 2.0 ** ((trace.importance - AVERAGE) / STEP) * (1 + math.log2(1 + trace.uses))
    if trace.uses:
        days = max(days, A_YEAR)
    if trace.ignored > trace.uses:
        days /= 2
    return days / math.exp2(min(max(trace.wrong - trace.used, 0), 10))


def strength(trace: Trace, at: datetime, policy: ForgettingPolicy) -> float:
    """2^(-t/h) in [0, 1], with t the days since the last use and h the half-life; 1 for what does not fade."""
    days = half_life(trace, policy)
    if days is None:
        return 1.0
    since = max((at - trace.last) / DAY, 0.0)
    return math.exp2(-min(since / days, 1_000.0))


def shortest_stay(policy: ForgettingPolicy) -> timedelta:
    """The least time without use after which a memory that nobody called wrong can have faded.

    What was used later needs no look; what was called wrong is looked at somewhat later than it might be.
    """
    shortest = min(policy.half_life_of(kind) or 0.0 for kind in policy.fading_kinds)
    weakest = shortest * 2 ** ((1 - AVERAGE) / STEP) / 2
    return timedelta(days=weakest * math.log2(1 / policy.archive_below))


def exempt(row: Columns) -> bool:
    """Whether a memory never fades: it is pinned, a constraint, a fact under a key, or waits for a decision."""
    keyed = row["key"] is not None and not row["uncertain"]
    return bool(row["pinned"]) or row["category"] == "constraint" or keyed or row["status"] != "active"
