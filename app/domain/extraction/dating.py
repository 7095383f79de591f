"""Times in a clause: the absolute date beside the words, when the event was, and until when a passing thing holds."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Final

from app.core.text.dates_fold import fold
from app.core.text.dates_tense import looks_ahead, looks_back
from app.domain.extraction.lasting import end_of
from app.domain.extraction.turns import Turn
from app.domain.periods import AskedTime, TimeMention, mentions

_PAST: Final = re.compile(
    r"(?<!is )(?<!are )(?<!be )\b(?!need|schedul|plann|book|reserv|suppos|call|nam|bas|allow|us)\w{2,20}ed\b", re.ASCII
)
_MOVED: Final = re.compile(
    r"\b(?:moved|pushed|reschedul\w+|rebooked|postponed|delayed|extended|shifted|set|brought)\b[^,]{0,30}?\b(?:to|"
    r"until|"
    r"till|for)\b|(?:推迟|延期?|延后|顺延|改签?|改期|提前|挪|调整?|推)(?:到|至|在)|定在|排在|约在"
)
"""What was put off to a day is ahead, though that was done in the past."""

_EDGES: Final = re.compile(
    r"^(?:ever since|since|until|till|by the|by|before|after|from|starting|up to|"
    r"through|自从?|从|直到|截至|截止到?|到)\s*(?:the\s)?|"
    r"(?:之前|以前|之后|以后|以来|开始|为止|前|后|起|至今)$"
)
_RECURS: Final = re.compile(
    r"\b(?:every|each|weekly|daily|monthly|biweekly|stand-?up|annually|yearly)\b|"
    r"每|周会|例会|站会|早会|晨会"
)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_HAN: Final = re.compile(r"[\u3400-\u9fff]$")


@dataclass(frozen=True, slots=True)
class Dated:
    """What a clause says of times.

    Args:
        text: The clause with absolute dates beside its relative ones.
        spans: All expressions of time in the clause, as [start, end).
        event: When the first of them begins or ends (an open one at its known bound), in UTC.
        expires_at: The end of a limited life, in UTC.
    """

    text: str
    spans: tuple[tuple[int, int], ...]
    event: datetime | None
    expires_at: datetime | None


@lru_cache(maxsize=8)  # a clause is read by the rules, with its subject, and as it is
def dated(clause: str, turn: Turn, *, annotate: bool = True) -> Dated:
    """Reads the times of a clause as of the moment and the place it was said at.

    Args:
        clause: As it is written.
        turn: Whose moment and zone count.
        annotate: Whether absolute dates are written beside the words (not for birthdays, which come round).
    """
    plain = fold(clause)
    ahead = looks_ahead(plain) or _MOVED.search(plain) is not None or not (looks_back(plain) or _PAST.search(plain))
    found = mentions(clause, turn.occurred_at, turn.zone, ahead=ahead)
    passed = looks_back(plain) or _PAST.search(plain) is not None
    if not found:
        return Dated(clause, (), None, end_of(clause, (), turn, passed=passed))
    text = _annotated(clause, found, turn) if annotate and not _RECURS.search(plain) else clause
    return Dated(
        text,
        tuple((mention.start, mention.end) for mention in found),
        _event(found[0].period),
        end_of(clause, found, turn, passed=passed),
    )


def _event(period: AskedTime) -> datetime | None:
    return period.since or (period.until - timedelta(microseconds=1) if period.until else None)


def _annotated(clause: str, found: list[TimeMention], turn: Turn) -> str:
    pieces: list[str] = []
    end = 0
    for mention in found:
        stamp = None if _YEAR.search(mention.text) else _stamp(mention, turn)
        pieces.append(clause[end : mention.end])
        end = mention.end
        if stamp and stamp not in clause:
            pieces.append(f"（{stamp}）" if _HAN.search(mention.text) else f" ({stamp})")
    return "".join([*pieces, clause[end:]])


def _stamp(mention: TimeMention, turn: Turn) -> str | None:
    period = mention.period
    if period.since is None or period.until is None:
        inner = mentions(_EDGES.sub("", mention.text), turn.occurred_at, turn.zone, ahead=period.since is None)
        if len(inner) != 1:
            return None
        period = inner[0].period
        if period.since is None or period.until is None:
            return None
    return absolute(period.since, period.until, turn.zone, "至" if _HAN.search(mention.text) else " to ")


def absolute(since: datetime, until: datetime, zone: tzinfo, between: str) -> str:
    """A period in ISO 8601: a year, a month, a day, or two days with a word between them."""
    first = since.astimezone(zone).date()
    after = until.astimezone(zone)
    last = (after - timedelta(microseconds=1)).date()
    if first == last or until - since <= timedelta(hours=13):
        return first.isoformat()
    if first.day == 1 and after.day == 1 and not after.hour:
        months = (after.year - first.year) * 12 + after.month - first.month
        if months == 1:
            return f"{first:%Y-%m}"
        if months == 12 and first.month == 1:  # noqa: PLR2004 - a year
            return f"{first:%Y}"
    return f"{first.isoformat()}{between}{last.isoformat()}"
