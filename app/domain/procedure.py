"""Procedures and lessons: how often something worked, and in which order it is shown to who has a similar task."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeVar, get_args

Outcome = Literal["success", "failure"]
OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)

ProcedureStatus = Literal["draft", "published"]

SUCCESSES_OF_A_DRAFT: Final = 3
"""A way that has worked so often is drafted as a procedure, for a person to publish."""

SUBJECT_LENGTH: Final = 400
"""Characters of a lesson's task that are embedded: longer ones lose their subject."""

LEAST_SHARE: Final = 0.4
"""What has less than this share of the best one's relevance is about another task."""

LOWERED: Final = 0.7
"""What is left of a lesson's confidence after it did not help."""

Item = TypeVar("Item")


def success_rate(successes: int, failures: int) -> float:
    """The expected rate after so many trials, by Laplace's rule of succession: one half where nothing is known."""
    return (successes + 1) / (successes + failures + 2)


@dataclass(frozen=True, slots=True)
class Found(Generic[Item]):
    """Something that fits a task.

    Args:
        item: What was found.
        relevance: How well it fits, in [0, 1].
        rate: How often it worked, in [0, 1].
        warns: Whether it tells what failed.
    """

    item: Item
    relevance: float
    rate: float
    warns: bool = False

    @property
    def usefulness(self) -> float:
        """Relevance, halved for what never worked."""
        return self.relevance * (0.5 + 0.5 * self.rate)


def in_order(found: Sequence[Found[Item]]) -> list[Found[Item]]:
    """What failed before comes first, then by usefulness; what fits much worse than the best is left out."""
    best = max((one.relevance for one in found), default=0.0)
    fitting = [one for one in found if one.relevance >= LEAST_SHARE * best]
    return sorted(fitting, key=lambda one: (not one.warns, -one.usefulness))
