"""Relative dates made absolute: 下周去新加坡 becomes 2026-07 去新加坡 and, once it is over, 2026 年 7 月去过新加坡."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Final

from app.core.text.dates_fold import fold
from app.core.text.dates_tense import looks_back
from app.core.text.language import language_of
from app.domain.dreaming.tenses import is_past, past_en, past_zh, without_will
from app.domain.periods import TimeMention, mentions

_RECURS: Final = re.compile(
    r"\b(?:every|each|weekly|daily|monthly|biweekly|annually|yearly|usually|always|often)\b|每|(?<![上下本这])周会|例会|通常|经常|总是"
)
_RULE: Final = re.compile(
    r"\b(?:allowed|permitted|forbidden|banned|must(?:n't)?|never|may|can(?:'t|not)?|should(?:n't)?|rules?|policy|only)\b|"
    r"可以|不能|不许|不得|不准|必须|禁止|严禁|允许|只能|应该|规定|规则|一律|千万|绝不"
)
_WEEKDAY: Final = re.compile(
    r"(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:周|星期|礼拜)[一二三四五六日天]", re.IGNORECASE
)
"""Beside a word for what may be and what may not, the day on which it is so in every week."""

_PAST: Final = re.compile(r"\b(?!need|schedul|plann|book|reserv|suppos|call|nam|bas)\w{2,20}ed\b", re.ASCII)
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_STAMP: Final = re.compile(r"\s?[（(](?:19|20)\d\d[-\d]*(?:\s?(?:至|to)\s?[-\d]+)?[)）]")
_PREPOSITION: Final = re.compile(r"\b(on|in|during|at)\s+$", re.IGNORECASE)
_KEPT: Final = re.compile(r"\b(?:until|till|by|since|from|before|after|for|of|to|between)\s+$", re.IGNORECASE)
_OWN_PREPOSITION: Final = re.compile(r"^(?:on|in|during|at)\s+", re.IGNORECASE)

_PART_ZH: Final = re.compile(r"凌晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|[早晚]$")
_PART_EN: Final = re.compile(r"\b(?:morning|afternoon|evening|noon|night)\b|\btonight\b", re.IGNORECASE)
_PARTS_EN: Final = {
    "morning": "in the morning",
    "afternoon": "in the afternoon",
    "evening": "in the evening",
    "noon": "at noon",
    "night": "at night",
    "tonight": "at night",
}

_A_DAY: Final = timedelta(days=1, hours=6)
_A_MONTH: Final = 32
_A_YEAR: Final = 365
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class When:
    """A time as exact as the words were: a year, a month of it, a day of that."""

    year: int
    month: int | None = None
    day: int | None = None

    @property
    def iso(self) -> str:
        """2026, 2026-07 or 2026-07-15."""
        parts = [f"{self.year:04}", *(f"{one:02}" for one in (self.month, self.day) if one is not None)]
        return "-".join(parts)

    @property
    def iso_zh(self) -> str:
        """The same in a Chinese sentence: a year alone is called one."""
        return self.iso if self.month is not None else f"{self.iso} 年"

    @property
    def in_chinese(self) -> str:
        """2026 年 7 月 15 日."""
        month = "" if self.month is None else f" {self.month} 月"
        return f"{self.year} 年{month}" + ("" if self.day is None else f" {self.day} 日")

    @property
    def in_english(self) -> str:
        """15 July 2026."""
        day = "" if self.day is None else f"{self.day} "
        month = "" if self.month is None else f"{_MONTHS[self.month - 1]} "
        return f"{day}{month}{self.year}"

    @property
    def preposition(self) -> str:
        """Of an English date."""
        return "in" if self.day is None else "on"


def dated_text(text: str, said_at: datetime, now: datetime, zone: tzinfo) -> str | None:
    """The text with absolute dates, and in the past tense where its day is over; None where it stays as it is.

    Args:
        text: What a memory says.
        said_at: When it was said: "next week" is the one after.
        now: The present.
        zone: Of who said it.

    A day stays a day; a week becomes its month, that of its middle. What comes round ("every Monday") is left alone,
    and so is what has no end or no beginning ("since March").
    """
    plain = fold(text)
    if _RECURS.search(plain):
        return None
    back = looks_back(plain) or _PAST.search(plain) is not None or is_past(text)
    found = [one for one in mentions(text, said_at, zone, ahead=not back) if one.period.since and one.period.until]
    found = [one for one in found if not _in_stamp(text, one)]
    if _RULE.search(plain):
        found = [one for one in found if _WEEKDAY.fullmatch(one.text.strip()) is None]
    if not found:
        return None
    over = not back and all(_passed(one, said_at, now) for one in found)
    changed = [one for one in found if over or not _YEAR.search(one.text)]
    if not changed:
        return None
    zh = language_of(text) == "zh"
    new = _rewritten_zh(text, changed, zone, over=over) if zh else _rewritten_en(text, changed, zone, over=over)
    return new if new != text else None


def _in_stamp(text: str, mention: TimeMention) -> bool:
    """Whether it is the date in brackets behind another expression."""
    opened = max(text.rfind("（", 0, mention.start), text.rfind("(", 0, mention.start))
    return opened >= 0 and _STAMP.match(text, opened) is not None and mention.start - opened <= 2  # noqa: PLR2004 - a bracket and a space


def _passed(mention: TimeMention, said_at: datetime, now: datetime) -> bool:
    """Whether it was ahead when it was said and is over now."""
    since, until = mention.period.since, mention.period.until
    return since is not None and until is not None and until > said_at and until <= now


def when_of(mention: TimeMention, zone: tzinfo) -> When:
    """The time that a mention names, as exact as it is."""
    since, until = mention.period.since, mention.period.until
    if since is None or until is None:
        raise ValueError("an open period")
    first: date = since.astimezone(zone).date()
    length = until - since
    if length <= _A_DAY:
        return When(first.year, first.month, first.day)
    middle = (since + length / 2).astimezone(zone).date()
    if length.days <= _A_MONTH:
        return When(middle.year, middle.month)
    return When(middle.year) if length.days >= _A_YEAR else When(first.year, first.month)


def _rewritten_zh(text: str, found: Sequence[TimeMention], zone: tzinfo, *, over: bool) -> str:
    pieces: list[str] = []
    end = 0
    for mention in found:
        when = when_of(mention, zone)
        pieces.append(text[end : mention.start])
        end = _after(text, mention.end)
        rest = text[end:]
        part = _PART_ZH.search(mention.text)
        stamp = (when.in_chinese if over else when.iso_zh) + ("" if part is None else f" {_of_day(part.group())}")
        head = pieces[-1] = without_will(pieces[-1]) if over else pieces[-1]
        gap_before = " " if head[-1:].isalnum() else ""
        gap_after = " " if not over and stamp[-1:].isdigit() and rest[:1].isalnum() else ""
        pieces.append(f"{gap_before}{stamp}{gap_after}")
        if over and rest[:1] == " ":
            end += 1
    head, tail = "".join(pieces), text[end:]
    return head + (past_zh(tail) if over and tail.strip("。.！!") else tail)


def _rewritten_en(text: str, found: Sequence[TimeMention], zone: tzinfo, *, over: bool) -> str:
    pieces: list[str] = []
    end = 0
    for mention in found:
        when = when_of(mention, zone)
        before = text[end : mention.start]
        end = _after(text, mention.end)
        given = _PREPOSITION.search(before)
        bare = before if given is None else before[: given.start()]
        part = _PART_EN.search(mention.text)
        stamp = (when.in_english if over else when.iso) + (
            "" if part is None else f" {_PARTS_EN[part.group().lower()]}"
        )
        kept = _KEPT.search(before) is not None and _OWN_PREPOSITION.match(mention.text) is None
        phrase = stamp if kept else f"{when.preposition} {stamp}"
        starts = not "".join(pieces).strip() and not bare.strip()
        pieces += [bare, phrase[:1].upper() + phrase[1:] if starts and text[:1].isupper() else phrase]
    whole = "".join([*pieces, text[end:]])
    return past_en(whole) if over else whole


def _of_day(part: str) -> str:
    return {"早": "早上", "晚": "晚上"}.get(part, part)


def _after(text: str, end: int) -> int:
    """Behind a mention and the absolute date in brackets that stands behind it."""
    stamp = _STAMP.match(text, end)
    return end if stamp is None else stamp.end()
