"""A slot with its value, as one sentence or two give it."""

from dataclasses import dataclass

from app.domain.extraction.candidates import Change
from app.domain.memory import Category


@dataclass(frozen=True, slots=True)
class Frame:
    """What fills which slot.

    Args:
        key: Canonical, or derived from the head noun, such as `user.rent` or `user.standup.time`.
        value: As it is written, without what stands around it.
        category: Of a memory that says no more than this.
        change: What the sentence does to what was known, by its form.
        before: The value that it says was true before.
        firm: Whether the form alone makes a memory of it; else it only gives the key to what another rule found.
    """

    key: str
    value: str
    category: Category
    change: Change | None = None
    before: str | None = None
    firm: bool = True
