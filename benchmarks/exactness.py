"""Recall of the dense leg, as the API gives it, against the exact order; and small owners among large ones."""

import statistics
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import asyncpg
from pgvector import HalfVector

from app.db.dsn import parse_dsn
from app.db.types import register_halfvec
from app.schemas.search import LegWeights, SearchRequest
from benchmarks.corpus import TEN, THOUSAND, Corpus
from benchmarks.inprocess import Bench
from benchmarks.stopwatch import Spent, milliseconds

HITS: Final = 10
TIE: Final = 0.00002
"""Cosines so near to the tenth are as good as it; a message's recency shifts its place by no more."""


@dataclass(frozen=True)
class Exact:
    """The exact order, asked of PostgreSQL as the app role."""

    connection: "asyncpg.Connection[Any]"
    tenant_id: UUID
    model_id: int
    dimension: int

    async def nearest(self, table: str, vector: Any, owner: str | None) -> dict[str, float]:  # noqa: ANN401
        """The ids of the ten nearest with their cosines; of every owner where none is named."""
        column = "message_id" if table == "message_vectors" else "memory_id"
        distance = f"(embedding::halfvec({self.dimension}) <=> $1)"
        mine, given = ("", []) if owner is None else ("AND owner = $2", [owner])
        statement = (
            f"SELECT {column} AS id, 1 - {distance} AS cosine FROM {table} "  # noqa: S608 - names of ours
            f"WHERE model_id = {self.model_id} {mine} ORDER BY {distance} + 0 LIMIT {HITS}"  # no index gives this order
        )
        async with self.connection.transaction(readonly=True):
            await self.connection.execute("SELECT set_config('app.tenant', $1, true)", str(self.tenant_id))
            rows = await self.connection.fetch(statement, HalfVector(vector), *given)
        return {str(row["id"]): row["cosine"] for row in rows}


@asynccontextmanager
async def exact(bench: Bench, app_dsn: str) -> AsyncIterator[Exact]:
    """A connection of the app role's."""
    record = await bench.services.embedder.record()
    tenant_id = await bench.services.access.tenant("default")
    connection = await asyncpg.connect(**parse_dsn(app_dsn).asyncpg_arguments)
    try:
        await register_halfvec(connection)
        yield Exact(connection, tenant_id, record.id, record.dimension)
    finally:
        await connection.close()


async def of_memories(bench: Bench, truth: Exact, corpus: Corpus, user_id: str | None, count: int) -> dict[str, Any]:
    """Recall @10 over a user's memories, or over everybody's."""
    found: list[float] = []
    bench.watch.finished.clear()
    for _, question in corpus.questions(count):
        body = _dense_only(question) | ({} if user_id is None else {"user_id": user_id})
        hits = (await bench.post("/v1/memories/search", body))["results"]
        owner = None if user_id is None else f"u:{user_id}"
        nearest = await truth.nearest("memory_vectors", await bench.model.embed_query(question), owner)
        found.append(_recall([(hit["id"], hit["score_breakdown"]) for hit in hits], nearest))
    spent = list(bench.watch.finished)
    explained = await bench.post("/v1/memories/search", body | {"explain": True})
    return {"path": explained["explanation"]["path"].get("memories"), **_figures(found, spent)}


async def of_messages(bench: Bench, truth: Exact, corpus: Corpus, user_id: str, count: int) -> dict[str, Any]:
    """Recall @10 over a user's messages."""
    found: list[float] = []
    bench.watch.finished.clear()
    for _, question in corpus.questions(count):
        body = {"query": question, "user_id": user_id, "mode": "semantic", "limit": HITS}
        hits = (await bench.post("/v1/messages/search", body))["results"]
        nearest = await truth.nearest("message_vectors", await bench.model.embed_query(question), f"u:{user_id}")
        found.append(_recall([(hit["message"]["id"], hit["score_breakdown"]) for hit in hits], nearest))
    return {"path": None, **_figures(found, bench.watch.finished)}


async def small_owners(bench: Bench, corpus: Corpus, count: int) -> dict[str, Any]:
    """An owner of ten memories gets its ten, of a thousand ten, each time, and nobody else's."""
    found = {}
    for user_id in (TEN, THOUSAND):
        if user_id not in dict(corpus.stores):
            continue
        least, foreign = HITS, 0
        for _, question in corpus.questions(count):
            body = {"query": question, "user_id": user_id, "top_k": HITS}
            if "collapse" in SearchRequest.model_fields:
                body["collapse"] = False
            hits = (await bench.post("/v1/memories/search", body))["results"]
            least, foreign = min(least, len(hits)), foreign + sum(hit["user_id"] != user_id for hit in hits)
        found[user_id] = {"fewest_hits_of_10": least, "foreign_hits": foreign}
    return found


def _dense_only(question: str) -> dict[str, Any]:
    """A search that ranks by similarity alone."""
    body: dict[str, Any] = {
        "query": question,
        "top_k": HITS,
        "weights": {"relevance": 1, "recency": 0, "importance": 0},
    }
    body["legs"] = dict.fromkeys(LegWeights.model_fields, 0) | {"dense": 1}
    return body | ({"collapse": False} if "collapse" in SearchRequest.model_fields else {})


def _recall(hits: list[tuple[str, dict[str, Any]]], nearest: dict[str, float]) -> float:
    tenth = min(nearest.values())
    good = sum(row in nearest or (marks["similarity_raw"] or -1.0) >= tenth - TIE for row, marks in hits)
    return min(good, len(nearest)) / len(nearest)


def _figures(found: list[float], spent: list[Spent]) -> dict[str, Any]:
    return {
        "sql_p50_ms": milliseconds([one.sql.seconds for one in spent], 50),
        "questions": len(found),
        "recall": round(statistics.fmean(found), 4),
        "least": round(min(found), 2),
        "all_found": sum(one == 1 for one in found),
    }
