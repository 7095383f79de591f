"""From an order to hits: what is alike shown once, constraints kept, the budget held, and why the rest was left out."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final
from uuid import UUID

from app.domain.budget import within_budget
from app.domain.likeness import Wording
from app.domain.overtaking import overtaken
from app.repositories.base import RowLike
from app.schemas.search import Reason
from app.services.news import Likeness, said_of
from app.services.ranking import Scored

CONSTRAINT_SHARE: Final = 3
"""One place of so many is kept for constraints, however little they have to do with the question."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a search wants of its hits."""

    top_k: int
    min_score: float
    token_budget: int | None
    collapse: bool
    every_constraint: bool = False
    """Whether constraints take no places of others, and none is left out."""


@dataclass(slots=True)
class Kept:
    """A hit, and what says nearly the same and was left out for it."""

    hit: Scored
    similar: list[Scored] = field(default_factory=list)
    kin: list[Scored] = field(default_factory=list)
    """What was learnt from this message, or the messages that this memory was learnt from."""


@dataclass(frozen=True, slots=True)
class LeftOutHit:
    """A candidate that is no hit, and why."""

    hit: Scored
    reason: Reason
    similar_to: UUID | None = None


@dataclass(frozen=True, slots=True)
class Shortlist:
    """Hits, best first, and what was left out for which reason."""

    kept: list[Kept]
    left_out: list[LeftOutHit]

    def count(self, reason: Reason) -> int:
        """How many were left out for one reason."""
        return sum(one.reason == reason for one in self.left_out)


def relevant(found: Iterable[Scored], min_score: float) -> tuple[list[Scored], list[LeftOutHit]]:
    """What is relevant enough, best first; a constraint always is."""
    kept, left = [], []
    for hit in sorted(found, key=lambda one: -one.score):
        if hit.relevance >= min_score or (hit.constraint and hit.signals):
            kept.append(hit)
        else:
            left.append(LeftOutHit(hit, "min_score"))
    return kept, left


def contenders(found: Sequence[Scored], depth: int) -> list[Scored]:
    """The best so many, and every constraint."""
    return [*found[:depth], *(hit for hit in found[depth:] if hit.constraint)]


def shortlist(
    found: Sequence[Scored],
    rows: Mapping[UUID, RowLike],
    limits: Limits,
    learnt: Mapping[UUID, Sequence[UUID]] = MappingProxyType({}),
    replaced: Sequence[tuple[Scored, UUID]] = (),
    likeness: Likeness | None = None,
) -> Shortlist:
    """Hits of the contenders, whose rows are at hand.

    Args:
        found: Contenders, best first.
        rows: Their texts and tokens by id; what is missing was deleted meanwhile.
        limits: How many, and how much.
        learnt: The memories that say what a message said, by the message's id.
        replaced: Messages that have given their place to a memory.
        likeness: Of news and what it may have changed, where it is asked how things are now: the news then comes first.
    """
    present = [hit for hit in found if hit.id in rows]
    kept, left = _collapsed(present, rows, limits, learnt) if limits.collapse else ([Kept(hit) for hit in present], [])
    kept = kept if likeness is None else _news_first(kept, rows, likeness)
    left += [LeftOutHit(hit, "superseded", heir) for hit, heir in replaced]
    chosen, beyond = _top(kept, limits)
    left += [LeftOutHit(one.hit, "below_top_k") for one in beyond]
    costs = [rows[one.hit.id]["tokens"] for one in chosen]
    fits = within_budget(costs, [one.hit.constraint for one in chosen], limits.token_budget)
    left += [LeftOutHit(one.hit, "over_budget") for one, fit in zip(chosen, fits, strict=True) if not fit]
    return Shortlist([one for one, fit in zip(chosen, fits, strict=True) if fit], left)


