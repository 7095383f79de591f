"""Whether two texts say nearly the same, by their words in order."""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Self

from app.core.text.tokens import tokens

ALIKE: Final = 0.85
"""The share of common word pairs from which two texts count as the same; opposites differ in order or in a negation."""

FEWEST_PAIRS: Final = 4
_NUMBER = re.compile(r"\d+(?:[.:/-]\d+)*")
_NEGATION = re.compile(r"\b(?:not|no|never|none|without|cannot)\b|n['’]t\b|[不没无非别勿未]", re.IGNORECASE)  # noqa: RUF001 - apostrophes as written


@dataclass(frozen=True, slots=True)
class Wording:
    """A text's words in order, its numbers and how often it negates."""

    words: tuple[str, ...]
    pairs: frozenset[tuple[str, str]]
    numbers: tuple[str, ...]
    negations: int

    @classmethod
    def of(cls, text: str) -> Self:
        """Work it out."""
        words = tuple(tokens(text))
        numbers = tuple(sorted(_NUMBER.findall(text)))
        return cls(words, frozenset(pairwise(("", *words, ""))), numbers, len(_NEGATION.findall(text)))

    def says_the_same_as(self, other: Self) -> bool:
        """Whether both have the same numbers and negations and nearly the same pairs of neighbouring words.

        "Tabs over spaces" and "spaces over tabs" share no pair. Short texts must have the same words in order.
        """
        if self.numbers != other.numbers or self.negations != other.negations:
            return False
        if min(len(self.pairs), len(other.pairs)) < FEWEST_PAIRS:
            return self.words == other.words
        common = len(self.pairs & other.pairs)
        return common >= ALIKE * (len(self.pairs) + len(other.pairs) - common)
