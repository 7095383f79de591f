"""English names of times: months, days, weekdays, seasons, quarters, years and decades."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from app.core.text.dates import (
    Cyclic,
    Pick,
    Token,
    date_of_year,
    day_of_month,
    decade,
    months_of_year,
    quarter,
    season,
    weekday,
    year,
)
from app.core.text.dates_en import SEASONS

_S: Final = r"\s{1,3}"
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        [
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ],
        start=1,
    )
    for name in names.split()
}
_CLEAR_MONTHS: Final = frozenset({"january", "february", "july", "september", "october", "november", "december"})
"""Full names that are neither words nor first names of their own."""

_DAYS: Final = {
    name: number
    for number, names in enumerate(
        [
            "monday mon",
            "tuesday tues tue",
            "wednesday wed",
            "thursday thurs thur thu",
            "friday fri",
            "saturday sat",
            "sunday sun",
        ]
    )
    for name in names.split()
}
_ORDINALS: Final = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4}
_PICKS: Final = {
    "last": Pick.LAST,
    "past": Pick.LAST,
    "previous": Pick.LAST,
    "this": Pick.THIS,
    "next": Pick.NEXT,
    "coming": Pick.NEXT,
}

_START: Final = r"(?:(?<![\w-])|(?<=\bmid-)|(?<=\bearly-)|(?<=\blate-))"
_MONTH: Final = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})(?!\w)\.?"
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)(?![\w%]|[.,:]\d|[-/]\d(?!\d{3}))"
_DAY: Final = r"(?P<day>[12]\d|3[01]|0?[1-9])(?P<suffix>st|nd|rd|th)?(?![\w%]|[.,:/]\d)"
_TO_DAY: Final = (
    r"(?:\s{0,2}(?:-|to|and|through|until)\s{0,2}(?P<to>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?(?![\w%]|[.,:/]\d))?"
)
_FROM_DAY: Final = (
    r"(?:(?P<first>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?\s{0,2}(?:-|to|and|through|until)\s{0,2}(?:the\s)?)?"
)
_COUNTED: Final = re.compile(
    r"\s{1,3}(?:(?:u\.?s\.? )?dollars?|usd|euros?|eur|pounds?|yuan|rmb|bucks|words?|people|users?|"
    r"steps?|calories|kcal|kgs?|km|"
    r"miles?|met(?:er|re)s?|feet|pixels?|px|tokens?|rows?|items?|lines?|characters?|times|points?|bytes|[kmg]b|ms|"
    r"seconds?|minutes?|hours?|days?|weeks?|months?|years|percent|messages?|memories|files?|pages?|degrees|units?|votes?|"
    r"copies|employees|customers|am|pm|o'clock|hz|mhz|watts?|ml|tests?|requests?|records?|entries)\b",
    re.ASCII,
)
_NAMED_BEFORE: Final = re.compile(
    r"\b(?:in|during|since|before|after|until|till|throughout|around|early|mid|late|of|by|for)[\s-]"
    r"(?:early[\s-]|mid[\s-]|late[\s-]|the\s)?$",
    re.ASCII,
)
_LOWER_BEFORE: Final = re.compile(r"\b(?:in|during|since|until|early|late|mid)[\s-]$", re.ASCII)
_YEAR_BEFORE: Final = re.compile(
    r"\b(?:in|during|since|before|after|until|till|by|of|around|throughout|for|early|late|mid|year|my|our|your|his|her|"
    r"their)[\s-]$|'s\s$",
    re.ASCII,
)
_HABIT: Final = re.compile(
    r"\b(?:every|each|any|per|black|good|casual|ruby|taco|cyber|ash|palm|easter|super|bloody|most|alternate|other|on)\s$",
    re.ASCII,
)
_NOT_A_VERB: Final = r"(?!\s{1,3}(?:be|have|not|well|also|i|you|we|they|he|she|it|seem|sound|on|forward)\b)"
_LOOK_BACK: Final = 16

Read = Callable[[re.Match[str], str], tuple[Cyclic | None, bool]]
"""From a match and the text as it was written: what it names, and whether that is weak."""


def _stands_after(pattern: re.Pattern[str], match: re.Match[str]) -> bool:
    return bool(pattern.search(match.string, max(0, match.start() - _LOOK_BACK), match.start()))


def _is_counted(match: re.Match[str]) -> bool:
    return bool(_COUNTED.match(match.string, match.end()))


def _month_day(match: re.Match[str], written: str) -> tuple[Cyclic | None, bool]:
    name = match["month"]
    doubtful = name in {"may", "march", "mar", "dec", "sep", "jan", "jun"} and written[match.start("month")].islower()
    if not match["year"] and (_is_counted(match) or (doubtful and not match["suffix"])):
        return None, False
    value = date_of_year(_MONTHS[name], int(match["day"]), int(match["to"]) if match["to"] else None)
    return _in_year(value, match["year"]), False


def _day_month(match: re.Match[str], written: str) -> tuple[Cyclic | None, bool]:
    name = match["month"]
    doubtful = name in {"may", "march", "mar"} and written[match.start("month")].islower()
    if doubtful and not (match["suffix"] or match["year"]):
        return None, False
    first = int(match["first"] or match["day"])
    return _in_year(date_of_year(_MONTHS[name], first, int(match["day"])), match["year"]), False


def _month(match: re.Match[str], written: str) -> tuple[Cyclic | None, bool]:
    name, which = match["month"], match["which"]
    value = months_of_year(_MONTHS[name])
    if match["year"]:
        return _in_year(value, match["year"]), False
    if which:
        value = replace(value, pick=_PICKS[which])
    if name in {"may", "march", "mar"} and written[match.start("month")].islower():
        return (value, False) if not which and _stands_after(_LOWER_BEFORE, match) else (None, False)
    if which or name in _CLEAR_MONTHS:
        return value, _stands_after(_HABIT, match) and not _stands_after(_NAMED_BEFORE, match)
    return value, not _stands_after(_NAMED_BEFORE, match)


def _in_year(value: Cyclic | None, number: str | None) -> Cyclic | None:
    return value and (replace(value, year=int(number)) if number else value)


def _weekday(match: re.Match[str], written: str) -> tuple[Cyclic | None, bool]:
    name, which, on = match["name"], match["which"], match["on"]
    value = weekday(_DAYS[name])
    if not name.endswith("day") and (not (which or on) or written[match.start("name")].islower()):
        return None, False
    if not (which or on) and _stands_after(_HABIT, match):
        return None, False
    match which and which.split()[-1]:
        case None:
            return value, False
        case "this":
            return replace(value, offset=0), False
        case "next" | "following":
            return replace(value, offset=1), False
        case other:
            return replace(value, pick=_PICKS[other]), False


def _season(match: re.Match[str], _: str) -> tuple[Cyclic | None, bool]:
    value = season(SEASONS[match["season"]])
    if match["year"]:
        return _in_year(value, match["year"]), False
    return (replace(value, pick=_PICKS[match["which"]]) if match["which"] else value), match["lone"] is not None


def _quarter(match: re.Match[str], _: str) -> tuple[Cyclic | None, bool]:
    value = quarter(int(match["index"]) if match["index"] else _ORDINALS[match["ordinal"]])
    return _in_year(value, match["year"]), False


def _half(match: re.Match[str], _: str) -> tuple[Cyclic | None, bool]:
    first = int(match["index"]) if match["index"] else _ORDINALS[match["ordinal"]]
    return _in_year(months_of_year(6 * first - 5, 6), match["year"]), not match["year"]


def _year(match: re.Match[str], _: str) -> tuple[Cyclic | None, bool]:
    if _is_counted(match):
        return None, False
    return year(int(match["year"])), not _stands_after(_YEAR_BEFORE, match)


def _decade(match: re.Match[str], _: str) -> tuple[Cyclic | None, bool]:
    digits = match["decade"]
    if len(digits) == 2:  # noqa: PLR2004 - '98
        digits = ("20" if digits[0] in "012" else "19") + digits
    return decade(int(digits)), False


def _day_alone(match: re.Match[str], _: str) -> tuple[Cyclic | None, bool]:
    return day_of_month(int(match["day"])), False


_THE: Final = rf"(?:the{_S})?"
_RULES: Final[tuple[tuple[re.Pattern[str], Read], ...]] = tuple(
    (re.compile(pattern, re.ASCII), read)
    for pattern, read in (
        (rf"(?<![\w-]){_MONTH}{_S}{_THE}{_DAY}{_TO_DAY}(?:,?\s{{0,3}}(?:of{_S})?{_YEAR})?", _month_day),
        (rf"(?<![\w.,/:$€£#-]){_FROM_DAY}{_DAY}(?:{_S}of)?{_S}{_MONTH}(?:,?{_S}{_YEAR})?", _day_month),
        (
            (
                rf"{_START}(?:(?P<which>last|past|previous|this|next|coming){_S})?{_MONTH}"
                rf"(?:,?{_S}(?:of{_S})?{_YEAR}|(?!-\w){_NOT_A_VERB})"
            ),
            _month,
        ),
        (
            (
                rf"(?<![\w-])(?:(?P<on>on){_S})?"
                rf"(?:(?P<which>last|past|this|this{_S}past|this{_S}coming|next|following|coming){_S})?"
                rf"(?P<name>{'|'.join(sorted(_DAYS, key=len, reverse=True))})"
                rf"(?![\w-]|\.\w|{_S}(?:addams|times|night{_S}live|night{_S}lights))"
            ),
            _weekday,
        ),
        (
            (
                rf"(?<![\w-])(?:(?P<which>last|past|previous|this|next|coming){_S}|(?:in|during|over|since|before|after|until){_S}"
                rf"(?:(?:the|early|late|mid){_S})?|(?P<lone>))"
                rf"(?P<season>spring|summer|autumn|fall|winter)(?:{_S}(?:of{_S})?{_YEAR}|(?![\w-]|{_S}(?:boot|framework|mvc|"
                rf"security|cloud|asleep|of|in|for|apart|down|back|onions?|rolls?)\b))"
            ),
            _season,
        ),
        (rf"(?<![\w-])q(?P<index>[1-4])(?P<ordinal>)(?:{_S}(?:of{_S})?{_YEAR}|(?![\w-]))", _quarter),
        (
            (
                rf"(?<![\w-])(?P<index>)(?P<ordinal>first|1st|second|2nd|third|3rd|fourth|4th){_S}quarter{_S}(?:of{_S})?"
                rf"(?:{_YEAR}|(?=(?:last|this|next){_S}year))"
            ),
            _quarter,
        ),
        (rf"(?<![\w-])h(?P<index>[12])(?P<ordinal>){_S}(?:of{_S})?{_YEAR}", _half),
        (
            (
                rf"(?<![\w-])(?:the{_S})?(?P<index>)(?P<ordinal>first|second){_S}half(?P<year>)(?={_S}of{_S}(?:(?:last|this|next)"
                rf"{_S}year|(?:19|20)\d\d))"
            ),
            _half,
        ),
        (rf"{_START}(?<![.,$€£¥:/#@]){_YEAR}(?!s\b)", _year),
        (r"(?<=the\s)(?P<decade>(?:19|20)\d0|[03-9]0)'?s\b", _decade),
        (
            (
                r"(?<=on\sthe\s)(?P<day>[12]?\d|3[01])(?:st|nd|rd|th)"
                r"(?=\s{0,3}(?:$|[?.!,;])|\s{1,3}(?:i|we|did|was|of\s(?:last|this|next))\b)"
            ),
            _day_alone,
        ),
    )
)


def find(folded: str, written: str) -> Iterator[Token]:
    """Names of times in a folded text, in no order; the text as `written` tells May from may."""
    for pattern, read in _RULES:
        for match in pattern.finditer(folded):
            value, weak = read(match, written)
            if value:
                yield Token(*match.span(), value, weak)
