"""Checkpoints of plain JSON states: the thread of a session, in which each has its place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, func, literal, literal_column, select, text, update
from sqlalchemy.dialects.postgresql import JSONB, insert

from app.core import clock
from app.db.models import checkpoint_steps, checkpoint_threads, checkpoints
from app.repositories.base import Repository, Row
from app.repositories.checkpoints import Blob
from app.repositories.prepared import Prepared

_MARK: Final = "\x1e"
"""No id of a client's has a control character in it: a session's thread is none that LangGraph can name."""

_NOTHING: Final[ColumnElement[Any]] = literal_column("'null'::jsonb")

_PUT: Final = Prepared(
    """
    WITH parts AS (
        INSERT INTO checkpoint_blobs (tenant_id, thread_id, ns, channel, version, type, codec, blob)
        SELECT $1::uuid, $2::text, '', p.name, '', 'json', p.codec, p.blob
        FROM unnest($11::text[], $12::text[], $13::bytea[]) p (name, codec, blob) ON CONFLICT DO NOTHING
    )
    INSERT INTO checkpoints (tenant_id, thread_id, ns, checkpoint_id, parent_id, run_id, label, type, document,
        channel_versions, metadata, position, created_at, expires_at, message_seq)
    VALUES ($1::uuid, $2::text, '', $3::text, $4::text, $5::text, $6::text, 'json', $7::bytea,
        coalesce((SELECT jsonb_object_agg(name, '') FROM unnest($11::text[]) name), '{}'), $8::jsonb, $9::bigint,
        $10::timestamptz, $14::timestamptz, $15::bigint)
    RETURNING checkpoint_id AS id, parent_id, run_id, label, metadata::text AS metadata, position, created_at,
        expires_at, message_seq
    """,
    (
        *("tenant_id", "thread_id", "id", "parent_id", "run_id", "label", "document", "metadata", "position", "at"),
        *("names", "codecs", "blobs", "expires_at", "message_seq"),
    ),
    {},
)

_INFO: Final = (
    checkpoints.c.checkpoint_id.label("id"),
    *(checkpoints.c[name] for name in ("parent_id", "run_id", "label", "metadata", "position")),
    *(checkpoints.c[name] for name in ("created_at", "expires_at", "message_seq")),
)

_PARTS: Final = text(
    """
    SELECT c.document, p.names, p.codecs, p.blobs FROM checkpoints c
    CROSS JOIN LATERAL (
        SELECT array_agg(b.channel) AS names, array_agg(b.codec) AS codecs, array_agg(b.blob) AS blobs
        FROM jsonb_each_text(c.channel_versions) n
        CROSS JOIN LATERAL (
            SELECT channel, codec, blob FROM checkpoint_blobs b WHERE b.tenant_id = c.tenant_id
                AND b.thread_id = c.thread_id AND b.ns = '' AND b.channel = n.key AND b.version = n.value LIMIT 1
        ) b
    ) p
    WHERE c.tenant_id = :tenant AND c.thread_id = :thread AND c.ns = '' AND c.checkpoint_id = :id
    """
)

_ANCESTORS: Final = text(
    """
    WITH RECURSIVE line AS (
        SELECT checkpoint_id, parent_id FROM checkpoints
        WHERE tenant_id = :tenant AND thread_id = :thread AND ns = '' AND checkpoint_id = :id
        UNION ALL
        SELECT c.checkpoint_id, c.parent_id FROM line l JOIN checkpoints c ON c.tenant_id = :tenant
            AND c.thread_id = :thread AND c.ns = '' AND c.checkpoint_id = l.parent_id
    )
    SELECT checkpoint_id FROM line
    """
)


@dataclass(frozen=True, slots=True)
class Asked:
    """Which checkpoints a list shows; None does not restrict."""

    label: str | None = None
    run_id: str | None = None
    metadata: dict[str, Any] | None = None


def session_thread(session_id: str) -> str:
    """The thread in which a session's checkpoints are."""
    return f"{_MARK}{session_id}"


