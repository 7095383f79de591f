"""The slot of a new statement that names it in other words: by the value it replaces, or by a part of the key."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from app.core.text.normal import normalise
from app.domain.conflict.keys import canonical, same_key
from app.domain.conflict.meaning import Meaning
from app.domain.conflict.statements import Statement
from app.domain.conflict.values import mentioned, same_value
from app.domain.extraction.frames.values import TIME, Sort, sort_of
from app.domain.keys import HABIT, built_in

_WORDS: Final = 5
"""Letters of a word by which it is known in another form: deliver, delivery."""

MOST_BESIDE: Final = 3
"""Words of a statement beside the value that is over."""

MOST_HAN_BESIDE: Final = 6
"""Characters of a Chinese one, where its words were cut in another way."""

_TIMES: Final = frozenset({"time", "deadline"})
_ATTRIBUTES: Final = frozenset(
    {
        "time",
        "deadline",
        "name",
        "owner",
        "dose",
        "version",
        "school",
        "employer",
        "city",
        "job",
        "major",
        "grade",
        "age",
    }
)
_OWNERS: Final = frozenset({"user", "project", "preference"})


def adopted(new: Statement, olds: Sequence[Statement]) -> Statement:
    """The new statement under the key of the only stored one that it replaces, where its own key meets none.

    "I sold the Yaris and bought a Niro" replaces what holds the Yaris; "the sync was moved to Monday" fills the slot of
    the weekly sync. Without a word of a change, or where two slots would do, it stays as it is.

    Args:
        new: What was said.
        olds: What is current and near it.
    """
    if new.change not in {"replaces", "corrects"} or new.value is None:
        return new
    keyed = [old for old in olds if old.key is not None and old.value is not None and not old.uncertain]
    if any(same_key(new, old) for old in keyed):
        return new
    keys = _of_value(new, keyed) or _of_part(new, keyed)
    return replace(new, key=keys.pop()) if len(keys) == 1 else new


def only_about(new: Statement, olds: Sequence[Statement]) -> int | None:
    """The place of the only stored statement without a key that is about the noun of a new key, with such a value.

    "We moved our vacation to September" takes the place of "We go on vacation in July".
    """
    if new.change not in {"replaces", "corrects"}:
        return None
    if new.before is not None:
        named = [place for place, old in enumerate(olds) if old.key is None and _is_value_of(new.before, old)]
        if len(named) == 1:
            return named[0]
    if new.key is None or built_in(new.key) is not None or any(same_key(new, old) for old in olds):
        return None
    noun, _ = _parts(new.key)
    sort = sort_of(normalise(str(new.value)), str(new.value))
    found = [
        place
        for place, old in enumerate(olds)
        if old.key is None and noun and _is_about(noun, old.text) and _has(sort, old.text, noun)
    ]
    return found[0] if len(found) == 1 else None


def _is_value_of(before: str, old: Statement) -> bool:
    """Whether a short statement is about little else than what is over."""
    if old.kind != "semantic":
        return False
    words, rest = set(Meaning.of(before).words), set(Meaning.of(old.text).words)
    if words and words <= rest:
        return len(rest - words) <= MOST_BESIDE
    plain, text = normalise(before).strip(), normalise(old.text)
    return not plain.isascii() and len(plain) > 1 and plain in text and len(text) - len(plain) <= MOST_HAN_BESIDE


def _is_about(noun: Sequence[str], text: str) -> bool:
    plain = normalise(text)
    words = Meaning.of(text).words
    return all(part in plain if not part.isascii() else any(_is_of(word, part) for word in words) for part in noun)


def _is_of(word: str, part: str) -> bool:
    return word[:_WORDS] == part[:_WORDS] or word in Meaning.of(part).words


def _has(sort: Sort, text: str, noun: Sequence[str]) -> bool:
    plain = normalise(text)
    match sort:
        case "time":
            return TIME.search(plain) is not None
        case "number":
            return re.search(r"\d|[一二三四五六七八九十百千万]", plain) is not None
        case "name":
            return bool(Meaning.of(text).names - set(noun)) or not plain.isascii()
        case _:
            return False


def _of_value(new: Statement, keyed: Sequence[Statement]) -> set[str]:
    """Keys that hold the value which the statement says was there before."""
    before = new.before
    if before is None:
        return set()
    return {
        canonical(str(old.key))
        for old in keyed
        if same_value(old.value, before) or mentioned(before, str(old.value)) or mentioned(old.value, before)
    }


def _of_part(new: Statement, keyed: Sequence[Statement]) -> set[str]:
    """Keys of the same head noun and attribute of which one says more than the other: sync, weekly sync."""
    if new.key is None:
        return set()
    mine = _parts(new.key)
    return {canonical(str(old.key)) for old in keyed if _meet(mine, _parts(str(old.key)))}


def _parts(key: str) -> tuple[tuple[str, ...], str]:
    """The words of the noun, and the attribute."""
    if key.startswith(HABIT) or built_in(key) is not None:
        return (), ""
    owner, _, rest = canonical(key).partition(".")
    words = [word for word in rest.replace("_", ".").split(".") if word]
    if owner not in _OWNERS or not words:
        return (), ""
    attribute = words.pop() if words[-1] in _ATTRIBUTES else ""
    return tuple(words), "time" if attribute in _TIMES else attribute


def _meet(mine: tuple[tuple[str, ...], str], other: tuple[tuple[str, ...], str]) -> bool:
    (words, attribute), (theirs, their_attribute) = mine, other
    if attribute != their_attribute or not words or not theirs:
        return words == theirs and bool(words)
    shorter, longer = sorted((words, theirs), key=len)
    if len(shorter) == len(longer) == 1:
        one, two = sorted((shorter[0], longer[0]), key=len)
        return one == two or (not one.isascii() and len(one) > 1 and two.endswith(one))
    return longer[-len(shorter) :] == shorter
