"""English expressions that count from now: "yesterday", "two weeks ago", "the last three days", "this morning"."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from app.core.text.dates import (
    AFTERNOON,
    EARLY,
    EVENING,
    MORNING,
    NIGHT,
    NOON,
    WEEKEND,
    Cycle,
    Pick,
    Stretch,
    Third,
    Token,
    Value,
    Window,
    day,
    season,
    turn,
)
from app.core.text.dates_amount import FEW, Amount
from app.core.text.dates_tense import looks_ahead

_S: Final = r"\s{1,3}"
_NUMBERS: Final = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905 - words
    )
} | {"a": 1, "an": 1, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "ninety": 90}
_VAGUE: Final = {"couple": (2, 2), "few": FEW, "several": FEW}
_NUMBER: Final = (
    rf"(?:(?P<half>half{_S}an?)|(?:a{_S})?(?P<vague>couple|few|several)(?:{_S}of)?|"
    rf"(?P<number>(?<![\d.,])\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))}))"
)
_UNIT: Final = r"(?P<unit>minute|min|hour|day|night|week|fortnight|month|quarter|year|decade)s?\b"
_UNITS: Final = {"min": (1, "minute"), "night": (1, "day"), "fortnight": (2, "week")}
_CYCLES: Final = {
    "day": Cycle.DAY,
    "week": Cycle.WEEK,
    "month": Cycle.MONTH,
    "quarter": Cycle.QUARTER,
    "year": Cycle.YEAR,
}
_HOURS: Final = {
    "morning": MORNING,
    "noon": NOON,
    "lunchtime": NOON,
    "afternoon": AFTERNOON,
    "evening": EVENING,
    "night": NIGHT,
    "midnight": EARLY,
}
_DAYS: Final = {
    "the day before yesterday": -2,
    "day before yesterday": -2,
    "yesterday": -1,
    "today": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
    "day after tomorrow": 2,
}
SEASONS: Final = {"spring": 0, "summer": 1, "autumn": 2, "fall": 2, "winter": 3}
_THIRDS: Final = {
    "early": 0,
    "beginning": 0,
    "start": 0,
    "mid": 1,
    "middle": 1,
    "late": 2,
    "end": 2,
}
_OFFSETS: Final = {"last": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "following": 1, "coming": 1}

TRIGGER: Final = re.compile(
    r"\d|day|week|month|year|quarter|decade|night|morn|afternoon|evening|noon|ago|hour|min|tomorrow|"
    r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun|spring|summer|autumn|fall|winter"
)
"""Some letters of every expression: a text without them needs no search."""


def _amount(match: re.Match[str]) -> Amount:
    return _amount_of(match, match["unit"])


def _amount_of(match: re.Match[str], unit: str) -> Amount:
    times, unit = _UNITS.get(unit, (1, unit))
    if match["half"]:
        return Amount.half(unit)
    if match["vague"]:
        low, high = _VAGUE[match["vague"]]
        return Amount(low * times, high * times, unit)
    word = match["number"]
    number = times * (int(word) if word.isdigit() else _NUMBERS[word])
    return Amount(number, number, unit)


def _relative_day(match: re.Match[str]) -> Value:
    return day(_DAYS[re.sub(r"\s+", " ", match[0])])


def _part_of_near_day(match: re.Match[str]) -> Value:
    if match[0] == "tonight":
        return day(0, NIGHT)
    hours = _HOURS[match["hours"]]
    return day({"last": -1, "yesterday": -1, "this": 0, "tomorrow": 1}[match["which"]], hours)


def _turn(match: re.Match[str]) -> Value:
    unit, offset = match["unit"], _OFFSETS[match["which"]]
    if unit == "weekend":
        return replace(WEEKEND, offset=offset)
    if unit == "fortnight":
        return Stretch(Cycle.WEEK, 2 * offset, 2 * offset + 1)
    return turn(_CYCLES[unit], offset)


def _turn_beyond(match: re.Match[str]) -> Value:
    sign = 1 if match["which"].startswith("after") else -1
    if match["unit"] == "night":
        return day(2 * sign, NIGHT)
    if match["unit"] == "weekend":
        return replace(WEEKEND, offset=2 * sign)
    return turn(_CYCLES[match["unit"]], 2 * sign)


def _weekend(match: re.Match[str]) -> Value:
    pick = {"past": Pick.LAST, "coming": Pick.NEXT, None: Pick.NEAREST}[match["which"]]
    return replace(WEEKEND, pick=pick)


def _ago(match: re.Match[str]) -> Value:
    return _amount(match).away(-1)


def _turns_ago(match: re.Match[str]) -> Value:
    name, back = match["turn"], _amount_of(match, "year").low
    if name == "weekend":
        return replace(WEEKEND, offset=-back)
    return replace(season(SEASONS[name]), offset=-back)


def _years_and_a_half_ago(match: re.Match[str]) -> Value:
    amount = _amount_of(match, "year") if match["number"] or match["vague"] else Amount(1, 1, "year")
    return Amount(12 * amount.low + 6, 12 * amount.high + 6, "month").away(-1)


def _ahead(match: re.Match[str]) -> Value:
    return _amount(match).away(1)


def _window(match: re.Match[str]) -> Value:
    return _amount(match).window(ahead=match["which"] in {"next", "coming", "following", "upcoming"})


def _past(match: re.Match[str]) -> Value:
    return Amount(1, 1, match["unit"]).window()


def _other_day(_: re.Match[str]) -> Value:
    return Stretch(Cycle.DAY, -7, -1)


def _these_days(_: re.Match[str]) -> Value:
    return Window(Cycle.DAY, FEW[1])


def _third(match: re.Match[str]) -> Value:
    return Third(_THIRDS[match["which"]])


def _part(match: re.Match[str]) -> Value:
    return _HOURS[match[0]]


_UNLESS_OF: Final = rf"(?!{_S}of\b)"
_RULES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Value]], ...]] = tuple(
    (re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])", re.ASCII), read)
    for pattern, read in (
        (rf"(?:the{_S})?day{_S}(?:before{_S}yesterday|after{_S}tomorrow)", _relative_day),
        (r"(?<!usa )(?:yesterday|today|tomorrow)", _relative_day),
        (
            rf"tonight|(?P<which>last|this|yesterday|tomorrow){_S}(?P<hours>morning|afternoon|evening|night)",
            _part_of_near_day,
        ),
        (
            (
                rf"(?P<which>last|previous|this|current|next|following|coming){_S}(?:calendar{_S})?"
                rf"(?P<unit>weekend|week|fortnight|month|quarter|year){_UNLESS_OF}"
            ),
            _turn,
        ),
        (
            rf"(?:the{_S})?(?P<unit>night|weekend|week|month|year){_S}(?P<which>before{_S}last|after{_S}next)",
            _turn_beyond,
        ),
        (
            (
                rf"(?:(?:in|over|during|within|for){_S}the{_S}last|(?:(?:this|the){_S})?past){_S}"
                rf"(?P<unit>day|week|month|quarter|year|decade){_UNLESS_OF}"
            ),
            _past,
        ),
        (rf"this{_S}(?P<which>past|coming){_S}weekend|(?:on|over|at|during){_S}the{_S}weekend", _weekend),
        (rf"{_NUMBER}{_S}{_UNIT}{_S}ago", _ago),
        (
            rf"(?:(?:a|one){_S}year{_S}and{_S}a{_S}half|{_NUMBER}{_S}and{_S}a{_S}half{_S}years){_S}ago",
            _years_and_a_half_ago,
        ),
        (rf"{_NUMBER}{_S}{_UNIT}{_S}from{_S}(?:now|today)", _ahead),
        (
            (
                rf"(?P<which>last|past|previous|next|coming|following|upcoming){_S}(?!an?{_S}(?!couple|few)){_NUMBER}{_S}{_UNIT}"
                rf"{_UNLESS_OF}"
            ),
            _window,
        ),
        (rf"{_NUMBER}{_S}(?P<turn>weekend|spring|summer|autumn|fall|winter)s?{_S}ago", _turns_ago),
        (r"the other day", _other_day),
        (r"the past days|these last days", _these_days),
        (rf"(?:the{_S})?(?P<which>beginning|start|middle|end){_S}of", _third),
        (r"morning|noon|lunchtime|afternoon|evening|night|midnight", _part),
    )
)
_PART: Final = re.compile(r"(?<![\w-])(?P<which>early|mid|late)(?!\w)", re.ASCII)
_RUNNING: Final = re.compile(rf"(?<![\w-])(?<=of\s)the{_S}(?P<unit>week|month|quarter|year)(?![\w-])", re.ASCII)
_IN_AMOUNT: Final = re.compile(
    rf"(?<![\w-])in{_S}(?!an?{_S}(?!couple|few))(?!half){_NUMBER}{_S}(?!min|hour){_UNIT}(?!-|{_S}of\b)", re.ASCII
)


def find(folded: str) -> Iterator[Token]:
    """Relative expressions in a folded text, in no order."""
    for pattern, read in _RULES:
        for match in pattern.finditer(folded):
            yield Token(*match.span(), read(match))
    for match in _RUNNING.finditer(folded):
        yield Token(*match.span(), replace(turn(_CYCLES[match["unit"]], 0), offset=None), weak=True)
    for match in _PART.finditer(folded):
        yield Token(*match.span(), _third(match))
    # "Learn it in 30 days" is no date; "it is due in 30 days" is.
    for match in _IN_AMOUNT.finditer(folded):
        if looks_ahead(folded):
            yield Token(*match.span(), _ahead(match))
