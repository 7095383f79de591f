"""mem0 with pgvector, `infer=False`: no language model takes part. Runs in mem0's own environment."""

import hashlib
import json
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import psycopg
from mem0 import Memory as Mem0
from mem0.embeddings.base import EmbeddingBase
from mem0.utils.lemmatization import lemmatize_for_bm25

from benchmarks.peer_service import ADDED_UP_TO, POOL_SIZE, Data, Hit, Memory, Question, Search, main

COLLECTION: Final = "memories"


class Lookup(EmbeddingBase):
    """The vector of a known text."""

    def __init__(self, known: dict[str, list[float]]) -> None:
        super().__init__()
        self._known = known

    def embed(self, text: str, memory_action: Any = None) -> list[float]:  # noqa: ANN401, ARG002 - mem0's signature
        return self._known[text]


class Peer:
    """mem0's synchronous client."""

    def load(self, dsn: str, data: Data) -> None:
        """`add()` each, or COPY rows of the same form into its table."""
        if data.size <= ADDED_UP_TO:
            memory = _client(dsn, data, data.vectors_of_memories())
            for one in data.memories():
                memory.add(one.text, user_id=one.user_id, infer=False)
        else:
            _client(dsn, data, {}).vector_store.create_col()
            _copy(dsn, data)
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")

    @asynccontextmanager
    async def opened(self, dsn: str, data: Data) -> AsyncIterator[Search]:
        """Ready to search."""
        memory = _client(dsn, data, data.vectors_of_questions())

        def search(question: Question) -> list[Hit]:
            found = memory.search(question.query, filters={"user_id": question.user_id}, top_k=question.top_k)
            return [Hit(id=hit["id"], text=hit["memory"], score=hit["score"]) for hit in found["results"]]

        yield search


def _client(dsn: str, data: Data, known: dict[str, list[float]]) -> Mem0:
    """mem0 as its documentation configures it for pgvector, with the embedder replaced."""
    store = {
        "connection_string": dsn,
        "collection_name": COLLECTION,
        "embedding_model_dims": data.dimension,
        "hnsw": True,
        "maxconn": POOL_SIZE,
    }
    unused = {"provider": "openai", "config": {"api_key": "unused"}}
    history = Path(tempfile.mkdtemp(dir=Path.cwd())) / "history.db"  # in the benchmark's own folder, gone with it
    memory = Mem0.from_config(
        {
            "vector_store": {"provider": "pgvector", "config": store},
            "embedder": unused,
            "llm": unused,
            "history_db_path": str(history),
        }
    )
    memory.embedding_model = Lookup(known)
    return memory


def _copy(dsn: str, data: Data) -> None:
    with psycopg.connect(dsn) as connection:
        named = f"{COLLECTION}_hnsw_idx"
        row = connection.execute("SELECT indexdef FROM pg_indexes WHERE indexname = %s", [named]).fetchone()
        if row is None:
            raise RuntimeError(f"mem0 has not made its index {named}.")
        connection.execute(f"DROP INDEX {named}")
        for chunk in data.chunks():
            with connection.cursor().copy(f"COPY {COLLECTION} (id, vector, payload) FROM STDIN") as copy:
                for memory in chunk:
                    vector = "[" + ",".join(map(repr, memory.vector.tolist())) + "]"
                    copy.write_row((str(uuid.uuid4()), vector, json.dumps(_payload(memory))))
        connection.execute("SET maintenance_work_mem = '2GB'")
        connection.execute(row[0])


def _payload(memory: Memory) -> dict[str, Any]:
    """What mem0 itself stores of a memory."""
    at = datetime.now(UTC).isoformat()  # noqa: TID251 - mem0's environment has no clock of ours
    return {
        "user_id": memory.user_id,
        "role": "user",
        "data": memory.text,
        "hash": hashlib.md5(memory.text.encode()).hexdigest(),  # noqa: S324 - mem0's
        "created_at": at,
        "updated_at": at,
        "text_lemmatized": lemmatize_for_bm25(memory.text),
    }


if __name__ == "__main__":
    sys.exit(main(Peer()))
