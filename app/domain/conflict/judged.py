"""A language model's verdict, as far as rules allow it."""

from typing import Final

from app.domain.conflict.authority import may_displace, may_dispute
from app.domain.conflict.keys import same_key
from app.domain.conflict.meaning import Meaning
from app.domain.conflict.statements import DISPLACING, Decision, Statement
from app.domain.conflict.synonyms import GENERIC
from app.domain.conflict.values import same_value

_SETTLED: Final = frozenset(
    {"same_text", "same_value", "confirmed", "echo", "older", "weaker_source", "stronger_source", "ended"}
)
"""Reasons of the rules that no model overrules: whose word counts, what is older, and what is one by its spelling."""


def guarded(new: Statement, old: Statement, found: Decision, judged: Decision, *, multivalued: bool) -> Decision:
    """The judged decision where the rules let it stand, else theirs.

    A model decides where words alone cannot tell. It displaces nothing that a higher or newer source said, nothing
    that has no word in common with what is new, and no second value of a key with many without a word of a change; it
    does not keep two values of a key that has one; and it takes nothing for a repetition that has another number, a
    negation, or a name more.

    Args:
        new: What was said.
        old: What is stored.
        found: What the rules decide.
        judged: What the model decided.
        multivalued: Whether their key holds several values.
    """
    if found.reason in _SETTLED or judged.verdict == found.verdict:
        return found
    one_key = same_key(new, old)
    match judged.verdict:
        case "reinforce":
            allowed = may_displace(new, old) and _may_be_one(new, old)
        case "contradict":
            allowed = may_dispute(new, old) and _share_a_word(new, old)
        case "correct" | "supersede" | "retract":
            allowed = (
                may_displace(new, old)
                and new.occurred_at >= old.occurred_at
                and (one_key or _share_a_word(new, old))
                and not (one_key and multivalued and found.verdict == "complement" and new.change in {None, "adds"})
            )
        case "add" | "complement":
            allowed = not (one_key and not multivalued and found.verdict in DISPLACING)
    return judged if allowed else found


def _may_be_one(new: Statement, old: Statement) -> bool:
    said, stored = Meaning.of(new.text), Meaning.of(old.text)
    if same_key(new, old) and new.value is not None and old.value is not None and same_value(new.value, old.value):
        return said.negations == stored.negations
    return (
        sorted(said.tokens) == sorted(stored.tokens)
        and (said.negations > 0) == (stored.negations > 0)
        and said.names <= stored.names | set(stored.words)
        and not (said.compares and stored.compares and said.words != stored.words)
    )


def _share_a_word(new: Statement, old: Statement) -> bool:
    shared = set(Meaning.of(new.text).words) & set(Meaning.of(old.text).words)
    return len(shared) > 1 or bool(shared - GENERIC)
