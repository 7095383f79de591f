"""What the tables themselves hold to, whatever a use case does above them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import httpx
import numpy as np
import pytest
from sqlalchemy import text

from app.core import clock, ids
from app.core.text.digest import text_hash
from app.repositories.owners import OwnerChange
from app.repositories.vectors import Embedded
from app.uow import Transaction
from tests.conftest import Tenant

COUNTED = """
WITH counted AS (
    SELECT owner, count(*) AS memories, sum(length) AS memory_tokens, 0 AS messages, 0 AS message_tokens
    FROM memories WHERE status IN ('active', 'disputed') GROUP BY owner
    UNION ALL
    SELECT owner, 0, 0, count(*), sum(length) FROM messages GROUP BY owner
), summed AS (
    SELECT owner, sum(memories) AS memories, sum(memory_tokens) AS memory_tokens, sum(messages) AS messages,
           sum(message_tokens) AS message_tokens FROM counted GROUP BY owner
)
SELECT coalesce(o.owner, s.owner) AS owner,
       ARRAY[o.memory_count, o.memory_tokens, o.message_count, o.message_tokens]::bigint[] AS kept,
       ARRAY[coalesce(s.memories, 0), coalesce(s.memory_tokens, 0), coalesce(s.messages, 0),
             coalesce(s.message_tokens, 0)]::bigint[] AS counted
FROM owner_stats o FULL JOIN summed s ON s.owner = o.owner
"""


@pytest.fixture
def transaction(tenant: Tenant) -> Any:
    """Opens a transaction of the tenant, and gives its repositories and a way to send SQL."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[tuple[Transaction, Any]]:
        async with tenant.services.uow.begin_tenant(tenant.id) as tx:
            connection = tx._bound.connection

            async def sql(statement: str, **values: Any) -> list[Any]:
                result = await connection.execute(text(statement), values)
                return list(result.mappings().all()) if result.returns_rows else []

            yield tx, sql

    return opened


def row(said: str, **given: Any) -> dict[str, Any]:
    at = clock.now()
    user_id = given.get("user_id", "ada")
    return {
        "id": ids.new_id(),
        "owner": f"u:{user_id}",
        "user_id": user_id,
        "agent_id": None,
        "app_id": None,
        "session_id": None,
        "kind": "semantic",
        "text": said,
        "category": "other",
        "source": "user_stated",
        "confidence": 0.9,
        "importance": 5,
        "weight": 1.0,
        "use": "everywhere",
        "status": "active",
        "created_at": at,
        "updated_at": at,
        "last_seen_at": at,
        "tokens": 3,
        "length": 3,
        "content_hash": text_hash(said),
        **given,
    }


async def balance(transaction: Any) -> None:
    """Every owner's counters are what counting gives."""
    async with transaction() as (_, sql):
        for found in await sql(COUNTED):
            assert found["kept"] == found["counted"], found["owner"]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ({}, {}, True),
        ({"agent_id": "a"}, {"agent_id": "a"}, True),
        ({"agent_id": "a"}, {"agent_id": "b"}, False),
        ({"agent_id": "a"}, {}, False),
        ({"app_id": "a"}, {"app_id": "b"}, False),
        ({"kind": "semantic"}, {"kind": "episodic"}, False),
        ({}, {"owner": "u:bob", "user_id": "bob"}, False),
        ({"session_id": "one"}, {}, False),
        ({"session_id": "one"}, {"session_id": "two"}, False),
        ({"extracted": True, "agent_id": "a"}, {"extracted": True, "agent_id": "b", "app_id": "c"}, True),
        ({"extracted": True, "agent_id": "a"}, {"extracted": True}, True),
        ({"extracted": True, "agent_id": "a"}, {"agent_id": "a"}, False),
        ({"extracted": True, "agent_id": "a"}, {}, True),  # what was extracted and what was stated without origin
        ({"status": "superseded"}, {}, False),
    ],
)
async def test_what_says_the_same_in_the_same_scope_is_one_row(
    transaction: Any, first: dict[str, Any], second: dict[str, Any], same: bool
) -> None:
    async with transaction() as (tx, sql):
        for session_id in ("one", "two"):
            await sql(
                "INSERT INTO sessions (tenant_id, id, owner, memory, status, created_at, updated_at)"
                " VALUES (:tenant, :id, 'u:ada', 'on', 'open', :at, :at)",
                tenant=tx._bound.tenant_id,
                id=session_id,
                at=clock.now(),
            )
        (one,) = await tx.memories.put([row("她住在里斯本。", **first)])
        (two,) = await tx.memories.put([row("她住在里斯本。", **second)])
        assert (one["id"] == two["id"]) is same
        assert two["created"] is not same
        assert two["seen_count"] == (2 if same else 1)
        assert two["version"] == 1


