"""Of two candidates that fill one slot, the later one holds."""

from dataclasses import replace

from app.domain.extraction.candidates import Candidate
from app.domain.extraction.folding import folded
from app.domain.keys import holds_one


def settled(candidates: list[Candidate]) -> list[Candidate]:
    """The candidates in their order: equal ones once, an earlier value of a single-valued key marked as replaced.

    The later one says what it replaces. Claims of an assistant's never replace what the user stated.
    """
    kept: list[Candidate] = []
    places: dict[str, int] = {}
    texts: dict[str, int] = {}
    for one in candidates:
        text = folded(one.text)
        if text in texts and kept[texts[text]].source == one.source:
            continue
        texts[text] = len(kept)
        key = one.key if one.source == "user_stated" and _is_single(one) else None
        candidate = one
        if key is not None and key in places and not one.replaced:
            earlier = kept[places[key]]
            if not _same(earlier, one):
                kept[places[key]] = replace(earlier, replaced=True)
                change, before = one.change or "replaces", one.before or earlier.value
                candidate = replace(one, change=change, before=before)
        if key is not None:
            places[key] = len(kept)
        kept.append(candidate)
    return kept


def _is_single(candidate: Candidate) -> bool:
    if candidate.key is None or candidate.value is None:
        return False
    return holds_one(candidate.key)


def _same(one: Candidate, other: Candidate) -> bool:
    return folded(one.value or "") == folded(other.value or "")
