"""Dates in digits, which every language writes alike: 2023-05-07, 2023/5/7, 2023-05, 07.05.2023, 5/7/2023."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from app.core.text.dates import Cyclic, Token, date_of_year, months_of_year

_BEFORE = r"(?<![\w.,:/#@=+-])"
_AFTER = r"(?![\w%]|[.,:/-]\d|/)"

# A date with dots is a version unless its fields are padded: 2023.05.07 is a day, 2023.5.7 a release.
_YEAR_FIRST = re.compile(
    rf"{_BEFORE}((?:19|20)\d\d)(?:([-/])(\d{{1,2}})\2(\d{{1,2}})|\.(\d\d)\.(\d\d))(?:t\d[\d:.]{{0,14}}z?)?{_AFTER}",
    re.ASCII,
)
_YEAR_LAST = re.compile(
    rf"{_BEFORE}(\d{{1,2}})/(\d{{1,2}})/((?:19|20)\d\d){_AFTER}|{_BEFORE}(\d\d)\.(\d\d)\.((?:19|20)\d\d){_AFTER}",
    re.ASCII,
)
_YEAR_MONTH = re.compile(rf"{_BEFORE}((?:19|20)\d\d)[-/](0[1-9]|1[0-2]){_AFTER}", re.ASCII)
_VERSION: Final = re.compile(r"(?:\bv|version|release|版本?|版本号?)[\s:]{0,2}$")
_LOOK_BACK: Final = 10


def find(folded: str) -> Iterator[Token]:
    """Dates in digits of a folded text, in no order."""
    for pattern, read in ((_YEAR_FIRST, _year_first), (_YEAR_LAST, _year_last), (_YEAR_MONTH, _year_month)):
        for match in pattern.finditer(folded):
            value = read(match)
            if value and not _VERSION.search(folded, max(0, match.start() - _LOOK_BACK), match.start()):
                yield Token(*match.span(), value)


def _year_first(match: re.Match[str]) -> Cyclic | None:
    month, day = int(match[3] or match[5]), int(match[4] or match[6])
    return _dated(int(match[1]), month, day)


def _year_last(match: re.Match[str]) -> Cyclic | None:
    if match[4]:
        return _dated(int(match[6]), int(match[5]), int(match[4]))
    # The month is first as in America, unless only the other order makes a date.
    first, second, year = int(match[1]), int(match[2]), int(match[3])
    return _dated(year, first, second) or _dated(year, second, first)


def _year_month(match: re.Match[str]) -> Cyclic:
    return replace(months_of_year(int(match[2])), year=int(match[1]))


def _dated(year: int, month: int, day: int) -> Cyclic | None:
    value = date_of_year(month, day)
    return value and replace(value, year=year)
