"""An embedding model whose calls are counted and timed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Literal

from app.core import clock
from app.core.metrics import Metrics
from app.domain.calibration import Calibration
from app.providers.embeddings.base import EmbeddingModel, Metric, Vector

Input = Literal["query", "passage"]
OK: Final = "ok"


class MeasuredModel:
    """Passes everything through.

    Args:
        model: The model that computes.
        metrics: Where calls, times and failures are counted.
    """

    def __init__(self, model: EmbeddingModel, metrics: Metrics) -> None:
        self._model = model
        self._metrics = metrics

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
        """Makes the wrapped model's dimension known."""
        await self._model.prepare()

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """The wrapped model's vectors."""
        with self._measured("passage", len(texts)):
            return await self._model.embed_passages(texts)

    async def embed_query(self, text: str) -> Vector:
        """The wrapped model's vector."""
        with self._measured("query", 1):
            return await self._model.embed_query(text)

    async def close(self) -> None:
        """Closes the wrapped model."""
        await self._model.close()

    @contextmanager
    def _measured(self, kind: Input, texts: int) -> Iterator[None]:
        started = clock.monotonic()
        try:
            yield
        except BaseException as error:
            self._metrics.embedding_calls.labels(kind, type(error).__name__).inc()
            raise
        self._metrics.embedding_calls.labels(kind, OK).inc()
        self._metrics.embedding_seconds.labels(kind).observe(clock.monotonic() - started)
        self._metrics.embedded_texts.labels(kind).inc(texts)
