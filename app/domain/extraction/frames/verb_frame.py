"""Verb frames, and the parts of English ones: who does it, and how it is said."""

import re
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from app.domain.extraction.candidates import Change
from app.domain.extraction.frames.frame import Frame
from app.domain.memory import Category

ADVERB: Final = (
    r"(?: (?:now|currently|just|also|already|always|usually|mostly|normally|generally|still|recently|finally|"
    r"officially|"
    r"these days|only|mainly|typically|since|actually|basically|do|tend to|had to|ended up|have to|been))*"
)
DOES: Final = rf"(?:(?:now|currently|these days|nowadays|lately|so|and|also),? )?(?:i|we)(?:'ve| have|'d| had)?{ADVERB}"
IS: Final = (
    rf"(?:(?:now|currently|these days|nowadays|lately|so|and|also),? )?(?:i am|i'm|im|we are|we're|i've been|i "
    rf"have been|"
    rf"we've been){ADVERB}"
)
VALUE: Final = r"(?P<value>.+)"
HOUR: Final = r"(?P<value>(?:\d{1,2}(?::\d\d)?|noon|midnight)(?: ?[ap]\.?m\.?)?)\b.*"
TRANSPORT: Final = (
    r"(?P<value>(?:take|ride|catch|hop on|use) (?:the|my|a) (?:bus|train|tram|metro|subway|underground|tube|bike|ferry|"
    r"car|scooter|bicycle)|bike|cycle|walk|drive|carpool|commute by [a-z]+|go by [a-z]+|run|bus)"
)
DRINK: Final = r"(?P<noun>coffee|tea|espresso|latte|americano|matcha|milk tea|porridge|steak|eggs)"


class VerbFrame(NamedTuple):
    """A pattern over a folded clause with the group `value`, and what it fills.

    `{noun}` in the key is the group `noun`. A `name` must be written as one; `strict` makes the value the whole rest.
    """

    pattern: "re.Pattern[str]"
    key: str
    category: Category
    change: Change | None = None
    name: bool = False
    firm: bool = True


def verb_frame(
    pattern: str, key: str, category: Category, change: Change | None = None, *, name: bool = False, firm: bool = True
) -> VerbFrame:
    """A frame of a pattern as it is written."""
    return VerbFrame(re.compile(pattern), key, category, change, name, firm)


def first_frame(
    verbs: Iterable[VerbFrame], plain: str, fill: "Callable[[VerbFrame, re.Match[str]], Frame | None]"
) -> Frame | None:
    """What the first of some verb frames makes of a folded clause, of those that match it and can be filled."""
    for verb in verbs:
        match = verb.pattern.fullmatch(plain)
        if match is not None and (frame := fill(verb, match)) is not None:
            return frame
    return None
