"""An embedding model is given sentences of known meaning: what it makes of them is its calibration."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Final

import numpy as np

from app.core.errors import Conflict, Unavailable
from app.domain.calibrating.bounds import Cosines, UnusableMeasurement, measured_calibration
from app.domain.calibrating.sets import SENTENCES, Pairs, Sentences
from app.domain.calibration import Calibration
from app.providers.embeddings.base import EmbeddingModel, EmbeddingUnavailable, Vector

AT_ONCE: Final = 16
"""Passages of one call."""

TEXTS: Final = sum(len(one.asked) + len(one.stored) for one in SENTENCES.values())
"""How many texts a measurement embeds."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was measured of a model.

    Args:
        languages: Its cosines in each language.
        both: All of them, with those between the languages.
        calibration: What they ask for.
    """

    languages: Mapping[str, Cosines]
    both: Cosines
    calibration: Calibration


@dataclass(frozen=True, slots=True)
class _Embedded:
    """The vectors of a language's sentences: of its questions and of its passages, by their texts."""

    sentences: Sentences
    questions: Mapping[str, Vector]
    passages: Mapping[str, Vector]

    def cosines(self) -> Cosines:
        """Within the language."""
        return self.with_answers_of(self) + Cosines(
            identical=tuple(float(self.questions[text] @ self.passages[text]) for text in self.sentences.asked),
            same=self._of(self.sentences.same),
            other=self._of(self.sentences.other),
        )

    def with_answers_of(self, other: "_Embedded") -> Cosines:
        """This language's questions with the answers of a language: those that belong together, and all others."""
        asked = np.array([self.questions[question] for question, _ in self.sentences.answers])
        told = np.array([other.passages[answer] for _, answer in other.sentences.answers])
        table = asked @ told.T
        apart = ~np.eye(len(table), dtype=bool)
        return Cosines(answers=tuple(np.diag(table).tolist()), unrelated=tuple(table[apart].tolist()))

    def _of(self, pairs: Pairs) -> tuple[float, ...]:
        return tuple(float(self.passages[one] @ self.passages[two]) for one, two in pairs)


async def measurement_of(model: EmbeddingModel, advance: Callable[[int], object]) -> Measurement:
    """Measure a model.

    Args:
        model: It computes `TEXTS` vectors.
        advance: Told how many more texts are embedded.

    Raises:
        Conflict: No calibration makes its cosines mean what they should.
        Unavailable: It does not answer.
    """
    try:
        await model.prepare()
        made = {name: await _embedded(model, one, advance) for name, one in SENTENCES.items()}
    except EmbeddingUnavailable as error:
        raise Unavailable(f"{model.name} does not answer: {error}", code="model_unavailable") from error
    languages = {name: one.cosines() for name, one in made.items()}
    between = (one.with_answers_of(other) for one, other in permutations(made.values(), 2))
    both = sum([*languages.values(), *between], Cosines())
    try:
        return Measurement(languages, both, measured_calibration(both))
    except UnusableMeasurement as error:
        raise Conflict(
            f"{model.name} cannot be calibrated: {error}. Look at its prefixes, pooling and language.",
            code="calibration_unusable",
        ) from error


async def _embedded(model: EmbeddingModel, sentences: Sentences, advance: Callable[[int], object]) -> _Embedded:
    questions: dict[str, Vector] = {}
    passages: dict[str, Vector] = {}
    for text in sentences.asked:
        questions[text] = await model.embed_query(text)
        advance(1)
    stored = sentences.stored
    for start in range(0, len(stored), AT_ONCE):
        texts = stored[start : start + AT_ONCE]
        passages.update(zip(texts, await model.embed_passages(texts), strict=True))
        advance(len(texts))
    return _Embedded(sentences, questions, passages)
