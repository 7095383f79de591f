"""What an embedding model is measured by: sentences of known meaning, in both languages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from app.domain.calibrating import sets_en, sets_zh

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Sentences:
    """The sentences of a language.

    Args:
        answers: Questions with their answers, of the same subjects in the same order in every language.
        same: Memories that say the same in other words, some with abbreviations, nicknames, other units or in another
            register: how many of these there are decides the threshold (docs/embedders.md).
        other: Memories that only look alike, or contradict each other.
        alone: Texts that are compared with themselves alone.
    """

    answers: Pairs
    same: Pairs
    other: Pairs
    alone: tuple[str, ...]

    @property
    def asked(self) -> list[str]:
        """What is embedded as a question: the questions, then what is compared with itself."""
        return [*(question for question, _ in self.answers), *(answer for _, answer in self.answers), *self.alone]

    @property
    def stored(self) -> list[str]:
        """What is embedded as a passage, each text once."""
        pairs = (text for pair in (*self.same, *self.other) for text in pair)
        return list(dict.fromkeys((*self.asked, *pairs)))


SENTENCES: Final[Mapping[str, Sentences]] = {
    "en": Sentences(sets_en.ANSWERS, sets_en.SAME, sets_en.OTHER, sets_en.ALONE),
    "zh": Sentences(sets_zh.ANSWERS, sets_zh.SAME, sets_zh.OTHER, sets_zh.ALONE),
}
