"""Which sentences of a stretch are kept, within a number of tokens."""

from collections.abc import Callable, Collection, Sequence
from typing import Final

from app.domain.likeness import Wording
from app.domain.summary.changing import without_overtaken
from app.domain.summary.sentences import LASTING, Sentence, in_order

SEGMENT_SHARE: Final = 0.4
"""Of the tokens of what is folded, so much is kept, between the bounds below."""

LEAST_SEGMENT: Final = 120
MOST_SEGMENT: Final = 300
LEAST_SCORE: Final = 0.2
"""A sentence that matters less is left out, also where there is room."""

Count = Callable[[str], int]
"""Tokens of a text."""


def room_for(tokens: int) -> int:
    """Tokens that the summary of a stretch of so many tokens may have."""
    return max(LEAST_SEGMENT, min(MOST_SEGMENT, int(tokens * SEGMENT_SHARE)))


def chosen(sentences: Sequence[Sentence], room: int, count: Count) -> list[Sentence]:
    """The sentences that matter most and fit, in order; each thing once, and nothing that was overtaken.

    System messages and constraints are taken first, the former whatever the room: they are kept word for word.

    Args:
        sentences: Of one stretch, or of several summaries.
        room: Tokens that those kept may have together, system messages apart.
        count: The counter of tokens.
    """
    return taken(ranked(sentences), room, count)


def ranked(
    sentences: Sequence[Sentence], later: Sequence[Sentence] = (), settled: Collection[Sentence] = ()
) -> list[Sentence]:
    """The sentences that may be kept, what matters most first; each thing once, and nothing that was overtaken.

    Args:
        sentences: Of one stretch, or of several summaries.
        later: What is shown elsewhere, and may have overtaken some of these.
        settled: Those among which it is known that none has overtaken another.
    """
    current = without_overtaken(_once(sentences), later, settled)
    return sorted(
        (one for one in current if one.sort in LASTING or one.score >= LEAST_SCORE),
        key=lambda one: (one.sort != "system", one.sort not in LASTING, -one.score, -one.from_seq),
    )


def taken(ranking: Sequence[Sentence], room: int, count: Count) -> list[Sentence]:
    """Of ranked sentences those that fit, in order; system messages whatever the room."""
    kept, left = list[Sentence](), room
    for one in ranking:
        cost = 0 if one.sort == "system" else count(one.shown) + 1
        if cost <= left:
            kept.append(one)
            left -= cost
    return in_order(kept)


def _once(sentences: Sequence[Sentence]) -> list[Sentence]:
    """What is said again in the same words is kept in its newest saying, with the highest score of all."""
    kept: list[Sentence] = []
    wordings: dict[Wording, int] = {}
    for one in sorted(sentences, key=lambda one: -one.from_seq):
        wording = Wording.of(one.text)
        if wording in wordings and kept[wordings[wording]].sort != "system":
            continue
        wordings[wording] = len(kept)
        kept.append(one)
    return in_order(kept)
