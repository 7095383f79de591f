"""Keys whose value cannot be one: a wife is not called pregnant, and a journey of one day is no hobby."""

import re
from dataclasses import replace
from typing import Final

from app.domain.extraction.candidates import Candidate

_NAMED: Final = frozenset({"user.partner", "user.manager", "user.name"})
_TRADES_ZH: Final = re.compile(
    r"(?:师|员|医生|牙医|护士|老师|经理|工程师|律师|会计|教练|司机|厨师|公务员|设计师|程序员|怀孕|孕妇|人|的)$|^(?:做|在|当|怀孕|结婚|很|不)|结婚"
)
_GONE: Final = re.compile(r"(?:has |just |sadly )*(?:passed away|died|is gone)\b|(?:去世|死|走丢|不在)了?$")
_ONE_DAY: Final = re.compile(
    r"^(?:今年|明年|下个?月|上个?月|下周|这周|周末|[\d一二三四五六七八九十]{1,3}月(?:份)?|[\d一二三四五六七八九十]{1,3}[号日])"
)


def fitting(candidate: Candidate) -> Candidate:
    """The candidate without a key that its value cannot fill; the end of a pet's life as an end."""
    key, value = candidate.key, candidate.value
    if key is None or value is None:
        return candidate
    if key in _NAMED and not _is_a_name(value):
        return replace(candidate, key=None)
    if key == "user.pet" and _GONE.match(value):
        return replace(candidate, value=None, change="ends")
    if key == "user.hobby" and _ONE_DAY.match(value):
        return replace(candidate, key=None)
    return candidate


def _is_a_name(value: str) -> bool:
    if value.isascii():
        return re.search(r"[A-Z]", value) is not None or (
            value.islower() and len(value.split()) == 1 and len(value) <= LONGEST
        )
    return _TRADES_ZH.search(value) is None


LONGEST: Final = 6
"""Letters of a name that is written small."""
