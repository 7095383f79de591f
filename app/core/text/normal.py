"""One spelling for what people write in several: width, case, composed letters, traditional and simplified Chinese."""

import re
import unicodedata
from functools import lru_cache
from itertools import groupby
from typing import Final

from opencc import OpenCC

from app.core.text.scripts import HAN

MAX_MARKS: Final = 30
"""Combining marks kept on one letter (Unicode UAX #15, section 13, stream-safe text)."""

_MARKED_SCRIPTS_END: Final = 0x1F000
_SURROGATE = re.compile("[\ud800-\udfff]")
_HAN = re.compile(f"[{HAN}]")


def clean(text: str) -> str:
    """The text as PostgreSQL and the models can take it: NUL dropped, lone surrogates replaced by U+FFFD."""
    if text.isascii():
        return text.replace("\0", "")
    return _SURROGATE.sub("\ufffd", text.replace("\0", ""))


def unify(text: str) -> str:
    """The cleaned text in NFKC (full-width forms folded) and simplified Chinese, its case kept.

    Linear in the length of the text, also for letters that carry thousands of marks.
    """
    text = clean(text)
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", _surplus_marks().sub(r"\1", text))
    return _simplified(text) if _HAN.search(text) else text


def normalise(text: str) -> str:
    """`unify`, then case-folded: two spellings of one word become equal."""
    return unify(text).casefold()


def _simplified(text: str) -> str:
    return str(_traditional_to_simplified().convert(text))


@lru_cache(maxsize=1)
def _traditional_to_simplified() -> OpenCC:
    return OpenCC("t2s")


@lru_cache(maxsize=1)
def _surplus_marks() -> re.Pattern[str]:
    # Canonical ordering is quadratic in the marks of one letter: 100,000 of them would hold a thread for seconds.
    marks = [point for point in range(0x300, _MARKED_SCRIPTS_END) if unicodedata.combining(chr(point))]
    runs = [[p for _, p in run] for _, run in groupby(enumerate(marks), key=lambda pair: pair[1] - pair[0])]
    marked = "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in runs)
    return re.compile(f"([{marked}]{{{MAX_MARKS}}})[{marked}]+")
