"""Where in the messages a proposed memory stands."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from app.domain.conflict.meaning import Meaning
from app.domain.extraction.folding import folded
from app.domain.extraction.turns import Turn
from app.services.extractors.base import Window
from app.services.extractors.quotes import Place, place_of, sentence_around, sentences
from app.services.extractors.replies import MemoryRow

LONGEST_TEXT: Final = 400
LONGEST_QUOTE: Final = 400
FEWEST_ELSEWHERE: Final = 6
"""Characters of a quote that is looked for in messages other than those cited."""


_ASKED: Final = re.compile(r"(?:[?？]|[吗呢么][?？。]?)[\"”'’」』)）]*$")
_RELATIVES: Final = (
    r"sister|brother|mother|mom|mum|father|dad|parents?|wife|husband|son|daughter|kids?|children|child|friend|boss|"
    r"manager|colleague|coworker|neighbou?r|cousin|aunt|uncle|niece|nephew|partner|girlfriend|boyfriend|fiancée?|"
    r"room-?mate|flatmate|grand\w+|teacher|doctor|client|team-?mate|\w+-in-law|ex"
)
_OTHER: Final = re.compile(
    rf"(?:and|but|so|well|also|oh|by the way|btw|yes|ok|,|\s)*(?:(?:my|our) (?:\w+ )?(?P<en>{_RELATIVES})(?!\w)|"
    r"(?P<pronoun>he|she|they)\b)"
    r"|(?:[而且但是对了,\s])*(?:(?:我|咱)们?(?:的|家)?(?:\w{0,4}的)?(?P<zh>爱人|老婆|老公|妻子|丈夫|太太|先生|爸爸?|妈妈?|"
    r"父亲|母亲|父母|爸妈|哥哥?|弟弟?|姐姐?|妹妹?|儿子|女儿|孩子|爷爷|奶奶|外公|外婆|姥姥|姥爷|[表堂][哥姐弟妹]|叔叔?|"
    r"阿姨|姑姑|舅舅|朋友|同事|同学|室友|邻居|老板|领导|经理|老师|客户|女友|男友|女朋友|男朋友|岳父|岳母|公公|婆婆)|"
    r"(?P<ta>[他她]们?))"
)


@dataclass(frozen=True)
class Evidence:
    """Where a proposed memory stands in the window.

    Args:
        turn: The turn, whole.
        place: Of the words that are quoted.
        verified: Whether the model quoted them; else they are the nearest there are.
    """

    turn: Turn
    place: Place
    verified: bool

    @cached_property
    def quote(self) -> str:
        """The words as they stand."""
        return self.turn.text[self.place.start : self.place.end][:LONGEST_QUOTE]

    @cached_property
    def sentence(self) -> str:
        """The sentence they stand in, or they alone where that is long."""
        place = sentence_around(self.place, self.turn.text)
        whole = self.turn.text[place.start : place.end]
        return whole if len(whole) <= LONGEST_TEXT else self.quote

    @property
    def is_asked(self) -> bool:
        """Whether the quoted words themselves are a question, not only what follows them."""
        rest = self.turn.text[self.place.end :].lstrip(" ")
        return _ASKED.search(self.quote) is not None or rest[:1] in {"?", "？"} or rest[:2] in {"吗？", "吗?", "呢？"}


def cited_of(row: MemoryRow, window: Window) -> tuple[int, ...]:
    """The turns of the window that the row names, in order."""
    known = {turn.seq for turn in (*window.before, *window.turns)}
    return tuple(sorted(seq for seq in set(row.messages) if seq in known))


def evidence_of(row: MemoryRow, text: str, cited: Sequence[int], window: Window) -> Evidence | None:
    """The place of the quote in a cited turn, a user's first, or in the only other turn that has it.

    Else it is the nearest sentence of a cited turn, unverified. Turns before the window give none.
    """
    turns = sorted(window.turns, key=lambda turn: turn.role != "user")
    mine = [turn for turn in turns if turn.seq in cited]
    for turn in mine:
        if (place := place_of(row.quote, turn.text)) is not None:
            return Evidence(turn, place, verified=True)
    if len(row.quote.strip()) >= FEWEST_ELSEWHERE and not any(place_of(row.quote, one.text) for one in window.before):
        found = [(turn, place) for turn in turns if (place := place_of(row.quote, turn.text)) is not None]
        if len(found) == 1:
            return Evidence(*found[0], verified=True)
    return _nearest(f"{text} {row.quote}", mine)


def _nearest(words: str, turns: Sequence[Turn]) -> Evidence | None:
    wanted = set(Meaning.of(words).words)
    best, most = None, 0
    for turn in turns:
        for place in sentences(turn.text):
            shared = len(wanted & set(Meaning.of(turn.text[place.start : place.end]).words))
            if shared > most:
                best, most = Evidence(turn, place, verified=False), shared
    return best


def other_subject(evidence: Evidence) -> str | None:
    """Of whom else the quoted words speak: a relative, a friend, a colleague, "she"; None where it is the user."""
    for words in (evidence.quote, evidence.sentence):
        match = _OTHER.match(folded(words))
        if match is not None:
            return next(group for group in match.groups() if group is not None)
    return None
