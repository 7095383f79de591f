"""The job `reembed`: vectors of everything by one model, beside the service, killed anywhere and resumed."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import structlog

from app.core import clock
from app.domain.embedding import Progress, pause
from app.providers.embeddings.base import EmbeddingUnavailable
from app.repositories.base import Row
from app.repositories.models import ModelRecord, index_names, model_record
from app.repositories.reembedding import Corpus, StoredVector
from app.repositories.vector_indexes import IndexesRefused, VectorIndexes
from app.repositories.vectors import Embedded
from app.services.embedding import Embedder, TextToEmbed
from app.services.model_walks import Overtaken, Stepped, Walk
from app.services.vectorising import JobRun, hold_owners
from app.uow import UnitOfWork

log = structlog.get_logger()

WINDOW: Final = 128
"""Texts that are looked at, and at most embedded, between two commits."""

AWAY: Final = timedelta(seconds=20)
"""How long the job rests while the model cannot be had."""

NO_INDEX: Final = "its index: this worker does not know the migrator's DSN; run 'mnemic migrate'"


@dataclass(frozen=True, slots=True)
class Reembedding:
    """The use case of the job. All it writes is a vector for a text that has none: doing it twice changes nothing.

    Args:
        uow: Transactions.
        embedder: The models that this process can load.
        texts_per_second: How many texts are embedded in a second at most; 0: as many as the model can.
        indexes: Builds the indexes; None where this process is not the migrator's.
    """

    uow: UnitOfWork
    embedder: Embedder
    texts_per_second: float = 0.0
    indexes: VectorIndexes | None = None

    async def run(self, run: JobRun) -> None:
        """Go through all texts; afterwards build the index, and let the model stand by.

        What processes wrote that did not know of the model yet is found by a second walk.
        """
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            model = await tx.models.one(int(run.subject))
            if model is None or model["status"] == "retired":
                await run.finish(tx, {"done": 0})
                return
        walk = Walk(self.uow, run, "reembed", model, Progress.of_json(model["progress"], clock.now()))
        if walk.progress.finished_at is not None:
            await walk.again()
        try:
            await self._walk(walk, model_record(model))
        except EmbeddingUnavailable as error:
            log.warning("reembedding_waits", model=model["name"], reason=str(error))
            await walk.later(AWAY, str(error))
        except Overtaken:
            await self._end(walk)

    async def _walk(self, walk: Walk, record: ModelRecord) -> None:
        async def step(tenant_id: UUID, corpus: Corpus, after: Sequence[str] | None) -> Stepped:
            return await self._step(record, tenant_id, corpus, after)

        if not await walk.go(step):
            await walk.later(timedelta(0))
            return
        left = (self._known_by_all(walk.model) - walk.progress.began_at).total_seconds()
        if left > 0:
            await walk.later(timedelta(seconds=min(left, self.embedder.settled_after)))
            return
        await walk.note()
        await self._end(walk, None if await self._indexed(record) else NO_INDEX)

    def _known_by_all(self, model: Row) -> datetime:
        """From when on every process gives what is written a vector by the model."""
        since: datetime = max(model["created_at"], model["activated_at"] or model["created_at"])
        return since + timedelta(seconds=self.embedder.settled_after)

    async def _step(self, record: ModelRecord, tenant_id: UUID, corpus: Corpus, after: Sequence[str] | None) -> Stepped:
        began = clock.monotonic()
        async with self.uow.begin_tenant(tenant_id) as tx:
            rows = await tx.reembedding.window(corpus, record.id, after, WINDOW)
        if not rows:
            return Stepped(0, 0, None)
        last = [str(rows[-1]["id"]), *([str(rows[-1]["part"])] if corpus == "store" else [])]
        lacking = [row for row in rows if row["text"] is not None and row["text"].strip()]
        if not lacking:
            return Stepped(len(rows), 0, last)
        hashes = [b"" if row["content_hash"] is None else bytes(row["content_hash"]) for row in lacking]
        texts = [TextToEmbed(row["id"], row["text"], known) for row, known in zip(lacking, hashes, strict=True)]
        vectors = await self.embedder.passages_by(record, texts)
        match corpus:
            case "memories":
                stored = await self._store_memories(record, tenant_id, vectors)
            case "messages":
                stored = await self._store_messages(record, tenant_id, lacking, vectors)
            case "store":
                stored = await self._store_items(record, tenant_id, lacking, vectors)
        await asyncio.sleep(pause(len(texts), clock.monotonic() - began, self.texts_per_second))
        return Stepped(len(rows), stored, last)

    async def _store_memories(self, record: ModelRecord, tenant_id: UUID, vectors: Sequence[Embedded]) -> int:
        async with self.uow.begin_tenant(tenant_id) as tx:
            await hold_owners(tx, [vector.target for vector in vectors])
            return await tx.vectors.put_memories(record.id, vectors)

    async def _store_messages(
        self, record: ModelRecord, tenant_id: UUID, rows: Sequence[Row], vectors: Sequence[Embedded]
    ) -> int:
        """Session by session, each under its lock: a vector copies its message's owner."""
        by_session: dict[str, list[Embedded]] = {}
        for row, vector in zip(rows, vectors, strict=True):
            by_session.setdefault(row["whose"], []).append(vector)
        stored = 0
        for session_id, mine in by_session.items():
            async with self.uow.begin_tenant(tenant_id) as tx:
                if await tx.sessions.get_for_update(session_id) is not None:
                    stored += await tx.vectors.put_messages(record.id, mine)
        return stored

    async def _store_items(
        self, record: ModelRecord, tenant_id: UUID, rows: Sequence[Row], vectors: Sequence[Embedded]
    ) -> int:
        made = [
            StoredVector(row["id"], row["part"], row["text"], vector.vector)
            for row, vector in zip(rows, vectors, strict=True)
        ]
        async with self.uow.begin_tenant(tenant_id) as tx:
            return await tx.reembedding.put_store(record.id, made)

    async def _indexed(self, record: ModelRecord) -> bool:
        """Whether the model's indexes are there, by now."""
        async with self.uow.begin_global() as tx:
            there = await tx.models.valid_indexes()
        if set(index_names(record.id)) <= there:
            return True
        if self.indexes is None:
            return False
        try:
            await self.indexes.build(record)
        except IndexesRefused:
            return False
        return True

    async def _end(self, walk: Walk, waits_for: str | None = None) -> None:
        async with self.uow.begin_tenant(walk.run.tenant_id) as tx:
            await walk.run.finish(tx, walk.result())
            await tx.models.lock()
            now = await tx.models.one(walk.model["id"])
            if now is not None and now["status"] == "building":
                await tx.models.stand_by(now["id"])
            if now is not None and now["status"] != "retired":
                await tx.models.note(now["id"], walk.progress.as_json() | {"waits_for": waits_for})
