"""Checkpoints as LangGraph's contract has them: opaque documents, channel values once per version, pending writes.

The statements in an agent's path are text: one round trip each, planned once, read by the driver itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from app.core import clock
from app.repositories.base import Repository
from app.repositories.prepared import Prepared

_THREAD: Final = """
WITH fresh AS (
    INSERT INTO checkpoint_threads (tenant_id, thread_id, user_id, created_at, updated_at)
    VALUES ($1::uuid, $2::text, $3::text, $5::timestamptz, $5::timestamptz) ON CONFLICT DO NOTHING RETURNING user_id
), known AS (
    SELECT user_id FROM checkpoint_threads WHERE tenant_id = $1::uuid AND thread_id = $2::text FOR KEY SHARE
), thread AS (
    SELECT user_id FROM fresh UNION ALL SELECT user_id FROM known
), allowed AS (
    SELECT FROM thread WHERE ($4::text[] IS NULL OR user_id = ANY ($4::text[]))
        AND ($3::text IS NULL OR user_id = $3::text)
)"""
"""The thread, made if it is absent: it must be the caller's. A prune, which locks it, is waited for."""

_PUT: Final = f"""{_THREAD}, blobs AS (
    INSERT INTO checkpoint_blobs (tenant_id, thread_id, ns, channel, version, type, codec, blob)
    SELECT $1::uuid, $2::text, $6::text, b.channel, b.version, b.type, b.codec, b.blob
    FROM unnest($13::text[], $14::text[], $15::text[], $16::text[], $17::bytea[]) b (channel, version, type, codec, blob)
    WHERE EXISTS (SELECT FROM allowed) ON CONFLICT DO NOTHING
), written AS (
    INSERT INTO checkpoints (tenant_id, thread_id, ns, checkpoint_id, parent_id, run_id, type, document,
        channel_versions, metadata, position, created_at)
    SELECT $1::uuid, $2::text, $6::text, $7::text, $8::text, $9::text, $10::text, $11::bytea, $12::jsonb, $18::jsonb, 0,
        $5::timestamptz
    WHERE EXISTS (SELECT FROM allowed)
    ON CONFLICT (tenant_id, thread_id, ns, checkpoint_id) DO UPDATE SET type = excluded.type,
        document = excluded.document, channel_versions = excluded.channel_versions, metadata = excluded.metadata,
        run_id = excluded.run_id
    RETURNING 1
)
SELECT (SELECT count(*) FROM thread) AS threads, (SELECT count(*) FROM written) AS written"""

_WRITES: Final = f"""{_THREAD}, given AS (
    SELECT * FROM unnest($10::int[], $11::text[], $12::text[], $13::bytea[]) w (idx, channel, type, blob)
    WHERE EXISTS (SELECT FROM allowed)
), written AS (
    INSERT INTO checkpoint_writes (tenant_id, thread_id, ns, checkpoint_id, task_id, task_path, idx, channel, type,
        blob)
    SELECT $1::uuid, $2::text, $6::text, $7::text, $8::text, $9::text, idx, channel, type, blob FROM given
    ON CONFLICT (tenant_id, thread_id, ns, checkpoint_id, task_id, idx) DO %s
)
SELECT (SELECT count(*) FROM thread) AS threads, (SELECT count(*) FROM given) AS written"""

_OPAQUE: Final = "c.position = 0"
"""Plain JSON checkpoints have places in their thread, and an API of their own."""

