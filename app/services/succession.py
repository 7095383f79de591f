"""Messages and what was learnt from them, in one order: what is history by now gives its place to what is true."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self
from uuid import UUID

from app.core.text.language import language_of
from app.repositories.base import RowLike
from app.services.ranking import Scored

STALE_SHARE: Final = 0.5
"""What a message keeps of its score where all that it says is history, and what is true now is no candidate."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """What was learnt from messages, by the messages' ids.

    Args:
        memories: The current memories that say it.
        stale: The messages of which nothing is true any more.
    """

    memories: Mapping[UUID, Sequence[UUID]]
    stale: frozenset[UUID]

    @classmethod
    def of(cls, rows: Iterable[RowLike]) -> Self:
        """From messages as they are read with their memories."""
        known = {row["id"]: row for row in rows}
        return cls(
            {name: row["memories"] for name, row in known.items()},
            frozenset(name for name, row in known.items() if row["stale"]),
        )


@dataclass(frozen=True, slots=True)
class Succession:
    """An order in which no stale message stands in the way.

    Args:
        hits: Best first; each once.
        replaced: Stale messages that gave their places away, with the memory that took each.
    """

    hits: list[Scored]
    replaced: list[tuple[Scored, UUID]]


def succeeded(best: Sequence[Scored], found: Iterable[Scored], lineage: Lineage) -> Succession:
    """The best hits with stale messages replaced by the current memories, which take over their relevance.

    Args:
        best: The contenders, best first.
        found: All candidates: whatever takes a place is one of them, as only they are in scope and visible.
        lineage: What was learnt from the messages among the best.
    """
    if not any(hit.id in lineage.stale for hit in best):
        return Succession(list(best), [])
    memories = {hit.id: hit for hit in found if hit.type == "memory"}
    kept = {hit.id: hit for hit in best if hit.id not in lineage.stale}
    replaced: list[tuple[Scored, UUID]] = []
    for hit in best:
        if hit.id not in lineage.stale:
            continue
        heirs = [memories[name] for name in lineage.memories[hit.id] if name in memories]
        if not heirs:
            kept[hit.id] = replace(hit, score=hit.score * STALE_SHARE)
            continue
        heir = max(heirs, key=lambda one: one.score)
        standing = kept.get(heir.id, heir)
        kept[heir.id] = replace(
            standing, score=max(standing.score, hit.score), relevance=max(standing.relevance, hit.relevance)
        )
        replaced.append((hit, heir.id))
    return Succession(sorted(kept.values(), key=lambda one: -one.score), replaced)


def in_language_of(question: str, hits: Sequence[Scored], rows: Mapping[UUID, RowLike]) -> list[Scored]:
    """Of disputed values of one key, those in the question's language first: nobody has decided between them yet.

    They change places, and with them score and relevance; all else stays.
    """
    places: dict[tuple[str, str], list[int]] = {}
    for place, hit in enumerate(hits):
        row = rows.get(hit.id)
        if row is not None and hit.type == "memory" and row["key"] is not None and row["status"] == "disputed":
            places.setdefault((row["owner"], row["key"]), []).append(place)
    ordered = list(hits)
    if not places:
        return ordered
    asked = language_of(question)
    for mine in places.values():
        wanted = sorted(mine, key=lambda place: language_of(rows[hits[place].id]["text"]) != asked)
        for place, source in zip(mine, wanted, strict=True):
            ordered[place] = replace(hits[source], score=hits[place].score, relevance=hits[place].relevance)
    return ordered
