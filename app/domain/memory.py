"""The words a memory is described with, and the rules that need nothing but the memory itself."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, Protocol, assert_never, get_args

Kind = Literal["episodic", "semantic", "procedural"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

Category = Literal[
    "identity",
    "preference",
    "constraint",
    "goal",
    "decision",
    "project",
    "tool_config",
    "domain",
    "relation",
    "event",
    "lesson",
    "other",
]
CATEGORIES: Final[tuple[Category, ...]] = get_args(Category)

Source = Literal["user_stated", "tool_observed", "imported", "assistant_said", "inferred", "derived"]
SOURCES: Final[tuple[Source, ...]] = get_args(Source)

Status = Literal["active", "superseded", "archived", "expired", "disputed", "deleted"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)
VISIBLE_STATUSES: Final[tuple[Status, ...]] = ("active", "disputed")

Use = Literal["everywhere", "this_app", "never_in_context"]
USES: Final[tuple[Use, ...]] = get_args(Use)

EventAction = Literal[
    "added",
    "reinforced",
    "updated",
    "deleted",
    "restored",
    "undone",
    "superseded",
    "disputed",
    "settled",
    "confirmed",
    "rejected",
    "expired",
    "archived",
    "revived",
    "merged",
    "shortened",
    "doubted",
    "dated",
    "noted",
    "outweighed",
    "feedback_used",
    "feedback_ignored",
    "feedback_wrong",
]


class Columns(Protocol):
    """A memory's columns by their names, wherever they come from."""

    def __getitem__(self, name: str, /) -> Any:  # noqa: ANN401 - a column's value
        """The value of one."""
        ...


@dataclass(frozen=True, slots=True)
class SourceTraits:
    """What a source implies: how sure one may be, and whether it is served as fact without being asked for."""

    confidence: float
    uncertain: bool


def traits_of(source: Source) -> SourceTraits:
    """The traits of a source, after the table of sources in docs/concepts.md."""
    match source:
        case "user_stated":
            return SourceTraits(confidence=0.9, uncertain=False)
        case "tool_observed":
            return SourceTraits(confidence=0.8, uncertain=False)
        case "imported":
            return SourceTraits(confidence=0.7, uncertain=False)
        case "assistant_said" | "inferred":
            return SourceTraits(confidence=0.4, uncertain=True)
        case "derived":
            return SourceTraits(confidence=0.5, uncertain=False)
        case _:
            assert_never(source)


def reinforced(confidence: float) -> float:
    """Confidence after the same thing was said again: a tenth of the remaining doubt goes, never all of it."""
    return confidence + (1.0 - confidence) * 0.1


def default_importance(category: Category) -> int:
    """Importance on the scale of 1-10 where the caller names none: what constrains or identifies outweighs events."""
    match category:
        case "constraint":
            return 9
        case "identity" | "goal" | "decision":
            return 7
        case "preference" | "project" | "tool_config" | "relation" | "lesson":
            return 6
        case "domain" | "event" | "other":
            return 5
        case _:
            assert_never(category)


def default_weight(category: Category) -> float:
    """A constraint weighs more than any other memory: one that is missed breaks every suggestion."""
    return 1.5 if category == "constraint" else 1.0


def visible(status: Status, valid_to: datetime | None, expires_at: datetime | None, at: datetime) -> bool:
    """Whether a memory is current at `at`: active or disputed, still valid, not expired."""
    return (
        status in VISIBLE_STATUSES and (valid_to is None or valid_to > at) and (expires_at is None or expires_at > at)
    )