async def test_reinforcement_moves_confidence_towards_one_and_never_to_it(transaction: Any) -> None:
    async with transaction() as (tx, _):
        seen = [(await tx.memories.put([row("Tea, not coffee.", confidence=0.5)]))[0]["confidence"] for _ in range(40)]
    assert seen == sorted(seen)
    assert 0.5 == seen[0] < seen[-1] < 1


async def test_counters_follow_every_change_of_an_owners_rows(
    api: httpx.AsyncClient, tenant: Tenant, transaction: Any
) -> None:
    memory = (await api.post("/v1/memories", json={"user_id": "ada", "text": "She moved to Lisbon."})).json()
    await balance(transaction)
    again = await api.post("/v1/memories", json={"user_id": "ada", "text": "She moved to Lisbon."})
    assert again.json()["id"] == memory["id"]
    await balance(transaction)
    many = [
        {"user_id": user, "text": said} for user in ("ada", "bob") for said in ("one thing", "two", "two", "三件事")
    ]
    assert (await api.post("/v1/memories", json={"memories": many})).status_code == 201
    await balance(transaction)
    longer = await api.patch(f"/v1/memories/{memory['id']}", json={"text": "She moved to Lisbon, and then to Porto."})
    assert longer.status_code == 200
    await balance(transaction)
    assert (await api.delete(f"/v1/memories/{memory['id']}")).status_code == 204
    await balance(transaction)
    said = {"user_id": "ada", "role": "user", "content": "I moved to Lisbon."}
    for _ in range(3):
        assert (await api.post("/v1/sessions/s/messages", json=said | {"external_id": "m-1"})).status_code == 201
        assert (await api.post("/v1/sessions/t/messages", json=said)).status_code == 201
    await balance(transaction)
    scoped = {"user_id": "ada", "session_id": "s", "text": "Only in this session."}
    assert (await api.post("/v1/memories", json=scoped)).status_code == 201
    await balance(transaction)
    for session_id in ("s", "t"):
        assert (await api.delete(f"/v1/sessions/{session_id}")).status_code == 204
        await balance(transaction)
    await tenant.work()
    await balance(transaction)


async def test_counters_survive_a_rush_of_equal_writes(api: httpx.AsyncClient, transaction: Any) -> None:
    async def add(n: int) -> int:
        body = {"user_id": "ada", "text": f"The same thing {n % 3}."}
        return (await api.post("/v1/memories", json=body)).status_code

    assert set(await asyncio.gather(*(add(n) for n in range(24)))) == {201}
    await balance(transaction)


async def test_counters_never_fall_below_nothing(transaction: Any) -> None:
    async with transaction() as (tx, sql):
        await tx.owners.lock_and_change("u:ada", OwnerChange(memories=1, memory_tokens=5))
        await tx.owners.lock_and_change("u:ada", OwnerChange(-3, -9, -1, -1))
        (kept,) = await sql("SELECT * FROM owner_stats")
    assert (kept["memory_count"], kept["memory_tokens"], kept["message_count"], kept["message_tokens"]) == (0, 0, 0, 0)
    assert kept["version"] == 2


async def test_a_correction_and_a_repetition_at_once_do_not_lock_each_other_out(api: httpx.AsyncClient) -> None:
    """Memory then owner, and owner then memory, would wait for each other: both take the owner first."""
    body = {"user_id": "ada", "text": "She lives in Lisbon."}
    memory = (await api.post("/v1/memories", json=body)).json()
    for n in range(6):
        answers = await asyncio.gather(
            *(api.post("/v1/memories", json=body) for _ in range(3)),
            *(api.patch(f"/v1/memories/{memory['id']}", json={"importance": 1 + n}) for _ in range(2)),
            api.patch(f"/v1/memories/{memory['id']}", json={"text": f"She lives in Lisbon {n}."}),
        )
        assert {answer.status_code for answer in answers} <= {200, 201, 409}, [a.text for a in answers]
        body["text"] = f"She lives in Lisbon {n}."


