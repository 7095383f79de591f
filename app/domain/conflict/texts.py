"""Two statements without a common key: only their words can tell."""

import re
from collections.abc import Collection
from typing import Final

from app.domain.conflict.cues import before_of, change_of, denied_of, ends_by_negation, is_tentative
from app.domain.conflict.meaning import Meaning
from app.domain.conflict.parallels import is_new_state, replaces
from app.domain.conflict.persons import subject_of
from app.domain.conflict.statements import Statement, Verdict
from app.domain.conflict.synonyms import FUNCTIONAL, GENERIC, LIGHT, OCCASIONS, OF_ENDINGS, OF_TIMES, OF_USE, OPPOSITES
from app.domain.conflict.values import same_value
from app.domain.extraction.candidates import Change

OF_CHANGE: Final = frozenset(
    [
        "read",
        "watch",
        "visit",
        "buy",
        "see",
        "switch",
        "move",
        "chang",
        "replac",
        "renam",
        "got",
        "get",
        "start",
        "join",
        "left",
        "new",
        "换",
        "换成",
        "改",
        "改成",
        "搬",
        "搬到",
        "换了",
        "改用",
        "升级",
        "转",
    ]
)
"""Words that say that something changed, and not what."""

_INSTEAD: Final = re.compile(r"(?i)\binstead\b|\bchange of plans?\b|改[去成为到在]|换成")
"""What is told of one day gives way only to what is said to happen instead."""

_LEAD: Final = re.compile(
    r"(?i)^\W*(?:(?:sorry|no|actually|correction|my mistake|oops|wait)[,.:! ]+)+|"
    r"^\W*(?:我?(?:刚才|之前|上次)?(?:说|写|打|记|搞|弄|填)[错反]了|更正(?:一下)?|纠正(?:一下)?|不对)[,，。:： ]*"
)
"""Says that something was wrong, and not what."""

_RULE: Final = re.compile(r"(?i)\b(?:rule|ban|policy|prohibition|restriction)\b|禁令|规定|规矩|限制|禁止")
_DIGITS: Final = re.compile(r"\d+")
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_DONE: Final = re.compile(
    r"(?i)\b(?!booked|planned|reserved)\w+ed\b|\b(?:flew|went|met|had|was|were)\b|过|了(?=$|[,。])"
)


def of_texts(new: Statement, old: Statement, change: Change | None, *, opposite_keys: bool) -> tuple[Verdict, str]:
    """What the new text does to the old one, and why.

    Args:
        new: What was said.
        old: What is stored.
        change: What it says of what was known; without it nothing is superseded.
        opposite_keys: Whether their keys mean opposite things (likes, dislikes).
    """
    said, stored = Meaning.of(_LEAD.sub("", new.text)), Meaning.of(old.text)
    if opposite_keys:
        return _of_opposites(new, old, change)
    if said.says_the_same_as(stored) and (change == "ends") == (change_of(old.text) == "ends"):
        return "reinforce", "same_words"
    if subject_of(new.text) != subject_of(old.text):
        change = None
    elif change is None and new.kind == "semantic" and is_new_state(new.text, old.text) and _parallel(new, old):
        return "supersede", "changed"
    if change in {"replaces", "corrects"} and not _other_slots(new, old) and _parallel(new, old):
        return _verdict(change)
    if change is not None and change != "adds" and (found := _changed(new, old, said, stored, change)) is not None:
        return found
    if _both_keyed(new, old):
        return "add", "other_key"
    if _is_denied(new.text, stored):
        return "correct", "corrected"
    if (difference := _contradiction(new, old, said, stored)) is not None:
        return "contradict", difference
    return ("complement", "same_topic") if _is_beside(said, stored) else ("add", "different")


def _of_opposites(new: Statement, old: Statement, change: Change | None) -> tuple[Verdict, str]:
    if new.value is None or old.value is None or not same_value(new.value, old.value):
        return "add", "other_value"
    return ("supersede", "changed") if change in {"replaces", "ends"} else ("contradict", "opposite")


def _is_denied(text: str, stored: Meaning) -> bool:
    """Whether "B, not A" is said of all that is stored of A but for A itself."""
    denied = denied_of(text)
    gone = set(Meaning.of(denied).words) if denied else set()
    if not denied or not gone or not gone <= set(stored.words):
        return False
    kept = Meaning.of(text.lower().replace(denied.lower(), " "))
    rest = set(stored.words) - gone - GENERIC
    return len(rest) > 1 and rest <= set(kept.words)


def _both_keyed(new: Statement, old: Statement) -> bool:
    return new.key is not None and old.key is not None and new.key != old.key


def _parallel(new: Statement, old: Statement) -> bool:
    """Whether it is the old sentence with another value; what is only planned changes nothing yet."""
    instead = new.change == "replaces" or _INSTEAD.search(new.text) is not None
    if new.change is None and is_tentative(new.text) and not (instead and is_tentative(old.text)):
        return False
    if "episodic" in {new.kind, old.kind} and not instead:
        return False
    return replaces(new.text, old.text)


def _other_slots(new: Statement, old: Statement) -> bool:
    """Whether each fills a slot of its own: then only what the new one names as over gives way."""
    return _both_keyed(new, old) and new.value is not None and old.value is not None


# --- with a cue ---------------------------------------------------------------------------------------------------


