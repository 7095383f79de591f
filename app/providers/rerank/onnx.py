"""Any cross-encoder that an operator puts into a folder as ONNX."""

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from app.core.errors import ConfigurationError
from app.core.text.normal import clean
from app.providers.onnx_folder import DESCRIPTION_FILE, MODEL_FILE, FolderSetting, OnnxGraph, described, padded
from app.providers.rerank.base import RerankUnavailable, finite, sigmoid

STEP_TEXTS: Final = 4
"""Texts that the network reads at once: bounds its memory, and how long a call that was given up goes on."""

TWO_LABELS: Final = 2
"""A network with marks for "no" and "yes": their difference is the logit (softmax of two is the sigmoid of it)."""

SETTING: Final = FolderSetting("RERANK_PROVIDER=onnx", "RERANK_MODEL_DIR", "a cross-encoder")

TRIAL: Final = ("trial 试", ("passage 文",))


class Description(BaseModel):
    """What `mnemic.json` says about the model beside it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=200, pattern=r"^\S+$")
    max_tokens: int = Field(ge=8, le=8_192)
    marks: Literal["logit", "probability"] = "logit"


class OnnxReranker:
    """Reads pairs of question and text on one thread, one call at a time.

    A call that its caller gave up ends after the step it is in. Until then later calls fail at once: neither threads
    nor texts pile up behind it.

    Args:
        folder: Holds `model.onnx`, `tokenizer.json` and `mnemic.json`.
        threads: Threads that one step computes with.
        max_characters: Only this beginning of the question and of a text is read.

    Raises:
        ConfigurationError: The extra is not installed, a file is missing, or `mnemic.json` does not describe a model.
    """

    def __init__(self, folder: Path, threads: int = 2, max_characters: int = 1_000) -> None:
        self._folder = folder
        self._description = described(folder, Description, SETTING)
        self.name: Final = self._description.name
        self._network_threads = threads
        self._max_characters = max_characters
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="reranking")
        self._turn = asyncio.Lock()
        self._abandoned: Future[list[float]] | None = None
        self._closed = threading.Event()

    async def prepare(self) -> None:
        """Loads the files and reads one pair. Raises `ConfigurationError` where they are not what they should be."""
        query, texts = TRIAL
        try:
            await self.scores(query, texts)
        except RerankUnavailable as error:
            raise ConfigurationError(f"The model in {self._folder} does not rerank: {error}") from error

    async def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Each in [0, 1]. Raises `RerankUnavailable`; has no time limit of its own."""
        if not texts:
            return []
        self._check_free()
        pairs = [(self._shortened(query), self._shortened(text)) for text in texts]
        async with self._turn:
            self._check_free()
            return await self._run(pairs)

    async def close(self) -> None:
        """Ends the thread after the step it is in."""
        self._closed.set()
        await asyncio.to_thread(self._thread.shutdown, wait=True)

    def _check_free(self) -> None:
        if self._closed.is_set():
            raise RerankUnavailable(f"{self.name} is closed.")
        if self._abandoned is not None and not self._abandoned.done():
            raise RerankUnavailable(f"{self.name} is still busy with a call that took too long.")

    def _shortened(self, text: str) -> str:
        return clean(text[: self._max_characters])

    async def _run(self, pairs: list[tuple[str, str]]) -> list[float]:
        left = threading.Event()
        running = self._thread.submit(self._compute, pairs, left)
        try:
            return await asyncio.wrap_future(running)
        except asyncio.CancelledError:
            left.set()
            self._abandoned = running
            raise
        except (ConfigurationError, RerankUnavailable):
            raise
        except Exception as error:
            raise RerankUnavailable(f"{self.name} failed: {type(error).__name__}") from error

    def _compute(self, pairs: list[tuple[str, str]], left: threading.Event) -> list[float]:
        network, marks = self._network, []
        for start in range(0, len(pairs), STEP_TEXTS):
            if left.is_set() or self._closed.is_set():
                return []
            marks += network.marks(pairs[start : start + STEP_TEXTS])
        known = finite(marks)
        if self._description.marks == "logit":
            return [sigmoid(mark) for mark in known]
        if not all(0 <= mark <= 1 for mark in known):
            raise ConfigurationError(
                f"{self._folder / DESCRIPTION_FILE} says that the marks are probabilities, and they are logits."
            )
        return known

    @cached_property
    def _network(self) -> "_Network":
        return _Network(self._folder, self._description, self._network_threads)


class _Network:
    """The loaded tokeniser and network: pairs in, one mark for each out."""

    def __init__(self, folder: Path, description: Description, threads: int) -> None:
        # The arena keeps the largest step for good; without it a step's memory goes back.
        self._graph = OnnxGraph(folder, threads=threads, arena=False)
        self._folder = folder
        self._tokenizer = self._graph.tokenizer
        self._tokenizer.enable_truncation(description.max_tokens, strategy="longest_first")
        self._output = str(self._graph.session.get_outputs()[0].name)

    def marks(self, pairs: list[tuple[str, str]]) -> list[float]:
        """The network's mark of each pair of question and text."""
        # One by one: a batch would go to threads of the tokeniser's own.
        encodings = [self._tokenizer.encode(query, text) for query, text in pairs]
        padding = self._graph.padding
        feeds = {
            # A pair of which no token is left is one padding token: every network takes it.
            "input_ids": padded([encoding.ids or [padding] for encoding in encodings], padding),
            "attention_mask": padded([encoding.attention_mask or [1] for encoding in encodings], 0),
            "token_type_ids": padded([encoding.type_ids or [0] for encoding in encodings], 0),
        }
        marks = np.asarray(self._graph.run(self._output, feeds), dtype=np.float64)
        if marks.shape == (len(pairs), TWO_LABELS):
            marks = marks[:, 1] - marks[:, 0]
        if marks.size != len(pairs):
            raise ConfigurationError(
                f"{self._folder / MODEL_FILE} gives {marks.shape} for {len(pairs)} pairs, and not a mark for each."
            )
        return [float(mark) for mark in marks.reshape(-1)]
