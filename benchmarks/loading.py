"""A corpus into Mnemic's tables by COPY, over the migrator's connection; indexes are built afterwards.

Row by row the same rows take many times as long. What is measured later connects as the app role.
"""

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import asyncpg
import numpy as np
import numpy.typing as npt

from app.core.text.digest import text_hash
from app.core.text.tokens import document_length
from app.db.dsn import parse_dsn
from app.domain.budget import estimate_tokens
from benchmarks.corpus import Chunk, Source
from benchmarks.inprocess import Bench
from benchmarks.instance import Instance

START: Final = datetime(2025, 1, 1, tzinfo=UTC)
MEMORY_MINUTES: Final = 500_000
"""Memories come a minute apart and begin again after this many, so that all are past."""

MESSAGES_A_SESSION: Final = 50
BETWEEN_MESSAGES: Final = timedelta(milliseconds=10)
"""So near that recency does not decide an order that is compared with that of the cosines."""

MEMORY_COLUMNS: Final = """
    tenant_id id owner user_id kind text category source uncertain confidence importance weight use status
    valid_from occurred_at last_seen_at tokens length content_hash created_at updated_at
""".split()  # noqa: SIM905 - a list of names is read as names
MESSAGE_COLUMNS: Final = """
    tenant_id id session_id seq owner role text tokens length content_hash occurred_at created_at
""".split()  # noqa: SIM905 - likewise
SESSION_COLUMNS: Final = """
    tenant_id id owner user_id memory status last_seq embedded_seq message_count created_at updated_at last_message_at
""".split()  # noqa: SIM905 - likewise

Records = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Target:
    """Where a corpus goes."""

    arguments: dict[str, Any]
    tenant_id: UUID
    model_id: int


@dataclass(frozen=True)
class Loaded:
    """How loading went: seconds, and bytes of the approximate index."""

    rows: int
    copy_seconds: float
    other_indexes_seconds: float
    hnsw_seconds: float
    hnsw_bytes: int

    def figures(self) -> dict[str, Any]:
        rounded = {name: round(value, 1) for name, value in asdict(self).items() if name.endswith("_seconds")}
        return {"rows": self.rows, **rounded, "hnsw_bytes": self.hnsw_bytes}


async def target_of(bench: Bench, instance: Instance) -> Target:
    """The default tenant and the serving model of an instance, as the migrator."""
    record = await bench.services.embedder.record()
    tenant_id = await bench.services.access.tenant("default")
    return Target(parse_dsn(instance.server.migrator_dsn).asyncpg_arguments, tenant_id, record.id)


async def load_memories(target: Target, corpus: Source) -> Loaded:
    """COPY the corpus into memories."""
    return await _load(target, corpus, _Memories(target))


async def load_messages(target: Target, corpus: Source) -> Loaded:
    """COPY the corpus, which has one owner, into messages of sessions of 50 each."""
    return await _load(target, corpus, _Messages(target))


class _Memories:
    """Rows of memories."""

    table, postings, vectors, column = "memories", "memory_postings", "memory_vectors", "memory_id"
    columns = MEMORY_COLUMNS

    def __init__(self, target: Target) -> None:
        self._tenant_id = target.tenant_id
        self._draw = np.random.default_rng(7)

    def rows(self, chunk: Chunk, ids: Sequence[UUID], lengths: Sequence[int]) -> Records:
        """One row a text."""
        importances = self._draw.integers(1, 11, size=len(ids))
        found = Records()
        for row, (number, user_id, text) in enumerate(zip(chunk.numbers, chunk.user_ids, chunk.texts, strict=True)):
            at = START + timedelta(minutes=number % MEMORY_MINUTES)
            known = ("semantic", text, "other", "user_stated", False, 0.9, int(importances[row]), 1.0, "everywhere")
            sizes = (estimate_tokens(text), lengths[row], text_hash(text))
            about = ("active", at, at, at, *sizes, at, at)
            found.append((self._tenant_id, ids[row], f"u:{user_id}", user_id, *known, *about))
        return found

    async def before(self, _connection: "asyncpg.Connection[Any]", _chunk: Chunk) -> None:
        """Nothing that memories belong to."""

    @staticmethod
    def counted(count: int, length: int) -> tuple[int, ...]:
        return (count, length, 0, 0)


