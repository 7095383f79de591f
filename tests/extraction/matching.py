"""Which memory holds which labelled fact."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Final

from app.core.text.normal import normalise
from app.core.text.scripts import HAN
from app.domain.memory import Category, Source, Status
from tests.extraction.labels import Dialogue, Fact

MOST_HELD: Final = 2
"""Facts that one memory may hold: a whole turn kept as it is holds no more than that of its facts."""

SHORT: Final = 3
"""Letters up to which a word is looked for whole, with at most a plural's s; a longer one may be a stem."""

_LETTER: Final = "a-z\u00df-\u024f"
_SHORT_WORD = re.compile(f"[{_LETTER}]{{1,{SHORT}}}")


@dataclass(frozen=True, slots=True)
class Prediction:
    """A memory that an extractor made.

    Args:
        text: The memory.
        value: The value of its key.
        source: Who said it, as the extractor holds.
        seqs: The turns that it cites.
        uncertain: Whether it is not served as fact.
        expires_at: The first moment at which it holds no more.
        occurred_at: When what it tells happens.
        status: Its state at the end of the dialogue.
        category: Under which category a wrong one is counted.
        key: Its key, compared with the fact's if both have one.
    """

    text: str
    value: str | None = None
    source: Source = "user_stated"
    seqs: tuple[int, ...] = ()
    uncertain: bool = False
    expires_at: datetime | None = None
    occurred_at: datetime | None = None
    status: Status = "active"
    category: Category | None = None
    key: str | None = None

    @property
    def words(self) -> str:
        """What the words of a fact are looked for in, folded."""
        return folded(f"{self.text} {self.value or ''}")


@dataclass(frozen=True, slots=True)
class Matching:
    """Which facts each prediction of a dialogue holds.

    Args:
        held: Numbers of the facts by the number of the prediction; its own fact first.
        extra: Facts that another prediction already holds, by the number of the duplicate.
        misattributed: Facts about other people that a prediction tells of nobody or of the user.
    """

    held: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    extra: Mapping[int, int] = field(default_factory=dict)
    misattributed: Mapping[int, int] = field(default_factory=dict)


@lru_cache(maxsize=20_000)
def folded(text: str) -> str:
    """NFKC, case folded, traditional as simplified, white space as one space."""
    return " ".join(normalise(text).split())


@lru_cache(maxsize=20_000)
def _pattern(word: str) -> re.Pattern[str]:
    plain = folded(word)
    start = end = ""
    if re.match(f"[{_LETTER}0-9]", plain):
        start = rf"(?<!\d)(?<!\d[.,])(?<![{_LETTER}])" if plain[0].isdigit() else f"(?<![{_LETTER}0-9])"
    if plain[-1].isdigit():
        end = r"(?!\d)(?![.,]\d)"
    elif _SHORT_WORD.fullmatch(plain):
        end = f"(?:'?s)?(?![{_LETTER}])"
    return re.compile(start + re.escape(plain) + end)


def place(word: str, text: str) -> tuple[int, int] | None:
    """Where a word of a label first stands in a folded text: Chinese anywhere, others from the start of a word."""
    found = _pattern(word).search(text)
    return None if found is None else found.span()


def places(fact: Fact, text: str) -> list[tuple[int, int]] | None:
    """Where the words of the first alternative that stands in the folded text are."""
    for alternative in fact.words:
        spans = [place(word, text) for word in alternative]
        found = [span for span in spans if span is not None]
        if len(found) == len(spans):
            return found
    return None


def names_subject(fact: Fact, text: str) -> bool:
    """Whether the folded text says whom the fact is about; a fact about the user needs no name."""
    return not fact.subject or any(place(word, text) is not None for word in fact.subject)


def matching(dialogue: Dialogue, predictions: Sequence[Prediction]) -> Matching:
    """A largest assignment of facts to predictions, required and current facts first, one prediction to a fact."""
    told = [
        [number for number, fact in enumerate(dialogue.facts) if _tells(prediction, fact)] for prediction in predictions
    ]
    eligible = [
        [number for number in numbers if names_subject(dialogue.facts[number], prediction.words)]
        for prediction, numbers in zip(predictions, told, strict=True)
    ]
    of_fact = _assigned(dialogue, predictions, eligible)
    held: dict[int, tuple[int, ...]] = {prediction: (fact,) for fact, prediction in of_fact.items()}
    for number in range(len(dialogue.facts)):
        if number not in of_fact:
            _hold_too(dialogue, predictions, eligible, held, number)
    rest = [number for number in range(len(predictions)) if number not in held]
    return Matching(
        held=held,
        extra={number: eligible[number][0] for number in rest if eligible[number]},
        misattributed={number: told[number][0] for number in rest if told[number] and not eligible[number]},
    )


def _tells(prediction: Prediction, fact: Fact) -> bool:
    return not set(prediction.seqs).isdisjoint(fact.about) and places(fact, prediction.words) is not None


def _assigned(
    dialogue: Dialogue, predictions: Sequence[Prediction], eligible: Sequence[Sequence[int]]
) -> dict[int, int]:
    """Fact -> prediction by augmenting paths: a fact that was given a prediction never loses it to a later one."""
    owner: dict[int, int] = {}  # prediction -> fact

    def augment(fact: int, seen: set[int]) -> bool:
        candidates = [number for number, facts in enumerate(eligible) if fact in facts and number not in seen]
        candidates.sort(key=lambda number: (predictions[number].source != dialogue.facts[fact].source, number))
        for number in candidates:
            seen.add(number)
            if number not in owner or augment(owner[number], seen):
                owner[number] = fact
                return True
        return False

    order = sorted(
        range(len(dialogue.facts)), key=lambda at: (dialogue.facts[at].optional, not dialogue.facts[at].current)
    )
    for fact in order:
        augment(fact, set())
    return {fact: number for number, fact in owner.items()}


def _hold_too(
    dialogue: Dialogue,
    predictions: Sequence[Prediction],
    eligible: Sequence[Sequence[int]],
    held: dict[int, tuple[int, ...]],
    fact: int,
) -> None:
    """Give a fact to a prediction that already holds another one, if it says both at different places."""
    for number in sorted(held):
        facts = held[number]
        if fact in eligible[number] and len(facts) < MOST_HELD:
            text = predictions[number].words
            first = places(dialogue.facts[facts[0]], text) or []
            second = places(dialogue.facts[fact], text) or []
            if all(end <= begin or stop <= start for start, end in first for begin, stop in second):
                held[number] = (*facts, fact)
                return


def has_han(text: str) -> bool:
    """Whether a Chinese character stands in the text."""
    return re.search(f"[{HAN}]", text) is not None
