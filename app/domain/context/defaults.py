"""How contexts are made where a request does not say."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

Strategy = Literal["full", "window", "summary", "hierarchical", "selective"]
STRATEGIES: Final[tuple[Strategy, ...]] = get_args(Strategy)

SectionName = Literal[
    "blocks", "profile", "summary", "messages", "facts", "confirm", "lessons", "constraints", "status", "question"
]
SECTIONS: Final[tuple[SectionName, ...]] = get_args(SectionName)
"""In the default order: what seldom changes stands first, so that a host's prompt cache holds; what an answer must
heed stands last, next to the question, for models read the middle of a long prompt least (Liu et al., "Lost in the
Middle", 2024). `question` is the last message where it is the user's; `messages` are those before it."""

KEEP_TURNS: Final = 10
SUMMARY_TOKENS: Final = 1_000
MEMORY_SHARE: Final = 0.1
TOKEN_BUDGET: Final = 4_000


@dataclass(frozen=True, slots=True)
class ContextDefaults:
    """A tenant's own.

    Args:
        strategy: What stands for the conversation.
        order: Of the sections; those that it does not name stand where they stand by default, behind the ones named.
        memory_share: Of the budget, so much goes to memories at most.
        summary_max_tokens: What a session's rolling summary may cost.
        window_turns: The last turns, which stay as they were said.
        token_budget: What a whole context may cost.
    """

    strategy: Strategy = "selective"
    order: tuple[SectionName, ...] = SECTIONS
    memory_share: float = MEMORY_SHARE
    summary_max_tokens: int = SUMMARY_TOKENS
    window_turns: int = KEEP_TURNS
    token_budget: int = TOKEN_BUDGET


def ordered(named: tuple[SectionName, ...]) -> tuple[SectionName, ...]:
    """A whole order from one that may name some sections only; the question stands last unless it is placed."""
    rest = tuple(name for name in SECTIONS if name not in named)
    if "question" in named:
        return (*named, *rest) if named[-1] != "question" else (*named[:-1], *rest, "question")
    return (*named, *rest)
