"""What people and agents do with a memory they have read: bring it back, confirm it, reject it, say how it served."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from app.core import clock
from app.core.errors import Conflict
from app.domain.memory import VISIBLE_STATUSES, EventAction
from app.repositories.base import Row
from app.repositories.owners import OwnerChange
from app.schemas.curation import Feedback, Judgement
from app.schemas.memories import Memory
from app.services.answers import Answer, Write, write_once
from app.services.closing import uncount
from app.services.disputes import end_disputes, follow
from app.services.history import event_row
from app.services.keying import KeySettlement
from app.services.presenting import is_current, memories_of, shown_status
from app.services.redacting import Redacting
from app.services.sessions import check_version
from app.services.writing import locked_memory
from app.uow import Transaction, UnitOfWork

CONFIRMED: Final = 0.95
"""Confidence after a person has confirmed a memory."""

DOUBTED: Final = 0.5
"""What is left of the confidence after a memory was found wrong."""


@dataclass(frozen=True, slots=True)
class CurationService:
    """The use cases of judging single memories."""

    uow: UnitOfWork
    redacting: Redacting

    async def restore(self, write: Write, memory_id: UUID) -> Answer:
        """Make a memory current again that was deleted, archived, superseded or has expired."""

        async def work(tx: Transaction, before: Row, at: datetime) -> Answer:
            if is_current(before, at):
                raise Conflict("This memory is current: there is nothing to restore.", code="not_restorable")
            if await tx.memories.twin(before) is not None:
                raise Conflict("A current memory says the same already.", code="duplicate_memory")
            if before["status"] not in VISIBLE_STATUSES:
                await tx.owners.lock_and_change(before["owner"], OwnerChange(1, before["length"]))
            expired = before["expires_at"] is not None and before["expires_at"] <= at
            values = {
                "status": "active",
                "deleted_at": None,
                "superseded_at": None,
                "superseded_by": None,
                "valid_to": None,
                "expires_at": None if expired else before["expires_at"],
                "archived_at": None,
            }
            if before["status"] == "archived":  # else it would be archived again the next day
                values["last_accessed_at"] = at
            return await _changed(tx, write, before, values, "restored", None, at, settled=True)

        return await self._judge(write, memory_id, work)

    async def confirm(self, write: Write, memory_id: UUID, request: Judgement) -> Answer:
        """Vouch for a memory: an uncertain one becomes a fact."""
        write.principal.require("memories:write")
        request = (await self.redacting.clean(write.principal, request)).request

        async def work(tx: Transaction, before: Row, at: datetime) -> Answer:
            _check_current(before, at)
            values = {
                "uncertain": False,
                "confidence": max(before["confidence"], CONFIRMED),
                "last_seen_at": at,
                "needs_confirmation": False,
                "wrong_count": 0,
            }
            return await _changed(tx, write, before, values, "confirmed", request.reason, at, settled=True)

        return await self._judge(write, memory_id, work)

    async def reject(self, write: Write, memory_id: UUID, request: Judgement) -> Answer:
        """Say that a memory is not so: it is deleted, and its history says that it was rejected."""
        write.principal.require("memories:write")
        request = (await self.redacting.clean(write.principal, request)).request

        async def work(tx: Transaction, before: Row, at: datetime) -> Answer:
            _check_current(before, at)
            await uncount(tx, before)
            values = {"status": "deleted", "deleted_at": at}
            return await _changed(tx, write, before, values, "rejected", request.reason, at)

        return await self._judge(write, memory_id, work)

    async def feedback(self, write: Write, memory_id: UUID, request: Feedback) -> Answer:
        """Record how a memory served: used counts as an access, wrong halves the confidence."""
        write.principal.require("memories:write")
        request = (await self.redacting.clean(write.principal, request)).request

        async def work(tx: Transaction, before: Row, at: datetime) -> Answer:
            counted = f"{request.verdict}_count"
            values: dict[str, Any] = {counted: before[counted] + 1}
            if request.verdict == "used":
                values |= {"access_count": before["access_count"] + 1, "last_accessed_at": at}
                values |= await _revived(tx, before, at)
            elif request.verdict == "wrong":
                values["confidence"] = before["confidence"] * DOUBTED
                settled = before["uncertain"] or before["kind"] != "semantic"
                told = before["wrong_count"] + 1 > before["used_count"] and not settled
                values["needs_confirmation"] = before["needs_confirmation"] or told
            action: EventAction = f"feedback_{request.verdict}"  # type: ignore[assignment]
            return await _changed(tx, write, before, values, action, request.reason, at)

        return await self._judge(write, memory_id, work)

    async def erase(self, write: Write, memory_id: UUID) -> Answer:
        """Remove a memory with its history, sources and vectors, for good."""
        write.principal.require("memories:write")

        async def work(tx: Transaction) -> Answer:
            before = await locked_memory(tx, write.principal, memory_id, deleted_too=True)
            check_version(before["version"], write.if_match)
            await uncount(tx, before)
            await tx.dreams.forget_of(before["user_id"])
            await tx.memories.erase(memory_id)
            await end_disputes(tx, [before], write.principal.actor, clock.now())
            return Answer(204, None)

        return await write_once(self.uow, write, None, work)

    async def _judge(self, write: Write, memory_id: UUID, work: Any) -> Answer:  # noqa: ANN401 - the closures above
        write.principal.require("memories:write")
        at = clock.now()

        async def judged(tx: Transaction) -> Answer:
            before = await locked_memory(tx, write.principal, memory_id, deleted_too=True)
            check_version(before["version"], write.if_match)
            answer: Answer = await work(tx, before, at)
            return answer

        return await write_once(self.uow, write, Memory, judged)


async def _changed(
    tx: Transaction,
    write: Write,
    before: Row,
    values: dict[str, Any],
    action: EventAction,
    reason: str | None,
    at: datetime,
    *,
    settled: bool = False,
) -> Answer:
    after = await tx.memories.change(before["id"], values | {"updated_at": at}) if values else before
    shown = {name for name in values if name not in {"deleted_at", "superseded_by", "superseded_at"}}
    event = event_row(action, before, after, write.principal.actor, at, shown - {"last_seen_at", "last_accessed_at"})
    await tx.memories.record([event | {"reason": reason}])
    if settled:
        await KeySettlement(tx, write.principal.actor, at).settle(after, newest_wins=True)
    await follow(tx, [(before, after)], write.principal.actor, at)
    (now,) = await tx.memories.by_ids([after["id"]])
    return Answer(200, (await memories_of(tx, [now]))[0])


async def _revived(tx: Transaction, row: Row, at: datetime) -> dict[str, Any]:
    """What of an archived memory changes when it was of use after all: it is current again, unless another one is."""
    over = row["expires_at"] is not None and row["expires_at"] <= at
    if row["status"] != "archived" or over or await tx.memories.twin(row) is not None:
        return {}
    await tx.owners.lock_and_change(row["owner"], OwnerChange(1, row["length"]))
    return {"status": "active", "archived_at": None}


def _check_current(row: Row, at: datetime) -> None:
    if not is_current(row, at):
        raise Conflict(f"This memory is {shown_status(row, at)}: restore it first.", code="not_current")
