"""Memories that leave sight: history in favour of a newer one, or deleted for a while; their disputes end with them."""

from collections.abc import Sequence
from datetime import datetime

from app.domain.memory import VISIBLE_STATUSES
from app.repositories.base import Row, RowLike
from app.repositories.owners import OwnerChange
from app.services.disputes import end_disputes
from app.services.history import event_row
from app.uow import Transaction

SUPERSEDED: frozenset[str] = frozenset({"status", "valid_to", "superseded_by"})
"""What history tells of a memory that another one has replaced."""


async def supersede(
    tx: Transaction, rows: Sequence[Row], by: RowLike, actor: str, at: datetime, reason: str | None = None
) -> list[Row]:
    """Close memories of one owner, all of them in sight, in favour of another one, from when that has been valid.

    The owner's lock is held. History tells the reason, if there is one.
    """
    if not rows:
        return []
    before = {row["id"]: row for row in rows}
    closed: list[Row] = list(await tx.facts.supersede(list(before), by["id"], at, since(by)))
    lost = OwnerChange(-len(closed), -sum(row["length"] for row in closed))
    await tx.owners.lock_and_change(rows[0]["owner"], lost)
    why = {} if reason is None else {"reason": reason}
    await tx.memories.record(
        [event_row("superseded", before[row["id"]], row, actor, at, SUPERSEDED) | why for row in closed]
    )
    await end_disputes(tx, rows, actor, at)
    return closed


async def remove(tx: Transaction, row: Row, actor: str, at: datetime) -> None:
    """Delete a memory whose row is locked: it is invisible at once, and can be brought back for a while."""
    await uncount(tx, row)
    changed = await tx.memories.change(row["id"], {"status": "deleted", "deleted_at": at, "updated_at": at})
    await tx.memories.record([event_row("deleted", row, changed, actor, at, {"status"})])
    await end_disputes(tx, [row], actor, at)


async def uncount(tx: Transaction, row: Row) -> None:
    """Take a memory that is about to leave sight out of its owner's counters."""
    if row["status"] in VISIBLE_STATUSES:
        await tx.owners.lock_and_change(row["owner"], OwnerChange(memories=-1, memory_tokens=-row["length"]))


def since(row: RowLike) -> datetime:
    """From when a memory has been valid."""
    at: datetime = row["valid_from"] or row["created_at"]
    return at
