"""Memories as answers have them."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from app.core import clock
from app.core.errors import NotFound
from app.domain.memory import VISIBLE_STATUSES, Status, visible
from app.domain.scope import Scope
from app.repositories.base import RowLike
from app.schemas.memories import Memory, MemorySource
from app.uow import Transaction


async def memories_of(tx: Transaction, rows: Sequence[RowLike]) -> list[Memory]:
    """Memories as answers have them, each with its sources."""
    by_memory = await sources_of(tx, [row["id"] for row in rows])
    return [_memory(row, by_memory.get(row["id"], [])) for row in tx.shown(rows)]


async def sources_of(tx: Transaction, memory_ids: Sequence[UUID]) -> dict[UUID, list[MemorySource]]:
    """Where memories come from, by memory."""
    found: dict[UUID, list[MemorySource]] = {}
    if not memory_ids:
        return found
    for row in await tx.memories.sources(memory_ids):
        found.setdefault(row["memory_id"], []).append(
            MemorySource(
                session_id=row["session_id"],
                seqs=row["seqs"],
                message_ids=[str(message_id) for message_id in row["message_ids"]],
                external_ids=row["external_ids"],
                quote=row["quote"],
            )
        )
    return found


def _memory(row: RowLike, sources: list[MemorySource]) -> Memory:
    derived = {"id", "sources", "redacted", "shared", "superseded_by", "status", "sealed"}
    superseded_by = row["superseded_by"]
    return Memory(
        id=str(row["id"]),
        sources=sources,
        status=shown_status(row, clock.now()),
        sealed=row["sealed"] is not None,
        shared=row["owner"] == Scope().owner,
        superseded_by=None if superseded_by is None else str(superseded_by),
        **{name: row[name] for name in Memory.model_fields if name not in derived},
    )


def shown_status(row: RowLike, at: datetime) -> Status:
    """A memory's status as it is at an instant: what has expired is expired, also before the sweep came by."""
    status: Status = row["status"]
    over = row["expires_at"] is not None and row["expires_at"] <= at
    return "expired" if over and status in VISIBLE_STATUSES else status


def is_current(row: RowLike, at: datetime) -> bool:
    """Whether a memory is current at an instant: active or disputed, still valid, not expired."""
    return visible(row["status"], row["valid_to"], row["expires_at"], at)


def no_memory() -> NotFound:
    """An absent or a foreign memory: the answer is the same."""
    return NotFound("There is no such memory.", code="memory_not_found")
