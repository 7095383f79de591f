"""Undoing: a job's changes, one change, or a bulk deletion, as if they had not been; nothing later is lost by it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from app.core import clock
from app.core.errors import Conflict, NotFound
from app.domain.memory import VISIBLE_STATUSES
from app.domain.principal import Principal
from app.domain.undoing import clashes, net, restored
from app.repositories.base import Row
from app.repositories.owners import OwnerChange
from app.repositories.postings import Posting
from app.schemas.undoing import Undo, Undone
from app.services.analysis import analyse_all
from app.services.answers import Answer, Write, write_once
from app.services.disputes import UNDONE, agree, resume_disputes
from app.services.history import event_row, plain
from app.services.keying import KeySettlement
from app.services.writing import embed_later, writable
from app.uow import Transaction, UnitOfWork

MOST: Final = 10_000
"""Memories that one call changes."""

BY_PEOPLE: Final = "key:"
"""How the actor of a caller's own changes begins."""

FEEDBACK: Final = "feedback_"

OF_USE_AGAIN: Final = frozenset({"revived", "feedback_used"})
"""What makes an archived memory current without anybody's having asked for that."""


@dataclass(frozen=True, slots=True)
class UndoService:
    """The use case of `POST /v1/undo`."""

    uow: UnitOfWork

    async def undo(self, write: Write, request: Undo) -> Answer:
        """Bring every column back but version and updated_at; history gains a line for each memory.

        What was archived and came to use again since is left as it is: that it is current was what undoing is for.

        Raises:
            NotFound: There is nothing of that name that the key may see.
            Conflict: A later change would be lost, or it is undone already.
        """
        principal, at = write.principal, clock.now()
        principal.require("memories:write")

        async def work(tx: Transaction) -> Answer:
            events = await _events(tx, request)
            rows = await _locked(tx, principal, [event["memory_id"] for event in events])
            left = await _revived_since(tx, events, rows)
            if len(left) == len(rows):
                raise Conflict("All of it was found again and is current since: it is left so.", code="later_change")
            events = [event for event in events if event["memory_id"] not in left]
            rows = {memory_id: row for memory_id, row in rows.items() if memory_id not in left}
            undoing = _Undoing(tx, principal.actor, at, events, rows)
            await undoing.check()
            changed = await undoing.run()
            return Answer(
                200,
                Undone(
                    events=len(events),
                    memory_ids=[str(one) for one in changed],
                    left_ids=[str(one) for one in sorted(left)],
                ),
            )

        return await write_once(self.uow, write, Undone, work)


async def _events(tx: Transaction, request: Undo) -> list[Row]:
    """The lines to undo, oldest first: with an add go the lines of what it displaced in the same moment."""
    if request.event_id is None:
        found = await tx.history.events_of(job_id=request.job_id, undo_id=request.undo_id)
    else:
        one = await tx.history.event(request.event_id)
        found = [] if one is None else [one]
        if one is not None and one["action"] == "added":
            displaced = await tx.history.displaced_by(one["memory_id"])
            later = await tx.history.events_since(displaced, one["created_at"]) if displaced else []
            found += [
                event for event in later if event["created_at"] == one["created_at"] and event["action"] == "superseded"
            ]
    if not found:
        raise NotFound("There is nothing to undo under this id.", code="nothing_to_undo")
    return found


async def _revived_since(tx: Transaction, events: Sequence[Row], rows: dict[UUID, Row]) -> set[UUID]:
    """Of the memories those that the changes have archived, and that are current again because they were of use."""
    archived = {event["memory_id"]: event["id"] for event in events if _turned(event, "active", "archived")}
    if not archived:
        return set()
    since = min(event["created_at"] for event in events)
    later = await tx.history.events_since(list(archived), since)
    return {
        event["memory_id"]
        for event in later
        if event["id"] > archived[event["memory_id"]]
        and event["action"] in OF_USE_AGAIN
        and _turned(event, "archived", "active")
        and rows[event["memory_id"]]["status"] != "archived"
    }


def _turned(event: Row, before: str, after: str) -> bool:
    return (event["changed"] or {}).get("status") == [before, after]


def _turned_from(event: Row, before: str) -> bool:
    return str((event["changed"] or {}).get("status", [None])[0]) == before


async def _locked(tx: Transaction, principal: Principal, ids: Sequence[UUID]) -> dict[UUID, Row]:
    """The memories, locked after their owners; all of them, or none can be undone."""
    wanted = sorted(set(ids))
    if len(wanted) > MOST:
        raise Conflict(f"More than {MOST:,} memories were changed: undo them in parts.", code="too_many_to_undo")
    owners = await tx.owners.of_memories(wanted)
    for owner in sorted(owners):
        await tx.owners.lock_and_change(owner, OwnerChange())
    rows = {row["id"]: row for row in await tx.memories.any_for_update(wanted)}
    if len(rows) < len(wanted) or any(row["owner"] not in owners for row in rows.values()):
        raise NotFound("There is nothing to undo under this id.", code="nothing_to_undo")
    return {name: writable(principal, row) for name, row in rows.items()}


