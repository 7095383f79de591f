"""The job `retire_model`: the vectors of a model that is gone are removed in batches, and its indexes dropped."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from app.core import clock
from app.domain.embedding import Progress
from app.repositories.reembedding import Corpus
from app.repositories.vector_indexes import IndexesRefused, VectorIndexes
from app.services.embedding import Embedder
from app.services.model_walks import Overtaken, Stepped, Walk
from app.services.vectorising import JobRun
from app.uow import UnitOfWork

WINDOW: Final = 2_000
"""Rows that are looked at between two commits."""


@dataclass(frozen=True, slots=True)
class Retiring:
    """The use case of the job. Registered again meanwhile, the model keeps what it still has."""

    uow: UnitOfWork
    embedder: Embedder
    indexes: VectorIndexes | None = None

    async def run(self, run: JobRun) -> None:
        """Drop the indexes, which makes removing cheap, then remove the vectors of all tenants."""
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            model = await tx.models.one(int(run.subject))
            if model is None or model["status"] != "retired":
                await run.finish(tx, {"done": 0})
                return
        walk = Walk(self.uow, run, "retire_model", model, Progress.of_json(model["progress"], clock.now()))
        # Until every process has followed, some still write vectors by this model.
        left = (model["retired_at"] - clock.now()).total_seconds() + self.embedder.settled_after
        if left > 0:
            await walk.later(timedelta(seconds=min(left, self.embedder.settled_after)))
            return
        dropped = await self._drop(model["id"])

        async def step(tenant_id: UUID, corpus: Corpus, after: Sequence[str] | None) -> Stepped:
            async with self.uow.begin_tenant(tenant_id) as tx:
                found = await tx.reembedding.remove(corpus, model["id"], after, WINDOW)
            return Stepped(found.rows, found.count, found.last)

        try:
            if not await walk.go(step):
                await walk.later(timedelta(0))
                return
            await walk.note()
        except Overtaken:
            dropped = True
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            await run.finish(tx, walk.result() | {"indexes_dropped": dropped})

    async def _drop(self, model_id: int) -> bool:
        """Whether the indexes are gone; where this process may not drop them, 'mnemic migrate' does."""
        if self.indexes is None:
            return False
        try:
            await self.indexes.drop(model_id)
        except IndexesRefused:
            return False
        return True
