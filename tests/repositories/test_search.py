"""The legs of a search: their scores by hand, their two paths, and a small owner among large ones."""

import math
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt
import pytest
from sqlalchemy import text

from app.core import clock
from app.core.text.digest import text_hash
from app.core.text.tokens import document_length, term_frequencies, tokens
from app.db.embedded.server import EmbeddedServer
from app.domain.scope import Scope
from app.repositories.models import ModelRecord, index_statements
from app.repositories.owners import OwnerChange
from app.repositories.postings import Posting
from app.repositories.search import DenseQuery, LegQuery
from app.repositories.selection import Selection
from app.repositories.vectors import Embedded
from app.uow import Transaction
from tests.conftest import Tenant
from tests.databases import fetch, run_sql
from tests.repositories.test_facts_of_rows import row

TEXTS = [
    "She moved to Lisbon last week.",
    "The Lisbon office opens at nine; the Lisbon tram is late.",
    "他上周搬到了里斯本。",
    "Coffee in the morning, tea at night, and never both on one day.",
    "The exchange rate of the euro fell.",
]


async def store(tx: Transaction, owner: str, texts: Sequence[str]) -> list[UUID]:
    user_id = owner.partition(":")[2]
    rows = [row(one, user_id=user_id) for one in texts]
    stored = await tx.memories.put(rows)
    postings = [
        Posting(found["id"], frequencies := term_frequencies(found["text"]), document_length(frequencies))
        for found in stored
    ]
    await tx.memories.index(owner, postings)
    length = sum(posting.length for posting in postings)
    await tx.owners.lock_and_change(owner, OwnerChange(memories=len(rows), memory_tokens=length))
    return [found["id"] for found in stored]


async def find(
    tx: Transaction, owner: str, question: str = "", dense: DenseQuery | None = None, **given: Any
) -> list[Any]:
    words = list(dict.fromkeys(tokens(question)))
    query = LegQuery([owner], words, dense, given.pop("limit", 10), **given)
    scope = Scope(owner.partition(":")[2])
    return await tx.search.memories(query, Selection(scope, clock.now()))


def by_words(found: Sequence[Any]) -> list[UUID]:
    return [
        one["id"] for one in sorted(found, key=lambda one: (-(one["bm25"] or 0), one["id"])) if one["bm25"] is not None
    ]


def by_meaning(found: Sequence[Any]) -> list[UUID]:
    return [one["id"] for one in sorted(found, key=lambda one: -(one["cosine"] or -2)) if one["cosine"] is not None]


def bm25(question: str, texts: Sequence[str], k1: float = 0.9, b: float = 0.4) -> dict[int, float]:
    """Robertson and Zaragoza (2009), in the plainest way: text number -> score."""
    bags = [tokens(one) for one in texts]
    mean = sum(map(len, bags)) / len(bags)
    scores = {}
    for number, bag in enumerate(bags):
        score = 0.0
        for word in set(tokens(question)):
            holders = sum(word in other for other in bags)
            idf = math.log(1 + (len(bags) - holders + 0.5) / (holders + 0.5))
            tf = bag.count(word)
            score += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(bag) / mean))
        if score:
            scores[number] = score
    return scores


@pytest.mark.parametrize("question", ["Lisbon", "the Lisbon office", "里斯本", "tea or coffee", "euro exchange rate"])
async def test_lexical_scores_are_bm25_as_the_book_has_it(tenant: Tenant, question: str) -> None:
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        stored = await store(tx, "u:ada", TEXTS)
        found = await find(tx, "u:ada", question)
    expected = bm25(question, TEXTS)
    assert expected
    assert {stored.index(one["id"]): one["bm25"] for one in found} == pytest.approx(expected, rel=1e-9)
    best = sorted(expected, key=lambda number: -expected[number])
    assert [stored.index(one) for one in by_words(found)] == best
    assert all(one["cosine"] is None for one in found)


