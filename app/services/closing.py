"""Memories that leave sight: history in favour of a newer one, or deleted for a while; their disputes end with them."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from app.domain.memory import VISIBLE_STATUSES
from app.repositories.base import Row, RowLike
from app.repositories.owners import OwnerChange
from app.services.history import event_row
from app.uow import Transaction

SUPERSEDED: frozenset[str] = frozenset({"status", "valid_to", "superseded_by"})
"""What history tells of a memory that another one has replaced."""

DISPLACED = "displaced"
"""The resolution of a conflict one side of which has left sight."""


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


async def end_disputes(tx: Transaction, gone: Sequence[RowLike], actor: str, at: datetime) -> None:
    """Close the conflicts of memories that have left sight: what stood against them stands undisputed.

    Args:
        tx: Holds the lock of the memories' owners.
        gone: The memories as they were before.
        actor: For history.
        at: When they left. By it undoing finds what to open again.
    """
    disputed = [row["id"] for row in gone if row["status"] == "disputed"]
    touched = await tx.conflicts.touching(disputed) if disputed else []
    if touched:
        await tx.conflicts.resolve([row["id"] for row in touched], DISPLACED, at)
        others = {row[name] for row in touched for name in ("memory_id", "other_id")} - set(disputed)
        await undispute(tx, sorted(others), actor, at)


async def undispute(tx: Transaction, memory_ids: Sequence[UUID], actor: str, at: datetime) -> None:
    """What is in no open conflict any more is active again, or history where an active one says the same."""
    still = {one for row in await tx.conflicts.touching(memory_ids) for one in (row["memory_id"], row["other_id"])}
    for row in await tx.memories.by_ids(sorted(set(memory_ids) - still)):
        if row["status"] != "disputed":
            continue
        twin = await tx.memories.twin(row)
        if twin is not None:
            await supersede(tx, [row], (await tx.memories.by_ids([twin]))[0], actor, at)
            continue
        changed = await tx.memories.change(row["id"], {"status": "active", "updated_at": at})
        await tx.memories.record([event_row("settled", row, changed, actor, at, {"status"})])


async def uncount(tx: Transaction, row: Row) -> None:
    """Take a memory that is about to leave sight out of its owner's counters."""
    if row["status"] in VISIBLE_STATUSES:
        await tx.owners.lock_and_change(row["owner"], OwnerChange(memories=-1, memory_tokens=-row["length"]))


def since(row: RowLike) -> datetime:
    """From when a memory has been valid."""
    at: datetime = row["valid_from"] or row["created_at"]
    return at
