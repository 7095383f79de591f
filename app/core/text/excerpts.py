"""The part of a long text that a question is about."""

import re
from typing import Final

from app.core.text.tokens import tokens

MOST_CHARACTERS: Final = 30_000
"""Only this beginning of a text is looked at."""

CUT: Final = "…"
_SENTENCE: Final = re.compile(r"[^.!?。！？\n]*+(?:[.!?](?!\s|$)[^.!?。！？\n]*+)*+[.!?。！？\n]*+\s*")


def excerpt(text: str, query: str, most: int) -> str:
    """At most so many characters in a row, those with the most of the question's words; the first of equal ones.

    Begins and ends with whole sentences where these are short enough; a mark stands for what is left out.
    """
    plain = " ".join(text[:MOST_CHARACTERS].split())
    if len(plain) <= most:
        return plain
    pieces = [part for match in _SENTENCE.finditer(plain) for part in _parts(match.group(), most - 2)]
    asked = set(tokens(query))
    words = [asked & set(tokens(piece)) for piece in pieces]
    best, place, end = -1, 0, 0
    for start in range(len(pieces)):
        if start and not words[start]:
            continue  # an excerpt begins with a sentence that counts
        covered, stop = _from(start, pieces, words, most - 2)
        if len(covered) > best:
            best, place, end = len(covered), start, stop
    chosen = "".join(pieces[place:end]).strip()
    return f"{CUT if place else ''}{chosen}{CUT if end < len(pieces) else ''}"


def _from(start: int, pieces: list[str], words: list[set[str]], most: int) -> tuple[set[str], int]:
    """The question's words in the pieces from one on that fit, and where these end."""
    covered, length, end = set[str](), 0, start
    while end < len(pieces) and length + len(pieces[end]) <= most:
        covered |= words[end]
        length += len(pieces[end])
        end += 1
    return covered, end


def _parts(sentence: str, most: int) -> list[str]:
    return [sentence[start : start + most] for start in range(0, len(sentence), most)]
