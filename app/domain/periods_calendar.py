"""From an expression of time and the moment it was said at to the period that it means."""

import calendar
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, assert_never

from app.core.text.dates import WHOLE, Cycle, Cyclic, Elapsed, Expression, Pick, Slot, Stretch, Window

_TURNS: Final = 8
"""Turns in which the 29 February or the 31st of a month surely comes round."""

_DAYS: Final = {Cycle.DAY: 1, Cycle.WEEK: 7}
_MONTHS: Final = {Cycle.MONTH: 1, Cycle.QUARTER: 3, Cycle.YEAR: 12}


@dataclass(frozen=True, slots=True)
class Period:
    """The time from `since` until before `until`, both in UTC and aware."""

    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Anchor:
    """When and where an expression was said.

    Args:
        now: When, aware.
        zone: Whose calendar and midnights count.
        ahead: Whether "on Friday" is the one to come.
    """

    now: datetime
    zone: tzinfo
    ahead: bool = False

    @property
    def today(self) -> date:
        """The day at the place."""
        return self.now.astimezone(self.zone).date()


def period_of(expression: Expression, anchor: Anchor) -> Period | None:
    """The period that an expression means; None if the calendar has no such time."""
    try:
        match expression:
            case Cyclic():
                period = _of_cyclic(expression, anchor)
            case Stretch(cycle, first, last):
                whole = WHOLE[cycle]
                since, until = _placed(cycle, whole, first, anchor), _placed(cycle, whole, last, anchor)
                period = since and until and Period(since.since, until.until)
            case Window():
                period = _of_window(expression, anchor)
            case Elapsed():
                period = _of_elapsed(expression, anchor)
            case _:
                assert_never(expression)
    except (OverflowError, ValueError):
        # Beyond the years 1 to 9999.
        return None
    # A zone may skip a whole day, as Samoa did.
    return period if period and period.since < period.until else None


def range_of(first: Expression, last: Expression, anchor: Anchor) -> Period | None:
    """From the start of the first to the end of the last; the one without a year takes that of the other.

    "From November to February" takes the February after, "from March to May 2023" the March before.
    """
    floats = isinstance(first, Cyclic) and first.floating
    open_end = isinstance(last, Cyclic) and last.floating
    if floats and not open_end:
        end = period_of(last, anchor)
        start = end and period_of(first, replace(anchor, now=end.until - timedelta(microseconds=1), ahead=False))
    else:
        start = period_of(first, anchor)
        end = start and period_of(last, replace(anchor, now=start.since, ahead=True) if open_end else anchor)
    return Period(start.since, end.until) if start and end and start.since < end.until else None


def _of_cyclic(expression: Cyclic, anchor: Anchor) -> Period | None:
    offset = expression.offset if expression.year is None else expression.year - anchor.today.year
    if offset is None:
        return _picked(expression, anchor)
    return _placed(expression.cycle, expression.slot, offset, anchor, expression.hours)


def _picked(expression: Cyclic, anchor: Anchor) -> Period | None:
    cycle, slot, hours = expression.cycle, expression.slot, expression.hours
    back, onwards = range(1, -_TURNS - 1, -1), range(-1, _TURNS + 1)
    now = anchor.now

    def turns(offsets: Iterable[int]) -> Iterator[Period]:
        for turn in offsets:
            if period := _placed(cycle, slot, turn, anchor, hours):
                yield period

    match expression.pick:
        case Pick.NEAREST if anchor.ahead:
            return next((period for period in turns(onwards) if period.until > now), None)
        case Pick.NEAREST:
            return next((period for period in turns(back) if period.since <= now), None)
        case Pick.LAST:
            today = _instant(anchor.today, anchor.zone)
            return next((period for period in turns(back) if period.until <= today), None)
        case Pick.THIS:
            running = next((period for period in turns((-1,)) if period.until > now), None)
            return running or _placed(cycle, slot, 0, anchor, hours)
        case Pick.NEXT:
            return next((period for period in turns(onwards) if period.since > now), None)
        case _:
            assert_never(expression.pick)


def _placed(
    cycle: Cycle, slot: Slot, offset: int, anchor: Anchor, hours: tuple[int, int] | None = None
) -> Period | None:
    """The slot of the turn that is `offset` from the running one; None if its month has no such day."""
    first = _moved(_turn_start(cycle, offset, anchor.today), slot.months)
    start = first + timedelta(days=slot.days)
    if slot.days and cycle is not Cycle.WEEK and start.month != first.month:
        return None
    if slot.long_months:
        end = _moved(start, slot.long_months)
    else:
        end = start + timedelta(days=slot.long_days) if slot.long_days else _moved(first, 1)
    if hours is None:
        return Period(_instant(start, anchor.zone), _instant(end, anchor.zone))
    return Period(_instant(start, anchor.zone, hours[0]), _instant(start, anchor.zone, hours[1]))


def _turn_start(cycle: Cycle, offset: int, today: date) -> date:
    match cycle:
        case Cycle.DAY:
            return today + timedelta(days=offset)
        case Cycle.WEEK:
            return today + timedelta(days=7 * offset - today.weekday())
        case Cycle.MONTH:
            return _moved(today.replace(day=1), offset)
        case Cycle.QUARTER:
            return _moved(today.replace(month=(today.month - 1) // 3 * 3 + 1, day=1), 3 * offset)
        case Cycle.YEAR:
            return today.replace(year=today.year + offset, month=1, day=1)
        case _:
            assert_never(cycle)


def _of_window(window: Window, anchor: Anchor) -> Period:
    today, count = anchor.today, window.count if window.ahead else -window.count
    days = _DAYS.get(window.cycle)
    edge = today + timedelta(days=days * count) if days else _moved(today, _MONTHS[window.cycle] * count)
    first, last = (today, edge) if window.ahead else (edge, today)
    return Period(_instant(first, anchor.zone), _instant(last + timedelta(days=1), anchor.zone))


def _of_elapsed(elapsed: Elapsed, anchor: Anchor) -> Period:
    now = anchor.now.astimezone(UTC)
    there = now + timedelta(seconds=elapsed.seconds)
    if not elapsed.width:
        return Period(min(now, there), max(now, there))
    half = timedelta(seconds=elapsed.width) / 2
    return Period(there - half, there + half)


def _moved(day: date, months: int) -> date:
    """So many months later, on the month's last day if it has no such day."""
    years, month = divmod(day.month - 1 + months, 12)
    year = day.year + years
    return day.replace(year=year, month=month + 1, day=min(day.day, calendar.monthrange(year, month + 1)[1]))


def _instant(day: date, zone: tzinfo, hour: int = 0) -> datetime:
    """An hour of a day at the place; hours from 24 on are of the day after."""
    days, hour = divmod(hour, 24)
    return datetime.combine(day + timedelta(days=days), time(hour), zone).astimezone(UTC)
