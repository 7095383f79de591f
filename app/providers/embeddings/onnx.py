"""Any sentence encoder that an operator puts into a folder as ONNX."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.core.errors import ConfigurationError
from app.core.text.normal import clean
from app.domain.calibration import Calibration
from app.providers.embeddings.base import EmbeddingUnavailable, Metric, Vector
from app.providers.embeddings.pool import EncoderPool, Matrix, Purpose

MODEL_FILE: Final = "model.onnx"
TOKENIZER_FILE: Final = "tokenizer.json"
DESCRIPTION_FILE: Final = "mnemic.json"
FILES: Final = (MODEL_FILE, TOKENIZER_FILE, DESCRIPTION_FILE)

CHARACTERS_PER_TOKEN: Final = 8
"""More text than this is not even tokenised: whatever the model, it would be cut off."""

BATCH_TEXTS: Final = 16
BATCH_CHARACTERS: Final = 2_000
"""What one step holds: a query waits for one step at most."""

INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")
TRIAL: Final = "trial 试"

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
        _check_extra()
        self._folder = folder
        self._description = _description(folder)
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
        import onnxruntime  # noqa: PLC0415 - an extra
        from tokenizers import Tokenizer  # noqa: PLC0415 - likewise

        onnxruntime.disable_telemetry_events()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
        except Exception as error:
            raise ConfigurationError(f"{folder / TOKENIZER_FILE} is not a tokenizer: {error}") from error
        try:
            self._session: Any = onnxruntime.InferenceSession(
                str(folder / MODEL_FILE), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise ConfigurationError(f"{folder / MODEL_FILE} cannot be loaded: {error}") from error
        self._folder = folder
        self._description = description
        self._tokenizer.enable_truncation(description.max_tokens)
        self._tokenizer.no_padding()
        self._inputs = self._known_inputs()
        self._output = self._hidden_states()

    def embed(self, texts: list[str]) -> Matrix:
        """One row for each text."""
        # One by one: a batch would go to threads of the tokeniser's own.
        encodings = [self._tokenizer.encode(text) for text in texts]
        mask = self._padded([encoding.attention_mask or [1] for encoding in encodings], 0)
        feeds = {
            # A text of which no token is left is one padding token: every network takes it.
            "input_ids": self._padded([encoding.ids or [self._padding] for encoding in encodings], self._padding),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        (states,) = self._session.run([self._output], {name: feeds[name] for name in self._inputs})
        rows = self._pooled(np.asarray(states, dtype=np.float32), mask)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    @cached_property
    def _padding(self) -> int:
        for token in ("[PAD]", "<pad>"):
            number: int | None = self._tokenizer.token_to_id(token)
            if number is not None:
                return number
        return 0

    def _known_inputs(self) -> list[str]:
        names = [given.name for given in self._session.get_inputs()]
        if "input_ids" not in names or not set(names) <= set(INPUTS):
            raise ConfigurationError(
                f"{self._folder / MODEL_FILE} takes {', '.join(names)}: Mnemic can give {', '.join(INPUTS)}."
            )
        return names

    def _hidden_states(self) -> str:
        """The name of the first output of shape (texts, tokens, dimension)."""
        for output in self._session.get_outputs():
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

    def _pooled(self, states: Matrix, mask: npt.NDArray[np.int64]) -> Matrix:
        self._check_dimension(int(states.shape[-1]))
        if self._description.pooling == "cls":
            return np.asarray(states[:, 0], dtype=np.float32)
        weights = mask[:, :, None].astype(np.float32)
        return np.asarray((states * weights).sum(axis=1) / weights.sum(axis=1), dtype=np.float32)

    @staticmethod
    def _padded(rows: list[list[int]], padding: int) -> npt.NDArray[np.int64]:
        width = max(map(len, rows))
        return np.array([row + [padding] * (width - len(row)) for row in rows], dtype=np.int64)


def _check_extra() -> None:
    missing = [package for package in ("onnxruntime", "tokenizers") if find_spec(package) is None]
    if missing:
        raise ConfigurationError(
            f"EMBEDDING_PROVIDER=onnx needs {' and '.join(missing)}: install Mnemic with the extra, "
            "'pip install mnemic[onnx]'."
        )


def _description(folder: Path) -> Description:
    if not folder.is_dir():
        raise ConfigurationError(f"EMBEDDING_MODEL_DIR={folder} is not a folder.")
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise ConfigurationError(
            f"EMBEDDING_MODEL_DIR={folder} lacks {' and '.join(missing)}; it must hold {', '.join(FILES)}."
        )
    path = folder / DESCRIPTION_FILE
    try:
        return Description.model_validate_json(path.read_bytes())
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'the file'}: {one['msg']}" for one in error.errors())
        raise ConfigurationError(f"{path} does not describe a model: {faults}.") from error


def _calibration(description: Description, folder: Path) -> Calibration:
    bounds = description.calibration
    if bounds is None:
        return Calibration()
    try:
        return Calibration(bounds.low, bounds.high)
    except ValueError as error:
        raise ConfigurationError(f"{folder / DESCRIPTION_FILE}: {error}") from error
