"""When a tenant's memories are reflected on, and what becomes of what was reflected on."""

from dataclasses import dataclass
from typing import Literal

Observations = Literal["outweigh", "archive", "keep"]
"""What becomes of episodes that an insight stands for: they weigh less in searches, are archived, or stay."""


@dataclass(frozen=True, slots=True)
class ReflectionPolicy:
    """A tenant's rules of reflection.

    Args:
        auto: Whether it comes by itself, when enough has come together since the last time.
        importance: The sum of the importance of new memories that is enough (Park et al., "Generative Agents", 2023,
            section 4.2: 150).
        count: So many new memories are enough as well.
        observations: What becomes of episodes that an insight stands for.
    """

    auto: bool = True
    importance: int = 150
    count: int = 100
    observations: Observations = "outweigh"

    def due(self, count: int, importance: int) -> bool:
        """Whether so many new memories of so much importance are enough."""
        return count >= self.count or importance >= self.importance
