"""Several values in one statement: allergic to peanuts and shellfish, 对花生和海鲜过敏."""

import re
from dataclasses import replace
from typing import Final

from app.domain.extraction.candidates import Candidate
from app.domain.keys import built_in

_KEYS: Final = frozenset({
    "user.allergy", "user.spoken_language", "preference.dislike", "preference.food", "preference.like", "user.hobby",
})  # fmt: skip
_SEPARATOR_EN: Final = re.compile(r",? and (?:also )?|,? or |, | & ")
_SEPARATOR_ZH: Final = re.compile(r"、|和|跟|与|以及|还有|,")
_ITEM_EN: Final = re.compile(r"[\w'-]+(?: [\w'-]+){0,2}")
_ITEM_ZH: Final = re.compile(r"[^\s,，的了是我你他她不没]{1,6}")
_PAIRS: Final = re.compile(
    r"(?i)\b(?:mac|gin|fish|salt|rock|drum|bread|rhythm|black|arts|rum|peanut butter|track|trial|pros|rest|food|"
    r"up|back|more|"
    r"bed|dungeons|cut|tom|mix|hide|search|research|science) (?:and|&) \w+"
)
_SENTENCE: Final = re.compile(
    r"\b(?:i|it|they|he|she|we|is|are|was|to|when|while|because|if|who|that|my|with|in|on|at|for|but|not)\b",
    re.IGNORECASE,
)
_JOINED: Final = re.compile(r" (?:and|or|&) |[、和跟与]|以及|还有")
MOST_ITEMS: Final = 4


def apart(candidate: Candidate) -> list[Candidate]:
    """One candidate for each of the values that a statement names, where its key holds several at once.

    Each has the words of the statement with one value in the place of all. What is no plain list stays as it is.
    """
    known = built_in(candidate.key) if candidate.key is not None else None
    value = candidate.value
    if known is None or known.key not in _KEYS or value is None or candidate.explicit or value not in candidate.text:
        return [candidate]
    chinese = re.search("[\u3400-\u9fff]", value) is not None
    items = _items(value, chinese=chinese)
    if not 1 < len(items) <= MOST_ITEMS:
        return [candidate]
    before, _, after = candidate.text.partition(value)
    return [replace(candidate, text=f"{before}{item}{after}", value=item) for item in items]


def _items(value: str, *, chinese: bool) -> list[str]:
    if _PAIRS.search(value) or not _JOINED.search(value):
        return []
    separator, item = (_SEPARATOR_ZH, _ITEM_ZH) if chinese else (_SEPARATOR_EN, _ITEM_EN)
    parts = [part.strip() for part in separator.split(value)]
    plain = all(item.fullmatch(part) is not None and (chinese or not _SENTENCE.search(part)) for part in parts)
    return list(dict.fromkeys(parts)) if plain else []
