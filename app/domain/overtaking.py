"""A short statement that sounds like news stands above the older statement that answers the same question.

"We ended up in Porto" is less like "where do I live?" than "I live in Lisbon" is, and maybe no rule has seen that the
one took the other's place. Long texts and questions about the past are left alone: a word of change says little of what
is asked there. ADR 15 has the measurements.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from app.core.text.normal import normalise
from app.domain.conflict.cues import change_of

MOST_TOKENS: Final = 24
"""What is longer says more than one thing."""

SHARE: Final = 0.25
"""How much of the older statement's score the newer one must have by itself."""

LIKENESS: Final = 0.22
"""How similar the two must be, calibrated: what is about something else is news of something else."""

_NEWS: Final = re.compile(
    r"\b(?:just|finally|got|bought|started|began|swapped|ditched|left|quit|signed|picked up|traded|took over|newe?r?|"
    r"instead|turns out|update|heads[- ]up|changed?|bumped|pushed|rescheduled|went (?:with|from)|settled on|landed on|"
    r"ended up|these days|currently|nowadays|lately|recently|as of|back to|any ?more|no longer|decided|now|today|"
    r"yesterday|last (?:week|month|night)|this (?:week|month|year)|since|hired|promoted|adopted|expecting|replaced|"
    r"migrated|retired|upgraded|downgraded|merged|split up|broke up|engaged|married|divorced|gave up|turned|became|"
    r"switched|moved|renamed|goes by|stopped|cancell?ed|actually|correction|scratch that)\b"
    r"|了(?:[,。!;~\s]|$)|刚|新|最近|上周|上个?月|这周|本周|这个?月|开始|终于|决定|改|换|搬|变|不再|现在|如今|目前|"
    r"[转升辞离延推]|更[新正]|今天|昨天|今年起|由.{1,8}(?:接|负责)|提前"
)
_OF_THE_PAST: Final = re.compile(
    r"\b(?:did|was|were|had|used to|first|before|previous(?:ly)?|earlier|ago|last|how long|how many times|since)\b"
    r"|以前|曾|当时|原来|之前|过去|上次|第一"
)


@dataclass(frozen=True, slots=True)
class Said:
    """A candidate as far as its place depends on others.

    Args:
        text: What it says.
        tokens: How long that is.
        of: Whose words they are; only one person's statements take each other's places.
        happened: When it was said or came to be.
        score: In [0, 1].
    """

    text: str
    tokens: int
    of: str
    happened: datetime
    score: float


def asks_for_the_past(question: str) -> bool:
    """Whether it asks how things were: what has changed since is no better answer then."""
    return _OF_THE_PAST.search(normalise(question)) is not None


def involved(said: Sequence[Said | None]) -> set[int]:
    """The positions of candidates, given best first, that may pass another or be passed: their likeness matters."""
    found: set[int] = set()
    for place, older in enumerate(said):
        for below, newer in enumerate(said[place + 1 :], place + 1):
            if _may_pass(newer, older):
                found |= {place, below}
    return found


def overtaken(said: Sequence[Said | None], alike: Callable[[int, int], float]) -> list[int]:
    """The order of candidates, given best first, as positions. None keeps its place but for those who pass it.

    Of several that may pass, the most alike and relevant one does; what has passed may be passed in turn by what is
    newer still.

    Args:
        said: The candidates.
        alike: The calibrated similarity of two of them, by their positions.
    """
    order = list(range(len(said)))
    place = 0
    while place < len(order):
        older = order[place]
        passing = [
            (likeness + one.score, below)
            for below, newer in enumerate(order[place + 1 :], place + 1)
            if (one := said[newer]) is not None
            and _may_pass(one, said[older], whatever_score=newer < older)
            and (likeness := alike(newer, older)) >= LIKENESS
        ]
        if passing:
            order.insert(place, order.pop(max(passing)[1]))
        else:
            place += 1
    return order


def _may_pass(newer: Said | None, older: Said | None, *, whatever_score: bool = False) -> bool:
    """Whether all holds but that the two are alike; `whatever_score` where the newer one stood above before."""
    return (
        newer is not None
        and older is not None
        and newer.of == older.of
        and newer.happened > older.happened
        and (whatever_score or newer.score >= SHARE * older.score)
        and _is_statement(older)
        and _is_statement(newer)
        and _sounds_new(newer.text)
    )


def _is_statement(one: Said) -> bool:
    return one.tokens <= MOST_TOKENS and not one.text.rstrip().endswith(("?", "\uff1f"))


@lru_cache(maxsize=4_096)
def _sounds_new(text: str) -> bool:
    return change_of(text) in {"replaces", "ends", "corrects"} or _NEWS.search(normalise(text)) is not None
