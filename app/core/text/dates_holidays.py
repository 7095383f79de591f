"""Holidays that have the same date every year, English and Chinese. Those of the lunar calendar are not among them."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from app.core.text.dates import Cycle, Cyclic, Pick, Slot, Token

_DATES: Final = {
    "christmas eve": (12, 24, 24),
    "christmas": (12, 25, 25),
    "xmas": (12, 25, 25),
    "new year's eve": (12, 31, 31),
    "new year's": (1, 1, 1),
    "halloween": (10, 31, 31),
    "valentine's": (2, 14, 14),
    "平安夜": (12, 24, 24),
    "圣诞": (12, 25, 25),
    "跨年夜": (12, 31, 31),
    "元旦": (1, 1, 1),
    "情人": (2, 14, 14),
    "妇女": (3, 8, 8),
    "五一": (5, 1, 5),
    "劳动": (5, 1, 5),
    "六一": (6, 1, 1),
    "儿童": (6, 1, 1),
    "国庆": (10, 1, 7),
    "万圣": (10, 31, 31),
    "双十一": (11, 11, 11),
    "双11": (11, 11, 11),
}
_PICKS: Final = {"last": Pick.LAST, "this": Pick.THIS, "next": Pick.NEXT}
_YEAR: Final = r"(?:,?\s{1,2}(?:of\s)?(?P<year>(?:19|20)\d\d)(?![\w%]|[.,:]\d))?"
# A holiday alone may be meant as such ("Christmas carols"); a year, or a word that places it, makes it a time.
_ENGLISH: Final = re.compile(
    r"(?<![\w-])(?:(?P<which>last|this|next)\s{1,2}|(?P<placed>on|over|at|during|since|before|after|until)\s{1,2})?"
    r"(?P<name>christmas eve|christmas|xmas|new year's eve|new year's(?= day)|halloween|valentine's(?= day))"
    rf"(?:\sday)?(?![\w-]){_YEAR}",
    re.ASCII,
)
_CHINESE: Final = re.compile(
    r"(?P<placed>在)?(?P<name>平安夜|元旦|跨年夜|国庆|(?<![一二三四五六七八九十\d])(?:五一|六一)(?!一|二|三|四|五|六|七|八|九|十)|"
    r"双十一|双11|(?:圣诞|情人|妇女|劳动|儿童|万圣)(?=节))节?(?P<after>(?=[我你他她咱]|去了|那天|期间|假期|当天))?"
)


def find(folded: str) -> Iterator[Token]:
    """Holidays in a folded text, in no order."""
    for match in _ENGLISH.finditer(folded):
        value, which = _holiday(match["name"]), match["which"]
        if match["year"]:
            value = replace(value, year=int(match["year"]))
        elif which:
            value = replace(value, pick=_PICKS[which])
        start = match.start("which" if which else "name")
        yield Token(start, match.end(), value, weak=not (match["year"] or which or match["placed"]))
    for match in _CHINESE.finditer(folded):
        weak = match["placed"] is None and match["after"] is None
        yield Token(match.start("name"), match.end(), _holiday(match["name"]), weak)


def _holiday(name: str) -> Cyclic:
    month, first, last = _DATES[name]
    return Cyclic(Cycle.YEAR, Slot(months=month - 1, days=first - 1, long_days=last - first + 1))
