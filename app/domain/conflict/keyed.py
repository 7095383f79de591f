"""Two statements of one key."""

import re
from typing import Final

from app.domain.conflict.cues import denied_of, ends_by_negation
from app.domain.conflict.meaning import Meaning
from app.domain.conflict.parallels import parallel
from app.domain.conflict.statements import Statement, Verdict
from app.domain.conflict.texts import of_texts
from app.domain.conflict.values import in_other_scripts, mentioned, refines, same_value
from app.domain.extraction.candidates import Change

_PLACES: Final = re.compile(r"\.(?:city|country|hometown|name|employer|school|nationality|language)$")
"""Keys of what has one name in each language: 北京 is Beijing. A telephone has one name."""

_ONLY_THEN: Final = re.compile(
    r"(?i)\b(?:after|before|except|unless|only|during|at night)\b|以后不|之后|除非|只有|晚上|早上"
)


def of_one_key(
    new: Statement, old: Statement, change: Change | None, *, multivalued: bool, tentative: bool
) -> tuple[Verdict, str]:
    """What the new one does to the old one, and why.

    Args:
        new: What was said.
        old: What is stored.
        change: What it says of what was known.
        multivalued: Whether the key holds several values at once.
        tentative: Whether it is only planned or possible: that changes nothing yet.
    """
    if new.value is None or old.value is None:
        return _without_values(new, old, change, multivalued=multivalued)
    if same_value(new.value, old.value):
        return _of_one_value(new, old, change)
    if change == "ends":
        # It names what ended, and that is another value.
        ended = new.before is not None and same_value(new.before, old.value)
        return ("retract", "ended") if ended else ("complement", "other_value")
    if tentative:
        return "complement", "only_planned"
    if multivalued:
        return _of_many_values(new, old, change)
    told_new = new.change == "replaces" and _PLACES.search(str(new.key)) is None
    if in_other_scripts(new.value, old.value) and not told_new and not _names_the_old_value(new, old):
        return "contradict", "other_language"
    if refines(new.value, old.value):
        return "complement", "more_exact"
    if refines(old.value, new.value) and change is None:
        return "reinforce", "less_exact"
    return _of_single_value(new, old, change)


def _of_single_value(new: Statement, old: Statement, change: Change | None) -> tuple[Verdict, str]:
    match change:
        case "corrects":
            other = new.before is not None and not same_value(new.before, old.value)
            return ("supersede", "newer_value") if other else ("correct", "corrected")
        case "adds":
            return "complement", "one_more"
        case "replaces":
            return "supersede", "changed"
        case _:
            denied = denied_of(new.text)
            wrong = denied is not None and same_value(denied, old.value)
            return ("correct", "corrected") if wrong else ("supersede", "newer_value")


def _of_many_values(new: Statement, old: Statement, change: Change | None) -> tuple[Verdict, str]:
    """Only the value that the new statement names gives way."""
    denied = denied_of(new.text)
    if denied is not None and change not in {"adds", "ends"} and same_value(denied, old.value):
        return "correct", "corrected"
    if change in {"corrects", "replaces"} and _names_the_old_value(new, old):
        return ("correct", "corrected") if change == "corrects" else ("supersede", "changed")
    if change == "replaces" and (_is_said_anew(new, old) or _is_done_instead(new.text, old.text)):
        return "supersede", "changed"
    return "complement", "one_more"


_VERSION: Final = re.compile(r" ?v?\d+(?:\.\d+)*$")
_INSTEAD: Final = re.compile(r"(?:改|换成?)(?P<verb>[喝吃学练玩读看打弹骑坐])")
_WHEN: Final = re.compile(r"早上|中午|晚上|下午|上午|早餐|午饭|晚饭|睡前|周末|平时")


def _is_done_instead(new: str, old: str) -> bool:
    """Whether a Chinese sentence says that the same is done with something else at the same hours: 早上改喝茶了."""
    found = _INSTEAD.search(new)
    if found is None or found["verb"] not in old or re.search("喜欢|最爱|不", old):
        return False
    return _WHEN.findall(new) == _WHEN.findall(old)


