"""The statements in the path of LangGraph's checkpoints: text, one round trip each, read by the driver itself."""

from typing import Final

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

_PUT: Final = (
    _THREAD
    + """, blobs AS (
    INSERT INTO checkpoint_blobs (tenant_id, thread_id, ns, channel, version, type, codec, blob)
    SELECT $1::uuid, $2::text, $6::text, b.channel, b.version, b.type, b.codec, b.blob
    FROM unnest($13::text[], $14::text[], $15::text[], $16::text[], $17::bytea[])
        b (channel, version, type, codec, blob)
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
)

_WRITES: Final = (
    _THREAD
    + """, given AS (
    SELECT * FROM unnest($10::int[], $11::text[], $12::text[], $13::bytea[]) w (idx, channel, type, blob)
    WHERE EXISTS (SELECT FROM allowed)
), written AS (
    INSERT INTO checkpoint_writes (tenant_id, thread_id, ns, checkpoint_id, task_id, task_path, idx, channel, type,
        blob)
    SELECT $1::uuid, $2::text, $6::text, $7::text, $8::text, $9::text, idx, channel, type, blob FROM given
    ON CONFLICT (tenant_id, thread_id, ns, checkpoint_id, task_id, idx) DO %s
)
SELECT (SELECT count(*) FROM thread) AS threads, (SELECT count(*) FROM allowed) AS written"""
)

OPAQUE: Final = "c.position = 0"
"""Plain JSON checkpoints have places in their thread, and an API of their own."""

TUPLES: Final = """
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

NEWEST: Final = "c.checkpoint_id DESC, c.thread_id DESC, c.ns DESC"


def _statement(text: str, *names: str) -> Prepared:
    return Prepared(text, names, {})


_BASE: Final = ("tenant_id", "thread_id", "user_id", "bound", "at", "ns", "checkpoint_id")
PUT: Final = _statement(
    _PUT,
    *(*_BASE, "parent_id", "run_id", "type", "document", "channel_versions"),
    *("channels", "versions", "types", "codecs", "blobs", "metadata"),
)
_WRITE: Final = (*_BASE, "task_id", "task_path", "idxs", "channels", "types", "blobs")
_REPLACE: Final = "UPDATE SET task_path = excluded.task_path, channel = excluded.channel, type = excluded.type, "
ADD_WRITES: Final = _statement(_WRITES % "NOTHING", *_WRITE)
REPLACE_WRITES: Final = _statement(_WRITES % (_REPLACE + "blob = excluded.blob"), *_WRITE)
_GET: Final = ("tenant_id", "bound", "at", "thread_id", "ns", "checkpoint_id")
_PLACE: Final = f"t.thread_id = $4::text AND c.thread_id = $4::text AND c.ns = $5::text AND {OPAQUE}"
GET_LATEST: Final = _statement(
    TUPLES.format(conditions=_PLACE, order="c.checkpoint_id DESC", limit=1),
    *_GET[:-1],
)
GET_EXACT: Final = _statement(
    TUPLES.format(conditions=f"{_PLACE} AND c.checkpoint_id = $6::text", order="c.checkpoint_id DESC", limit=1), *_GET
)