@dataclass(frozen=True, slots=True)
class _Undoing:
    """The lines to undo and the memories as they are, within a transaction that has locked them."""

    tx: Transaction
    actor: str
    at: datetime
    events: Sequence[Row]
    rows: dict[UUID, Row]

    async def check(self) -> None:
        """Raise `Conflict` where something would be lost."""
        undone = {event["id"] for event in self.events}
        since = min(event["created_at"] for event in self.events)
        last = {event["memory_id"]: event["id"] for event in self.events}
        for event in await self.tx.history.events_since(list(self.rows), since):
            by_people = event["actor"].startswith(BY_PEOPLE) and not event["action"].startswith(FEEDBACK)
            if event["id"] in undone or event["id"] < last[event["memory_id"]] or not by_people:
                continue
            raise Conflict(
                f"The memory {event['memory_id']} was {event['action']} later: that would be lost.",
                code="later_change",
            )

    async def run(self) -> list[UUID]:
        """Write; the memories that were changed, oldest first."""
        back: list[Row] = []
        lines: dict[UUID, list[Row]] = {}
        for event in self.events:
            lines.setdefault(event["memory_id"], []).append(event)
        for memory_id, row in self.rows.items():
            events = lines[memory_id]
            added = events[0]["action"] == "added"
            values = self._removed(row) if added else self._restored(row, events)
            after = await self._write(row, values, events)
            if not added and row["status"] not in VISIBLE_STATUSES and after["status"] in VISIBLE_STATUSES:
                back.append(after)
        await self._settle_conflicts([row["id"] for row in back])
        for row in await self.tx.memories.by_ids([one["id"] for one in back]) if back else []:
            if row["status"] == "active":
                await KeySettlement(self.tx, self.actor, self.at).settle(row, newest_wins=True)
        return list(self.rows)

    def _removed(self, row: Row) -> dict[str, Any]:
        if row["status"] == "deleted":
            raise Conflict(f"The memory {row['id']} is deleted already.", code="already_undone")
        return {"status": "deleted", "deleted_at": self.at}

    def _restored(self, row: Row, events: Sequence[Row]) -> dict[str, Any]:
        if any(event["changed"] is None for event in events):
            raise Conflict(f"What happened to the memory {row['id']} cannot be undone.", code="not_undoable")
        changed, now = net([event["changed"] for event in events]), plain(row)
        if lost := clashes(changed, now):
            raise Conflict(
                f"The memory {row['id']} has changed since ({', '.join(sorted(lost))}), or it is undone already.",
                code="later_change",
            )
        return self.tx.history.columns(restored(changed, now))

    async def _write(self, row: Row, values: dict[str, Any], events: Sequence[Row]) -> Row:
        """Columns, counters, sources, index, history."""
        wanted = {**row, **values}
        if wanted["status"] in VISIBLE_STATUSES and await self.tx.memories.twin(wanted) is not None:
            raise Conflict(f"A current memory says the same as {row['id']} did.", code="duplicate_memory")
        stood, stands = row["status"] in VISIBLE_STATUSES, wanted["status"] in VISIBLE_STATUSES
        lengths = wanted["length"] * stands - row["length"] * stood
        await self.tx.owners.lock_and_change(row["owner"], OwnerChange(stands - stood, lengths))
        after = await self.tx.memories.change(row["id"], values | {"updated_at": self.at})
        for event in events:
            if event["action"] in {"reinforced", "merged"}:
                await self.tx.history.drop_sources(row["id"], event["created_at"])
        if after["content_hash"] != row["content_hash"]:
            await self._index(after)
        line = event_row("undone", row, after, self.actor, self.at, frozenset(values))
        actions = ", ".join(event["action"] for event in events)
        await self.tx.memories.record([line | {"reason": f"undoes: {actions}"}])
        return after

    async def _index(self, row: Row) -> None:
        """Words at once, the vector by a job."""
        (analysis,) = await analyse_all([row["text"]])
        await self.tx.memories.unindex(row["id"])
        await self.tx.memories.index(row["owner"], [Posting(row["id"], analysis.frequencies, analysis.length)])
        await embed_later(self.tx, [row["id"]], self.at, row["user_id"])

    async def _settle_conflicts(self, back: Sequence[UUID]) -> None:
        """Conflicts that the undone changes had closed are open again, those that they had opened are closed."""
        times = sorted({event["created_at"] for event in self.events})
        disputed = [event["memory_id"] for event in self.events if _turned_from(event, "disputed")]
        await resume_disputes(self.tx, [*back, *disputed], self.at, times)
        opened = await self.tx.conflicts.opened(list(self.rows), times)
        if opened:
            await self.tx.conflicts.resolve([one["id"] for one in opened], UNDONE, self.at)
        await agree(self.tx, {row["owner"] for row in self.rows.values()}, self.actor, self.at)