_EXCLUSIVE: Final = re.compile(r"(?i)\bprefer|\binstead\b|\bswitched\b|\bbest\b|最|改|换|偏好|更喜欢")
_LEAST_SHARED: Final = 2
"""Words that two statements share: the verb and what it is about."""


def _is_said_anew(new: Statement, old: Statement) -> bool:
    """Whether all but a number is said again (read 20 books, read 40 books now), or all but one of two that exclude."""
    found = parallel(new.text, old.text)
    if _VERSION.search(str(new.value)) and _VERSION.sub("", str(new.value)) == _VERSION.sub("", str(old.value)):
        return True
    if found is None or found.shared < _LEAST_SHARED:
        return False
    return _EXCLUSIVE.search(new.text) is not None or all(
        re.search(r"\d|[一二三四五六七八九十百]", part) for part in (found.new, found.old)
    )


def _names_the_old_value(new: Statement, old: Statement) -> bool:
    if new.before is not None:
        return (
            same_value(new.before, old.value)
            or mentioned(old.value, new.before)
            or mentioned(new.before, str(old.value))
        )
    return mentioned(old.value, new.text)


def _of_one_value(new: Statement, old: Statement, change: Change | None) -> tuple[Verdict, str]:
    if change == "ends":
        return "retract", "ended"
    said, stored = (Meaning.of(_about(one)) for one in (new, old))
    if (said.negations > 0) != (stored.negations > 0) and change != "corrects" and _share(said, stored):
        return "contradict", "negation"
    return ("complement", "detail") if _tells_more(new, old) else ("reinforce", "same_value")


def _about(statement: Statement) -> str:
    """The part of a text in which its value stands, or all of it: "is vegetarian and eats no meat" denies no diet."""
    parts = re.split(r"\band\b|[,，;；]", statement.text)
    value = str(statement.value).casefold()
    return next((part for part in parts if value in part.casefold()), statement.text)


def _share(one: Meaning, other: Meaning) -> bool:
    return bool(set(one.words) & set(other.words))


def _tells_more(new: Statement, old: Statement) -> bool:
    """Whether the new text has names, numbers or a reason that neither the old text nor the value has."""
    said, stored, value = Meaning.of(new.text), Meaning.of(old.text), Meaning.of(str(new.value))
    both_values = f"{new.value} {old.value}"
    known = {*stored.words, *stored.names, *value.words, *Meaning.of(both_values).words}
    new_names = {name for name in said.names if name not in known and not mentioned(name, both_values)}
    new_numbers = {token for token in said.tokens if token not in known}
    return bool(new_names or (new_numbers and not _is_date_only(said, stored))) or said.has_reason > stored.has_reason


def _is_date_only(said: Meaning, stored: Meaning) -> bool:
    return {slot.sort for slot in said.slots} == {"@"} == {slot.sort for slot in stored.slots}


def _narrows(new: Statement, old: Statement) -> bool:
    """Whether only a part of it is over: no more coffee *after five*."""
    said, stored = Meaning.of(new.text), Meaning.of(old.text)
    hours = {slot.token for slot in said.slots if slot.sort in {"%", "&"}} - set(stored.tokens)
    return ends_by_negation(new.text) and (bool(hours) or _ONLY_THEN.search(new.text) is not None)


def _without_values(new: Statement, old: Statement, change: Change | None, *, multivalued: bool) -> tuple[Verdict, str]:
    if change == "ends" and old.value is not None:
        if _narrows(new, old):
            return "complement", "in_part"
        if _names_the_old_value(new, old):
            ended_before = ends_by_negation(old.text) and ends_by_negation(new.text)
            return ("complement", "ended_before") if ended_before else ("retract", "ended")
        named = new.before is not None or Meaning.of(new.text).names - Meaning.of(old.text).names
        if multivalued or named:
            return "complement", "other_value"
        return "retract", "ended"
    if change == "corrects" and new.value is None and old.value is not None and _names_the_old_value(new, old):
        return "correct", "corrected"
    return of_texts(new, old, change, opposite_keys=False)
