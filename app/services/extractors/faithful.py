"""Whether a model's sentence may stand for the message's own."""

import re
from typing import Final

from app.core.text.content import content_terms
from app.core.text.language import language_of
from app.core.text.normal import normalise
from app.domain.conflict.cues import before_of, change_of, is_tentative
from app.domain.conflict.meaning import Meaning
from app.domain.conflict.quantities import with_digits
from app.domain.conflict.values import mentioned
from app.services.extractors.evidence import LONGEST_TEXT, Evidence, other_subject

_NUMBER: Final = re.compile(r"\d+(?:[.:]\d+)*")
_SPEAKER: Final = re.compile(r"^(?:users?|the)$", re.IGNORECASE)


def is_faithful(text: str, evidence: Evidence, heard: str) -> bool:
    """Whether it says what was said: in its language, of the same one, with its negations, numbers, names and changes.

    Args:
        text: The model's sentence.
        evidence: What it is made from.
        heard: All that was said until then: names and numbers may come from what a message answers.
    """
    sentence = evidence.sentence
    if not text or len(text) > LONGEST_TEXT or not _one_language(text, evidence.turn.text):
        return False
    said, own = Meaning.of(text), Meaning.of(sentence)
    if (said.negations > 0) != (own.negations > 0) or said.compares != own.compares:
        return False
    if said.compares and own.compares and said.words != own.words:
        return False
    if not _numbers(text) <= (_numbers(sentence) or _numbers(heard)) or _hides_a_change(text, sentence):
        return False
    other = other_subject(evidence)
    if other is not None and not mentioned(other, text):
        return False
    return names_were_said(text, heard) and bool(set(said.words) & set(own.words))


def _hides_a_change(text: str, sentence: str) -> bool:
    """Whether the message says that something is over, was so before, or is only planned, and the text does not."""
    before = before_of(sentence)
    over = change_of(sentence) == "ends" or (before is not None and mentioned(before, text))
    return (over and change_of(text) is None) or (is_tentative(sentence) and not is_tentative(text))


def _one_language(text: str, message: str) -> bool:
    written, said = language_of(text), language_of(message)
    return written == said or "other" in {written, said}


def _numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(with_digits(normalise(text))))


def names_were_said(text: str, heard: str) -> bool:
    """Whether every name in the sentence stands in what was said, as it is written there."""
    plain = "".join(normalise(heard).split())
    for term in content_terms(text):
        if term.kind == "name" and not _SPEAKER.match(term.text):
            words = normalise(term.text).split()
            if not all(_SPEAKER.match(word) or word in plain for word in words):
                return False
    return True
