"""A checkpoint inside a transaction that does more: a turn, a step, a fork."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self

from app.core import ids
from app.core.errors import NotFound, PreconditionFailed
from app.domain import snapshot
from app.domain.checkpoint import Node, Retention
from app.domain.packing import pack, unpack
from app.repositories.base import Row, RowLike
from app.repositories.checkpoints import Blob
from app.repositories.snapshots import session_thread
from app.schemas.snapshots import SnapshotCreate, SnapshotInfo, SnapshotSettings
from app.uow import Transaction


@dataclass(frozen=True, slots=True)
class PackedState:
    """A state cut and packed: made before the transaction, since it takes time and no connection."""

    document: bytes
    parts: tuple[Blob, ...]

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> Self:
        """Cut a JSON state."""
        made = snapshot.split(state)
        packed = {name: pack(part) for name, part in made.parts.items()}
        return cls(made.document, tuple(Blob(name, "", "json", codec, data) for name, (codec, data) in packed.items()))


@dataclass(frozen=True, slots=True)
class Wanted:
    """The checkpoint that somebody wants.

    Args:
        state: What it holds; None: the session's current state.
        parent_id: What it comes from; None: the newest, or nothing where there is none.
        compare_and_set: Whether the parent must still be the newest.
        label: A name to find it by.
        run_id: Of the run that made it.
        metadata: Anything else.
        ttl: Seconds that it is kept; None: as the thread's settings have it.
        carry: Whether a session that has no state of its own passes on the parent's.
    """

    state: PackedState | None = None
    parent_id: str | None = None
    compare_and_set: bool = False
    label: str | None = None
    run_id: str | None = None
    metadata: Mapping[str, Any] | None = None
    ttl: int | None = None
    carry: bool = False


async def wanted_of(request: SnapshotCreate) -> Wanted:
    """The checkpoint that a request wants; its state is packed off the event loop."""
    state = None if request.state is None else await asyncio.to_thread(PackedState.of, request.state)
    named = request.model_dump(include={"parent_id", "compare_and_set", "label", "run_id", "metadata", "ttl"})
    return Wanted(state=state, **named)


async def take_checkpoint(tx: Transaction, session: RowLike, wanted: Wanted, at: datetime) -> SnapshotInfo:
    """Make a checkpoint of a session that the key may see, and drop what its thread no longer keeps.

    Locks the session's thread until the commit: after the session's own row, if that is locked too.

    Raises:
        PreconditionFailed: The parent is not the newest any more; the problem has `current_id`.
        NotFound: There is no such parent.
    """
    session_id = session["id"]
    thread = await tx.snapshots.advance(session_id, session["user_id"], at)
    parent_id = await _parent(tx, session_id, wanted)
    settings = SnapshotSettings.model_validate(thread["settings"])
    state = wanted.state or await _state(tx, session_id, parent_id if wanted.carry else None)
    ttl = settings.ttl if wanted.ttl is None else wanted.ttl
    kept = ttl is None or (wanted.ttl is None and settings.keep_labelled and wanted.label is not None)
    row = {
        "id": str(ids.new_id()),
        "parent_id": parent_id,
        "run_id": wanted.run_id,
        "label": wanted.label,
        "document": state.document,
        "metadata": json.dumps(dict(wanted.metadata or {})),
        "position": thread["last_position"],
        "at": at,
        "expires_at": None if kept else at + timedelta(seconds=ttl or 0),
        "message_seq": session["last_seq"],
    }
    stored = await tx.snapshots.put(session_id, row, state.parts)
    await _retain(tx, session_id, settings)
    return info_of(session_id, {**stored, "metadata": json.loads(stored["metadata"])})


async def current_state(tx: Transaction, session_id: str) -> dict[str, Any]:
    """The session's state as it is; empty where none was written."""
    current = await tx.states.current(session_id)
    return {} if current is None else current["document"]


async def state_of(tx: Transaction, session_id: str, checkpoint_id: str) -> dict[str, Any]:
    """The state that a checkpoint holds. Raises `NotFound`."""
    row = await tx.snapshots.parts(session_id, checkpoint_id)
    if row is None:
        raise no_checkpoint()
    packed = zip(row["names"] or (), row["codecs"] or (), row["blobs"] or (), strict=True)
    return snapshot.join(row["document"], {name: unpack(codec, data) for name, codec, data in packed})


async def prune(
    tx: Transaction, session_id: str, retention: Retention, *, dry_run: bool = False
) -> tuple[list[str], int]:
    """Drop what a locked thread does not keep; the ids, and how many parts of states went with them."""
    gone = retention.surplus(nodes_of(await tx.snapshots.places(session_id)))
    if dry_run or not gone:
        return gone, 0
    thread_id = session_thread(session_id)
    await tx.checkpoint_upkeep.delete_checkpoints(thread_id, gone)
    return gone, await tx.checkpoint_upkeep.sweep_blobs(thread_id)


def nodes_of(rows: list[Row]) -> list[Node]:
    """Rows as the domain has them."""
    return [Node(row["id"], row["parent_id"], row["position"], row["label"]) for row in rows]


def info_of(session_id: str, row: RowLike) -> SnapshotInfo:
    """A checkpoint as answers have it, without its state."""
    own = [name for name in SnapshotInfo.model_fields if name not in {"session_id", "redacted"}]
    return SnapshotInfo(session_id=session_id, **{name: row[name] for name in own})


def no_checkpoint() -> NotFound:
    """There is none of this id in this session."""
    return NotFound("There is no such checkpoint.", code="checkpoint_not_found")


async def _state(tx: Transaction, session_id: str, parent_id: str | None) -> PackedState:
    """The session's own state; where none was written, that of a parent, as it is packed there; else an empty one."""
    current = await tx.states.current(session_id)
    if current is not None or parent_id is None:
        return PackedState.of({} if current is None else current["document"])
    row = await tx.snapshots.parts(session_id, parent_id)
    if row is None:
        raise no_checkpoint()
    packed = zip(row["names"] or (), row["codecs"] or (), row["blobs"] or (), strict=True)
    return PackedState(row["document"], tuple(Blob(name, "", "json", codec, data) for name, codec, data in packed))


async def _parent(tx: Transaction, session_id: str, wanted: Wanted) -> str | None:
    newest = await tx.snapshots.newest(session_id)
    newest_id = None if newest is None else newest["id"]
    if wanted.compare_and_set:
        if newest_id != wanted.parent_id:
            raise PreconditionFailed(
                "The newest checkpoint is another one: read it and decide again.",
                code="parent_mismatch",
                extra={"current_id": newest_id},
            )
        return newest_id
    if wanted.parent_id is None or wanted.parent_id == newest_id:
        return newest_id
    if await tx.snapshots.get(session_id, wanted.parent_id) is None:
        raise no_checkpoint()
    return wanted.parent_id


async def _retain(tx: Transaction, session_id: str, settings: SnapshotSettings) -> None:
    if settings.keep_last is None:
        return
    retention = Retention(settings.keep_last, settings.keep_labelled)
    if await tx.snapshots.has_more_than(session_id, settings.keep_last + retention.slack):
        await prune(tx, session_id, retention)
