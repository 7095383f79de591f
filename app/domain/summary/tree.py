"""Summaries of summaries: which of the current ones are gathered into one, so that their number stays small."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from app.domain.summary.sentences import Sentence

FAN: Final = 6
"""Summaries of one level that are current at most; the oldest so many become one of the next level."""

ROLLED_SHARE: Final = 0.4
LEAST_ROLLED: Final = 80


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
    """Tokens that the summary of these may have."""
    total = sum(node.tokens for node in nodes)
    return max(LEAST_ROLLED, min(int(total * ROLLED_SHARE) if len(nodes) > 2 else total // 2, most_tokens // 2))  # noqa: PLR2004 - a pair is rolled for its length