_TUPLES: Final = """
SELECT c.thread_id, c.ns, c.checkpoint_id, c.parent_id, c.type, c.document, c.metadata::text AS metadata,
    v.channels, v.types, v.codecs, v.blobs, w.tasks, w.paths, w.idxs, w.write_channels, w.write_types, w.write_blobs
FROM (
    SELECT c.* FROM checkpoint_threads t
    JOIN checkpoints c ON c.tenant_id = t.tenant_id AND c.thread_id = t.thread_id
    WHERE t.tenant_id = $1::uuid AND c.tenant_id = $1::uuid AND ($2::text[] IS NULL OR t.user_id = ANY ($2::text[]))
        AND (c.expires_at IS NULL OR c.expires_at > $3::timestamptz) AND {conditions}
    ORDER BY {order} LIMIT {limit}
) c
CROSS JOIN LATERAL (
    SELECT array_agg(b.channel) AS channels, array_agg(b.type) AS types, array_agg(b.codec) AS codecs,
        array_agg(b.blob) AS blobs
    FROM jsonb_each_text(c.channel_versions) n
    CROSS JOIN LATERAL (
        SELECT channel, type, codec, blob FROM checkpoint_blobs b WHERE b.tenant_id = c.tenant_id
            AND b.thread_id = c.thread_id AND b.ns = c.ns AND b.channel = n.key AND b.version = n.value LIMIT 1
    ) b
) v
CROSS JOIN LATERAL (
    SELECT array_agg(task_id) AS tasks, array_agg(task_path) AS paths, array_agg(idx) AS idxs,
        array_agg(channel) AS write_channels, array_agg(type) AS write_types, array_agg(blob) AS write_blobs
    FROM (SELECT * FROM checkpoint_writes w WHERE w.tenant_id = c.tenant_id AND w.thread_id = c.thread_id
        AND w.ns = c.ns AND w.checkpoint_id = c.checkpoint_id ORDER BY task_path, task_id, idx) w
) w
ORDER BY {order}"""
"""A value is looked up by its key, one by one: the planner would rather read all that the thread ever had."""

_NEWEST: Final = "c.checkpoint_id DESC, c.thread_id DESC, c.ns DESC"


def _statement(text: str, *names: str) -> Prepared:
    return Prepared(text, names, {})


_BASE: Final = ("tenant_id", "thread_id", "user_id", "bound", "at", "ns", "checkpoint_id")
PUT: Final = _statement(
    _PUT,
    *(*_BASE, "parent_id", "run_id", "type", "document", "channel_versions"),
    *("channels", "versions", "types", "codecs", "blobs", "metadata"),
)
_ADD_WRITES, _REPLACE_WRITES = (
    _statement(_WRITES % action, *_BASE, "task_id", "task_path", "idxs", "channels", "types", "blobs")
    for action in (
        "NOTHING",
        "UPDATE SET task_path = excluded.task_path, channel = excluded.channel, type = excluded.type, "
        "blob = excluded.blob",
    )
)
_GET: Final = ("tenant_id", "bound", "at", "thread_id", "ns", "checkpoint_id")
_PLACE: Final = f"t.thread_id = $4::text AND c.thread_id = $4::text AND c.ns = $5::text AND {_OPAQUE}"
_GET_LATEST: Final = _statement(
    _TUPLES.format(conditions=_PLACE, order="c.checkpoint_id DESC", limit=1),
    *_GET[:-1],
)
_GET_EXACT: Final = _statement(
    _TUPLES.format(conditions=f"{_PLACE} AND c.checkpoint_id = $6::text", order="c.checkpoint_id DESC", limit=1), *_GET
)


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
        return await self._write(_REPLACE_WRITES if replace else _ADD_WRITES, values)

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
        rows = await (_GET_LATEST if checkpoint_id is None else _GET_EXACT).run(self._connection, values)
        return rows[0] if rows else None

    async def page(self, listed: Listed) -> list[Mapping[str, Any]]:
        """Checkpoints with values and writes, ids descending; columns as `get` has them."""
        given = {"tenant_id": self._tenant_id, "bound": self._bound_users(), "at": clock.now()}
        conditions = [_OPAQUE]
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
        text = _TUPLES.format(conditions=" AND ".join(conditions), order=_NEWEST, limit=int(listed.limit))
        return list(await Prepared(text, tuple(given), {}).run(self._connection, given))

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