def _collapsed(
    found: Sequence[Scored], rows: Mapping[UUID, RowLike], limits: Limits, learnt: Mapping[UUID, Sequence[UUID]]
) -> tuple[list[Kept], list[LeftOutHit]]:
    """What says nearly the same becomes one hit, and so do a message and what was learnt from it.

    Only as many texts are compared as there can be hits.
    """
    kept: list[Kept] = []
    wordings: list[Wording] = []
    owners: list[str] = []
    for position, hit in enumerate(found):
        if len(kept) >= limits.top_k and not hit.constraint:
            kept += [Kept(rest) for rest in found[position:]]
            break
        wording = Wording.of(rows[hit.id]["text"])
        owner = rows[hit.id]["owner"]  # what two people say alike are two facts
        alike = (row for row, other in enumerate(wordings) if owners[row] == owner and wording.says_the_same_as(other))
        same = next(alike, None)
        related = None if hit.constraint else next((one for one in kept if _related(one.hit, hit, learnt)), None)
        if same is not None:
            _join(kept, same, hit)
        elif related is not None:
            related.kin.append(hit)
        else:
            kept.append(Kept(hit))
            wordings.append(wording)
            owners.append(owner)
    left = [LeftOutHit(one, "near_identical", keeper.hit.id) for keeper in kept for one in keeper.similar]
    left += [LeftOutHit(one, "same_source", keeper.hit.id) for keeper in kept for one in keeper.kin]
    return _by_score(kept), left


def _news_first(kept: list[Kept], rows: Mapping[UUID, RowLike], likeness: Likeness) -> list[Kept]:
    """Hits that `overtaken` lets change places change scores with them."""
    ids = [one.hit.id for one in kept]
    said = [said_of(one.hit, rows[one.hit.id]) for one in kept]
    order = overtaken(said, lambda one, other: likeness.of(ids[one], ids[other]))
    moved = []
    for place, source in enumerate(order):
        there = kept[place].hit
        hit = replace(kept[source].hit, score=there.score, relevance=there.relevance)
        moved.append(kept[source] if place == source else replace(kept[source], hit=hit))
    return moved


def _join(kept: list[Kept], row: int, hit: Scored) -> None:
    """Put a hit with the one that says the same; which of the two is shown is decided anew."""
    one = kept[row]
    if _replaces(hit, one.hit):
        kept[row] = Kept(_instead(hit, one.hit), [one.hit, *one.similar], one.kin)
    else:
        one.similar.append(hit)


def _instead(hit: Scored, other: Scored) -> Scored:
    """A hit in the place of another one that says the same: what was found by the other's words is found."""
    return replace(hit, score=max(hit.score, other.score), relevance=max(hit.relevance, other.relevance))


def _related(one: Scored, other: Scored, learnt: Mapping[UUID, Sequence[UUID]]) -> bool:
    """Whether one of the two was learnt from the other."""
    return other.id in learnt.get(one.id, ()) or one.id in learnt.get(other.id, ())


def _replaces(hit: Scored, other: Scored) -> bool:
    """A memory stands for the messages that say the same; among equals the newer one does."""
    if hit.type != other.type:
        return hit.type == "memory"
    return hit.constraint >= other.constraint and hit.happened > other.happened


def _top(kept: Sequence[Kept], limits: Limits) -> tuple[list[Kept], list[Kept]]:
    """The best so many; up to a third of the places is kept for constraints, whatever is asked.

    A constraint's place in the order is what it has to do with the question by itself: being one, being important and
    weighing more bring it into the list, and not before answers.
    """
    ranked = sorted(kept, key=lambda one: -_earned(one.hit))
    if limits.every_constraint:
        answers = {one.hit.id for one in [one for one in ranked if not one.hit.constraint][: limits.top_k]}
        return _descending([one for one in ranked if one.hit.constraint or one.hit.id in answers]), []
    best, rest = ranked[: limits.top_k], ranked[limits.top_k :]
    places = max(1, limits.top_k // CONSTRAINT_SHARE) - sum(one.hit.constraint for one in best)
    for one in [one for one in rest if one.hit.constraint][: max(0, places)]:
        giving = next((row for row in range(len(best) - 1, 0, -1) if not best[row].hit.constraint), None)
        if giving is None:
            break
        rest.append(best.pop(giving))
        rest.remove(one)
        best.append(one)
    return _descending(best), _by_score(rest)


def _descending(kept: Sequence[Kept]) -> list[Kept]:
    """The same in their order, no score above the one before it."""
    lowest, shown = 1.0, []
    for one in kept:
        lowest = min(lowest, one.hit.score)
        shown.append(one if one.hit.score == lowest else replace(one, hit=replace(one.hit, score=lowest)))
    return shown


def _by_score(kept: Sequence[Kept]) -> list[Kept]:
    return sorted(kept, key=lambda one: -one.hit.score)


def _earned(hit: Scored) -> float:
    """The score, for a constraint what it would be if it were none; in [0, 1]."""
    if not hit.constraint:
        return hit.score
    return float(1.0 - (1.0 - hit.unasked) ** hit.columns.pool.weight[hit.row])
