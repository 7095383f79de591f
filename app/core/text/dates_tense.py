"""Whether a text looks ahead: then "on Friday" and 三月 are the ones to come."""

import re
from typing import Final

_AHEAD: Final = re.compile(
    r"\b(?:will|shall|won't|going to|gonna|upcoming|plan(?:s|ning)? (?:to|for)|due|deadlines?|need to|have to|"
    r"has to|must|should|remind(?:er)?|scheduled?|appointments?|do (?:i|we) have|"
    r"(?:am|are) (?:i|we) (?!going\b)\w{2,20}ing|"
    r"(?:i|we|he|she|they|it)'(?:m|re|s) \w{2,20}ing|i am \w{2,20}ing)\b|'ll\b|"
    r"将[要会在于]|即将|打算|准备|计划|安排|提醒|会不会|日程|到期|预约|要[去做交开参考出飞搬回见]|得[去交]|会[去来到开参]|"
    r"还有[几多]",
    re.ASCII,
)
_BACK: Final = re.compile(
    r"\b(?:did|was|were|went|had|ago|been|said|told|met|bought|saw|ate|got|made|came|took|gave|left|wrote)\b|"
    r"[了曾]|(?<!不)过(?![年节去程来期敏])|刚",
    re.ASCII,
)


def looks_ahead(folded: str) -> bool:
    """Whether words of the future stand in a folded text and none of the past."""
    return bool(_AHEAD.search(folded)) and not looks_back(folded)


def looks_back(folded: str) -> bool:
    """Whether words of the past stand in a folded text."""
    return bool(_BACK.search(folded))
