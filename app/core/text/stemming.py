"""English words to their stems, so that `deploys` finds `deployed`."""

import re
import threading
import unicodedata

from Stemmer import Stemmer

_ACCENT = re.compile("[\u0300-\u036f]")


class _Stemmers(threading.local):
    # A Stemmer keeps state between calls: shared by two threads it returns the stem of the other one's word.
    def __init__(self) -> None:
        self.english = Stemmer("english")


_stemmers = _Stemmers()


def stem(word: str) -> str:
    """The Snowball (Porter 2) stem of a lower-case word; accents are dropped (`café` -> `cafe`), other scripts kept."""
    if not word.isascii():
        word = unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFD", word)))
    return str(_stemmers.english.stemWord(word)) if word.isascii() else word
