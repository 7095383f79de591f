"""Checkpoints as LangGraph's contract has them: opaque documents, channel values once per version, pending writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core import clock
from app.repositories.base import Repository
from app.repositories.checkpoint_statements import (
    ADD_WRITES,
    GET_EXACT,
    GET_LATEST,
    NEWEST,
    OPAQUE,
    PUT,
    REPLACE_WRITES,
    TUPLES,
)
from app.repositories.prepared import Prepared


@dataclass(frozen=True, slots=True)
class Blob:
    """A channel's value at a version: what the client calls its type, and its bytes as they are kept."""

    channel: str
    version: str
    type: str
    codec: str | None
    data: bytes | None


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """One write of a task; `idx` is below 0 for errors, schedules, interrupts and resumes."""

    idx: int
    channel: str
    type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Listed:
    """Which checkpoints to list.

    Args:
        thread_id: Of this thread; None: of all that the key may see.
        ns: In this namespace; None: in all.
        checkpoint_id: This one only.
        metadata: What the metadata must contain, as JSON; None does not restrict.
        before: Only ids below it.
        after: The position (checkpoint_id, thread_id, ns) of the last row of the page before.
        limit: Rows.
    """

    thread_id: str | None
    ns: str | None
    checkpoint_id: str | None
    metadata: str | None
    before: str | None
    after: tuple[str, str, str] | None
    limit: int


class CheckpointRepository(Repository):
    """checkpoints, checkpoint_blobs and checkpoint_writes of LangGraph's threads."""

    async def put(
        self, thread_id: str, user_id: str | None, checkpoint: Mapping[str, Any], blobs: Sequence[Blob]
    ) -> bool:
        """Store a checkpoint and those of its values that are new; False where the thread is another's.

        `checkpoint` has ns, checkpoint_id, parent_id, run_id, type, document and, as JSON texts, channel_versions and
        metadata. The same id replaces the document; a value at a version that is there already is left as it is.
        """
        values = {
            **self._writer(thread_id, user_id),
            **checkpoint,
            "channels": [blob.channel for blob in blobs],
            "versions": [blob.version for blob in blobs],
            "types": [blob.type for blob in blobs],
            "codecs": [blob.codec for blob in blobs],
            "blobs": [blob.data for blob in blobs],
        }
        return await self._write(PUT, values)

    async def put_writes(
        self,
        thread_id: str,
        user_id: str | None,
        task: Mapping[str, Any],
        writes: Sequence[PendingWrite],
        *,
        replace: bool,
    ) -> bool:
        """Store writes of a task (ns, checkpoint_id, task_id, task_path); False where the thread is another's.

        What is there under the same index is replaced, or left as it is.
        """
        values = {
            **self._writer(thread_id, user_id),
            **task,
            "idxs": [write.idx for write in writes],
            "channels": [write.channel for write in writes],
            "types": [write.type for write in writes],
            "blobs": [write.data for write in writes],
        }
        return await self._write(REPLACE_WRITES if replace else ADD_WRITES, values)

    async def get(self, thread_id: str, ns: str, checkpoint_id: str | None) -> Mapping[str, Any] | None:
        """A checkpoint with its values and writes, the newest where no id is given; None where there is none.

        Columns: thread_id, ns, checkpoint_id, parent_id, type, document, metadata (JSON text), and parallel lists
        (None if empty): channels, types, codecs, blobs; tasks, paths, idxs, write_channels, write_types, write_blobs.
        """
        values = {
            "tenant_id": self._tenant_id,
            "thread_id": thread_id,
            "bound": self._bound_users(),
            "at": clock.now(),
            "ns": ns,
            "checkpoint_id": checkpoint_id,
        }
        rows = await (GET_LATEST if checkpoint_id is None else GET_EXACT).read(self._connection, values)
        return rows[0] if rows else None

    async def page(self, listed: Listed) -> list[dict[str, Any]]:
        """Checkpoints with values and writes, ids descending; columns as `get` has them."""
        given: dict[str, Any] = {"tenant_id": self._tenant_id, "bound": self._bound_users(), "at": clock.now()}
        conditions = [OPAQUE]
        asked: list[tuple[str, Any]] = [
            ("t.thread_id = {0} AND c.thread_id = {0}", listed.thread_id),
            ("c.ns = {0}", listed.ns),
            ("c.checkpoint_id = {0}", listed.checkpoint_id),
            ("c.checkpoint_id < {0}", listed.before),
            ("c.metadata @> {0}::jsonb", listed.metadata),
        ]
        if listed.after is not None:
            asked.append(("c.checkpoint_id <= {0}", listed.after[0]))
        for template, value in asked:
            if value is not None:
                conditions.append(template.format(f"${len(given) + 1}::text"))
                given[f"asked_{len(given)}"] = value
        if listed.after is not None:
            place = ", ".join(f"${len(given) + number}::text" for number in (1, 2, 3))
            conditions.append(f"(c.checkpoint_id, c.thread_id, c.ns) < ({place})")
            given |= dict(zip(("last_id", "last_thread", "last_ns"), listed.after, strict=True))
        text = TUPLES.format(conditions=" AND ".join(conditions), order=NEWEST, limit=int(listed.limit))
        return await Prepared(text, tuple(given), {}).read(self._connection, given)

    async def _write(self, statement: Prepared, values: Mapping[str, Any]) -> bool:
        """Twice, if another made the thread at the same moment: the statement began before it was there."""
        while True:
            (row,) = await statement.run(self._connection, values)
            if row["threads"]:
                return bool(row["written"])

    def _writer(self, thread_id: str, user_id: str | None) -> dict[str, Any]:
        return {
            "tenant_id": self._tenant_id,
            "thread_id": thread_id,
            "user_id": user_id,
            "bound": self._bound_users(),
            "at": clock.now(),
        }

    def _bound_users(self) -> list[str] | None:
        return None if self._user_ids is None else sorted(self._user_ids)
