"""Whether a shorter wording says what the long one said: every number, name and negation stays, and none is new."""

import re
from typing import Final

from app.core.text.language import language_of
from app.core.text.normal import normalise
from app.domain.summary.faithful import figures_of, names_of

LONG: Final = 600
"""Characters from which a memory is long."""

WORTH: Final = 0.8
"""Of the long text, a shorter one has so much at most; else it is not worth it."""

_TURN: Final = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|without|cannot|only|except|unless|if|until)\b|n['’]t\b|"
    r"[不没无别勿未只仅]|除非|并非|除了|如果|要是|直到"
)
"""Words without which a sentence says something else."""


def says_it_shorter(shorter: str, text: str) -> bool:
    """Whether a shorter text can stand for a long one."""
    plain = " ".join(shorter.split())
    if not plain or len(plain) > WORTH * len(text) or language_of(plain) != language_of(text):
        return False
    return _turns(plain) == _turns(text) and figures_of(plain) == figures_of(text) and names_of(plain) == names_of(text)


def _turns(text: str) -> set[str]:
    """The words that turn the meaning, however "not" is written."""
    found = _TURN.findall(normalise(text))
    return {
        "not" if word in {"no", "cannot"} or (word.startswith("n") and word.endswith("t")) else word for word in found
    }