async def test_other_owners_rows_change_no_score(tenant: Tenant) -> None:
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        await store(tx, "u:ada", TEXTS)
        before = await find(tx, "u:ada", "Lisbon")
        await store(tx, "u:bob", [f"Lisbon, Lisbon, number {n}" for n in range(50)])
        assert await find(tx, "u:ada", "Lisbon") == before


async def test_a_question_without_a_known_word_finds_nothing_by_words(tenant: Tenant) -> None:
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        await store(tx, "u:ada", TEXTS)
        assert await find(tx, "u:ada", "zeppelin") == []
        assert await find(tx, "u:nobody", "Lisbon") == []


DIMENSION = 32


@pytest.fixture
async def model(server: EmbeddedServer, tenant: Tenant) -> AsyncIterator[ModelRecord]:
    """A model of the test's own: its index holds no other test's vectors."""
    name = f"test-{tenant.id}"
    insert = (
        "INSERT INTO embedding_models (name, dimension, metric, status, created_at)"
        " VALUES ($1, $2, 'cosine', 'building', $3) RETURNING id"
    )
    (found,) = await fetch(server.migrator_dsn, insert, name, DIMENSION, clock.now())
    record = ModelRecord(found["id"], name, DIMENSION, "building")
    for statement in index_statements(record):
        await run_sql(server.migrator_dsn, statement)
    yield record
    for table in ("memory_vectors", "message_vectors"):
        await run_sql(server.migrator_dsn, f"DROP INDEX hnsw_{table}_{record.id}")
        await run_sql(server.migrator_dsn, f"DELETE FROM {table} WHERE model_id = {record.id}")
    await run_sql(server.migrator_dsn, f"DELETE FROM embedding_models WHERE id = {record.id}")


def directions(count: int, dimension: int, seed: int) -> npt.NDArray[np.float32]:
    drawn = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


async def store_vectors(
    tx: Transaction, model: ModelRecord, stored: Sequence[UUID], texts: Sequence[str], vectors: npt.NDArray[np.float32]
) -> None:
    given = [
        Embedded(target, text_hash(one), vector) for target, one, vector in zip(stored, texts, vectors, strict=True)
    ]
    assert await tx.vectors.put_memories(model.id, given) == len(given)


async def test_both_paths_give_the_same_ten_nearest_and_the_cosines_of_the_vectors(
    tenant: Tenant, model: ModelRecord
) -> None:
    texts = [f"Text {n}" for n in range(120)]
    vectors = directions(120, model.dimension, 1)
    (question,) = directions(1, model.dimension, 2)
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        stored = await store(tx, "u:ada", texts)
        await store_vectors(tx, model, stored, texts, vectors)
        dense = DenseQuery(question, model)
        exact = await find(tx, "u:ada", dense=dense)
        await tx._bound.connection.execute(text("SET LOCAL enable_sort = off"))  # so that the index is walked
        index = await find(tx, "u:ada", dense=dense, path="hnsw")
    cosines = vectors @ question
    nearest = [stored[number] for number in np.argsort(-cosines)[:10]]
    for found in (exact, index):
        assert by_meaning(found) == nearest
        near = sorted((one["cosine"] for one in found), reverse=True)
        assert near == pytest.approx(sorted(cosines, reverse=True)[:10], abs=2e-3)


async def test_a_vector_of_an_earlier_text_is_not_compared(tenant: Tenant, model: ModelRecord) -> None:
    (vector,) = directions(1, model.dimension, 3)
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        stored = await store(tx, "u:ada", ["The old text."])
        await store_vectors(tx, model, stored, ["The old text."], vector[None])
        assert [one["cosine"] for one in await find(tx, "u:ada", dense=DenseQuery(vector, model))] == pytest.approx(
            [1.0], abs=1e-3
        )
        await tx.memories.change(stored[0], {"text": "The new text.", "content_hash": text_hash("The new text.")})
        assert await find(tx, "u:ada", dense=DenseQuery(vector, model)) == []
        by_word = await find(tx, "u:ada", "text", dense=DenseQuery(vector, model))
        assert [one["cosine"] for one in by_word] == [None]


