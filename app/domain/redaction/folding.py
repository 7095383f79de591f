"""A text as the rules read it: full-width and other compatibility forms folded, invisible characters gone.

Every character knows where it came from, so that a secret is cut out of the text as it was given.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.redaction.kinds import PLACEHOLDER

OPAQUE: Final = "\ue000"
"""Stands for the characters of a placeholder: no rule reads on through it."""

_INVISIBLE: Final = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\u0300-\u036f\U000e0000-\U000e0fff"
)
_HIDDEN: Final = re.compile(f"[{_INVISIBLE}]")
_KEPT: Final = frozenset("，；！？（）")
"""Full-width punctuation of a sentence ends a secret that its narrow form might be a part of."""

PLAIN: Final = (
    "\x00-\x7f\u00c0-\u00ff\u0400-\u04ff\u2014\u2018-\u201d\u3001-\u3003\u3005-\u3035\u3041-\u309a\u30a1-\u30fe"
    "\u4e00-\u9fff\uac00-\ud7a3" + "".join(sorted(_KEPT))
)
"""Characters that fold to themselves, as far as they are frequent: the others are looked up one by one."""

_OTHERS: Final = re.compile(f"[^{PLAIN}]")
_LAST_CACHED: Final = 0xFFFF


class _Folding(dict[int, str | int]):
    """Code point to its compatibility form (NFKC), looked up once."""

    def __missing__(self, point: int) -> str | int:
        character = chr(point)
        form = character if character in _KEPT else unicodedata.normalize("NFKC", character)
        folded: str | int = point if form == character else form
        if point <= _LAST_CACHED or folded != point:
            self[point] = folded
        return folded


_FOLDING: Final = _Folding()


@dataclass(frozen=True, slots=True)
class Folded:
    """A folded text.

    Args:
        text: What the rules read.
        lower: The same in lower case, character by character.
        origin: For each character where it stood in the given text; None where all stand where they stood.
    """

    text: str
    lower: str
    origin: Sequence[int] | None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """A span of the folded text in the given one."""
        if self.origin is None:
            return start, end
        return self.origin[start], self.origin[end - 1] + 1


def fold(given: str) -> Folded:
    """Fold a text. Total and linear: each character is looked at by itself."""
    if "[redacted:" in given:
        given = PLACEHOLDER.sub(lambda found: OPAQUE * len(found[0]), given)
    if given.isascii():
        return Folded(given, given.lower(), None)
    if _HIDDEN.search(given) is None:
        folded = _OTHERS.sub(_form_of, given)
        if len(folded) == len(given):
            return Folded(folded, _lowered(folded), None)
    characters, origin = list[str](), list[int]()
    for place, character in enumerate(given):
        if _HIDDEN.match(character) is None:
            form = _FOLDING[ord(character)]
            wide = form if isinstance(form, str) else character
            characters.append(wide)
            origin.extend([place] * len(wide))
    text = "".join(characters)
    return Folded(text, _lowered(text), origin)


def _form_of(found: "re.Match[str]") -> str:
    form = _FOLDING[ord(found[0])]
    return form if isinstance(form, str) else found[0]


def _lowered(text: str) -> str:
    """In lower case without a change of length, which a few letters have."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(one.lower()[:1] for one in text)
