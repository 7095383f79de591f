"""Long windows, cut by tokens, with a few turns of overlap."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.domain.budget import estimate_tokens
from app.domain.extraction.turns import Turn

TURN_TOKENS: Final = 8
"""What a turn costs beside its text: its number and its role."""

OVERLAP_SHARE: Final = 0.2
"""Of the budget, so much goes to the turns before at most."""

_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；\n])")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a window that goes into one prompt.

    Args:
        turns: To be read. A turn that is too long for one part stands in several, each with a piece of its text.
        before: Turns before them, for understanding alone.
    """

    turns: tuple[Turn, ...]
    before: tuple[Turn, ...]


def cost(turn: Turn) -> int:
    """Tokens of a turn in a prompt, on the upper side."""
    return estimate_tokens(turn.text) + TURN_TOKENS


def parts(turns: Sequence[Turn], before: Sequence[Turn], budget: int) -> list[Part]:
    """The turns in parts of at most `budget` tokens, in order and without loss; each with what stands before it.

    Args:
        turns: To be read.
        before: What stands before the first.
        budget: Tokens of one part, the overlap among them; at least 100.
    """
    overlap = int(budget * OVERLAP_SHARE)
    room = budget - overlap
    groups: list[list[Turn]] = []
    used = room
    for piece in (piece for turn in turns for piece in _pieces(turn, room)):
        if used + cost(piece) > room:
            groups.append([])
            used = 0
        groups[-1].append(piece)
        used += cost(piece)
    found, earlier = [], list(before)
    for group in groups:
        found.append(Part(tuple(group), tuple(_last(earlier, overlap))))
        earlier += group
    return found


def _last(turns: Sequence[Turn], budget: int) -> list[Turn]:
    """The last turns that fit."""
    kept: list[Turn] = []
    for turn in reversed(turns):
        budget -= cost(turn)
        if budget < 0:
            break
        kept.append(turn)
    return kept[::-1]


def _pieces(turn: Turn, room: int) -> Iterator[Turn]:
    if cost(turn) <= room:
        yield turn
        return
    held = ""
    for sentence in _short(_END.split(turn.text), room - TURN_TOKENS):
        if held and estimate_tokens(f"{held} {sentence}") + TURN_TOKENS > room:
            yield replace(turn, text=held)
            held = ""
        held = f"{held} {sentence}" if held else sentence
    if held.strip():
        yield replace(turn, text=held)


def _short(sentences: Sequence[str], room: int) -> Iterator[str]:
    """The sentences; what has no end for too long is cut where it must be. A token has half a character or more."""
    step = max(1, room // 2)
    for sentence in sentences:
        if estimate_tokens(sentence) <= room:
            yield sentence
        else:
            yield from (sentence[start : start + step] for start in range(0, len(sentence), step))