def _changed(
    new: Statement, old: Statement, said: Meaning, stored: Meaning, change: Change
) -> tuple[Verdict, str] | None:
    """The old one gives way only if the new one is about the very same thing."""
    if new.change is None and change != "corrects" and is_tentative(new.text):
        return None
    if change == "ends":
        return _ended(new, old, said, stored)
    new_words, old_words = set(said.words), set(stored.words)
    if _other_slots(new, old) and not _gives_up(new, old_words):
        return None
    lost = old_words - new_words
    given_up = _gives_up(new, old_words)
    if not lost:
        # All of it is said again and something else beside: "not in Graz but in Linz".
        other_name = stored.names & said.names and said.names - stored.names and said.negations > stored.negations
        return _verdict(change) if (other_name or given_up) and new_words > old_words else None
    if (given_up and lost <= OF_USE) or _one_word_differs(said, stored, least=1 if change == "corrects" else 2):
        return _verdict(change)
    topic = old_words - _values_of(stored) - OF_CHANGE
    if not topic - (GENERIC - FUNCTIONAL) or not _all_in(topic - (GENERIC - FUNCTIONAL), new_words):
        return None
    if _sorts(stored, lost) and _sorts(stored, lost) <= _sorts(said, new_words - old_words):
        return _verdict(change)
    return _verdict(change) if given_up else None


def _gives_up(new: Statement, old_words: Collection[str]) -> bool:
    before = new.before or before_of(new.text)
    words = set(Meaning.of(before).words) if before else set()
    return bool(words) and words <= set(old_words)


def _is_off(new: Statement, old: Statement, over: set[str], old_words: set[str], stored: Meaning) -> bool:
    """Whether a plan is called off, by whatever word for it: "the trip to Rome is off" says who flies to Rome."""
    sort = next((words for words in OCCASIONS if words & over and words & old_words), None)
    if ends_by_negation(new.text) or sort is None:
        return False
    when = {*stored.tokens, *OF_TIMES, *GENERIC}
    named, planned = over - sort - when, old_words - sort - when
    if not named or not planned or not _all_in(planned, named) or not _all_in(named, planned):
        return False
    days = _DAY.findall(old.text)
    return (
        bool(stored.tokens) and not _DONE.search(old.text) and all(day >= f"{new.occurred_at:%Y-%m-%d}" for day in days)
    )


def _ended(new: Statement, old: Statement, said: Meaning, stored: Meaning) -> tuple[Verdict, str] | None:
    """What ended is all of the old one, but for its times; "no more coffee after five" ends no coffee."""
    over, old_words = set(said.words) - OF_ENDINGS - LIGHT, set(stored.words) - LIGHT
    if not over - GENERIC or not old_words - GENERIC:
        return None
    rest = {word for word in old_words - over if not _all_in([word], over)}
    more = {word for word in over - old_words if not any(word in old for old in old_words if not word.isascii())}
    if rest - set(stored.tokens) or more:
        return ("retract", "ended") if _is_off(new, old, over, old_words, stored) else None
    if ends_by_negation(new.text):
        return ("retract", "ended") if stored.negations == 0 else ("reinforce", "ended_before")
    lifted = stored.negations > said.negations and _RULE.search(new.text) is not None
    return ("retract", "ended") if lifted or said.negations == stored.negations else None


def _verdict(change: Change) -> tuple[Verdict, str]:
    return ("correct", "corrected") if change == "corrects" else ("supersede", "changed")


def _values_of(meaning: Meaning) -> set[str]:
    return {*meaning.names, *meaning.tokens}


def _sorts(meaning: Meaning, words: Collection[str]) -> set[str]:
    """What sort of values are among the words: a name, a date, a number of some unit."""
    sorts = {slot.sort for slot in meaning.slots if slot.token in words}
    return sorts | ({"name"} if meaning.names & set(words) else set())


def _one_word_differs(said: Meaning, stored: Meaning, *, least: int) -> bool:
    """Whether all is the same but for one word on either side, and what is the same tells what it is about."""
    new_words, old_words = set(said.words), set(stored.words)
    topic = (new_words & old_words) - GENERIC - set(stored.tokens)
    return len(old_words - new_words) == len(new_words - old_words) == 1 and len(topic) >= least


def _all_in(words: Collection[str], others: Collection[str]) -> bool:
    """Whether all are there; a Chinese word also where it is a part of a longer one."""
    joined = "\n".join(others)
    return all(word in others or (not word.isascii() and word in joined) for word in words)


# --- without a cue ------------------------------------------------------------------------------------------------


def _contradiction(new: Statement, old: Statement, said: Meaning, stored: Meaning) -> str | None:
    """Why both cannot be true: by one thing only that differs; None where they can, or where nobody knows."""
    if not said.words or not said.same_but_negation(stored) or "episodic" in {new.kind, old.kind}:
        return None
    if said.has_the_words_of(stored):
        return "negation" if (said.negations > 0) != (stored.negations > 0) else None
    if said.negations != stored.negations:
        return None
    if sorted(said.joined) == sorted(stored.joined):
        return "order" if said.compares and stored.compares else None
    if len(said.words) != len(stored.words):
        return None
    pairs = [(one, other) for one, other in zip(said.words, stored.words, strict=True) if one != other]
    if len(pairs) != 1:
        return None
    one, other = pairs[0]
    if _is_number(one, said) and _is_number(other, stored):
        return "number"
    if _DIGITS.search(one) and _DIGITS.sub("0", one) == _DIGITS.sub("0", other):
        return "number"
    if frozenset(pairs[0]) in OPPOSITES:
        return "opposite"
    names = one in said.names and other in stored.names
    return "name" if names and FUNCTIONAL & set(said.words) else None


def _is_number(word: str, meaning: Meaning) -> bool:
    return word in meaning.tokens


def _is_beside(said: Meaning, stored: Meaning) -> bool:
    """Whether both tell of one thing: they share a word that says something, and not each has names of its own."""
    shared = (set(said.words) & set(stored.words)) - GENERIC
    if not shared:
        return False
    only_new = _values_of(said) - _values_of(stored)
    only_old = _values_of(stored) - _values_of(said)
    return not (only_new and only_old) and bool(shared - set(said.tokens))
