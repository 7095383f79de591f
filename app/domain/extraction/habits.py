"""The same correction made twice is a wish that was never said: an implicit preference."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from app.core.text.tokens import tokens
from app.domain.extraction.candidates import Candidate
from app.domain.extraction.clauses import Clause
from app.domain.extraction.turns import Turn
from app.domain.memory import default_importance

_CORRECTION: Final = re.compile(
    r"(?:(?:no|again|please|still|i said|hey|as i said|like i said|once more|"
    r"and|but)[,.:! ]+)*(?:use |don't use |no |not |too (?:long|verbose|formal|"
    r"short|technical|wordy)|(?:make|keep) (?:it|this|that) |"
    r"(?:shorter|simpler|briefer|less|more|fewer)\b|in (?:english|chinese|metric|"
    r"celsius|python|typescript)|with(?:out)? |stop |that's too )|"
    r"(?:(?:不|不对|又|还是|再|请|我说了|说了|都说了|麻烦)[,，! ]*)*(?:用|别用|"
    r"不要|别|太长|太啰嗦|太正式|太短|太复杂|短一点|简短|简单|再短|换成|改成|"
    r"去掉|说中文|说人话|加上|写成)"
)
LONGEST: Final = 60
LIKENESS: Final = 0.5
"""Jaccard similarity of two corrections' words from which they are the same."""


@dataclass(slots=True)
class Habits:
    """Corrections of a session that are no statement of their own."""

    _seen: list[tuple[Turn, Clause, frozenset[str]]] = field(default_factory=list)

    def note(self, clause: Clause, turn: Turn) -> None:
        """Takes a clause into account if it corrects how something was done."""
        if len(clause.plain) <= LONGEST and not clause.asked and _CORRECTION.match(clause.plain):
            words = frozenset(tokens(clause.text))
            if words:
                self._seen.append((turn, clause, words))

    def inferred(self, found: Sequence[Candidate]) -> list[Candidate]:
        """What was corrected in two turns or more, and is not said by any candidate."""
        known = [frozenset(tokens(one.text)) for one in found]
        groups: list[list[tuple[Turn, Clause, frozenset[str]]]] = []
        for seen in self._seen:
            group = next((group for group in groups if _alike(group[0][2], seen[2])), None)
            if group is None:
                groups.append([seen])
            elif group[-1][0].seq != seen[0].seq:
                group.append(seen)
        repeated = [group for group in groups if len(group) > 1]
        return [_candidate(group) for group in repeated if not any(_alike(group[-1][2], words) for words in known)]


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= LIKENESS * len(one | other)


def _candidate(group: Sequence[tuple[Turn, Clause, frozenset[str]]]) -> Candidate:
    turn, clause, _ = group[-1]
    return Candidate(
        text=clause.text,
        kind="semantic",
        category="preference",
        source="inferred",
        seqs=tuple(one.seq for one, _, _ in group),
        quote=clause.text,
        importance=default_importance("preference"),
        occurred_at=turn.occurred_at,
    )
