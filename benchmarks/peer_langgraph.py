"""LangGraph's PostgresStore with its pgvector index. Runs in LangGraph's own environment."""

import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

import psycopg
from langgraph.store.base import PutOp, SearchItem
from langgraph.store.postgres import PostgresStore
from langgraph.store.postgres.aio import AsyncPostgresStore

from benchmarks.peer_service import ADDED_UP_TO, POOL_SIZE, AsyncSearch, Data, Hit, Question, Search, main

SPACE: Final = "memories"
ADDED_AT_ONCE: Final = 100
VECTOR_INDEX: Final = "store_vectors_embedding_idx"

Embed = Callable[[list[str]], list[list[float]]]


class Peer:
    """The store, synchronous or asynchronous; both on the same tables."""

    def __init__(self, *, asynchronous: bool) -> None:
        self._asynchronous = asynchronous

    def load(self, dsn: str, data: Data) -> None:
        """Puts in batches, or COPY rows of the same form into its tables."""
        few = data.size <= ADDED_UP_TO
        known = data.vectors_of_memories() if few else {}
        with _store(dsn, data, known) as store:
            store.setup()
            if few:
                puts = [PutOp((SPACE, one.user_id), str(one.number), {"text": one.text}) for one in data.memories()]
                for first in range(0, len(puts), ADDED_AT_ONCE):
                    store.batch(puts[first : first + ADDED_AT_ONCE])
        if not few:
            _copy(dsn, data)
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")

    @asynccontextmanager
    async def opened(self, dsn: str, data: Data) -> AsyncIterator[Search | AsyncSearch]:
        """Ready to search."""
        known = data.vectors_of_questions()
        if self._asynchronous:
            pool = {"min_size": 1, "max_size": POOL_SIZE}
            async with AsyncPostgresStore.from_conn_string(dsn, pool_config=pool, index=_index(data, known)) as store:

                async def search_async(question: Question) -> list[Hit]:
                    space = (SPACE, question.user_id)
                    return _hits(await store.asearch(space, query=question.query, limit=question.top_k))

                yield search_async
            return
        with _store(dsn, data, known) as store:

            def search(question: Question) -> list[Hit]:
                return _hits(store.search((SPACE, question.user_id), query=question.query, limit=question.top_k))

            yield search


def _index(data: Data, known: dict[str, list[float]]) -> Any:  # noqa: ANN401 - LangGraph's own type
    """Its default index, HNSW by cosine, over the field with the text."""

    def embed(texts: list[str]) -> list[list[float]]:
        return [known[text] for text in texts]

    return {"dims": data.dimension, "embed": embed, "fields": ["text"]}


@contextmanager
def _store(dsn: str, data: Data, known: dict[str, list[float]]) -> Iterator[PostgresStore]:
    pool = {"min_size": 1, "max_size": POOL_SIZE}
    with PostgresStore.from_conn_string(dsn, pool_config=pool, index=_index(data, known)) as store:
        yield store


def _hits(found: list[SearchItem]) -> list[Hit]:
    return [Hit(id=item.key, text=item.value["text"], score=item.score) for item in found]


def _copy(dsn: str, data: Data) -> None:
    with psycopg.connect(dsn) as connection:
        row = connection.execute("SELECT indexdef FROM pg_indexes WHERE indexname = %s", [VECTOR_INDEX]).fetchone()
        if row is None:
            raise RuntimeError(f"LangGraph has not made its index {VECTOR_INDEX}.")
        connection.execute(f"DROP INDEX {VECTOR_INDEX}")
        for chunk in data.chunks():
            with connection.cursor().copy("COPY store (prefix, key, value) FROM STDIN") as copy:
                for one in chunk:
                    copy.write_row((f"{SPACE}.{one.user_id}", str(one.number), json.dumps({"text": one.text})))
            vectors = "COPY store_vectors (prefix, key, field_name, embedding) FROM STDIN"
            with connection.cursor().copy(vectors) as copy:
                for one in chunk:
                    vector = "[" + ",".join(map(repr, one.vector.tolist())) + "]"
                    copy.write_row((f"{SPACE}.{one.user_id}", str(one.number), "text", vector))
        connection.execute("SET maintenance_work_mem = '2GB'")
        connection.execute(row[0])


if __name__ == "__main__":
    sys.exit(main(Peer(asynchronous="--async" in sys.argv)))
