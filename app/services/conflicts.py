"""Contradictions: listed, decided by a person, and gone by themselves when one side is."""

from dataclasses import dataclass
from datetime import datetime
from typing import assert_never
from uuid import UUID

from app.core import clock
from app.core.errors import Conflict as Clash
from app.core.errors import NotFound
from app.domain.principal import Principal
from app.repositories.base import Row
from app.schemas.conflicts import Conflict, ConflictResolution, Keep
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.services.answers import Answer, Write, write_once
from app.services.closing import SUPERSEDED, supersede, uncount
from app.services.disputes import agree, end_disputes
from app.services.history import event_row
from app.services.presenting import memories_of
from app.services.writing import locked_memory
from app.uow import Transaction, UnitOfWork


@dataclass(frozen=True, slots=True)
class ConflictService:
    """The use cases of contradictions."""

    uow: UnitOfWork

    async def page(self, principal: Principal, cursor: str | None, limit: int, *, count: bool) -> Page[Conflict]:
        """Open ones, newest first."""
        principal.require("memories:read")
        before, at = decode_cursor(cursor, UUID), clock.now()
        async with self.uow.begin(principal) as tx:
            rows = await tx.conflicts.page(None if before is None else before[0], limit + 1, at)
            results = [await _shown(tx, row) for row in rows[:limit]]
            total = await tx.conflicts.count(at) if count else None
        more = len(rows) > limit
        return Page(results=results, next_cursor=encode_cursor(rows[limit - 1]["id"]) if more else None, total=total)

    async def resolve(self, write: Write, conflict_id: UUID, request: ConflictResolution) -> Answer:
        """Decide. What does not hold becomes history; what holds is no longer disputed."""
        principal, at = write.principal, clock.now()
        principal.require("memories:write")

        async def work(tx: Transaction) -> Answer:
            seen = await tx.conflicts.get(conflict_id)
            if seen is None:
                raise NotFound("There is no such conflict.", code="conflict_not_found")
            if seen["resolved_at"] is not None:
                raise Clash("This conflict has been resolved.", code="conflict_resolved")
            pair = [await locked_memory(tx, principal, seen[name]) for name in ("memory_id", "other_id")]
            open_ones = {one["id"] for one in await tx.conflicts.touching([seen["memory_id"]])}
            if conflict_id not in open_ones:
                raise Clash("This conflict has been resolved.", code="conflict_resolved")
            await tx.conflicts.resolve([conflict_id], request.keep, at)
            newer, older = pair
            for row, by in _lost(newer, older, request.keep):
                await _close(tx, row, by, principal.actor, at)
            await agree(tx, {row["owner"] for row in pair}, principal.actor, at)
            resolved = await tx.conflicts.get(conflict_id)
            return Answer(200, await _shown(tx, resolved or seen))

        return await write_once(self.uow, write, Conflict, work)


def _lost(newer: Row, older: Row, keep: Keep) -> list[tuple[Row, Row | None]]:
    """What becomes history, and in favour of what."""
    match keep:
        case "newer":
            return [(older, newer)]
        case "older":
            return [(newer, older)]
        case "both":
            return []
        case "neither":
            return [(newer, None), (older, None)]
        case _:
            assert_never(keep)


async def _close(tx: Transaction, row: Row, by: Row | None, actor: str, at: datetime) -> None:
    """Make a memory history, in favour of another one if there is one."""
    if by is not None:
        await supersede(tx, [row], by, actor, at)
        return
    await uncount(tx, row)
    over = {"status": "superseded", "valid_to": at, "superseded_at": at, "updated_at": at}
    closed = await tx.memories.change(row["id"], over)
    await tx.memories.record([event_row("superseded", row, closed, actor, at, SUPERSEDED)])
    await end_disputes(tx, [row], actor, at)


async def _shown(tx: Transaction, row: Row) -> Conflict:
    rows = await tx.memories.by_ids([row["memory_id"], row["other_id"]])
    pair = {memory.id: memory for memory in await memories_of(tx, rows)}
    return Conflict(
        id=str(row["id"]),
        memories=[pair[str(row[name])] for name in ("memory_id", "other_id") if str(row[name]) in pair],
        reason=row["reason"],
        resolution=row["resolution"],
        created_at=row["created_at"],
        resolved_at=row["resolved_at"],
    )
