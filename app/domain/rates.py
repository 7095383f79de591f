"""How many calls fit into a time: a bucket that fills up evenly, as one moment (GCRA, ITU-T I.371, annex A)."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Rate:
    """So many calls within a time, all at once or one after the other.

    What is kept of a bucket is the moment at which it will be full again. A call takes one `spacing` out of it, and may
    be made while that leaves the moment at most `within` away.

    Args:
        calls: At least 1.
        within: The time.
    """

    calls: int
    within: timedelta = MINUTE

    @property
    def spacing(self) -> timedelta:
        """How long it takes until one more call fits in."""
        return self.within / self.calls

    def after(self, full_at: datetime | None, now: datetime) -> datetime | None:
        """When the bucket will be full after a call now; None where the call does not fit in."""
        begun = full_at is None or full_at > now + self.within  # a clock that was put back must not shut anybody out
        moved = (now if full_at is None or begun else max(full_at, now)) + self.spacing
        return moved if moved <= now + self.within else None

    def pause(self, full_at: datetime, now: datetime) -> int:
        """Whole seconds until a call that did not fit in does, at least 1."""
        return max(1, math.ceil((full_at + self.spacing - self.within - now).total_seconds()))
