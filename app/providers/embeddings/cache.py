"""Vectors of recent questions, kept in memory."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from app.core.text.digest import text_hash
from app.domain.calibration import Calibration
from app.providers.embeddings.base import EmbeddingModel, Metric, Vector


class CachedQueries:
    """An embedding model whose last questions are answered from memory; passages go through.

    Equal questions at the same time share one computation, which goes on when one of them is cancelled. Failures are
    not kept. The vectors are shared: they cannot be written to.

    Args:
        model: The model that computes.
        size: Questions kept, the least recently used one leaves first; 0 keeps none.
    """

    def __init__(self, model: EmbeddingModel, size: int) -> None:
        self._model = model
        self._size = size
        self._known: OrderedDict[bytes, Vector] = OrderedDict()
        self._running: dict[bytes, asyncio.Task[Vector]] = {}

    @property
    def name(self) -> str:
        """The wrapped model's."""
        return self._model.name

    @property
    def dimension(self) -> int | None:
        """The wrapped model's."""
        return self._model.dimension

    @property
    def metric(self) -> Metric:
        """The wrapped model's."""
        return self._model.metric

    @property
    def calibration(self) -> Calibration:
        """The wrapped model's."""
        return self._model.calibration

    async def prepare(self) -> None:
        """Prepares the wrapped model."""
        await self._model.prepare()

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """The wrapped model's vectors, not kept."""
        return await self._model.embed_passages(texts)

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question, read-only, computed once for all who ask it. Raises `EmbeddingUnavailable`."""
        key = text_hash(text)
        known = self._known.get(key)
        if known is not None:
            self._known.move_to_end(key)
            return known
        task = self._running.get(key)
        if task is None:
            task = asyncio.create_task(self._model.embed_query(text))
            self._running[key] = task
            task.add_done_callback(lambda done: self._settle(key, done))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Forgets the questions and closes the wrapped model."""
        self._known.clear()
        await self._model.close()

    def _settle(self, key: bytes, task: asyncio.Task[Vector]) -> None:
        del self._running[key]
        # Asking for the exception marks it as seen, also when every caller has gone.
        if task.cancelled() or task.exception() is not None:
            return
        vector = task.result()
        vector.setflags(write=False)
        self._known[key] = vector
        while len(self._known) > self._size:
            self._known.popitem(last=False)
