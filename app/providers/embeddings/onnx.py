"""Any sentence encoder that an operator puts into a folder as ONNX."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from app.core.errors import ConfigurationError
from app.core.text.normal import clean
from app.domain.calibration import Calibration
from app.providers.embeddings.base import EmbeddingUnavailable, Metric, Vector
from app.providers.embeddings.pool import EncoderPool, Matrix, Purpose
from app.providers.onnx_folder import DESCRIPTION_FILE, MODEL_FILE, FolderSetting, OnnxGraph, Tokens, described, padded

CHARACTERS_PER_TOKEN: Final = 8
"""More text than this is not even tokenised: whatever the model, it would be cut off."""

BATCH_TEXTS: Final = 16
BATCH_CHARACTERS: Final = 2_000
"""What one step holds: a query waits for one step at most."""

TRIAL: Final = "trial 试"

SETTING: Final = FolderSetting("EMBEDDING_PROVIDER=onnx", "EMBEDDING_MODEL_DIR", "a model")

Pooling = Literal["cls", "mean"]


class Bounds(BaseModel):
    """Raw cosines that become the similarities 0 and 1."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    low: float = Field(ge=-1, le=1)
    high: float = Field(ge=-1, le=1)


class Description(BaseModel):
    """What `mnemic.json` says about the model beside it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=200, pattern=r"^\S+$")
    dimension: int = Field(ge=1, le=4000)
    pooling: Pooling
    query_prefix: str
    passage_prefix: str
    max_tokens: int = Field(ge=8, le=32_768)
    calibration: Bounds | None = None


class OnnxModel:
    """Embeds on a small thread pool with onnxruntime, one thread a step.

    The weights load at first use, after any fork, or in `prepare`.

    Args:
        folder: Holds `model.onnx`, `tokenizer.json` and `mnemic.json`.
        threads: Threads that embed in this process.

    Raises:
        ConfigurationError: The extra is not installed, a file is missing, or `mnemic.json` does not describe a model.
    """

    metric: Final[Metric] = "cosine"

    def __init__(self, folder: Path, threads: int = 2) -> None:
        self._folder = folder
        self._description = described(folder, Description, SETTING)
        self.name: Final = self._description.name
        self.dimension: Final = self._description.dimension
        self.calibration: Final = _calibration(self._description, folder)
        self._prefixes: Mapping[Purpose, str] = {
            "query": self._description.query_prefix,
            "passage": self._description.passage_prefix,
        }
        self._loading = threading.Lock()
        self._pool = EncoderPool(self.name, self.dimension, threads, self._encode)

    async def prepare(self) -> None:
        """Loads the files and embeds once. Raises `ConfigurationError` where they are not what they should be."""
        try:
            await self._pool.query(TRIAL)
        except EmbeddingUnavailable as error:
            raise ConfigurationError(f"The model in {self._folder} does not embed: {error.__cause__}") from error

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, of its role as a passage. Raises `EmbeddingUnavailable`."""
        return await self._pool.passages(self._batches(texts))

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question. Raises `EmbeddingUnavailable`."""
        return await self._pool.query(self._shortened(text))

    async def close(self) -> None:
        """Ends the threads after what they have begun."""
        await self._pool.close()

    @cached_property
    def _graph(self) -> "_Graph":
        return _Graph(self._folder, self._description)

    def _encode(self, texts: list[str], purpose: Purpose) -> Matrix:
        with self._loading:
            graph = self._graph
        return graph.embed([self._prefixes[purpose] + text for text in texts])

    def _shortened(self, text: str) -> str:
        return clean(text[: self._description.max_tokens * CHARACTERS_PER_TOKEN])

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        characters = 0
        for text in map(self._shortened, texts):
            if batch and (len(batch) == BATCH_TEXTS or characters + len(text) > BATCH_CHARACTERS):
                yield batch
                batch, characters = [], 0
            batch.append(text)
            characters += len(text)
        if batch:
            yield batch


class _Graph:
    """The loaded tokeniser and network: tokens in, one row of length 1 for each text out."""

    def __init__(self, folder: Path, description: Description) -> None:
        self._graph = OnnxGraph(folder)
        self._folder = folder
        self._description = description
        self._tokenizer = self._graph.tokenizer
        self._tokenizer.enable_truncation(description.max_tokens)
        self._output = self._hidden_states()

    def embed(self, texts: list[str]) -> Matrix:
        """One row for each text."""
        # One by one: a batch would go to threads of the tokeniser's own.
        encodings = [self._tokenizer.encode(text) for text in texts]
        padding = self._graph.padding
        mask = padded([encoding.attention_mask or [1] for encoding in encodings], 0)
        feeds = {
            # A text of which no token is left is one padding token: every network takes it.
            "input_ids": padded([encoding.ids or [padding] for encoding in encodings], padding),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        rows = self._pooled(np.asarray(self._graph.run(self._output, feeds), dtype=np.float32), mask)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    def _hidden_states(self) -> str:
        """The name of the first output of shape (texts, tokens, dimension)."""
        for output in self._graph.session.get_outputs():
            if len(output.shape) == 3:  # noqa: PLR2004 - texts, tokens, dimension
                self._check_dimension(output.shape[-1])
                return str(output.name)
        raise ConfigurationError(
            f"{self._folder / MODEL_FILE} has no output of shape (texts, tokens, dimension): export the hidden states."
        )

    def _check_dimension(self, found: Any) -> None:  # noqa: ANN401 - a number, or a name for any number
        if isinstance(found, int) and found != self._description.dimension:
            raise ConfigurationError(
                f"{self._folder / DESCRIPTION_FILE} says that the dimension is {self._description.dimension}, "
                f"and {MODEL_FILE} gives {found}."
            )

    def _pooled(self, states: Matrix, mask: Tokens) -> Matrix:
        self._check_dimension(int(states.shape[-1]))
        if self._description.pooling == "cls":
            return np.asarray(states[:, 0], dtype=np.float32)
        weights = mask[:, :, None].astype(np.float32)
        return np.asarray((states * weights).sum(axis=1) / weights.sum(axis=1), dtype=np.float32)


def _calibration(description: Description, folder: Path) -> Calibration:
    bounds = description.calibration
    if bounds is None:
        return Calibration()
    try:
        return Calibration(bounds.low, bounds.high)
    except ValueError as error:
        raise ConfigurationError(f"{folder / DESCRIPTION_FILE}: {error}") from error
