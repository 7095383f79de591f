"""One spelling for what rules read, letter for letter: a place in it is the same place in the text."""

import unicodedata
from typing import Final

from app.core.text.normal import unify

_SIGNS: Final = str.maketrans("\u2018\u2019\u02bc\u00a0\u3000\u2013\u2014\uff5e\u301c", "'''  --~~")


def folded(text: str) -> str:
    """The text in small letters, half-width and simplified, of the same length.

    A letter that would become several or none stays as it is. `app.core.text.normal` is the whole of it.
    """
    if text.isascii():
        return text.lower()
    plain = "".join(map(_folded_letter, text)).translate(_SIGNS)
    unified = unify(plain)
    return unified if len(unified) == len(plain) else "".join(map(_unified_letter, plain))


def _folded_letter(letter: str) -> str:
    if letter.isascii():
        return letter.lower()
    plain = unicodedata.normalize("NFKC", letter).lower()
    return plain if len(plain) == 1 else letter


def _unified_letter(letter: str) -> str:
    unified = unify(letter)
    return unified if len(unified) == 1 else letter
