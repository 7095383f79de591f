"""Where a quote stands in a message, however its spaces, width and case were copied; and the sentence around it."""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

FEWEST: Final = 2
"""Characters of the shortest quote: a single one stands everywhere."""

_EDGES: Final = " \t\n\"'“”‘’「」『』…."
_BOUND: Final = re.compile(r"[.!?](?=\s|$|[\"”'’])|[。！？!?；;\n]")


@dataclass(frozen=True, slots=True)
class Place:
    """[start, end) of a message."""

    start: int
    end: int


def place_of(quote: str, text: str) -> Place | None:
    """Where the quote stands: NFKC, case and white space make no difference. Linear in both."""
    wanted, _ = _plain(quote.strip(_EDGES))
    if len(wanted) < FEWEST:
        return None
    plain, origins = _plain(text)
    at = plain.find(wanted)
    if at < 0:
        return None
    return Place(origins[at], origins[at + len(wanted) - 1] + 1)


def sentence_around(place: Place, text: str) -> Place:
    """The sentence, or sentences, in which a place stands, its closing mark among it."""
    start = max((match.end() for match in _BOUND.finditer(text, 0, place.start)), default=0)
    match = _BOUND.search(text, max(place.start, place.end - 1))
    end = match.end() if match is not None else len(text)
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Place(start, end)


def sentences(text: str) -> list[Place]:
    """All of them, in order; none is blank."""
    found, start = [], 0
    for end in [*(match.end() for match in _BOUND.finditer(text)), len(text)]:
        piece = text[start:end]
        if piece.strip(_EDGES):
            lead = len(piece) - len(piece.lstrip())
            found.append(Place(start + lead, start + len(piece.rstrip())))
        start = end
    return found


def _plain(text: str) -> tuple[str, list[int]]:
    letters: list[str] = []
    origins: list[int] = []
    for at, letter in enumerate(text):
        if letter.isspace():
            continue
        folded = letter.lower() if letter.isascii() else unicodedata.normalize("NFKC", letter).casefold()
        for one in folded:
            if not one.isspace():
                letters.append(one)
                origins.append(at)
    return "".join(letters), origins
