"""The time that a question or a sentence names: "last Tuesday", 三天前, "since March", 从三月到五月."""

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Final, assert_never

from app.core.text.dates_fold import fold
from app.core.text.dates_grammar import Phrase, Relation, phrases
from app.core.text.dates_latest import names_latest
from app.core.text.dates_tense import looks_ahead
from app.domain.periods_calendar import Anchor, period_of, range_of

_OPEN_SCALE: Final = timedelta(days=7)
_LEAST_SCALE: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class AskedTime:
    """A period from `since` until before `until`, aware and in UTC; None is open.

    `matched` are the words that name it.
    """

    since: datetime | None
    until: datetime | None
    matched: str


@dataclass(frozen=True, slots=True)
class TimeMention:
    """The words `text` at [start, end) of a text, and the period they name."""

    start: int
    end: int
    text: str
    period: AskedTime


def mentions(text: str, now: datetime, zone: tzinfo, *, ahead: bool | None = None) -> list[TimeMention]:
    """All expressions of time in a text, in their order, apart from one another.

    Weeks begin on Monday; days, weeks, months, quarters and years are those of the calendar, so "two weeks ago" is the
    week before the last. "The last two weeks" are the 14 days before today and today. A month, a date or a weekday
    without a year or week is the latest that has begun, or in a text about the future the next that is not over.
    Seasons are northern, from the first of March, June, September and December.

    Args:
        text: Any string, in Chinese or English or both.
        now: When it was said or asked, aware.
        zone: Of who said it: 昨天 at 23:30 is yesterday there.
        ahead: Whether a date without a year is one to come; by default as the words of the text tell.
    """
    ahead = looks_ahead(fold(text)) if ahead is None else ahead
    found = ((phrase, _period(text, phrase, Anchor(now, zone, ahead))) for phrase in phrases(text))
    return [
        TimeMention(phrase.start, phrase.end, period.matched, period) for phrase, period in found if period is not None
    ]


def asked_time(text: str, now: datetime, zone: tzinfo) -> AskedTime | None:
    """The period that a question names, None if it names none.

    Of several, those that are listed with the first ("yesterday and today") make one with it; or else the first counts,
    or a later one within it.

    Args:
        text: The question, any string.
        now: When it is asked, aware.
        zone: Of who asks.
    """
    anchor = Anchor(now, zone, looks_ahead(fold(text)))
    asked: AskedTime | None = None
    start = 0
    for phrase in phrases(text):
        period = _period(text, phrase, anchor)
        if period is None:
            continue
        if asked is None:
            asked, start = period, phrase.start
        elif phrase.listed:
            asked = _hull(asked, period, text[start : phrase.end])
        elif _is_within(period, asked):
            asked, start = period, phrase.start
    return asked


def asks_for_latest(text: str) -> bool:
    """Whether a question asks for the newest of something: "the last time", "recently", 上次, 最新.

    A period ("last week", 最近三天) is no such question; "at last" and "last name" neither.
    """
    return names_latest(text)


def time_match(period: AskedTime, occurred_at: datetime) -> float:
    """How well a moment fits a period, in [0, 1]: 1 inside, at most one half outside, halved with every length.

    A day off counts much for "yesterday" and little for "last year". An open period has no length: a moment before
    "since March" is halved with every week.
    """
    if period.since is not None and occurred_at < period.since:
        distance = period.since - occurred_at
    elif period.until is not None and occurred_at >= period.until:
        distance = occurred_at - period.until
    else:
        return 1.0
    length = _OPEN_SCALE if period.since is None or period.until is None else period.until - period.since
    return float(0.5 * 0.5 ** (distance / max(length, _LEAST_SCALE)))


def _period(text: str, phrase: Phrase, anchor: Anchor) -> AskedTime | None:
    period = range_of(phrase.first, phrase.last, anchor) if phrase.last else period_of(phrase.first, anchor)
    if period is None:
        return None
    matched = text[phrase.start : phrase.end]
    match phrase.relation:
        case Relation.IN:
            return AskedTime(period.since, period.until, matched)
        case Relation.SINCE:
            return AskedTime(period.since, None, matched)
        case Relation.AFTER:
            return AskedTime(period.until, None, matched)
        case Relation.BEFORE:
            return AskedTime(None, period.since, matched)
        case Relation.UNTIL:
            return AskedTime(None, period.until, matched)
        case _:
            assert_never(phrase.relation)


def _hull(one: AskedTime, other: AskedTime, matched: str) -> AskedTime:
    since = None if one.since is None or other.since is None else min(one.since, other.since)
    until = None if one.until is None or other.until is None else max(one.until, other.until)
    return AskedTime(since, until, matched)


def _is_within(inner: AskedTime, outer: AskedTime) -> bool:
    starts = outer.since is None or (inner.since is not None and inner.since >= outer.since)
    ends = outer.until is None or (inner.until is not None and inner.until <= outer.until)
    return starts and ends
