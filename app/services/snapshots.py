"""Checkpoints of plain JSON states: made, found, compared, restored, forked, kept or dropped."""

import asyncio
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from app.core import clock, ids
from app.domain.checkpoint import Retention, lineage
from app.domain.difference import differences
from app.domain.principal import Principal
from app.repositories.base import Row
from app.repositories.snapshots import Asked
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.schemas.sessions import Session
from app.schemas.snapshots import (
    LatestSnapshot,
    LineageNode,
    PrunedSnapshots,
    Snapshot,
    SnapshotChange,
    SnapshotCreate,
    SnapshotDiff,
    SnapshotFork,
    SnapshotInfo,
    SnapshotPrune,
    SnapshotRestore,
    SnapshotSettings,
    SnapshotTree,
    StateChange,
)
from app.schemas.states import State
from app.services.answers import Answer, Write, write_once
from app.services.checkpointing import (
    PackedState,
    Wanted,
    info_of,
    no_checkpoint,
    nodes_of,
    prune,
    state_of,
    take_checkpoint,
    wanted_of,
)
from app.services.lifecycle import Copying, copy_session
from app.services.redacting import Redacting
from app.services.sessions import alive, check_version, session_of
from app.services.states import check_document, state_at
from app.services.steps import step_of
from app.uow import Transaction, UnitOfWork

MOST_CHANGES: Final = 10_000
MOST_NODES: Final = 10_000
"""Checkpoints that a tree shows."""

PENDING_STEPS: Final = 200


