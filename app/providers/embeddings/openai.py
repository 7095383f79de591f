"""Any host that speaks OpenAI's `/v1/embeddings`."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
import numpy as np
import stamina
from pydantic import BaseModel, ValidationError

from app.core.errors import ConfigurationError
from app.core.text.normal import clean
from app.domain.calibration import Calibration
from app.providers import http
from app.providers.embeddings.base import EmbeddingUnavailable, Metric, Vector

MAX_DIMENSION: Final = 4_000
"""What the database holds and indexes as half-precision numbers."""

TRIAL: Final = "trial 试"
BLANK: Final = "."
"""Stands for a text without words: OpenAI refuses an empty one."""

TOO_MUCH: Final = frozenset({400, 413, 422})
"""Statuses of a request that may be too large for the model's host: a smaller one is tried."""

LEAST_CHARACTERS: Final = 64
"""A text of this length that is refused is not refused for its length."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A host's model and how it is asked.

    Args:
        base_url: What stands before `/embeddings`, such as `https://host/v1`.
        api_key: Sent as a bearer token; None where the host wants none.
        model: The model's name at the host.
        dimensions: Asked of the host, and part of the model's name here; None for the model's own.
        batch_size: Texts of one request.
        max_characters: Only this beginning of a text is sent.
        timeout: Seconds that one request of passages may take.
        query_timeout: Seconds that a question may take, repetitions included.
        attempts: Requests for the same passages before they are given up for now.
        query_prefix: Stands before each question.
        passage_prefix: Stands before each passage.
        calibration: The map of the model's raw cosines to similarities.
    """

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    dimensions: int | None = None
    batch_size: int = 64
    max_characters: int = 2_000
    timeout: float = 30.0
    query_timeout: float = 3.0
    attempts: int = 4
    query_prefix: str = ""
    passage_prefix: str = ""
    calibration: Calibration = field(default_factory=Calibration)