class SnapshotRepository(Repository):
    """The caller has looked whether the key may see the session."""

    async def advance(self, session_id: str, user_id: str | None, at: datetime) -> Row:
        """The session's thread, made if it is absent, locked until the commit, one position further.

        Columns: last_position (the one just taken), settings.
        """
        threads = checkpoint_threads
        row = {"tenant_id": self._tenant_id, "thread_id": session_thread(session_id), "session_id": session_id}
        stamps = {"created_at": at, "updated_at": at}
        statement = insert(threads).values(**row, user_id=user_id, last_position=1, **stamps)
        further = statement.on_conflict_do_update(
            index_elements=["tenant_id", "thread_id"],
            set_={"last_position": threads.c.last_position + 1, "updated_at": at},
        )
        return await self._one_row(further.returning(threads.c.last_position, threads.c.settings))

    async def settings(self, session_id: str) -> dict[str, Any]:
        """What the thread keeps and does by itself; empty where nothing was said."""
        statement = select(checkpoint_threads.c.settings).where(*self._thread(checkpoint_threads, session_id))
        row = await self._first(statement)
        return {} if row is None else dict(row["settings"])

    async def set_settings(self, session_id: str, settings: Mapping[str, Any]) -> None:
        """Write them to a thread that is there."""
        statement = update(checkpoint_threads).where(*self._thread(checkpoint_threads, session_id))
        await self._run(statement.values(settings=dict(settings)))

    async def put(self, session_id: str, row: Mapping[str, Any], parts: Sequence[Blob]) -> Mapping[str, Any]:
        """Store a checkpoint in a locked thread, and those of its parts that are not there yet.

        `row` has id, parent_id, run_id, label, document, metadata (JSON text), position, at, expires_at, message_seq.
        """
        values = {
            "tenant_id": self._tenant_id,
            "thread_id": session_thread(session_id),
            **row,
            "names": [part.channel for part in parts],
            "codecs": [part.codec for part in parts],
            "blobs": [part.data for part in parts],
        }
        (stored,) = await _PUT.read(self._connection, values)
        return stored

    async def newest(self, session_id: str) -> Row | None:
        """The newest checkpoint, without its state."""
        return await self._first(self._infos(session_id).order_by(checkpoints.c.position.desc()).limit(1))

    async def get(self, session_id: str, checkpoint_id: str) -> Row | None:
        """One, without its state."""
        return await self._first(self._infos(session_id).where(checkpoints.c.checkpoint_id == checkpoint_id))

    async def parts(self, session_id: str, checkpoint_id: str) -> Row | None:
        """What a checkpoint's state is made of: document, and parallel lists names, codecs, blobs (None if empty)."""
        return await self._first(_PARTS, self._place(session_id) | {"id": checkpoint_id})

    async def page(self, session_id: str, asked: Asked, before: int | None, limit: int) -> list[Row]:
        """Checkpoints without their states, newest first, below a position."""
        statement = self._filtered(session_id, asked)
        if before is not None:
            statement = statement.where(checkpoints.c.position < before)
        return await self._all(statement.order_by(checkpoints.c.position.desc()).limit(limit))

    async def count(self, session_id: str, asked: Asked) -> int:
        """How many a list has in all."""
        return await self._count(self._filtered(session_id, asked))

    async def ancestors(self, session_id: str, checkpoint_id: str) -> list[str]:
        """The ids of a checkpoint and of what it comes from, as far back as there are rows."""
        rows = await self._all(_ANCESTORS, self._place(session_id) | {"id": checkpoint_id})
        return [row["checkpoint_id"] for row in rows]

    async def change(self, session_id: str, checkpoint_id: str, values: Mapping[str, Any]) -> Row | None:
        """Write a label or a time of expiry."""
        statement = update(checkpoints).where(
            *self._thread(checkpoints, session_id), checkpoints.c.checkpoint_id == checkpoint_id, *_alive()
        )
        return await self._first(statement.values(dict(values)).returning(*_INFO))

    async def add_step(self, session_id: str, step: Mapping[str, Any]) -> Row | None:
        """Store a step of a locked thread; None where there is one of this id already."""
        values = {"tenant_id": self._tenant_id, "thread_id": session_thread(session_id), **step}
        statement = insert(checkpoint_steps).values(values).on_conflict_do_nothing()
        return await self._first(statement.returning(checkpoint_steps))

    async def complete_step(self, session_id: str, step: Mapping[str, Any]) -> Row | None:
        """Give a step of a locked thread its first output, and the place at which it came; None where it has one."""
        table = checkpoint_steps
        unfinished = table.c.output.is_(None) | (table.c.output == _NOTHING)
        statement = update(table).where(
            *self._thread(table, session_id), table.c.step_id == step["step_id"], unfinished
        )
        input_ = func.coalesce(func.nullif(table.c.input, _NOTHING), literal(step["input"], JSONB))
        place = {name: step[name] for name in ("checkpoint_id", "position", "output")}
        return await self._first(statement.values(input=input_, **place).returning(table))

    async def step(self, session_id: str, step_id: str) -> Row | None:
        """One step."""
        statement = select(checkpoint_steps).where(*self._thread(checkpoint_steps, session_id))
        return await self._first(statement.where(checkpoint_steps.c.step_id == step_id))

    async def steps(self, session_id: str, after: int, limit: int) -> list[Row]:
        """Steps in their order, above a position."""
        statement = select(checkpoint_steps).where(
            *self._thread(checkpoint_steps, session_id), checkpoint_steps.c.position > after
        )
        return await self._all(statement.order_by(checkpoint_steps.c.position).limit(limit))

    async def count_steps(self, session_id: str) -> int:
        """How many steps there are."""
        return await self._count(
            select(literal_column("1")).select_from(checkpoint_steps).where(*self._thread(checkpoint_steps, session_id))
        )

    async def after(self, session_id: str, after: int, limit: int) -> list[Row]:
        """Checkpoints without their states, oldest first, above a position."""
        statement = self._infos(session_id).where(checkpoints.c.position > after)
        return await self._all(statement.order_by(checkpoints.c.position).limit(limit))

    async def places(self, session_id: str) -> list[Row]:
        """Every checkpoint's id, parent_id, label and position, oldest first."""
        columns = (checkpoints.c[name] for name in ("parent_id", "label", "position"))
        statement = select(checkpoints.c.checkpoint_id.label("id"), *columns)
        mine = statement.where(*self._thread(checkpoints, session_id), *_alive())
        return await self._all(mine.order_by(checkpoints.c.position))

    async def has_more_than(self, session_id: str, number: int) -> bool:
        """Whether there are more checkpoints than so many."""
        statement = select(checkpoints.c.position).where(*self._thread(checkpoints, session_id), *_alive())
        beyond = statement.order_by(checkpoints.c.position.desc()).offset(number).limit(1)
        return await self._first(beyond) is not None

    def _infos(self, session_id: str) -> Select[Any]:
        return select(*_INFO).where(*self._thread(checkpoints, session_id), *_alive())

    def _filtered(self, session_id: str, asked: Asked) -> Select[Any]:
        statement = self._infos(session_id)
        if asked.label is not None:
            statement = statement.where(checkpoints.c.label == asked.label)
        if asked.run_id is not None:
            statement = statement.where(checkpoints.c.run_id == asked.run_id)
        return statement if asked.metadata is None else statement.where(checkpoints.c.metadata.contains(asked.metadata))

    def _thread(self, table: Any, session_id: str) -> list[Any]:  # noqa: ANN401 - a table of a thread's rows
        return [table.c.tenant_id == self._tenant_id, table.c.thread_id == session_thread(session_id)]

    def _place(self, session_id: str) -> dict[str, Any]:
        return {"tenant": self._tenant_id, "thread": session_thread(session_id)}


def _alive() -> list[Any]:
    expires = checkpoints.c.expires_at
    return [checkpoints.c.position > 0, (expires.is_(None)) | (expires > clock.now())]
