"""Of two candidates that fill one slot, the later one holds."""

from dataclasses import replace

from app.domain.conflict.values import in_other_scripts
from app.domain.extraction.candidates import Candidate
from app.domain.extraction.folding import folded
from app.domain.keys import holds_one


def settled(candidates: list[Candidate]) -> list[Candidate]:
    """The candidates in their order: equal ones once, an earlier value of a single-valued key marked as replaced.

    The later one says what it replaces. Claims of an assistant's never replace what the user stated.
    """
    kept: list[Candidate] = []
    places: dict[str, list[int]] = {}
    texts: dict[str, int] = {}
    for one in candidates:
        text = folded(one.text)
        if text in texts and kept[texts[text]].source == one.source:
            continue
        texts[text] = len(kept)
        key = one.key if one.source == "user_stated" and _is_single(one) else None
        candidate = one
        if key is not None and not one.replaced:
            comparable = (place for place in reversed(places.get(key, [])) if _in_one_script(kept[place], one))
            place = next(comparable, None)
            if place is not None and not _same(kept[place], one):
                earlier = kept[place]
                kept[place] = replace(earlier, replaced=True)
                change, before = one.change or "replaces", one.before or earlier.value
                candidate = replace(one, change=change, before=before)
        if key is not None:
            places.setdefault(key, []).append(len(kept))
        kept.append(candidate)
    return kept


def _in_one_script(one: Candidate, other: Candidate) -> bool:
    """Whether rules can tell their values apart: 北京 may be Beijing."""
    return not in_other_scripts(one.value, other.value)


def _is_single(candidate: Candidate) -> bool:
    if candidate.key is None or candidate.value is None:
        return False
    return holds_one(candidate.key)


def _same(one: Candidate, other: Candidate) -> bool:
    return folded(one.value or "") == folded(other.value or "")