class _Messages:
    """Rows of messages, and their sessions."""

    table, postings, vectors, column = "messages", "message_postings", "message_vectors", "message_id"
    columns = MESSAGE_COLUMNS

    def __init__(self, target: Target) -> None:
        self._tenant_id = target.tenant_id

    def rows(self, chunk: Chunk, ids: Sequence[UUID], lengths: Sequence[int]) -> Records:
        """One row a text; user and assistant take turns."""
        found = Records()
        for row, (number, user_id, text) in enumerate(zip(chunk.numbers, chunk.user_ids, chunk.texts, strict=True)):
            session, place = divmod(number - 1, MESSAGES_A_SESSION)
            at = START + number * BETWEEN_MESSAGES
            said = (f"{user_id}/{session}", place + 1, f"u:{user_id}", ("user", "assistant")[place % 2], text)
            sizes = (estimate_tokens(text), lengths[row], text_hash(text))
            found.append((self._tenant_id, ids[row], *said, *sizes, at, at))
        return found

    async def before(self, connection: "asyncpg.Connection[Any]", chunk: Chunk) -> None:
        """The sessions of the chunk, which begins with one; the last may be short."""
        found = Records()
        for first in range(0, len(chunk.numbers), MESSAGES_A_SESSION):
            number, user_id = chunk.numbers[first], chunk.user_ids[first]
            count = min(MESSAGES_A_SESSION, len(chunk.numbers) - first)
            begun, ended = START + number * BETWEEN_MESSAGES, START + (number + count) * BETWEEN_MESSAGES
            name = f"{user_id}/{(number - 1) // MESSAGES_A_SESSION}"
            known = (self._tenant_id, name, f"u:{user_id}", user_id, "on", "open", count, count, count)
            found.append((*known, begun, ended, ended))
        await connection.copy_records_to_table("sessions", records=found, columns=SESSION_COLUMNS)

    @staticmethod
    def counted(count: int, length: int) -> tuple[int, ...]:
        return (0, 0, count, length)


async def _load(target: Target, corpus: Source, kind: _Memories | _Messages) -> Loaded:
    connection = await asyncpg.connect(**target.arguments)
    try:
        await connection.set_type_codec(
            "halfvec", schema="public", encoder=lambda ready: ready, decoder=bytes, format="binary"
        )
        await connection.execute("SET synchronous_commit = off; SET statement_timeout = 0")
        hnsw = f"hnsw_{kind.vectors}_{target.model_id}"
        approximate = await connection.fetchval("SELECT indexdef FROM pg_indexes WHERE indexname = $1", hnsw)
        await connection.execute(f'DROP INDEX "{hnsw}"')
        async with _built_afterwards(connection, (kind.postings, kind.vectors)) as others:
            began = time.perf_counter()
            await _copy(connection, target, corpus, kind)
            copied = time.perf_counter() - began
        await connection.execute("SET maintenance_work_mem = '4GB'; SET max_parallel_maintenance_workers = 2")
        began = time.perf_counter()
        await connection.execute(approximate)
        built = time.perf_counter() - began
        await connection.execute("VACUUM ANALYZE")
        size = await connection.fetchval("SELECT pg_relation_size($1::regclass)", hnsw)
        return Loaded(corpus.total, copied, others.seconds, built, size)
    finally:
        await connection.close()


