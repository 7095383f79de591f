"""Whether an insight that a language model has drawn may be kept: it must be borne by what it names."""

import re
from collections.abc import Sequence
from typing import Final, Literal

from app.core.text.language import language_of
from app.core.text.normal import normalise
from app.domain.context.words import Tongue
from app.domain.gate.instructions import is_instruction
from app.domain.likeness import Wording
from app.domain.redaction import find_secrets

LEAST_SOURCES: Final = 2
LONGEST: Final = 300

Flaw = Literal["sources", "length", "language", "number", "name", "order", "secret", "known"]

_NUMBER: Final = re.compile(r"\d+")
_NAME: Final = re.compile(r"(?<![.!?:;]\s)(?<!^)\b[A-Z][A-Za-z0-9]+\b", re.ASCII)


def flaw_in(text: str, sources: Sequence[str], known: Sequence[str], tongue: Tongue) -> Flaw | None:
    """Why an insight is refused; None where it may be kept.

    Args:
        text: In one line.
        sources: What the memories say that it names, each once.
        known: What was concluded before, and what was observed: an insight is more than one of these again.
        tongue: The language that it must be in.
    """
    if len(sources) < LEAST_SOURCES:
        return "sources"
    if not text or len(text) > LONGEST:
        return "length"
    if (language_of(text) == "zh") != (tongue == "zh"):
        return "language"
    told = normalise(" ".join(sources))
    if not set(_NUMBER.findall(normalise(text))) <= set(_NUMBER.findall(told)):
        return "number"
    if any(normalise(name) not in told for name in _NAME.findall(text)):
        return "name"
    if is_instruction(text):
        return "order"
    if find_secrets(text, phones=True):
        return "secret"
    mine = Wording.of(text)
    return "known" if any(mine.says_the_same_as(Wording.of(one)) for one in known) else None
