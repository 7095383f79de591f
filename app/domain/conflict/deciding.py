"""What a new statement means for one that is stored: by key and value, by words, and by what it says of a change."""

from typing import Final

from app.core.text.normal import normalise
from app.domain.conflict.authority import is_claim, may_displace, may_dispute, outranks, rank
from app.domain.conflict.cues import change_of, is_tentative
from app.domain.conflict.keyed import of_one_key
from app.domain.conflict.keys import canonical, same_key
from app.domain.conflict.numbered import about_others
from app.domain.conflict.statements import DISPLACING, Decision, Statement, Verdict
from app.domain.conflict.texts import of_texts
from app.domain.conflict.values import same_value
from app.domain.extraction.candidates import Change
from app.domain.keys import HABIT, needs_cue

RELATED: Final = 0.35
"""The least calibrated similarity of two texts without a common key that are looked at."""

_LIKED: Final = frozenset({"preference.like", "user.hobby"})
_OPPOSITE_KEYS: Final = frozenset({frozenset({"preference.like", "preference.dislike"})})


def decide(
    new: Statement, old: Statement, *, similarity: float | None, multivalued: bool, related: float = RELATED
) -> Decision:
    """What a new statement does to a stored one. Pure and deterministic.

    Similarity only nominates: below `related`, texts without a common key have nothing to do with each other; above
    it their words decide, for models find "tabs over spaces" and "spaces over tabs" alike.

    Args:
        new: What was said.
        old: What is stored.
        similarity: Of the two texts, calibrated, in [0, 1]; None where nobody worked it out.
        multivalued: Whether the key of the two holds several values at once.
        related: The least similarity of texts without a common key that are looked at.
    """
    verdict, reason = _by_authority(new, old, *_said(new, old, similarity, related, multivalued=multivalued))
    return Decision(verdict, reason, similarity)


def _said(
    new: Statement, old: Statement, similarity: float | None, related: float, *, multivalued: bool
) -> tuple[Verdict, str]:
    if normalise(new.text).strip() == normalise(old.text).strip() and new.change != "ends":
        return "reinforce", "same_text"
    change = new.change or change_of(new.text, has_value=None if new.key is None else new.value is not None)
    if same_key(new, old):
        if needs_cue(str(new.key)):
            change, multivalued = _of_loose_key(new, old, change)
        tentative = (
            change != "corrects" and new.change is None and is_tentative(new.text) and not is_tentative(old.text)
        )
        return of_one_key(new, old, change, multivalued=multivalued, tentative=tentative)
    if change == "ends" and _liked_before(new, old):
        return "retract", "ended"
    if similarity is not None and similarity < related:
        return "add", "unrelated"
    if change != "corrects" and about_others(new.text, old.text):
        return "add", "other_thing"
    return of_texts(new, old, change, opposite_keys=_opposite(new, old))


def _liked_before(new: Statement, old: Statement) -> bool:
    """Whether it ends a liking that is kept as what one does, or the other way round."""
    if new.key is None or old.key is None or not {canonical(new.key), canonical(old.key)} <= _LIKED:
        return False
    return new.before is not None and old.value is not None and same_value(new.before, old.value)


def _of_loose_key(new: Statement, old: Statement, change: Change | None) -> tuple[Change | None, bool]:
    """A second dog is one more, a dog with a new name is not; a habit gives way only where its form says so."""
    if str(new.key).startswith(HABIT):
        change = new.change
    named = new.before is None or old.value is None or same_value(new.before, old.value)
    return change, not (change in {"replaces", "corrects"} and named)


def _opposite(new: Statement, old: Statement) -> bool:
    if new.key is None or old.key is None:
        return False
    return frozenset({canonical(new.key), canonical(old.key)}) in _OPPOSITE_KEYS


def _by_authority(new: Statement, old: Statement, verdict: Verdict, reason: str) -> tuple[Verdict, str]:
    """What remains of it once it is known who said what, and when."""
    if verdict == "reinforce":
        # What was derived or claimed repeats what it was made from: it strengthens nothing.
        echo = rank(new.source) < rank(old.source) or (new.uncertain and not old.uncertain) or new.source == "derived"
        return ("add", "echo") if echo else (verdict, "confirmed" if outranks(new, old) else reason)
    if verdict == "contradict":
        if may_dispute(new, old):
            return verdict, reason
        return "add", "stronger_source" if may_displace(new, old) else "weaker_source"
    if verdict not in DISPLACING:
        return verdict, reason
    if not may_displace(new, old):
        return ("contradict", "other_source") if may_dispute(new, old) else ("add", "weaker_source")
    if new.occurred_at < old.occurred_at and not outranks(new, old) and is_claim(new) == is_claim(old):
        return "add", "older"
    return verdict, reason
