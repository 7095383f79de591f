"""Amounts of time: "three days", "a few weeks", 半年."""

from dataclasses import dataclass
from typing import Final

from app.core.text.dates import WHOLE, Cycle, Cyclic, Elapsed, Expression, Stretch, Window

FEW: Final = (2, 6)
"""How many "a few" and 几 are."""

_SECONDS: Final = {"minute": 60, "hour": 3600}
_CYCLES: Final = {
    "day": (Cycle.DAY, 1),
    "week": (Cycle.WEEK, 1),
    "month": (Cycle.MONTH, 1),
    "quarter": (Cycle.MONTH, 3),
    "year": (Cycle.YEAR, 1),
    "decade": (Cycle.YEAR, 10),
}
_HALVES: Final = {
    "minute": (1, "minute"),
    "hour": (30, "minute"),
    "day": (12, "hour"),
    "week": (3, "day"),
    "month": (15, "day"),
    "quarter": (45, "day"),
    "year": (6, "month"),
    "decade": (5, "year"),
}


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of units, from `low` to `high`; units are minute, hour, day, week, month, quarter, year, decade."""

    low: int
    high: int
    unit: str

    @classmethod
    def half(cls, unit: str) -> "Amount":
        """Half a unit."""
        count, smaller = _HALVES[unit]
        return cls(count, count, smaller)

    def away(self, sign: int) -> Expression:
        """So long ago (sign -1) or from now (sign 1): the day, week, month or year, or the minutes around."""
        if seconds := _SECONDS.get(self.unit):
            return Elapsed(sign * seconds * (self.low + self.high) // 2, seconds * (1 + self.high - self.low))
        cycle, times = _CYCLES[self.unit]
        near, far = sign * self.low * times, sign * self.high * times
        if near == far:
            return Cyclic(cycle, WHOLE[cycle], offset=near)
        return Stretch(cycle, min(near, far), max(near, far))

    def window(self, *, ahead: bool = False) -> Expression:
        """All of so long a time until now, or from now on."""
        if seconds := _SECONDS.get(self.unit):
            return Elapsed((1 if ahead else -1) * seconds * self.high, 0)
        cycle, times = _CYCLES[self.unit]
        return Window(cycle, self.high * times, ahead)
