"""Whose word counts against whose."""

from typing import Final, assert_never

from app.domain.conflict.statements import Statement
from app.domain.memory import Category, Source

WORLD: Final[frozenset[Category]] = frozenset({"project", "tool_config", "domain", "event"})
"""Categories in which a tool may see that what the user said is so no more; the others are wishes and the user's own
life."""


def rank(source: Source) -> int:
    """3 for what the user said, down to 0 for what was derived from other memories."""
    match source:
        case "user_stated":
            return 3
        case "tool_observed" | "imported":
            return 2
        case "assistant_said" | "inferred":
            return 1
        case "derived":
            return 0
        case _:
            assert_never(source)


def is_claim(statement: Statement) -> bool:
    """Whether it is one of those that are served only as uncertain, or as insights."""
    return statement.uncertain or rank(statement.source) <= 1


def may_displace(new: Statement, old: Statement) -> bool:
    """Whether the new one may take the old one's place: never a claim that of a fact, nor a lower source a higher."""
    if new.uncertain and not old.uncertain:
        return False
    return rank(new.source) >= rank(old.source)


def may_dispute(new: Statement, old: Statement) -> bool:
    """Whether a difference makes both doubtful: of equals, or where a tool sees the world otherwise than was said."""
    if is_claim(new) != is_claim(old):
        return False
    if rank(new.source) == rank(old.source):
        return True
    return rank(new.source) < rank(old.source) and new.source == "tool_observed" and old.category in WORLD


def outranks(new: Statement, old: Statement) -> bool:
    """Whether the new one is a fact of a higher source: when it was said does not matter then."""
    return rank(new.source) > rank(old.source) and not is_claim(new)
