"""What another system is measured behind: one FastAPI route, vectors looked up by text, one process.

Runs in the other system's own environment: nothing here or in a peer's file imports Mnemic.
"""

import argparse
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel

POOL_SIZE: Final = 10
"""Database connections of each system, Mnemic's default."""

ADDED_UP_TO: Final = 10_000
"""Memories up to which a system adds them by its own means; more are copied into its tables, and indexed afterwards."""

COPIED_AT_ONCE: Final = 5_000


@dataclass(frozen=True)
class Memory:
    """A memory to store."""

    number: int
    user_id: str
    text: str
    vector: Any


class Data:
    """A folder with memories, questions, and a vector for each: `{name}.jsonl` beside `{name}.npy`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def dimension(self) -> int:
        return int(np.load(self._folder / "questions.npy", mmap_mode="r").shape[1])

    @property
    def size(self) -> int:
        return int(np.load(self._folder / "memories.npy", mmap_mode="r").shape[0])

    def memories(self) -> Iterator[Memory]:
        """All of them, in their order."""
        vectors = np.load(self._folder / "memories.npy", mmap_mode="r")
        with (self._folder / "memories.jsonl").open(encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                user_id, text = json.loads(line)
                yield Memory(number, user_id, text, vectors[number])

    def chunks(self) -> Iterator[list[Memory]]:
        """All of them, some thousand at once."""
        chunk: list[Memory] = []
        for memory in self.memories():
            chunk.append(memory)
            if len(chunk) == COPIED_AT_ONCE:
                yield chunk
                chunk = []
        if chunk:
            yield chunk

    def vectors_of_questions(self) -> dict[str, list[float]]:
        """A vector for each question's text."""
        vectors = np.load(self._folder / "questions.npy")
        texts = [json.loads(line)[1] for line in (self._folder / "questions.jsonl").open(encoding="utf-8")]
        return {text: vectors[row].tolist() for row, text in enumerate(texts)}

    def vectors_of_memories(self) -> dict[str, list[float]]:
        """A vector for each memory's text; for as many as are added one by one."""
        return {memory.text: memory.vector.tolist() for memory in self.memories()}


class Question(BaseModel):
    """What is asked."""

    query: str
    user_id: str
    top_k: int = 10


class Hit(BaseModel):
    """What is found."""

    id: str
    text: str
    score: float | None


Search = Callable[[Question], list[Hit]]
AsyncSearch = Callable[[Question], Awaitable[list[Hit]]]


class Peer(Protocol):
    """Another system."""

    def load(self, dsn: str, data: Data) -> None:
        """Make its tables with the indexes that it recommends, and store every memory."""
        ...

    def opened(self, dsn: str, data: Data) -> AbstractAsyncContextManager[Search | AsyncSearch]:
        """Ready to search; a search that is no coroutine is run in FastAPI's thread pool."""
        ...


def application(peer: Peer, dsn: str, data: Data) -> FastAPI:
    """The API of every peer."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> Any:  # noqa: ANN401 - a context
        async with peer.opened(dsn, data) as search:
            app.add_api_route("/search", search, methods=["POST"], response_model=list[Hit])
            yield

    app = FastAPI(lifespan=lifespan)

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    return app


def main(peer: Peer) -> int:
    """Load or serve."""
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["load", "serve"])
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    given, _ = parser.parse_known_args()
    data = Data(given.data)
    if given.command == "load":
        peer.load(given.dsn, data)
    else:
        uvicorn.run(application(peer, given.dsn, data), host="127.0.0.1", port=given.port, access_log=False)
    return 0
