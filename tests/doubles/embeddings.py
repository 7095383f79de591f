"""An embedding model for tests in which meaning does not matter."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import numpy as np

from app.domain.calibration import Calibration
from app.providers.embeddings.base import EmbeddingUnavailable, Metric, Vector


class HashedModel:
    """Equal texts have equal vectors, others almost orthogonal ones. `broken` makes every call fail."""

    metric: Final[Metric] = "cosine"
    calibration: Final = Calibration(low=0.0, high=1.0)

    def __init__(self, dimension: int = 64, name: str = "hashed") -> None:
        self.name = name
        self.dimension = dimension
        self.broken = False
        self.queries: list[str] = []
        self.passages: list[str] = []

    async def prepare(self) -> None:
        self._check()

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        self._check()
        self.passages.extend(texts)
        return [self._vector(text) for text in texts]

    async def embed_query(self, text: str) -> Vector:
        self._check()
        self.queries.append(text)
        return self._vector(text)

    async def close(self) -> None:
        self.broken = True

    def _check(self) -> None:
        if self.broken:
            raise EmbeddingUnavailable("The model is broken.")

    def _vector(self, text: str) -> Vector:
        seed = int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())
        vector = np.random.default_rng(seed).standard_normal(self.dimension).astype(np.float32)
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)
