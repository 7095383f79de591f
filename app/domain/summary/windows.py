"""Which messages are the window that stays as it was said, and where the rest may be cut."""

from collections.abc import Sequence
from itertools import chain
from typing import Final

from app.core.text.tokens import tokens
from app.domain.summary.lines import Line, groups

MOST_OF_A_TURN: Final = 8
"""Messages of one turn on average, above which the window counts messages: an agent's loop has no end of a turn."""

SEGMENT_TOKENS: Final = 1_200
SEGMENT_MESSAGES: Final = 24
LEAST_SEGMENT: Final = 6
"""Messages before a change of topic may end a segment."""

SAME_TOPIC: Final = 0.08
"""Share of a turn's words that its segment has said before, below which it begins another topic."""


def turns(lines: Sequence[Line]) -> list[list[Line]]:
    """The messages as turns: each begins with a user's message, and no call is parted from its result."""
    found: list[list[Line]] = []
    for group in groups(lines):
        if not found or group[0].turn.role == "user":
            found.append([])
        found[-1].extend(group)
    return found


def beyond_window(lines: Sequence[Line], keep_turns: int) -> list[list[Line]]:
    """The turns that have left a window of the last `keep_turns` turns, oldest first.

    Where these hold very many messages the window is the last of those, and what leaves it are groups of a turn.
    """
    every = turns(lines)
    gone, kept = (every[:-keep_turns], every[-keep_turns:]) if keep_turns else (every, [])
    room = keep_turns * MOST_OF_A_TURN
    count = sum(map(len, kept))
    if count <= room:
        return gone
    extra: list[list[Line]] = []
    for group in groups(list(chain.from_iterable(kept))):
        if count <= room:
            break
        extra.append(group)
        count -= len(group)
    return [*gone, *extra]


def segments(parts: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Turns that are to be folded, gathered by size and by topic, in order and without loss."""
    found: list[list[Line]] = []
    cost = 0
    said: set[str] = set()
    for part in parts:
        size, words = sum(line.tokens for line in part), _words(part)
        full = bool(found) and (cost + size > SEGMENT_TOKENS or len(found[-1]) + len(part) > SEGMENT_MESSAGES)
        if not found or full or (len(found[-1]) >= LEAST_SEGMENT and _turns_away(words, said)):
            found.append([])
            cost, said = 0, set()
        found[-1].extend(part)
        cost += size
        said |= words
    return found


def _turns_away(words: set[str], said: set[str]) -> bool:
    return len(words) > LEAST_SEGMENT and len(words & said) < SAME_TOPIC * len(words)


def _words(part: Sequence[Line]) -> set[str]:
    return {token for line in part if line.turn.role != "tool" for token in tokens(line.turn.text[:2_000])}
