"""Many memories at once: read by their ids, deleted by a filter."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from app.core import clock, ids
from app.core.errors import Forbidden
from app.domain.filters import parse_filter
from app.domain.memory import STATUSES, VISIBLE_STATUSES
from app.domain.principal import Principal
from app.domain.scope import SHARED_OWNER, Scope
from app.repositories.base import Row
from app.repositories.owners import OwnerChange
from app.repositories.selection import Selection
from app.schemas.curation import MemoriesDelete, MemoriesDeleted, MemoriesFound, MemoriesGet, MemorySample
from app.services.answers import Answer, Write, write_once
from app.services.disputes import end_disputes
from app.services.history import event_row
from app.services.presenting import memories_of, shown_status
from app.services.vectorising import JobRun
from app.uow import Transaction, UnitOfWork

AT_ONCE: Final = 10_000
"""Memories that one transaction deletes; more are deleted by a job, so many at a time."""

SAMPLE: Final = 5


@dataclass(frozen=True, slots=True)
class BulkService:
    """The use cases of many memories."""

    uow: UnitOfWork

    async def get(self, principal: Principal, request: MemoriesGet) -> MemoriesFound:
        """Memories by their ids, in that order, but those that are deleted or past their time."""
        principal.require("memories:read")
        at = clock.now()
        async with self.uow.begin(principal) as tx:
            found = await tx.memories.by_ids(request.ids, served=True)
            rows = {row["id"]: row for row in found if shown_status(row, at) not in {"deleted", "expired"}}
            wanted = list(dict.fromkeys(request.ids))
            results = await memories_of(tx, [rows[memory_id] for memory_id in wanted if memory_id in rows])
        missing = [str(memory_id) for memory_id in wanted if memory_id not in rows]
        return MemoriesFound(results=results, missing=missing)

    async def delete(self, write: Write, request: MemoriesDelete) -> Answer:
        """Delete what matches, in one transaction up to 10,000 rows, by a job above."""
        principal = write.principal
        principal.require("memories:write")
        at = clock.now()
        selection = _selection(principal, request, at)

        async def work(tx: Transaction) -> Answer:
            matched = await tx.memories.count(selection)
            sample = [
                MemorySample(id=str(row["id"]), text=row["text"])
                for row in await tx.memories.page(selection, None, SAMPLE)
            ]
            body = MemoriesDeleted(matched=matched, deleted=0, sample=sample, undo_id=None)
            if request.dry_run or not matched:
                return Answer(200, body)
            undo_id = ids.new_id()
            named = body.model_copy(update={"undo_id": str(undo_id)})
            if matched > AT_ONCE:
                job_id = await _delete_later(tx, principal, request, undo_id, at)
                return Answer(202, named.model_copy(update={"job_id": str(job_id), "status": "queued"}))
            deleted = await delete_selected(tx, selection, principal.actor, undo_id, at)
            return Answer(200, named.model_copy(update={"deleted": deleted}))

        return await write_once(self.uow, write, MemoriesDeleted, work)

    async def run(self, run: JobRun) -> None:
        """The job `delete_memories`: so many rows a transaction, of those that were there when it was asked."""
        request = MemoriesDelete.model_validate(run.payload["request"])
        at = datetime.fromisoformat(run.payload["at"])
        bound = run.payload["user_ids"]
        selection = replace(_scope_selection(request, at), created_until=at)
        deleted = 0
        while True:
            async with self.uow.begin_tenant(run.tenant_id, None if bound is None else frozenset(bound)) as tx:
                count = await delete_selected(tx, selection, run.payload["actor"], UUID(run.payload["undo_id"]), at)
                deleted += count
                if not count:  # fewer than at once may have left some to an owner who came meanwhile
                    await run.finish(tx, {"deleted": deleted})
                    return
                await run.check(tx)


async def delete_selected(tx: Transaction, selection: Selection, actor: str, undo_id: UUID, at: datetime) -> int:
    """Delete up to 10,000 memories; each one's history names `undo_id`.

    Owners are locked before their rows; what belongs to owners who came later is left alone.
    """
    owners = await tx.owners.lock(await tx.memories.owners_of(selection))
    rows = await tx.memories.lock_selected(selection, owners, AT_ONCE)
    if not rows:
        return 0
    changed = {row["id"]: row for row in await tx.memories.delete_many([row["id"] for row in rows], at)}
    for owner, change in sorted(_lost(rows).items()):
        await tx.owners.lock_and_change(owner, change)
    events: list[dict[str, Any]] = [
        event_row("deleted", row, changed[row["id"]], actor, at, {"status"}) | {"undo_id": undo_id} for row in rows
    ]
    await tx.memories.record(events)
    await end_disputes(tx, rows, actor, at)
    return len(rows)


def _lost(rows: Sequence[Row]) -> dict[str, OwnerChange]:
    """What the owners' counters lose: only what was current is counted."""
    lost: dict[str, OwnerChange] = {}
    for row in rows:
        if row["status"] in VISIBLE_STATUSES:
            known = lost.get(row["owner"], OwnerChange())
            lost[row["owner"]] = OwnerChange(known.memories - 1, known.memory_tokens - row["length"])
    return lost


def _selection(principal: Principal, request: MemoriesDelete, at: datetime) -> Selection:
    if principal.user_ids is not None:
        request = request.model_copy(update={"user_id": principal.own_user(request.user_id)})
    selection = _scope_selection(request, at)
    if "shared:write" not in principal.scopes:
        if selection.scope.empty:
            raise Forbidden("Name a scope field: this key may not delete shared memories.", code="missing_scope")
        return replace(selection, excluded_owner=SHARED_OWNER)
    return selection


def _scope_selection(request: MemoriesDelete, at: datetime) -> Selection:
    return Selection(
        scope=Scope(request.user_id, request.agent_id, request.app_id, request.session_id),
        at=at,
        statuses=[status for status in STATUSES if status != "deleted"],
        uncertain=True,
        filter=None if request.filters is None else parse_filter(request.filters),
    )


async def _delete_later(
    tx: Transaction, principal: Principal, request: MemoriesDelete, undo_id: UUID, at: datetime
) -> UUID:
    user_id = request.user_id if principal.user_ids is None else principal.own_user(request.user_id)
    own = request.model_copy(update={"user_id": user_id})
    payload = {
        "request": own.model_dump(mode="json"),
        "undo_id": str(undo_id),
        "at": at.isoformat(),
        "actor": principal.actor,
        "user_ids": None if principal.user_ids is None else sorted(principal.user_ids),
    }
    return await tx.jobs.enqueue("delete_memories", str(undo_id), at, user_id=own.user_id, payload=payload)