async def test_two_corrections_to_the_same_words_leave_one_memory_that_says_them(api: httpx.AsyncClient) -> None:
    made = [
        (await api.post("/v1/memories", json={"user_id": "ada", "text": f"Number {n}."})).json()["id"] for n in range(4)
    ]
    answers = await asyncio.gather(
        *(api.patch(f"/v1/memories/{memory_id}", json={"text": "All alike."}) for memory_id in made)
    )
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]


async def test_postings_and_vectors_go_with_their_text(
    api: httpx.AsyncClient, tenant: Tenant, transaction: Any
) -> None:
    memory = (await api.post("/v1/memories", json={"user_id": "ada", "text": "She moved to Lisbon."})).json()
    said = {"user_id": "ada", "role": "user", "content": "I moved to Lisbon."}
    assert (await api.post("/v1/sessions/s/messages", json=said)).status_code == 201
    await tenant.work()
    tables = ("memory_postings", "memory_vectors", "memory_events", "message_postings", "message_vectors")
    async with transaction() as (_, sql):
        for table in tables:
            assert await sql(f"SELECT 1 AS one FROM {table} LIMIT 1"), table
        await sql("DELETE FROM memories WHERE id = :id", id=UUID(memory["id"]))
        await sql("DELETE FROM messages")
        for table in tables:
            assert await sql(f"SELECT 1 AS one FROM {table} LIMIT 1") == [], table


async def test_a_session_takes_its_messages_and_scoped_memories_and_leaves_what_was_learnt(
    api: httpx.AsyncClient, transaction: Any, tenant: Tenant
) -> None:
    said = {"user_id": "ada", "role": "user", "content": "I moved to Lisbon."}
    assert (await api.post("/v1/sessions/s/messages", json=said)).status_code == 201
    scoped = {"user_id": "ada", "session_id": "s", "text": "Only in this session."}
    source = {"session_id": "s", "seqs": [1], "quote": "moved to Lisbon"}
    learnt = {"user_id": "ada", "text": "She moved to Lisbon.", "sources": [source]}
    assert (await api.post("/v1/memories", json=scoped)).status_code == 201
    assert (await api.post("/v1/memories", json=learnt)).status_code == 201
    async with transaction() as (_, sql):
        await sql("DELETE FROM sessions WHERE id = 's'")
        assert [found["text"] for found in await sql("SELECT text FROM memories")] == ["She moved to Lisbon."]
        (kept,) = await sql("SELECT tenant_id, session_id, seqs, quote FROM memory_sources")
        assert kept["tenant_id"] == tenant.id
        assert kept["session_id"] is None
        assert (kept["seqs"], kept["quote"]) == ([1], "moved to Lisbon")
        assert await sql("SELECT 1 AS one FROM messages") == []


async def test_a_vector_is_stored_only_for_the_text_that_it_was_made_from(transaction: Any, tenant: Tenant) -> None:
    record = await tenant.services.embedder.record()
    vector = np.ones(record.dimension, np.float32) / np.sqrt(record.dimension)
    async with transaction() as (tx, sql):
        (one,) = await tx.memories.put([row("She lives in Lisbon.")])
        stale = Embedded(one["id"], text_hash("She lives in Porto."), vector)
        fresh = Embedded(one["id"], text_hash("She lives in Lisbon."), vector)
        gone = Embedded(ids.new_id(), text_hash("She lives in Lisbon."), vector)
        assert await tx.vectors.put_memories(record.id, [stale, gone]) == 0
        assert [found["id"] for found in await tx.vectors.memories_without(record.id, [one["id"]])] == [one["id"]]
        assert await tx.vectors.put_memories(record.id, [fresh]) == 1
        assert await tx.vectors.memories_without(record.id, [one["id"]]) == []
        assert await tx.vectors.put_memories(record.id, [fresh]) == 1
        assert len(await sql("SELECT 1 AS one FROM memory_vectors")) == 1
