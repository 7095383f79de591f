"""What conflicts are about: statements, and what one means for another."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, get_args

from app.domain.extraction.candidates import Change
from app.domain.memory import Category, Kind, Source

Verdict = Literal["add", "reinforce", "complement", "correct", "supersede", "retract", "contradict"]
"""What the new statement does to a stored one: nothing (add), says it again (reinforce), goes beside it (complement),
says that it never was right (correct) or is no more, with a new value (supersede) or without one (retract), or cannot
be true together with it, and nobody can say which is (contradict)."""

VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)

DISPLACING: Final[frozenset[Verdict]] = frozenset({"correct", "supersede", "retract"})
"""Verdicts after which the stored statement is history."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A stored memory, or a candidate.

    Args:
        text: What it says.
        key: Its canonical key, or a slot's name.
        value: What the key holds.
        kind: Of memory.
        category: Of memory.
        source: Who said it.
        occurred_at: When it was said (not when the event in it takes place); aware.
        uncertain: Whether it is served only to those who ask for it.
        change: What it does to what was known, where its extractor says so; else its words are read for it.
        before: The value that it says was true, or was said, before.
    """

    text: str
    key: str | None
    value: Any | None
    kind: Kind
    category: Category
    source: Source
    occurred_at: datetime
    uncertain: bool = False
    change: Change | None = None
    before: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What a new statement does to one stored statement.

    Args:
        verdict: Which of the seven.
        reason: A short word that stays the same from version to version; history tells it.
        similarity: That of the two texts, as it was given.
    """

    verdict: Verdict
    reason: str
    similarity: float | None
