"""Hits as answers have them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from app.domain.neighbourhood import Place
from app.domain.scope import Scope
from app.repositories.base import RowLike
from app.schemas.memories import MemorySource
from app.schemas.search import Hit, NearbyMessage, ScoreBreakdown
from app.services.ranking import Scored
from app.services.shortlist import Kept, Shortlist
from app.services.texts import Texts
from app.uow import Transaction

SCOPE: Final = ("user_id", "agent_id", "app_id", "session_id")
_MEMORY_FIELDS: Final = (
    *SCOPE,
    *("kind", "category", "key", "value", "source", "uncertain", "confidence", "importance", "weight", "pinned"),
    *("valid_from", "valid_to"),
)
_ABSENT: Final[dict[str, Any]] = dict.fromkeys(
    (
        *SCOPE,
        *("kind", "category", "key", "value", "source", "confidence", "importance", "weight", "valid_from", "valid_to"),
    )
)


@dataclass(frozen=True, slots=True)
class Nearby:
    """Messages that stand next to hits, by session and number."""

    messages: Mapping[Place, NearbyMessage]
    reach: int

    @classmethod
    async def read(cls, tx: Transaction, hits: Sequence[Scored], texts: Texts, reach: int) -> Self:
        """What stands up to `reach` messages before and after the hits' own."""
        spans = [
            (session, first - reach, last + reach)
            for hit in hits
            if (extent := _extent(hit, texts)) is not None
            for session, first, last in (extent,)
        ]
        rows = await tx.messages.around(spans) if spans else []
        return cls({(row["session_id"], row["seq"]): _nearby(row) for row in rows}, reach)

    def before(self, extent: tuple[str, int, int]) -> list[NearbyMessage]:
        """In their order."""
        session, first, _ = extent
        return self._at(session, range(first - self.reach, first))

    def after(self, extent: tuple[str, int, int]) -> list[NearbyMessage]:
        """In their order."""
        session, _, last = extent
        return self._at(session, range(last + 1, last + self.reach + 1))

    def _at(self, session: str, numbers: Sequence[int]) -> list[NearbyMessage]:
        found = (self.messages.get((session, number)) for number in numbers)
        return [message for message in found if message is not None]


def hits_of(chosen: Shortlist, texts: Texts, nearby: Nearby) -> list[Hit]:
    """Memories and messages with their scores and their sources."""
    return [_hit(one, texts, nearby) for one in chosen.kept]


def breakdown_of(hit: Scored) -> ScoreBreakdown:
    """Where a score comes from."""
    return ScoreBreakdown(
        relevance=hit.relevance,
        recency=hit.recency,
        importance=hit.importance,
        similarity=hit.similarity,
        similarity_raw=hit.similarity_raw,
        bm25=hit.bm25,
        coverage=hit.coverage,
        ranks=hit.ranks,
        signals=hit.signals,
        context=hit.context,
        rerank=hit.rerank,
    )


def _hit(one: Kept, texts: Texts, nearby: Nearby) -> Hit:
    hit, row = one.hit, texts.rows[one.hit.id]
    extent = _extent(hit, texts) if nearby.reach else None
    shown = {
        "type": hit.type,
        "id": str(row["id"]),
        "text": row["text"],
        "occurred_at": row["occurred_at"],
        "created_at": row["created_at"],
        "metadata": row["metadata"],
        "score": hit.score,
        "score_breakdown": breakdown_of(hit),
        "tokens": row["tokens"],
        "similar_ids": [str(other.id) for other in (*one.similar, *one.kin)],
        "context_before": [] if extent is None else nearby.before(extent),
        "context_after": [] if extent is None else nearby.after(extent),
    }
    if hit.type == "message":
        return Hit(**shown, **_message_fields(row))
    return Hit(**shown, **_memory_fields(row), sources=texts.sources.get(row["id"], []))


def _extent(hit: Scored, texts: Texts) -> tuple[str, int, int] | None:
    """From which to which message of which session a hit was said: a memory's by its first source."""
    if hit.type == "message":
        row = texts.rows[hit.id]
        return row["session_id"], row["seq"], row["seq"]
    for source in texts.sources.get(hit.id, []):
        if source.session_id is not None and source.seqs:
            return source.session_id, min(source.seqs), max(source.seqs)
    return None


def _nearby(row: RowLike) -> NearbyMessage:
    return NearbyMessage(
        session_id=row["session_id"],
        seq=row["seq"],
        role=row["role"],
        text=row["text"],
        occurred_at=row["occurred_at"],
    )


def _memory_fields(row: RowLike) -> dict[str, Any]:
    own = {name: row[name] for name in _MEMORY_FIELDS}
    states = {name: row["status"] == name for name in ("disputed", "archived")}
    return own | states | {"role": None, "needs_confirmation": row["needs_confirmation"]}


def _message_fields(row: RowLike) -> dict[str, Any]:
    """A message is its own source."""
    external = row["external_id"]
    source = MemorySource(
        session_id=row["session_id"],
        seqs=[row["seq"]],
        message_ids=[str(row["id"])],
        external_ids=[] if external is None else [external],
        quote=None,
    )
    owner = row["owner"]
    return _ABSENT | {
        "user_id": Scope.of_owner(owner).user_id,
        "session_id": row["session_id"],
        "role": row["role"],
        "uncertain": False,
        "disputed": False,
        "pinned": False,
        "sources": [source],
    }
