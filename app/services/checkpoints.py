"""Checkpoints of LangGraph's threads. What they hold is never read here: it comes and goes as bytes."""

import asyncio
import binascii
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.core import clock
from app.core.errors import Conflict, Invalid, NotFound, TooLarge
from app.domain.packing import pack, unpack
from app.domain.principal import Principal
from app.repositories.checkpoints import Blob, Listed, PendingWrite
from app.schemas.checkpoints import (
    ChannelValue,
    CheckpointGet,
    CheckpointList,
    CheckpointPlace,
    CheckpointPut,
    CheckpointTuple,
    CheckpointWrites,
    CopiedCheckpoints,
    DeletedCheckpoints,
    DeletedThreads,
    FoundCheckpoint,
    RunsDelete,
    StoredValue,
    StoredWrite,
    StoredWrites,
    ThreadCopy,
    ThreadDelete,
    ThreadsPrune,
)
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.services.answers import Answer, Write, write_once
from app.services.redacting import Redacting
from app.services.sessions import id_taken
from app.uow import Transaction, UnitOfWork

EMPTY: Final = "empty"
"""The type of a channel without a value."""

INLINE_BYTES: Final = 128 * 1024
"""More than that is packed and unpacked off the event loop, where it cannot hold up other requests."""


@dataclass(frozen=True, slots=True)
class CheckpointService:
    """The use cases of LangGraph's checkpointer; `max_value_bytes` is the size that one value may have."""

    uow: UnitOfWork
    redacting: Redacting
    max_value_bytes: int

    async def put(self, write: Write, request: CheckpointPut) -> Answer:
        """Store a checkpoint with its new values."""
        user_id = _writer(write.principal, request.user_id)
        request = (await self.redacting.clean(write.principal, request)).request
        blobs = await _apart(self._blobs, request.values, sum(len(value.data or "") for value in request.values))
        run_id = request.metadata.get("run_id")
        row = {
            "ns": request.ns,
            "checkpoint_id": request.checkpoint_id,
            "parent_id": request.parent_id,
            "run_id": run_id if isinstance(run_id, str) else None,
            "type": request.type,
            "document": self._bytes(request.document, "document"),
            "channel_versions": json.dumps(request.channel_versions),
            "metadata": json.dumps(request.metadata),
        }

        async def work(tx: Transaction) -> Answer:
            if not await tx.checkpoints.put(request.thread_id, user_id, row, blobs):
                raise id_taken()
            place = CheckpointPlace(thread_id=request.thread_id, ns=request.ns, checkpoint_id=request.checkpoint_id)
            return Answer(200, place)

        return await write_once(self.uow, write, CheckpointPlace, work, planned_once=True)

    async def put_writes(self, write: Write, request: CheckpointWrites) -> Answer:
        """Store what a task has written."""
        user_id = _writer(write.principal, request.user_id)
        task = request.model_dump(include={"ns", "checkpoint_id", "task_id", "task_path"})
        writes = [
            PendingWrite(one.idx, one.channel, one.type, self._bytes(one.data, one.channel)) for one in request.writes
        ]

        async def work(tx: Transaction) -> Answer:
            allowed = await tx.checkpoints.put_writes(request.thread_id, user_id, task, writes, replace=request.replace)
            if not allowed:
                raise id_taken()
            return Answer(200, StoredWrites(written=len(writes)))

        if len({one.idx for one in writes}) < len(writes):
            raise Invalid("Two writes of the request have the same idx.", code="duplicate_idx")
        return await write_once(self.uow, write, StoredWrites, work, planned_once=True)

    async def get(self, principal: Principal, request: CheckpointGet) -> FoundCheckpoint:
        """A checkpoint, or the newest."""
        principal.require("sessions:read")
        async with self.uow.begin(principal, planned_once=True) as tx:
            row = await tx.checkpoints.get(request.thread_id, request.ns, request.checkpoint_id)
        found = None if row is None else await _apart(_tuple, row, _size(row))
        return FoundCheckpoint.model_construct(checkpoint=found)

    async def page(self, principal: Principal, request: CheckpointList) -> Page[CheckpointTuple]:
        """Checkpoints, ids descending."""
        principal.require("sessions:read")
        position = decode_cursor(request.cursor, str, str, str)
        listed = Listed(
            thread_id=request.thread_id,
            ns=request.ns,
            checkpoint_id=request.checkpoint_id,
            metadata=None if request.filter is None else json.dumps(request.filter),
            before=request.before,
            after=None if position is None else (position[0], position[1], position[2]),
            limit=request.limit + 1,
        )
        async with self.uow.begin(principal) as tx:
            rows = await tx.checkpoints.page(listed)
        shown = rows[: request.limit]
        last = shown[-1] if len(rows) > request.limit else None
        return Page.model_construct(
            results=[await _apart(_tuple, row, _size(row)) for row in shown],
            next_cursor=None if last is None else encode_cursor(last["checkpoint_id"], last["thread_id"], last["ns"]),
            total=None,
        )

    async def copy(self, write: Write, request: ThreadCopy) -> Answer:
        """Copy a thread: checkpoints of all namespaces, values, writes. What the target has already stays."""
        write.principal.require("sessions:write")
        if request.source_thread_id == request.target_thread_id:
            raise Invalid("A thread is copied into another one.", code="same_thread")

        async def work(tx: Transaction) -> Answer:
            locked = {}
            for thread_id in sorted((request.source_thread_id, request.target_thread_id)):
                locked[thread_id] = await tx.checkpoint_upkeep.lock(thread_id)
            source = locked[request.source_thread_id]
            if source is None:
                raise NotFound("There is no such thread.", code="thread_not_found")
            target = locked[request.target_thread_id]
            if target is None:
                await tx.checkpoint_upkeep.create(request.target_thread_id, source["user_id"], clock.now())
                target = await tx.checkpoint_upkeep.lock(request.target_thread_id)
            if target is None or target["user_id"] != source["user_id"]:
                raise id_taken()
            copied = await tx.checkpoint_upkeep.copy(request.source_thread_id, request.target_thread_id)
            return Answer(200, CopiedCheckpoints(copied=copied))

        return await write_once(self.uow, write, CopiedCheckpoints, work)

    async def prune(self, write: Write, request: ThreadsPrune) -> Answer:
        """Keep the newest checkpoint of each namespace, or nothing. A thread that is absent is passed over."""
        write.principal.require("sessions:write")
        thread_ids = sorted(set(request.thread_ids))

        async def work(tx: Transaction) -> Answer:
            gone = values = 0
            for thread_id in thread_ids:
                if await tx.checkpoint_upkeep.lock(thread_id) is None:
                    continue
                if request.strategy == "delete":
                    checkpoints, blobs = await tx.checkpoint_upkeep.counts(thread_id)
                    await tx.checkpoint_upkeep.delete_threads([thread_id])
                    gone, values = gone + checkpoints, values + blobs
                    continue
                if await tx.checkpoint_upkeep.uses_deltas(thread_id):
                    raise _uses_deltas(thread_id)
                deleted = await tx.checkpoint_upkeep.delete_all_but_latest(thread_id)
                values += await tx.checkpoint_upkeep.sweep_blobs(thread_id) if deleted else 0
                gone += deleted
            return Answer(200, DeletedCheckpoints(checkpoints=gone, values=values))

        return await write_once(self.uow, write, DeletedCheckpoints, work)

    async def delete_runs(self, write: Write, request: RunsDelete) -> Answer:
        """Delete the checkpoints that these runs have made, in whatever thread."""
        write.principal.require("sessions:write")

        async def work(tx: Transaction) -> Answer:
            gone = values = 0
            for thread_id in await tx.checkpoint_upkeep.lock_of_runs(request.run_ids):
                gone += await tx.checkpoint_upkeep.delete_runs(thread_id, request.run_ids)
                values += await tx.checkpoint_upkeep.sweep_blobs(thread_id)
            return Answer(200, DeletedCheckpoints(checkpoints=gone, values=values))

        return await write_once(self.uow, write, DeletedCheckpoints, work)

    async def delete_thread(self, write: Write, request: ThreadDelete) -> Answer:
        """Delete a thread with everything in it; one that is absent is gone already."""
        write.principal.require("sessions:write")

        async def work(tx: Transaction) -> Answer:
            return Answer(200, DeletedThreads(threads=await tx.checkpoint_upkeep.delete_threads([request.thread_id])))

        return await write_once(self.uow, write, DeletedThreads, work)

    def _blobs(self, values: Sequence[ChannelValue]) -> list[Blob]:
        blobs = []
        for value in values:
            if value.type == EMPTY:
                blobs.append(Blob(value.channel, value.version, EMPTY, None, None))
                continue
            if value.data is None:
                raise Invalid(f"The channel {value.channel[:100]} has a type and no data.", code="no_data")
            codec, data = pack(self._bytes(value.data, value.channel))
            blobs.append(Blob(value.channel, value.version, value.type, codec, data))
        return blobs

    def _bytes(self, data: str, channel: str) -> bytes:
        try:
            decoded = binascii.a2b_base64(data, strict_mode=True)
        except (binascii.Error, ValueError) as error:
            raise Invalid(f"The data of {channel[:100]} is not base64.", code="bad_base64") from error
        if len(decoded) > self.max_value_bytes:
            raise TooLarge(
                f"The data of {channel[:100]} has {len(decoded)} bytes, {self.max_value_bytes} are taken: keep large "
                "things elsewhere and their place in the state.",
                code="value_too_large",
            )
        return decoded


