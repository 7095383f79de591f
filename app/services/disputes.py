"""What is disputed and what is in an open conflict: the same memories at every commit, whatever has become of them."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from uuid import UUID

from app.domain.memory import EventAction
from app.repositories.base import Row, RowLike
from app.services.history import event_row
from app.services.presenting import is_current
from app.uow import Transaction

DISPLACED = "displaced"
"""The resolution of a conflict one side of which has left sight: where it comes back, nobody has decided yet."""

UNDONE = "undone"


async def agree(tx: Transaction, owners: Iterable[str], actor: str, at: datetime) -> None:
    """Let the conflicts and the memories of owners say the same.

    A conflict one side of which is not current is closed; what is in no open conflict is active; what is in one is
    disputed. The owners' locks are held.
    """
    for owner in sorted(set(owners)):
        torn = await tx.conflicts.torn(owner, at)
        if torn:
            await tx.conflicts.resolve([row["id"] for row in torn], DISPLACED, at)
        for row in await tx.conflicts.unfounded(owner):
            await _mark(tx, row, "active", actor, at)
        for row in await tx.conflicts.unmarked(owner):
            await _mark(tx, row, "disputed", actor, at)


async def end_disputes(tx: Transaction, gone: Sequence[RowLike], actor: str, at: datetime) -> None:
    """After memories have left sight: what stood against them stands undisputed.

    Args:
        tx: Holds the locks of the memories' owners.
        gone: The memories as they were before.
        actor: For history.
        at: When they left. By it undoing finds what to open again.
    """
    await agree(tx, {row["owner"] for row in gone if row["status"] == "disputed"}, actor, at)


async def resume_disputes(
    tx: Transaction, back: Sequence[UUID], at: datetime, undone: Collection[datetime] = ()
) -> None:
    """After memories have come back: what stood against them stands against them again, where it is there.

    `undone` are the instants of the changes that were taken back: a conflict that was closed then is open again,
    however it was closed. See `agree` for what is to be done next.
    """
    if back:
        await tx.conflicts.reopen([row["id"] for row in await tx.conflicts.parted(back, sorted(undone), at)], at)


async def follow(tx: Transaction, changes: Sequence[tuple[RowLike, RowLike]], actor: str, at: datetime) -> None:
    """After memories have changed, given as before and after: disputes end with what went, stand with what came."""
    gone = [old for old, new in changes if not is_current(new, at)]
    back = [new for old, new in changes if is_current(new, at) and not is_current(old, at)]
    await end_disputes(tx, gone, actor, at)
    if back:
        await resume_disputes(tx, [row["id"] for row in back], at)
        await agree(tx, {row["owner"] for row in back}, actor, at)


async def hand_over(tx: Transaction, gone: Collection[UUID], kept: UUID, at: datetime) -> list[UUID]:
    """Let what stands against memories stand also against one that says the same; what does so from now on."""
    mine = set(gone)
    touched = await tx.conflicts.touching(sorted({*mine, kept})) if mine else []
    reasons = {frozenset((one["memory_id"], one["other_id"])): str(one["reason"]) for one in touched}
    against = {other: reason for pair, reason in reasons.items() if pair & mine for other in pair - mine - {kept}}
    fresh = [other for other in against if frozenset((kept, other)) not in reasons]
    for other in fresh:
        await tx.conflicts.open(kept, [other], against[other], at)
    return fresh


async def _mark(tx: Transaction, row: Row, status: str, actor: str, at: datetime) -> None:
    changed = await tx.memories.change(row["id"], {"status": status, "updated_at": at})
    action: EventAction = "disputed" if status == "disputed" else "settled"
    await tx.memories.record([event_row(action, row, changed, actor, at, {"status"})])