class OpenAIModel:
    """Asks a host, over a pool of connections that ignores proxies of the environment.

    The dimension is the host's: known after the first answer, and every later one must have it.

    Args:
        endpoint: Whom to ask, and how.

    Raises:
        ConfigurationError: The address is not one.
    """

    metric: Final[Metric] = "cosine"

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.name: Final = _name(endpoint)
        self.calibration: Final = endpoint.calibration
        self._dimension = endpoint.dimensions
        self._url = http.address(
            endpoint.base_url, "/embeddings", setting="EMBEDDING_BASE_URL", key_setting="EMBEDDING_API_KEY"
        )
        self._client = http.client(
            http.authorization(endpoint.api_key, setting="EMBEDDING_API_KEY"), timeout=endpoint.timeout
        )

    @property
    def dimension(self) -> int | None:
        """As configured, or as the host's first answer had it."""
        return self._dimension

    async def prepare(self) -> None:
        """Asks the host once. Raises `EmbeddingUnavailable`, or `ConfigurationError` for another dimension."""
        try:
            await self._repeated([TRIAL], attempts=1)
        except _OtherDimension as error:
            raise ConfigurationError(str(error)) from error

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text; requests that fail for the moment are repeated. Raises `EmbeddingUnavailable`."""
        sent = [self._endpoint.passage_prefix + self._shortened(text) for text in texts]
        vectors: list[Vector] = []
        for start in range(0, len(sent), self._endpoint.batch_size):
            batch = sent[start : start + self._endpoint.batch_size]
            vectors += await self._embedded(batch, self._endpoint.attempts)
        return vectors

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question, in time or not at all. Raises `EmbeddingUnavailable`."""
        try:
            async with asyncio.timeout(self._endpoint.query_timeout):
                return (await self._embedded([self._endpoint.query_prefix + self._shortened(text)], attempts=2))[0]
        except TimeoutError as error:
            raise EmbeddingUnavailable(f"{self.name} did not answer in {self._endpoint.query_timeout:g} s.") from error

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    def _shortened(self, text: str) -> str:
        beginning = clean(text[: self._endpoint.max_characters])
        return beginning if beginning.strip() else BLANK

    async def _embedded(self, texts: list[str], attempts: int) -> list[Vector]:
        """Where the host finds a request too large, its halves, down to the beginning of a single text."""
        try:
            return await self._repeated(texts, attempts)
        except _TooMuch:
            if len(texts) == 1 and len(texts[0]) <= LEAST_CHARACTERS:
                raise
        if len(texts) == 1:
            return await self._embedded([texts[0][: len(texts[0]) // 2]], attempts)
        middle = len(texts) // 2
        return await self._embedded(texts[:middle], attempts) + await self._embedded(texts[middle:], attempts)

    async def _repeated(self, texts: list[str], attempts: int) -> list[Vector]:
        vectors: list[Vector] = []
        async for attempt in stamina.retry_context(
            on=http.pause_before_retry, attempts=attempts, timeout=None, wait_initial=0.2, wait_max=5.0, wait_jitter=0.2
        ):
            with attempt:
                vectors = await self._asked(texts)
        return vectors

    async def _asked(self, texts: list[str]) -> list[Vector]:
        if self._client.is_closed:
            raise EmbeddingUnavailable(f"{self.name} is closed.")
        body: dict[str, Any] = {"model": self._endpoint.model, "input": texts, "encoding_format": "float"}
        if self._endpoint.dimensions is not None:
            body["dimensions"] = self._endpoint.dimensions
        try:
            response = await self._client.post(self._url, json=body)
        except httpx.HTTPError as error:
            raise _TryAgain(f"{self.name} cannot be reached: {type(error).__name__}") from error
        self._check_status(response)
        return self._vectors(response, len(texts))

    def _check_status(self, response: httpx.Response) -> None:
        status = response.status_code
        if status == httpx.codes.OK:
            return
        words = f"{self.name}: the host answered {status}."
        if status in http.TRY_AGAIN or response.is_server_error:
            raise _TryAgain(words, http.retry_after(response.headers.get("Retry-After")))
        if status in TOO_MUCH:
            raise _TooMuch(words)
        raise EmbeddingUnavailable(words)

    def _vectors(self, response: httpx.Response, count: int) -> list[Vector]:
        """The answer's vectors in the order of the texts, whatever order it came in."""
        try:
            entries = sorted(_Answer.model_validate_json(response.content).data, key=lambda entry: entry.index)
        except ValidationError:
            # Not as the cause: it carries what the host sent.
            raise _TryAgain(f"{self.name}: the host's answer is not a list of embeddings.") from None
        if [entry.index for entry in entries] != list(range(count)):
            raise _TryAgain(
                f"{self.name}: the host gave {len(entries)} vectors for {count} texts, or misnumbered them."
            )
        lengths = {len(entry.embedding) for entry in entries}
        self._check_lengths(lengths)
        matrix = np.array([entry.embedding for entry in entries], dtype=np.float64)
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not (np.isfinite(norms).all() and (norms > 0).all()):
            raise _TryAgain(f"{self.name}: the host gave vectors that are not numbers, or nothing but zeros.")
        self._dimension = lengths.pop()
        return list((matrix / norms).astype(np.float32))

    def _check_lengths(self, lengths: set[int]) -> None:
        expected = lengths if self._dimension is None else {self._dimension}
        if lengths != expected or len(lengths) != 1:
            raise _OtherDimension(
                f"{self.name}: the host gave vectors of {_listed(lengths)} dimensions instead of {_listed(expected)}."
            )
        if not 1 <= max(lengths) <= MAX_DIMENSION:
            raise _OtherDimension(
                f"{self.name}: the host gave vectors of {_listed(lengths)} dimensions, and Mnemic stores "
                f"{MAX_DIMENSION:,} at most: set EMBEDDING_DIMENSIONS, where the model can be cut."
            )


class _TryAgain(http.MayPass, EmbeddingUnavailable):
    """Patience may help."""


class _TooMuch(EmbeddingUnavailable):
    """A smaller request may pass."""


class _OtherDimension(EmbeddingUnavailable):
    """The model is not the one that was configured."""


class _Entry(BaseModel):
    index: int
    embedding: list[float]


class _Answer(BaseModel):
    data: list[_Entry]


def _listed(lengths: set[int]) -> str:
    return ", ".join(f"{length:,}" for length in sorted(lengths))


def _name(endpoint: Endpoint) -> str:
    """Vectors of one name are comparable: those cut to a length are a model of their own."""
    return endpoint.model if endpoint.dimensions is None else f"{endpoint.model}@{endpoint.dimensions}"
