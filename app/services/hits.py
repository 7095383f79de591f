"""Hits as answers have them."""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from app.repositories.base import Row
from app.schemas.memories import MemorySource
from app.schemas.search import Hit, ScoreBreakdown
from app.services.ranking import Scored

SCOPE: Final = ("user_id", "agent_id", "app_id", "session_id")


def breakdown_of(hit: Scored) -> ScoreBreakdown:
    """Where a score comes from."""
    fused = hit.fused
    return ScoreBreakdown(
        relevance=fused.relevance,
        recency=hit.recency,
        importance=hit.importance,
        similarity=fused.similarity,
        similarity_raw=fused.similarity_raw,
        bm25=fused.bm25,
        ranks={leg.value: rank for leg, rank in fused.ranks.items()},
    )


def hit_of(hit: Scored, sources: Mapping[UUID, list[MemorySource]]) -> Hit:
    """A memory or a message with its score and its sources."""
    shown = {
        "type": hit.type,
        "id": str(hit.row["id"]),
        "text": hit.row["text"],
        "occurred_at": hit.row["occurred_at"],
        "created_at": hit.row["created_at"],
        "metadata": hit.row["metadata"],
        "score": hit.score,
        "score_breakdown": breakdown_of(hit),
    }
    if hit.type == "message":
        return Hit(**shown, **_message_fields(hit.row))
    return Hit(**shown, **_memory_fields(hit.row), sources=sources.get(hit.row["id"], []))


def _memory_fields(row: Row) -> dict[str, Any]:
    names = (
        *SCOPE,
        "kind",
        "category",
        "key",
        "value",
        "source",
        "uncertain",
        "confidence",
        "importance",
        "weight",
        "pinned",
    )
    own = {name: row[name] for name in (*names, "valid_from", "valid_to")}
    return own | {"role": None, "disputed": row["status"] == "disputed"}


def _message_fields(row: Row) -> dict[str, Any]:
    """A message is its own source."""
    names = ("kind", "category", "key", "value", "source", "confidence", "importance", "weight")
    external = row["external_id"]
    source = MemorySource(
        session_id=row["session_id"],
        seqs=[row["seq"]],
        message_ids=[str(row["id"])],
        external_ids=[] if external is None else [external],
        quote=None,
    )
    absent: dict[str, Any] = dict.fromkeys((*SCOPE, *names, "valid_from", "valid_to"))
    owner = row["owner"]
    user = owner.removeprefix("u:") if owner.startswith("u:") else None
    return absent | {
        "user_id": user,
        "session_id": row["session_id"],
        "role": row["role"],
        "uncertain": False,
        "disputed": False,
        "pinned": False,
        "sources": [source],
    }
