"""Until when a passing thing holds: this week, until the 20th, 休假到21号, 六周内不能."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from app.core.text.dates_fold import fold
from app.domain.extraction.turns import Turn
from app.domain.periods import TimeMention, mentions

_CURRENT: Final = re.compile(
    r"\b(?:this (?:week|month|weekend|quarter|semester|term|summer|winter|spring|fall|autumn|morning|afternoon|"
    r"evening)|today|"
    r"tonight|(?:the |for the )?(?:next|coming) (?!january|february|march|april|may|june|july|august|september|october|"
    r"november|december|mon|tues|wednes|thurs|fri|satur|sun))|本[周月季]|这(?:个?(?:周|月|季度|学期|星期|礼拜)|"
    r"几天|两天|一?周|阵子)|"
    r"今[天晚日]|接下来|未来"
)
_UNTIL: Final = re.compile(r"\b(?:until|till|til|thru|through)\b|直到|为止|截[至止]")
_UNTIL_BEFORE: Final = re.compile(
    r"(?:\b(?:until|till|til|thru|through|up to)(?: the)? ?|(?:直到|截至|截止到?|为止) ?)$"
)
_TO_ZH: Final = re.compile(r"(?<![改挪推换调延升涨降搬迁前后降提移跳])到$")
_TO_ZH_OWN: Final = re.compile(r"到(?=[\d一二三四五六七八九十下本这明后月年周])")
_LASTS_ZH: Final = re.compile(r"休|待|呆|住|请假|出差|放假?|停|冻结|借|租|封|闭|值班|驻|在|有效|假")
_BY: Final = re.compile(r"\bby\b|之前|以前|前$")
_STATE: Final = re.compile(
    r"\b(?:can't|cannot|no|not|isn't|won't|don't|only|unavailable|closed|off|down|out of)\b|不了|不能|没法|没有|"
    r"只有|只能|就一|就剩|暂时|不在|关"
)
_AFTER: Final = re.compile(r"\s*(?:就|才)?(?:到期|过期|失效|作废|截止|为止|才能|才可以|才行|才[^,，。]{1,3}[好完取回])")
_EXPIRES: Final = re.compile(r"\b(?:expires?|runs out|ends|valid)\b[^,.;]{0,16}$")
_UNTIL_DAY: Final = re.compile(
    r"\b(?:until|till|til|thru|through) (?:the )?(?P<day>\d{1,2})(?:st|nd|rd|th)\b(?! (?:of|floor|grade))"
)
_UNTIL_PART: Final = re.compile(r"\b(?:until|till|til|thru|through) the end of (?:the )?[a-z]+(?= |$)")
_EDGES: Final = re.compile(r"^by (?:the )?|(?:之前|以前|前)$")
_SPAN: Final = re.compile(
    r"\b(?:for|during) (?:the next |another )?(?P<n>a|an|one|two|three|four|five|six|seven|eight|nine|ten|\d{1,2}) "
    r"(?P<unit>day|week|month)s?\b|(?P<zn>[\d一两二三四五六七八九十半]{1,3})个?(?P<zunit>天|周|星期|礼拜|月)"
    r"(?:之?内|不能|不可以|不许|别|没法|以内)"
)
_NUMBERS: Final = {
    **{word: place for place, word in enumerate("zero one two three four five six seven eight nine ten".split())},  # noqa: SIM905
    **{sign: place for place, sign in enumerate("零一二三四五六七八九十")},
    "a": 1,
    "an": 1,
    "两": 2,
}
_DAYS: Final = {"day": 1, "week": 7, "month": 30, "天": 1, "周": 7, "星期": 7, "礼拜": 7, "月": 30}


def end_of(clause: str, found: Sequence[TimeMention], turn: Turn, *, passed: bool) -> datetime | None:
    """The end of the limited life of what a clause tells, in UTC; None where it has none.

    What is to be done by a day is not over with it, nor what is so "this year": only what holds until a day, in the
    current week or month, or for a number of days from now.

    Args:
        clause: As it is written.
        found: Its expressions of time.
        turn: Where it stands.
        passed: Whether it tells of what is past.
    """
    plain = fold(clause)
    for mention in found:
        until = mention.period.until
        if until is not None and until > turn.occurred_at and _limits(plain, mention, turn, passed=passed):
            return _end_of_day_named(mention, turn) or until
    if (until := _until_day(plain, turn)) is not None:
        return until
    return None if passed and _STATE.search(plain) is None else _span(plain, turn)


def _end_of_day_named(mention: TimeMention, turn: Turn) -> datetime | None:
    """Before July 4 is up to its end."""
    inner = mentions(_EDGES.sub("", mention.text), turn.occurred_at, turn.zone, ahead=True)
    return inner[0].period.until if len(inner) == 1 and _BY.search(fold(mention.text)) else None


def _until_day(plain: str, turn: Turn) -> datetime | None:
    """Until the 20th: of this month, or of the next that has not passed it."""
    part = _UNTIL_PART.search(plain)
    if part is not None:
        found = mentions(part.group(), turn.occurred_at, turn.zone, ahead=True)
        return found[0].period.until if found else None
    match = _UNTIL_DAY.search(plain)
    if match is None:
        return None
    local = turn.occurred_at.astimezone(turn.zone).replace(hour=0, minute=0, second=0, microsecond=0)
    for days in range(62):
        day = local + timedelta(days=days)
        if day.day == int(match["day"]):
            return (day + timedelta(days=1)).astimezone(turn.occurred_at.tzinfo)
    return None


def _limits(plain: str, mention: TimeMention, turn: Turn, *, passed: bool) -> bool:
    words, before, after = fold(mention.text), plain[: mention.start], plain[mention.end :]
    if _UNTIL.search(words) or _UNTIL_BEFORE.search(before) or _AFTER.match(after) or _EXPIRES.search(before):
        return True
    if (_TO_ZH.search(before) or _TO_ZH_OWN.match(words)) and _LASTS_ZH.search(before):
        return True
    if _BY.search(words) or after.startswith(("之前", "以前", "前")):
        return _STATE.search(plain) is not None
    since = mention.period.since
    return not passed and _CURRENT.search(words) is not None and (since is None or since <= turn.occurred_at)


def _span(plain: str, turn: Turn) -> datetime | None:
    """Weeks from now for which something is not to be."""
    match = _SPAN.search(plain)
    if match is None or (match["n"] is not None and _STATE.search(plain) is None):
        return None
    number = _number(match["n"] or match["zn"])
    if number is None:
        return None
    days = number * _DAYS[match["unit"] or match["zunit"]]
    local = turn.occurred_at.astimezone(turn.zone) + timedelta(days=days + 1)
    return local.replace(hour=0, minute=0, second=0, microsecond=0).astimezone(turn.occurred_at.tzinfo)


def _number(written: str) -> int | None:
    return int(written) if written.isdigit() else _NUMBERS.get(written)
