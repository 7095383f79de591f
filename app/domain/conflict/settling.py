"""What a new statement means for all its neighbours together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, Literal, TypeVar

from app.domain.conflict.adopting import adopted, only_about
from app.domain.conflict.authority import is_claim, may_displace
from app.domain.conflict.deciding import RELATED, decide
from app.domain.conflict.judged import guarded
from app.domain.conflict.keys import same_key
from app.domain.conflict.statements import DISPLACING, Decision, Statement, Verdict
from app.domain.keys import built_in

Id = TypeVar("Id")

Outcome = Literal["add", "reinforce", "ignore"]
"""What becomes of the new statement: a row of its own, one more saying of a stored one, or nothing."""

_HEADLINES: Final[tuple[Verdict, ...]] = ("correct", "retract", "supersede", "contradict", "complement")


@dataclass(frozen=True, slots=True)
class Effect(Generic[Id]):
    """What happens to one neighbour.

    Args:
        id: The neighbour's.
        decision: Never `add` or `reinforce`.
    """

    id: Id
    decision: Decision


@dataclass(frozen=True, slots=True)
class Plan(Generic[Id]):
    """What is to be written.

    Args:
        outcome: What becomes of the new statement.
        verdict: The word for all of it; `add` where nothing happens to any neighbour.
        reason: That of the verdict.
        target: The stored statement that was said again, where the outcome is `reinforce`. With the reason `confirmed`
            it was a claim until now, and becomes what the user stated.
        effects: What happens to neighbours, the latest first. For a single-valued key one verdict is told, of its
            latest value; earlier ones that were still there are superseded.
        superseded_by: The stored statement that is newer: the new one becomes history at once, valid from its own
            `occurred_at` to that of this one.
        uncertain: Whether the new row must be uncertain.
        key: The key that the new row gets; None where another row holds the slot, or where it says what is no more.
    """

    outcome: Outcome
    verdict: Verdict
    reason: str
    target: Id | None = None
    effects: tuple[Effect[Id], ...] = ()
    superseded_by: Id | None = None
    uncertain: bool = False
    key: str | None = None

    def ids(self, *verdicts: Verdict) -> list[Id]:
        """The neighbours that one of these verdicts hits."""
        return [effect.id for effect in self.effects if effect.decision.verdict in verdicts]


@dataclass(frozen=True, slots=True)
class _Decided(Generic[Id]):
    id: Id
    old: Statement
    decision: Decision


def settle(
    new: Statement,
    olds: Sequence[tuple[Id, Statement, float | None]],
    *,
    multivalued: bool,
    related: float = RELATED,
    judged: Mapping[Id, Decision] | None = None,
) -> Plan[Id]:
    """What a new statement means for all that is near it: the rows of its key, and texts alike. Pure, deterministic.

    A single-valued key that had at most one value that is served as a fact has at most one afterwards, or a disputed
    pair.

    Args:
        new: What was said.
        olds: Active or disputed rows, each once, with the calibrated similarity of the texts where it is known.
        multivalued: Whether the new statement's key holds several values at once.
        related: As in `decide`.
        judged: What a language model decided about neighbours, by their ids; the rules check it.
    """
    adopting = adopted(new, [old for _, old, _ in olds])
    if adopting.key != new.key:
        known = built_in(adopting.key or "")
        new, multivalued = adopting, known is not None and known.multi_valued
    decided = [
        _Decided(
            name, old, _decide(new, old, similarity, (judged or {}).get(name), multivalued=multivalued, related=related)
        )
        for name, old, similarity in olds
    ]
    about = only_about(new, [old for _, old, _ in olds])
    if (
        about is not None
        and decided[about].decision.verdict in {"add", "complement"}
        and may_displace(new, olds[about][1])
    ):
        similarity = decided[about].decision.similarity
        decided[about] = replace(decided[about], decision=Decision("supersede", "same_noun", similarity))
    same = [one for one in decided if one.decision.verdict == "reinforce"]
    newer = [one for one in decided if one.decision.reason == "older"]
    single = new.key is not None and not multivalued
    effects = _effects(new, decided, single=single, as_history=bool(newer))
    if same:
        target = max(same, key=lambda one: (not is_claim(one.old), one.decision.similarity or 0.0, one.old.occurred_at))
        displacing = tuple(effect for effect in effects if effect.decision.verdict in DISPLACING)
        return Plan("reinforce", "reinforce", target.decision.reason, target.id, displacing, key=new.key)
    if any(one.decision.reason == "echo" for one in decided):
        return Plan("ignore", "add", "echo")
    if newer:
        first = min(newer, key=lambda one: one.old.occurred_at)
        return Plan("add", "add", "older", None, effects, first.id, uncertain=new.uncertain, key=new.key)
    plan = _headline(effects, decided)
    weaker = any(one.decision.reason == "weaker_source" for one in decided)
    held = single and _is_held(new, decided)
    key = None if held or plan.verdict == "retract" or new.change == "ends" else new.key
    return replace(plan, effects=effects, uncertain=new.uncertain or weaker, key=key)


def _decide(
    new: Statement,
    old: Statement,
    similarity: float | None,
    judged: Decision | None,
    *,
    multivalued: bool,
    related: float,
) -> Decision:
    found = decide(new, old, similarity=similarity, multivalued=multivalued, related=related)
    return found if judged is None else guarded(new, old, found, judged, multivalued=multivalued)


def _effects(
    new: Statement, decided: Sequence[_Decided[Id]], *, single: bool, as_history: bool
) -> tuple[Effect[Id], ...]:
    effects: list[Effect[Id]] = []
    told = False
    for one in sorted(decided, key=lambda one: one.old.occurred_at, reverse=True):
        decision = one.decision
        if decision.verdict in {"add", "reinforce"} or (as_history and decision.verdict == "contradict"):
            continue
        if single and decision.verdict in DISPLACING and same_key(new, one.old):
            if told:
                decision = Decision("supersede", "settled", decision.similarity)
            told = True
        effects.append(Effect(one.id, decision))
    return tuple(effects)


def _headline(effects: Sequence[Effect[Id]], decided: Sequence[_Decided[Id]]) -> Plan[Id]:
    for verdict in _HEADLINES:
        for effect in effects:
            if effect.decision.verdict == verdict:
                return Plan("add", verdict, effect.decision.reason)
    sources = [one.decision.reason for one in decided if one.decision.reason.endswith("_source")]
    return Plan("add", "add", sources[0] if sources else "new")


def _is_held(new: Statement, decided: Sequence[_Decided[Id]]) -> bool:
    """Whether a fact of the same key stays as it is: then the new row does not fill the slot."""
    return any(
        same_key(new, one.old)
        and one.old.value is not None
        and not is_claim(one.old)
        and one.decision.verdict not in {*DISPLACING, "contradict"}
        for one in decided
    )