@dataclass(frozen=True, slots=True)
class SnapshotService:
    """The use cases of a session's checkpoints."""

    uow: UnitOfWork
    redacting: Redacting

    async def create(self, write: Write, session_id: str, request: SnapshotCreate) -> Answer:
        """Make a checkpoint."""
        write.principal.require("sessions:write")
        cleaned = await self.redacting.clean(write.principal, request)
        request = cleaned.request
        wanted = await wanted_of(request)

        async def work(tx: Transaction) -> Answer:
            session = alive(await tx.sessions.get(session_id))
            made = await take_checkpoint(tx, session, wanted, clock.now())
            return Answer(201, made.model_copy(update={"redacted": cleaned.kinds()}))

        return await write_once(self.uow, write, SnapshotInfo, work)

    async def get(self, principal: Principal, session_id: str, checkpoint_id: str) -> Snapshot:
        """One checkpoint with its state."""
        principal.require("sessions:read")
        async with self.uow.begin(principal) as tx:
            alive(await tx.sessions.get(session_id))
            row = _there(await tx.snapshots.get(session_id, checkpoint_id))
            return Snapshot(**_members(session_id, row), state=await state_of(tx, session_id, row["id"]))

    async def latest(self, principal: Principal, session_id: str) -> LatestSnapshot:
        """The newest with its state, and the steps since."""
        principal.require("sessions:read")
        async with self.uow.begin(principal) as tx:
            alive(await tx.sessions.get(session_id))
            row = _there(await tx.snapshots.newest(session_id))
            state = await state_of(tx, session_id, row["id"])
            steps = await tx.snapshots.steps(session_id, row["position"], PENDING_STEPS)
        pending = [step_of(session_id, step) for step in steps]
        return LatestSnapshot(**_members(session_id, row), state=state, pending_steps=pending)

    async def page(
        self, principal: Principal, session_id: str, asked: Asked, cursor: str | None, limit: int, *, count: bool
    ) -> Page[SnapshotInfo]:
        """Checkpoints, newest first."""
        principal.require("sessions:read")
        before = decode_cursor(cursor, int)
        async with self.uow.begin(principal) as tx:
            alive(await tx.sessions.get(session_id))
            below = None if before is None else before[0]
            rows = await tx.snapshots.page(session_id, asked, below, limit + 1)
            total = await tx.snapshots.count(session_id, asked) if count else None
        return Page(
            results=[info_of(session_id, row) for row in rows[:limit]],
            next_cursor=encode_cursor(rows[limit - 1]["position"]) if len(rows) > limit else None,
            total=total,
        )

    async def diff(self, principal: Principal, session_id: str, from_id: str, to_id: str) -> SnapshotDiff:
        """What differs between two."""
        principal.require("sessions:read")
        async with self.uow.begin(principal) as tx:
            alive(await tx.sessions.get(session_id))
            before, after = [
                await state_of(tx, session_id, _there(await tx.snapshots.get(session_id, one))["id"])
                for one in (from_id, to_id)
            ]

        def compared() -> list[StateChange]:
            found = islice(differences(before, after), MOST_CHANGES + 1)
            return [StateChange(op=one.op, path=one.path, before=one.before, after=one.after) for one in found]

        changes = await asyncio.to_thread(compared)
        shown, more = changes[:MOST_CHANGES], len(changes) > MOST_CHANGES
        return SnapshotDiff(from_id=from_id, to_id=to_id, changes=shown, truncated=more)

    async def tree(self, principal: Principal, session_id: str) -> SnapshotTree:
        """The lineage."""
        principal.require("sessions:read")
        async with self.uow.begin(principal) as tx:
            alive(await tx.sessions.get(session_id))
            rows = await tx.snapshots.after(session_id, 0, MOST_NODES + 1)
        shown = rows[:MOST_NODES]
        tree = lineage(nodes_of(shown))
        nodes = [
            LineageNode(
                **{name: row[name] for name in ("id", "parent_id", "position", "label", "created_at")},
                depth=tree.depths[row["id"]],
                children=list(tree.children[row["id"]]),
            )
            for row in shown
        ]
        return SnapshotTree(
            nodes=nodes, roots=list(tree.roots), heads=list(tree.heads), truncated=len(rows) > MOST_NODES
        )

    async def change(self, write: Write, session_id: str, checkpoint_id: str, request: SnapshotChange) -> Answer:
        """Give a checkpoint another label, or none; one with a label is kept as the settings say."""
        write.principal.require("sessions:write")
        cleaned = await self.redacting.clean(write.principal, request)

        async def work(tx: Transaction) -> Answer:
            alive(await tx.sessions.get(session_id))
            values: dict[str, Any] = {"label": cleaned.request.label}
            settings = SnapshotSettings.model_validate(await tx.snapshots.settings(session_id))
            if cleaned.request.label is not None and settings.keep_labelled:
                values["expires_at"] = None
            row = _there(await tx.snapshots.change(session_id, checkpoint_id, values))
            return Answer(200, info_of(session_id, row).model_copy(update={"redacted": cleaned.kinds()}))

        return await write_once(self.uow, write, SnapshotInfo, work)

    async def restore(self, write: Write, session_id: str, checkpoint_id: str, request: SnapshotRestore) -> Answer:
        """Make a checkpoint's state the session's; what was there stays in the state's history."""
        write.principal.require("sessions:write")

        async def work(tx: Transaction) -> Answer:
            session = alive(await tx.sessions.get_for_update(session_id))
            current = await tx.states.current(session_id)
            version = 0 if current is None else current["version"]
            check_version(version, write.expected(request.version))
            kept = _there(await tx.snapshots.get(session_id, checkpoint_id))
            state = await state_of(tx, session_id, kept["id"])
            check_document(state)
            row = await tx.states.add(
                session_id, version + 1, state, write.principal.actor, clock.now(), session["last_seq"]
            )
            return Answer(200, state_at(session_id, row))

        return await write_once(self.uow, write, State, work)

    async def fork(self, write: Write, session_id: str, checkpoint_id: str, request: SnapshotFork) -> Answer:
        """Begin a new session where a checkpoint stood: its state, and the messages that there were then."""
        write.principal.require("sessions:write")
        cleaned = await self.redacting.clean(write.principal, request)
        request = cleaned.request
        copy_id = request.id or str(ids.new_id())

        async def work(tx: Transaction) -> Answer:
            original = alive(await tx.sessions.get_for_update(session_id))
            kept = _there(await tx.snapshots.get(session_id, checkpoint_id))
            state = await state_of(tx, session_id, kept["id"])
            known_at = kept["created_at"] if request.as_known_then else None
            copying = Copying(copy_id, kept["message_seq"], request.title, known_at)
            copy = await copy_session(tx, original, copying)
            check_document(state)
            at = clock.now()
            await tx.states.add(copy_id, 1, state, write.principal.actor, at, copy["last_seq"])
            origin = {"forked_from": {"session_id": session_id, "checkpoint_id": kept["id"]}}
            first = Wanted(PackedState.of(state), label=kept["label"], metadata={**kept["metadata"], **origin})
            await take_checkpoint(tx, copy, first, at)
            return Answer(201, session_of(copy).model_copy(update={"redacted": cleaned.kinds()}))

        return await write_once(self.uow, write, Session, work)

    async def settings(self, principal: Principal, session_id: str) -> SnapshotSettings:
        """What the thread keeps."""
        principal.require("sessions:read")
        async with self.uow.begin(principal) as tx:
            alive(await tx.sessions.get(session_id))
            return SnapshotSettings.model_validate(await tx.snapshots.settings(session_id))

    async def set_settings(self, write: Write, session_id: str, request: SnapshotSettings) -> Answer:
        """Say what the thread keeps, from the next checkpoint on."""
        write.principal.require("sessions:write")

        async def work(tx: Transaction) -> Answer:
            session = alive(await tx.sessions.get(session_id))
            await tx.snapshots.advance(session_id, session["user_id"], clock.now())
            await tx.snapshots.set_settings(session_id, request.model_dump())
            return Answer(200, request)

        return await write_once(self.uow, write, SnapshotSettings, work)

    async def prune(self, write: Write, session_id: str, request: SnapshotPrune) -> Answer:
        """Drop all but the newest, once."""
        write.principal.require("sessions:write")
        retention = Retention(request.keep_last, request.keep_labelled)

        async def work(tx: Transaction) -> Answer:
            session = alive(await tx.sessions.get(session_id))
            await tx.snapshots.advance(session_id, session["user_id"], clock.now())
            gone, parts = await prune(tx, session_id, retention, dry_run=request.dry_run)
            return Answer(200, PrunedSnapshots(deleted=gone, parts=parts))

        return await write_once(self.uow, write, PrunedSnapshots, work)


def _members(session_id: str, row: Row) -> dict[str, Any]:
    return info_of(session_id, row).model_dump()


def _there(row: Row | None) -> Row:
    if row is None:
        raise no_checkpoint()
    return row