async def _copy(
    connection: "asyncpg.Connection[Any]", target: Target, corpus: Source, kind: _Memories | _Messages
) -> None:
    counts: dict[str, list[int]] = {}
    for chunk in corpus.chunks():
        ids = [_id(kind.table, number) for number in chunk.numbers]
        terms = [corpus.frequencies(number, pair) for number, pair in zip(chunk.numbers, chunk.pairs, strict=True)]
        lengths = [document_length(frequencies) for frequencies in terms]
        for user_id, length in zip(chunk.user_ids, lengths, strict=True):
            of_owner = counts.setdefault(f"u:{user_id}", [0, 0])
            of_owner[0] += 1
            of_owner[1] += length
        await kind.before(connection, chunk)
        rows = kind.rows(chunk, ids, lengths)
        await connection.copy_records_to_table(kind.table, records=rows, columns=kind.columns)
        await connection.copy_to_table(
            kind.postings,
            source=_posting_lines(target.tenant_id, chunk, ids, terms),
            columns=["tenant_id", "owner", "token", kind.column, "tf", "len"],
        )
        await connection.copy_records_to_table(
            kind.vectors,
            records=[
                (target.tenant_id, row[1], target.model_id, f"u:{user_id}", text_hash(text), vector)
                for row, user_id, text, vector in zip(
                    rows, chunk.user_ids, chunk.texts, _halfvecs(chunk.vectors), strict=True
                )
            ],
            columns=["tenant_id", kind.column, "model_id", "owner", "text_hash", "embedding"],
        )
    stats = [(target.tenant_id, owner, 1, *kind.counted(*of_owner)) for owner, of_owner in counts.items()]
    await connection.copy_records_to_table("owner_stats", records=stats)


async def _posting_lines(
    tenant_id: UUID, chunk: Chunk, ids: Sequence[UUID], terms: Sequence[dict[str, int]]
) -> AsyncIterator[bytes]:
    """Postings in COPY's text form, which costs a tenth of encoding them value by value."""
    lines: list[str] = []
    for user_id, memory_id, frequencies in zip(chunk.user_ids, ids, terms, strict=True):
        before, behind, end = f"{tenant_id}\tu:{user_id}\t", f"\t{memory_id}\t", f"\t{document_length(frequencies)}\n"
        lines += [f"{before}{_escaped(token)}{behind}{tf}{end}" for token, tf in frequencies.items()]
    yield "".join(lines).encode()


def _escaped(token: str) -> str:
    """A token has no white space, but a path may have backslashes."""
    return token.replace("\\", "\\\\") if "\\" in token else token


def _halfvecs(vectors: npt.NDArray[np.float32]) -> Iterator[bytes]:
    """pgvector's binary form: the dimension, 0, then float16, all big-endian."""
    head = np.array([vectors.shape[1], 0], ">i2").tobytes()
    return (head + row.tobytes() for row in vectors.astype(">f2"))


def _id(table: str, number: int) -> UUID:
    """A UUIDv7 as time would have given it, the same in every run."""
    milliseconds = int(START.timestamp() * 1000) + number
    kind = 1 if table == "memories" else 2
    return UUID(int=milliseconds << 80 | 0x7 << 76 | 0b10 << 62 | kind << 32 | number)


@dataclass
class _Rebuilt:
    """How long indexes took."""

    seconds: float = 0.0


@asynccontextmanager
async def _built_afterwards(connection: "asyncpg.Connection[Any]", tables: Sequence[str]) -> AsyncIterator[_Rebuilt]:
    """Take indexes and foreign keys off these tables for the time of the block."""
    rebuilt = _Rebuilt()
    constraints = await connection.fetch(
        "SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(oid) AS definition "
        "FROM pg_constraint WHERE conrelid = ANY($1::regclass[]) AND contype IN ('p', 'u', 'f') ORDER BY contype DESC",
        list(tables),
    )
    indexes = await connection.fetch(
        "SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index "
        "WHERE indrelid = ANY($1::regclass[]) AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)",
        list(tables),
    )
    for row in constraints:
        await connection.execute(f"ALTER TABLE {row['table']} DROP CONSTRAINT {row['name']}")
    for row in indexes:
        await connection.execute(f"DROP INDEX {row['name']}")
    yield rebuilt
    await connection.execute("SET maintenance_work_mem = '1GB'; SET max_parallel_maintenance_workers = 2")
    began = time.perf_counter()
    for row in constraints:
        await connection.execute(f"ALTER TABLE {row['table']} ADD CONSTRAINT {row['name']} {row['definition']}")
    for row in indexes:
        await connection.execute(row["definition"])
    rebuilt.seconds = time.perf_counter() - began