async def test_a_row_that_has_moved_away_is_not_served_by_what_its_index_still_says(
    tenant: Tenant, model: ModelRecord
) -> None:
    (vector,) = directions(1, model.dimension, 4)
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        stored = await store(tx, "u:ada", ["The old tram."])
        await store_vectors(tx, model, stored, ["The old tram."], vector[None])
        dense = DenseQuery(vector, model)
        query = LegQuery(["u:ada"], ["tram"], dense, 10)
        everybody = Selection(Scope(), clock.now())
        assert len(await tx.search.memories(query, everybody)) == 1
        await tx.memories.change(stored[0], {"owner": "u:bob", "user_id": "bob"})
        for stale in (query, replace(query, dense=None), replace(query, tokens=[]), replace(query, path="hnsw")):
            assert await tx.search.memories(stale, everybody) == []


FILL = """
INSERT INTO memories (tenant_id, id, owner, user_id, kind, text, category, source, confidence, importance, weight, use,
        status, created_at, updated_at, last_seen_at, tokens, length, content_hash)
    SELECT :tenant, gen_random_uuid(), 'u:crowd' || n % 40, 'crowd' || n % 40, 'semantic', 'Lisbon ' || n, 'other',
           'user_stated', 0.9, 5, 1, 'everywhere', 'active', :at, :at, :at, 2, 2, sha256(n::text::bytea)
    FROM generate_series(1, :rows) n
"""
SPREAD = """
INSERT INTO memory_vectors (tenant_id, memory_id, model_id, owner, text_hash, embedding)
    SELECT tenant_id, id, :model, owner, content_hash, (
        SELECT array_agg(:near * q + random(-1.0, 1.0)::float4) FROM unnest(cast(:question AS float4[])) q
    )::vector::halfvec FROM memories WHERE owner LIKE 'u:crowd%' AND get_byte(content_hash, 0) < :share
"""
POST = """
INSERT INTO memory_postings (tenant_id, owner, token, memory_id, tf, len)
    SELECT tenant_id, owner, 'lisbon', id, 1, 2 FROM memories WHERE owner LIKE 'u:crowd%'
"""


@pytest.mark.timeout(600)
async def test_a_small_owner_among_many_rows_gets_all_of_its_own(
    tenant: Tenant, model: ModelRecord, full_size: bool
) -> None:
    """Everybody else's vectors are nearer to the question, and their texts hold its word too."""
    (question,) = directions(1, model.dimension, 4)
    texts = [f"My note about Lisbon {n}" for n in range(10)]
    rows = 100_000 if full_size else 20_000
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        connection = tx._bound.connection
        stored = await store(tx, "u:ada", texts)
        await store_vectors(tx, model, stored, texts, -directions(10, model.dimension, 5))
        await connection.execute(text("SET LOCAL statement_timeout = 0"))
        await connection.execute(text(FILL), {"tenant": tenant.id, "at": clock.now(), "rows": rows})
        share = 256 if full_size else 26  # of 256: a tenth of the crowd is enough to be crowded out by
        values = {"model": model.id, "near": 20.0, "question": question.tolist(), "share": share}
        await connection.execute(text(SPREAD), values)
        await connection.execute(text(POST))
        found = await find(tx, "u:ada", "Lisbon", DenseQuery(question, model))
        assert set(by_meaning(found)) == set(by_words(found)) == set(stored)


async def test_ties_are_broken_the_same_way_at_every_call(tenant: Tenant) -> None:
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        stored = await store(tx, "u:ada", [f"Lisbon {n}" for n in range(10, 40)])
        first = await find(tx, "u:ada", "Lisbon")
        assert by_words(first) == sorted(stored)[:10]
        assert await find(tx, "u:ada", "Lisbon") == first
