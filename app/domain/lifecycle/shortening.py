"""Whether a shorter wording says what the long one said: every number, name and negation stays, and none is new."""

from typing import Final

from app.core.text.language import language_of
from app.domain.likeness import Wording
from app.domain.summary.faithful import figures_of, names_of

LONG: Final = 600
"""Characters from which a memory is long."""

WORTH: Final = 0.8
"""Of the long text, a shorter one has so much at most; else it is not worth it."""


def says_it_shorter(shorter: str, text: str) -> bool:
    """Whether a shorter text can stand for a long one."""
    plain = " ".join(shorter.split())
    if not plain or len(plain) > WORTH * len(text) or language_of(plain) != language_of(text):
        return False
    turns = set(Wording.of(text).turns) == set(Wording.of(plain).turns)
    return turns and figures_of(plain) == figures_of(text) and names_of(plain) == names_of(text)
