"""The threads on which a local model computes."""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np
import numpy.typing as npt

from app.core.errors import ConfigurationError
from app.providers.embeddings.base import EmbeddingUnavailable, Vector

Purpose = Literal["query", "passage"]
"""What a text is embedded for: some models tell questions from the texts that answer them."""

Matrix = npt.NDArray[np.float32]
"""Shape (texts, dimension), each row of length 1."""

Encode = Callable[[list[str], Purpose], Matrix]


class EncoderPool:
    """Runs a blocking encoder off the event loop, questions before passages that wait.

    Passages leave one thread free for queries where there are two or more; with one, queries go between two batches.

    Args:
        name: The model's, for its failures.
        dimension: Length of each vector; an encoder that gives another has failed.
        threads: Threads that encode at once; the encoder is called by any of them.
        encode: Gives one row for each text.
    """

    def __init__(self, name: str, dimension: int, threads: int, encode: Encode) -> None:
        self._name = name
        self._dimension = dimension
        self._encode = encode
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="embedding")
        self._passages = asyncio.Semaphore(max(1, threads - 1))

    async def query(self, text: str) -> Vector:
        """The vector of a question. Raises `EmbeddingUnavailable`."""
        return (await self._run([text], "query"))[0]

    async def passages(self, batches: Iterable[list[str]]) -> list[Vector]:
        """The vectors of all batches, in order, computed batch by batch. Raises `EmbeddingUnavailable`."""
        vectors: list[Vector] = []
        for batch in batches:
            async with self._passages:
                vectors.extend(await self._run(batch, "passage"))
        return vectors

    async def close(self) -> None:
        """Ends the threads after what they have begun."""
        await asyncio.to_thread(self._threads.shutdown, wait=True)

    async def _run(self, texts: list[str], purpose: Purpose) -> list[Vector]:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._checked, texts, purpose)
        except ConfigurationError:
            raise
        except Exception as error:
            raise EmbeddingUnavailable(f"{self._name} failed: {type(error).__name__}") from error

    def _checked(self, texts: list[str], purpose: Purpose) -> list[Vector]:
        matrix = np.asarray(self._encode(texts, purpose), dtype=np.float32)
        if matrix.shape != (len(texts), self._dimension) or not np.isfinite(matrix).all():
            raise ValueError(f"{self._name} gave no usable vectors.")
        return list(matrix)
