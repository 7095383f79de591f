"""What is preferred to what, and what is more than what, however a sentence says so."""

import re
from typing import Final

from app.core.text.scripts import HAN

_PREFERS: Final = (
    re.compile(
        r"\b(?:prefer|like|love|favou?r|choose|pick|rate)(?:s|d|ed|ing)?\s(?P<more>[\w '-]{1,60}?)\s"
        r"(?:over|to|rather than|more than|better than|above|instead of|than)\s(?P<less>[\w '-]{1,60})"
    ),
    re.compile(
        r"\b(?:would |['’]d )?rather\s(?:use |have |eat |drink )?(?P<more>[\w '-]{1,60}?)"
        r"\sthan\s(?P<less>[\w '-]{1,60})"
    ),
    re.compile(
        rf"(?:比起|相比于?|相较于?)(?P<less>[{HAN}\w ]{{1,20}}?)(?:来说)?,?(?:用户|我)?(?:还是|会)?"
        rf"(?:更喜欢|更爱|更偏好|更倾向于?|宁可|宁愿|更想)(?P<more>[{HAN}\w ]{{1,20}})"
    ),
    re.compile(
        rf"(?:喜欢|偏好|偏爱|更爱|倾向于?|宁可|宁愿)(?P<more>[{HAN}\w ]{{1,20}}?)"
        rf"(?:胜过|多于|超过|甚于|而不是|而非|,?也?不(?:喜欢|要|用|想))(?P<less>[{HAN}\w ]{{1,20}})"
    ),
    re.compile(
        rf"(?:和|与|跟|同)(?P<less>[{HAN}\w ]{{1,12}}?)(?:相比|比起来|比),?(?:用户|我)?(?:还是|会)?"
        rf"(?:更喜欢|更爱|更偏好|更想)(?P<more>[{HAN}\w ]{{1,20}})"
    ),
    re.compile(rf"(?:喜欢|偏好|偏爱)(?P<more>[{HAN}\w ]{{1,12}}?)比(?P<less>[{HAN}\w ]{{1,12}}?)[更要]?多"),
)
_THAN: Final = re.compile(r"\bthan\b|(?<=\w)(?<![对相好])比(?![较如赛例分方率特价])(?=\w)")
_RATHER: Final = re.compile(r"\b(?:would|['’]d) rather(?: use| have)?\b")


def preferred_first(plain: str) -> str | None:
    """The sentence with what is preferred first, however it says so."""
    for pattern in _PREFERS:
        match = pattern.search(plain)
        if match is not None:
            more, less = match["more"].strip(), match["less"].strip()
            before, after = plain[: match.start()], plain[match.end() :]
            return f"{before} prefer {more} , versus {less} {after}"
    return None


def with_plain_comparisons(plain: str) -> str:
    """The sentence with one word for "would rather", and 比 apart from what it compares."""
    return _THAN.sub(" than ", _RATHER.sub(" prefer ", plain))


def compares(plain: str) -> bool:
    """Whether it says that something is more than something else: then the order of its words counts."""
    return _THAN.search(plain) is not None
