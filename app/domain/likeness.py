"""Whether two texts say nearly the same, by their words in order."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Self

from app.core.text.normal import normalise
from app.core.text.scripts import HAN, UNSPACED

ALIKE: Final = 0.85
"""The least share of the longer text's words that the shorter one must have."""

FEWEST_WORDS: Final = 8
"""Of shorter texts every word must agree: there each one counts."""

LONGEST: Final = 4_000
"""Only this beginning of a text is compared."""

_WORD = re.compile(rf"[{HAN}{UNSPACED}]|(?:(?![{HAN}{UNSPACED}_])\w)+(?:['’](?:(?![{HAN}{UNSPACED}_])\w)+)*")
_NUMBER = re.compile(r"\d+(?:[.:/-]\d+)*|[零一二三四五六七八九十百千万亿两]+")
_TURN = re.compile(
    r"\b(?:not|no|never|none|without|cannot|only|almost|used to|former|formerly|until)\b|n['’]t\b|"
    r"[不没无非别勿未只曾过]|以前|之前|差点"
)
"""Words that turn what a sentence says into something else."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A text's words in order (a Chinese character is one), its numbers, and words that turn its meaning."""

    words: tuple[str, ...]
    numbers: tuple[str, ...]
    turns: tuple[str, ...]

    @classmethod
    @lru_cache(maxsize=4_096)  # the same texts are found again and again
    def of(cls, text: str) -> Self:
        """Work it out; case, width, punctuation and traditional characters make no difference."""
        plain = normalise(text[:LONGEST])
        numbers, turns = sorted(_NUMBER.findall(plain)), sorted(_TURN.findall(plain))
        return cls(tuple(_WORD.findall(plain)), tuple(numbers), tuple(turns))

    def says_the_same_as(self, other: Self) -> bool:
        """Whether the words agree in order, or one text has a few more between them, and none that turn the meaning.

        A word that was replaced by another ("Oslo", "Riga") is a difference, and so is another order ("tabs over
        spaces"), another number or a negation.
        """
        if self.numbers != other.numbers or self.turns != other.turns:
            return False
        shorter, longer = sorted((self.words, other.words), key=len)
        if len(shorter) < FEWEST_WORDS or len(shorter) < ALIKE * len(longer):
            return shorter == longer
        rest = iter(longer)
        return all(word in rest for word in shorter)
