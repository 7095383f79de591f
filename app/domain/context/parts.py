"""What a context is made of: lines of sections and messages, each with what it costs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from app.domain.context.defaults import SectionName

Count = Callable[[str], int]
"""Tokens of a text."""

MESSAGE_TOKENS: Final = 4
"""What a message costs beside its text, as hosts of OpenAI's protocol count it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A line of a section.

    Args:
        text: As it stands in the prompt.
        tokens: What it costs.
        name: Of what it shows: a memory's id, a block's label, the range of messages.
        rank: The lower, the earlier it is dropped where a budget does not hold all.
        details: What else the answer tells of it.
    """

    text: str
    tokens: int
    name: str
    rank: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Part:
    """A section.

    Args:
        name: Which one.
        heading: The line above its pieces.
        source: Whence it is, for the fence around it.
        pieces: In the order in which they are shown.
    """

    name: SectionName
    heading: str
    source: str
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message of the conversation as it goes to a model.

    Args:
        seq: Its number in the session.
        role: Who speaks.
        text: What it says, for a context as plain text.
        message: As OpenAI's protocol has it.
        tokens: What it costs, `MESSAGE_TOKENS` among them.
    """

    seq: int
    role: str
    text: str
    message: dict[str, Any]
    tokens: int


def pieces_within(pieces: Sequence[Piece], room: int) -> tuple[list[Piece], list[Piece], int]:
    """The pieces that fit, the highest rank first, in their own order; those that do not; and the room that is left."""
    left, kept = room, set[int]()
    for place in sorted(range(len(pieces)), key=lambda one: (-pieces[one].rank, one)):
        if pieces[place].tokens <= left:
            kept.add(place)
            left -= pieces[place].tokens
    chosen = [piece for place, piece in enumerate(pieces) if place in kept]
    return chosen, [piece for place, piece in enumerate(pieces) if place not in kept], left


def newest_within(
    groups: Sequence[Sequence[Spoken]], room: int, least: int = 0
) -> tuple[list[Spoken], list[Spoken], int]:
    """The newest messages that fit, group by group and without a gap; the older ones; and the room that is left.

    Args:
        groups: Messages that are not parted, oldest first.
        room: Tokens for them.
        least: So many messages are enough: no further group is begun after them. 0 takes all that fit.
    """
    taken: list[Spoken] = []
    place = len(groups)
    while place > 0 and not (least and len(taken) >= least):
        cost = sum(one.tokens for one in groups[place - 1])
        if cost > room:
            break
        room -= cost
        taken = [*groups[place - 1], *taken]
        place -= 1
    return taken, [one for group in groups[:place] for one in group], room
