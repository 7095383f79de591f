"""What an expression of time says before it is known when it was said: parts of calendar cycles, stretches, windows."""

from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final


class Cycle(Enum):
    """What comes round again; weeks begin on Monday."""

    DAY = auto()
    WEEK = auto()
    MONTH = auto()
    QUARTER = auto()
    YEAR = auto()


class Pick(Enum):
    """Which of the recurring periods is meant where no year, month or week is given.

    `NEAREST` is the latest that has begun, or for a text about the future the first that is not over. `LAST` is the
    latest that was over before today, `THIS` the running one or else that of the running cycle, `NEXT` the first to
    begin.
    """

    NEAREST = auto()
    LAST = auto()
    THIS = auto()
    NEXT = auto()


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a cycle: so many months and days from its start, and so long; no length is "to the month's end"."""

    months: int = 0
    days: int = 0
    long_months: int = 0
    long_days: int = 0


@dataclass(frozen=True, slots=True)
class Cyclic:
    """A slot of one turn of a cycle: the turn `offset` from now's, or that of `year`, or else by `pick`.

    Args:
        cycle: What comes round.
        slot: The part of it that is meant.
        offset: Turns from the running one, negative in the past.
        year: The year, for yearly cycles.
        pick: Which turn, if neither is given.
        hours: First and last hour within a slot of one day; hours beyond 24 belong to the day after.
    """

    cycle: Cycle
    slot: Slot
    offset: int | None = None
    year: int | None = None
    pick: Pick = Pick.NEAREST
    hours: tuple[int, int] | None = None

    @property
    def floating(self) -> bool:
        """Whether a year, month or week beside it may still say which turn is meant."""
        return self.offset is None and self.year is None and self.pick is Pick.NEAREST

    @property
    def whole(self) -> bool:
        """Whether it is a whole turn of its cycle."""
        return self.slot == WHOLE[self.cycle] and self.hours is None


@dataclass(frozen=True, slots=True)
class Stretch:
    """Whole turns of a cycle from the `first` to the `last`, counted from the running one."""

    cycle: Cycle
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Window:
    """The last `count` days, weeks, months or years to the end of today, or if `ahead` the next ones from today."""

    cycle: Cycle
    count: int
    ahead: bool = False


@dataclass(frozen=True, slots=True)
class Elapsed:
    """`seconds` from now (negative in the past), `width` seconds around it; or all of the time between if 0."""

    seconds: int
    width: int


@dataclass(frozen=True, slots=True)
class Third:
    """The early (0), middle (1) or late (2) part of what stands beside it."""

    index: int


@dataclass(frozen=True, slots=True)
class Hours:
    """A part of the day that stands beside it."""

    first: int
    last: int


Expression = Cyclic | Stretch | Window | Elapsed
Value = Expression | Third | Hours


@dataclass(frozen=True, slots=True)
class Token:
    """A value found at [start, end) of a text; a `weak` one counts only as a part of something larger."""

    start: int
    end: int
    value: Value
    weak: bool = False


WHOLE: Final = {
    Cycle.DAY: Slot(long_days=1),
    Cycle.WEEK: Slot(long_days=7),
    Cycle.MONTH: Slot(long_months=1),
    Cycle.QUARTER: Slot(long_months=3),
    Cycle.YEAR: Slot(long_months=12),
}

MORNING: Final = Hours(5, 12)
EARLY: Final = Hours(0, 6)
NOON: Final = Hours(11, 14)
AFTERNOON: Final = Hours(12, 18)
EVENING: Final = Hours(17, 24)
NIGHT: Final = Hours(18, 30)

_THIRDS_OF_WEEK: Final = ((0, 2), (2, 2), (4, 3))
_THIRDS_OF_MONTH: Final = ((0, 10), (10, 10), (20, 0))


def turn(cycle: Cycle, offset: int) -> Cyclic:
    """A whole day, week, month, quarter or year, counted from the running one."""
    return Cyclic(cycle, WHOLE[cycle], offset=offset)


def day(offset: int, hours: Hours | None = None) -> Cyclic:
    """A day counted from today, or a part of it."""
    return Cyclic(Cycle.DAY, WHOLE[Cycle.DAY], offset=offset, hours=(hours.first, hours.last) if hours else None)


def year(number: int) -> Cyclic:
    """A calendar year."""
    return Cyclic(Cycle.YEAR, WHOLE[Cycle.YEAR], year=number)


def decade(first: int) -> Cyclic:
    """The ten years from `first`."""
    return Cyclic(Cycle.YEAR, Slot(long_months=120), year=first)


def months_of_year(first: int, count: int = 1) -> Cyclic:
    """`count` months from the `first` (1 to 12) of a year to be said."""
    return Cyclic(Cycle.YEAR, Slot(months=first - 1, long_months=count))


def date_of_year(month: int, first: int, last: int | None = None) -> Cyclic | None:
    """A day of a month, or the days from `first` to `last`, of a year to be said; None if no year has it."""
    last = last or first
    if not (1 <= month <= 12 and 1 <= first <= last <= _LONGEST[month - 1]):  # noqa: PLR2004 - a calendar has twelve months
        return None
    return Cyclic(Cycle.YEAR, Slot(months=month - 1, days=first - 1, long_days=last - first + 1))


def season(index: int) -> Cyclic:
    """Spring (0) to winter (3), northern and meteorological: from March, June, September, December, three months.

    A winter belongs to the year of its December.
    """
    return months_of_year(3 + 3 * index, 3)


def quarter(index: int) -> Cyclic:
    """A quarter, 1 to 4, of a year to be said."""
    return months_of_year(3 * index - 2, 3)


def day_of_month(number: int) -> Cyclic | None:
    """A day of a month to be said; None if no month has it."""
    return Cyclic(Cycle.MONTH, Slot(days=number - 1, long_days=1)) if 1 <= number <= 31 else None  # noqa: PLR2004 - days


def weekday(index: int) -> Cyclic:
    """Monday (0) to Sunday (6)."""
    return Cyclic(Cycle.WEEK, Slot(days=index, long_days=1))


WEEKEND: Final = Cyclic(Cycle.WEEK, Slot(days=5, long_days=2))
"""Saturday and Sunday."""

_LONGEST: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def third_of(value: Cyclic, index: int) -> Cyclic | None:
    """The early (0), middle (1) or late (2) part of a week, a month or several months; None of a shorter time."""
    slot = value.slot
    if slot.long_months == 1:
        days, long = _THIRDS_OF_MONTH[index]
        return replace(value, slot=Slot(slot.months, days, 0, long))
    if slot.long_months:
        long = slot.long_months // 3
        return replace(value, slot=Slot(slot.months + index * long, 0, long))
    if slot == WHOLE[Cycle.WEEK]:
        days, long = _THIRDS_OF_WEEK[index]
        return replace(value, slot=Slot(0, days, 0, long))
    return None
