"""Summaries of summaries: which of the current ones are gathered into one, so that their number stays small."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from app.domain.summary.changing import still_true
from app.domain.summary.choosing import Count, chosen
from app.domain.summary.sentences import Sentence, shown

FAN: Final = 6
"""Summaries of one level that are current at most; the oldest so many become one of the next level."""

ROLLED_SHARE: Final = 0.4
LEAST_ROLLED: Final = 80
WHOLE_SHARE: Final = 0.3
"""Of all that the current ones may cost: up to it the summary of several loses nothing."""


@dataclass(frozen=True, slots=True)
class Node:
    """One summary of the tree.

    Args:
        id: Its own.
        level: 0 for a stretch of messages, n + 1 for a summary of summaries of level n.
        from_seq: The first message it covers.
        to_seq: The last one.
        sentences: What it says.
        tokens: What these cost.
    """

    id: UUID
    level: int
    from_seq: int
    to_seq: int
    sentences: tuple[Sentence, ...]
    tokens: int


def to_roll(nodes: Sequence[Node], most_tokens: int) -> list[Node]:
    """The neighbours that are to become one now, oldest first; none where few enough stand, and short enough ones.

    Args:
        nodes: The current summaries by their place.
        most_tokens: What all of them together may cost.
    """
    for level, count in sorted(Counter(node.level for node in nodes).items()):
        if count > FAN:
            return [node for node in nodes if node.level == level][:FAN]
    if sum(node.tokens for node in nodes) > most_tokens and len(nodes) > 1:
        return list(nodes[:2])
    return []


def rolled_room(nodes: Sequence[Node], most_tokens: int) -> int:
    """Tokens that the summary of these may have: all of theirs while that is a small part of what there is room for."""
    total = sum(node.tokens for node in nodes)
    if len(nodes) < FAN:  # gathered for their length
        return max(LEAST_ROLLED, total // 2)
    return max(LEAST_ROLLED, min(total, max(int(total * ROLLED_SHARE), int(most_tokens * WHOLE_SHARE))))


def corrected(nodes: Sequence[Node], fresh: Sequence[Sentence], count: Count) -> tuple[list[Node], list[Sentence]]:
    """The current summaries that say something which a fresh sentence has made history, without it; and the fresh ones.

    What took the place of a sentence matters as much as that did.

    Args:
        nodes: The current summaries.
        fresh: Sentences of what was said after all of them.
        count: The counter of tokens.
    """
    old = [sentence for node in nodes for sentence in node.sentences]
    current = still_true([*old, *fresh], settled=frozenset(old))
    changed, place = [], 0
    for node in nodes:
        now = current[place : place + len(node.sentences)]
        place += len(node.sentences)
        left = tuple(one for one in now if one is not None)
        if [one.text for one in left] != [one.text for one in node.sentences]:
            changed.append(replace(node, sentences=left, tokens=count(shown(left)) if left else 0))
    return changed, [one for one in current[place:] if one is not None]


def rolled(nodes: Sequence[Node], most_tokens: int, count: Count) -> list[Sentence]:
    """What a summary of these summaries says: the sentences that matter most, with their own ranges."""
    every = [sentence for node in nodes for sentence in node.sentences]
    return chosen(every, rolled_room(nodes, most_tokens), count)


def rolling(nodes: Sequence[Node], most_tokens: int, count: Count) -> list[Sentence]:
    """What all current summaries say together, within what it may cost; system messages stand apart from that."""
    every = [sentence for node in nodes for sentence in node.sentences]
    return chosen(every, most_tokens, count)
