"""What the service expects of an embedding model."""

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from app.domain.calibration import Calibration

Vector = npt.NDArray[np.float32]
"""Shape (dimension,), float32, of length 1: the inner product of two of them is their cosine."""

Metric = Literal["cosine"]


class EmbeddingUnavailable(Exception):  # noqa: N818 - a state of the provider, as in core.errors
    """The model cannot embed at the moment: search goes on lexically, writes get their vectors by a job."""


class EmbeddingModel(Protocol):
    """Texts to vectors. Any text is accepted.

    A failure is `EmbeddingUnavailable`, or `ConfigurationError` where no patience helps: the model is not what it was
    configured to be. Neither carries a text or a key.
    """

    @property
    def name(self) -> str:
        """The model's stable name: vectors of one name are comparable."""
        ...

    @property
    def dimension(self) -> int | None:
        """Length of each vector, at most 4,000; None as long as only the model's host knows it (see `prepare`)."""
        ...

    @property
    def metric(self) -> Metric:
        """How two vectors are compared."""
        ...

    @property
    def calibration(self) -> Calibration:
        """The map of this model's raw cosines to similarities in [0, 1]."""
        ...

    async def prepare(self) -> None:
        """Makes the dimension known, asking the model's host where that is needed; any number of times.

        Raises:
            EmbeddingUnavailable: The host cannot be asked at the moment. Later calls of any method ask again.
            ConfigurationError: The model is not what it was configured to be.
        """
        ...

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text to be found, in their order."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question; it goes before passages that wait."""
        ...

    async def close(self) -> None:
        """Gives threads and connections back; the model is unavailable afterwards."""
        ...
