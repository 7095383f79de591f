"""What an extractor gives: something that may become a memory, with its evidence."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from app.domain.memory import Category, Kind, Source

Change = Literal["replaces", "adds", "ends", "corrects"]
"""What a sentence says about what was known: a new value took its place (now, moved, 改成), one more is true, it is
over (no longer, 不再), or it was never right (no, I meant)."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may become a memory.

    Args:
        text: A sentence that is understood alone, in the language of its source; names are never translated.
        kind: Of memory.
        category: Of memory.
        source: `user_stated` for what the user said, `assistant_said` for a claim of the assistant's, `inferred` for
            what was concluded from several turns.
        seqs: The turns it came from.
        quote: Words that stand in one of these turns.
        key: A canonical key (`app.domain.keys`), or a slot's name.
        value: What the key holds.
        importance: 1 to 10.
        change: What it does to what was known.
        before: The value that it says was true, or was said, before.
        explicit: Whether it was asked to be remembered.
        occurred_at: When the event in it takes or took place, else when it was said; aware, in UTC.
        expires_at: The end of a limited life ("this week", 本周); aware, in UTC.
        replaced: Whether a later candidate of the same extraction took its place: it is history.
    """

    text: str
    kind: Kind
    category: Category
    source: Source
    seqs: tuple[int, ...]
    quote: str
    key: str | None = None
    value: str | None = None
    importance: int = 5
    change: Change | None = None
    before: str | None = None
    explicit: bool = False
    occurred_at: datetime | None = None
    expires_at: datetime | None = None
    replaced: bool = False