async def _apart(work: Any, given: Any, size: int) -> Any:  # noqa: ANN401 - any pure function of one argument
    return work(given) if size <= INLINE_BYTES else await asyncio.to_thread(work, given)


def _writer(principal: Principal, user_id: str | None) -> str | None:
    principal.require("sessions:write")
    return principal.own_user(user_id)


def _uses_deltas(thread_id: str) -> Conflict:
    return Conflict(
        f"The thread {thread_id} keeps a channel as changes (DeltaChannel): the newest checkpoint needs older ones.",
        code="delta_channel",
    )


def _size(row: Mapping[str, Any]) -> int:
    return sum(len(blob or b"") for blob in row["blobs"] or ())


def _tuple(row: Mapping[str, Any]) -> CheckpointTuple:
    values = zip(*(row[name] or () for name in ("channels", "types", "codecs", "blobs")), strict=True)
    names = ("tasks", "paths", "idxs", "write_channels", "write_types", "write_blobs")
    writes = zip(*(row[name] or () for name in names), strict=True)
    return CheckpointTuple.model_construct(
        thread_id=row["thread_id"],
        ns=row["ns"],
        checkpoint_id=row["checkpoint_id"],
        parent_id=row["parent_id"],
        type=row["type"],
        document=_base64(row["document"]),
        metadata=json.loads(row["metadata"]),
        values=[
            StoredValue(channel=channel, type=kind, data=None if blob is None else _base64(unpack(codec, blob)))
            for channel, kind, codec, blob in values
        ],
        writes=[
            StoredWrite(task_id=task, task_path=path, idx=idx, channel=channel, type=kind, data=_base64(blob))
            for task, path, idx, channel, kind, blob in writes
        ],
    )


def _base64(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode("ascii")
