"""Words that ask for the newest of what is known: "the last time", "most recent", 上次, 最新."""

import re
from typing import Final

from app.core.text.dates_fold import fold
from app.core.text.dates_grammar import phrases

_WORDS: Final = re.compile(
    r"\b(?:latest|newest|most recent|recent|recently|lately|just now|last time|up[ -]to[ -]date)\b|"
    r"最新|最近(?!的?(?:地铁|医院|餐厅|饭店|超市|车站|公交|加油|路|距离|邻|点))|近来|近期|最后一[次回条个封]|"
    r"(?<![早晚马网线以])上一?[次回](?![数序品])|上一[条句封]|刚才|刚刚|这阵子|这段时间",
    re.ASCII,
)
"""What is so "now" or 目前 is no event: superseding decides it, not age."""

_LAST: Final = re.compile(
    r"(?:\b(?:my|our|your|his|her|their|the)|'s)\s{1,3}last\s{1,3}(?!names?\b|resort|minute|straw|chance|words?\b|of\b|page|"
    r"chapter|line\b|row|column|element|digit|letters?\b|character|paragraph|will\b|supper|mile\b|stop\b|century|step|"
    r"item|field|initial|two|three|four|five|six|ten|few|couple|\d|section|byte|legs?\b|laugh|decade|thing\sin|part|"
    r"layer|commandment|samurai|jedi|kingdom|dance|piece|hope)[a-z]|"
    r"\bwhen\b.{0,60}\b(?:i|we|you|he|she|they)\s{1,3}last\s{1,3}[a-z]",
    re.ASCII,
)
_NEAREST_PLACE: Final = re.compile(r"[离距].{0,12}最近")


def names_latest(text: str) -> bool:
    """Whether a text asks for the newest of something, the periods it names apart.

    "The last time" and 最近 do; "last week" and 最近三天 are periods, "at last" and "last name" are neither.
    """
    folded = fold(text)
    if not (_WORDS.search(folded) or _LAST.search(folded)):
        return False
    rest, place = [], 0
    for phrase in phrases(text):
        rest.append(folded[place : phrase.start])
        place = phrase.end
    # What is left of both sides of a period must not read as one phrase.
    said = "|".join([*rest, folded[place:]])
    return bool(_LAST.search(said) or (_WORDS.search(said) and not _NEAREST_PLACE.search(said)))
