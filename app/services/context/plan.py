"""How a context is to be made, and what is left of its budget meanwhile."""

from dataclasses import dataclass, replace

from app.domain.context.defaults import SectionName, Strategy
from app.domain.context.layout import overhead
from app.domain.context.parts import Count, Part, pieces_within


@dataclass(frozen=True, slots=True)
class Plan:
    """How a context is to be made.

    Args:
        strategy: What stands for the conversation.
        budget: Tokens of the whole.
        memory_share: Of it, for memories.
        window_turns: The last turns that stay as they were said.
        window_tokens: What these may cost.
        summary_tokens: What a summary may cost.
        order: Of the sections.
        key: Signs the fences.
        count: The counter of tokens.
    """

    strategy: Strategy
    budget: int
    memory_share: float
    window_turns: int
    window_tokens: int | None
    summary_tokens: int
    order: tuple[SectionName, ...]
    key: bytes
    count: Count


@dataclass(slots=True)
class Purse:
    """What is left of a budget."""

    plan: Plan
    left: int
    dropped: list[tuple[SectionName, str]]

    def buy(self, part: Part, *, most: int | None = None, fenced: bool = True) -> Part:
        """The section with what can be paid, its fence included where it has one of its own to pay."""
        if not part.pieces:
            return part
        cost = overhead(part, self.plan.key, self.plan.count) if fenced else 0
        room = min(self.left, self.left if most is None else most) - cost
        kept, left_out, _ = pieces_within(part.pieces, max(room, 0))
        self.dropped += [(part.name, piece.name) for piece in left_out]
        if kept:
            self.left -= cost + sum(piece.tokens for piece in kept)
        return replace(part, pieces=tuple(kept))
