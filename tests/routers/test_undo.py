"""What was done to memories can be undone, and what was true or known at another time can be asked for."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from app.core import clock
from tests.conftest import Tenant
from tests.routers.calls import add, body_of, every, problem_of, say, search, texts_found

ADA = {"user_id": "ada"}
UNTOUCHED = {"version", "updated_at"}


@pytest.fixture
def tenant(learning_tenant: Tenant) -> Tenant:
    """A fresh tenant of a service that learns from what is appended."""
    return learning_tenant


async def row_of(tenant: Tenant, memory_id: str) -> dict[str, Any]:
    """Every column as it stands."""
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        (row,) = await tx.memories.by_ids([UUID(memory_id)])
    return {name: value for name, value in row.items() if name not in UNTOUCHED}


async def history_of(api: httpx.AsyncClient, memory_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = body_of(await api.get(f"/v1/memories/{memory_id}/history"))["results"]
    return found


async def told(api: httpx.AsyncClient, tenant: Tenant, text: str, session: str = "s", **fields: Any) -> dict[str, Any]:
    """Ada says this and the worker learns from it; the job that did."""
    await say(api, session, text, **ADA, **fields)
    await tenant.work()
    found = await every(api, "/v1/jobs", state="succeeded")
    return next(job for job in found if job["kind"] == "extract")


async def undo(api: httpx.AsyncClient, **what: str) -> dict[str, Any]:
    undone: dict[str, Any] = body_of(await api.post("/v1/undo", json=what))
    return undone


@pytest.mark.parametrize(
    ("first", "then", "question"),
    [
        ("I live in Berlin.", "I moved from Berlin to Lisbon last month.", "Where do I live?"),
        ("我住在上海。", "我上个月从上海搬到了杭州。", "我住在哪里?"),
    ],
)
async def test_undoing_a_job_brings_every_column_back(
    api: httpx.AsyncClient, tenant: Tenant, first: str, then: str, question: str
) -> None:
    (old,) = (await told(api, tenant, first))["result"]["memory_ids"]
    before = await row_of(tenant, old)
    job = await told(api, tenant, then)
    assert old in job["result"]["ended_ids"]
    undone = await undo(api, job_id=job["id"])
    assert set(undone["memory_ids"]) == {old, *job["result"]["memory_ids"]}
    assert await row_of(tenant, old) == before
    assert [hit["id"] for hit in (await search(api, question, **ADA))["results"]] == [old]
    assert [event["action"] for event in await history_of(api, old)] == ["added", "superseded", "undone"]
    problem_of(await api.post("/v1/undo", json={"job_id": job["id"]}), 409)


async def test_undoing_a_reinforcement_takes_its_source_back(api: httpx.AsyncClient, tenant: Tenant) -> None:
    (memory,) = (await told(api, tenant, "I live in Lisbon."))["result"]["memory_ids"]
    before, sources = await row_of(tenant, memory), body_of(await api.get(f"/v1/memories/{memory}"))["sources"]
    job = await told(api, tenant, "I live in Lisbon.", session="t")
    assert job["result"]["memory_ids"] == [memory]
    assert len(body_of(await api.get(f"/v1/memories/{memory}"))["sources"]) == 2
    await undo(api, job_id=job["id"])
    assert await row_of(tenant, memory) == before
    assert body_of(await api.get(f"/v1/memories/{memory}"))["sources"] == sources


@pytest.mark.parametrize(
    ("text", "other"), [("Ada likes jasmine tea.", "Ada likes pu-erh tea."), ("喜欢茶", "喜欢咖啡")]
)
async def test_undoing_a_correction_brings_text_words_and_vector_back(
    api: httpx.AsyncClient, tenant: Tenant, text: str, other: str
) -> None:
    memory = await add(api, text, **ADA)
    before = await row_of(tenant, memory["id"])
    body_of(await api.patch(f"/v1/memories/{memory['id']}", json={"text": other, "importance": 9}))
    (_, correction) = await history_of(api, memory["id"])
    await undo(api, event_id=correction["id"])
    await tenant.work()
    assert await row_of(tenant, memory["id"]) == before
    (hit,) = (await search(api, text, **ADA))["results"]
    assert hit["score_breakdown"]["similarity"] > 0.99
    assert hit["score_breakdown"]["bm25"] > 0


async def test_undoing_an_add_brings_back_what_it_displaced(api: httpx.AsyncClient) -> None:
    old = await add(api, "Lives in Berlin.", key="user.city", value="Berlin", **ADA)
    new = await add(api, "Lives in Lisbon.", key="user.city", value="Lisbon", **ADA)
    (added, *_) = await history_of(api, new["id"])
    await undo(api, event_id=added["id"])
    assert body_of(await api.get("/v1/users/ada/facts/user.city"))["value"] == "Berlin"
    assert body_of(await api.get(f"/v1/memories/{old['id']}"))["status"] == "active"
    problem_of(await api.get(f"/v1/memories/{new['id']}"), 404)


async def test_undoing_only_the_end_of_a_value_leaves_one_current_value(api: httpx.AsyncClient) -> None:
    old = await add(api, "Lives in Berlin.", key="user.city", value="Berlin", **ADA)
    await add(api, "Lives in Lisbon.", key="user.city", value="Lisbon", **ADA)
    (_, superseded) = await history_of(api, old["id"])
    await undo(api, event_id=superseded["id"])
    current = body_of(await api.get("/v1/memories", params={"user_id": "ada"}))["results"]
    assert [memory["value"] for memory in current] == ["Berlin"]


async def test_a_bulk_deletion_can_be_undone(api: httpx.AsyncClient) -> None:
    texts = ["drinks tea", "喝茶", "likes jazz"]
    for text in texts:
        await add(api, text, **ADA)
    gone = body_of(await api.post("/v1/memories/delete", json=ADA))
    assert gone["deleted"] == 3
    undone = await undo(api, undo_id=gone["undo_id"])
    assert undone["events"] == 3
    assert sorted(await texts_found(api, "tea 茶 jazz", **ADA)) == sorted(texts)
    stats = body_of(await api.get("/v1/admin/stats"))
    assert stats["memories"] == {"active": 3}


async def test_what_a_person_changed_later_is_not_lost_by_undoing(api: httpx.AsyncClient, tenant: Tenant) -> None:
    job = await told(api, tenant, "I live in Berlin and I'm allergic to peanuts.")
    (city, allergy) = job["result"]["memory_ids"]
    body_of(await api.patch(f"/v1/memories/{city}", json={"importance": 10}))
    problem_of(await api.post("/v1/undo", json={"job_id": job["id"]}), 409, "later_change")
    assert body_of(await api.get(f"/v1/memories/{allergy}"))["status"] == "active", "nothing is undone by halves"
    body_of(await api.post(f"/v1/memories/{allergy}/feedback", json={"verdict": "used"}))


async def test_only_one_thing_is_undone_at_a_time_and_only_what_there_is(api: httpx.AsyncClient) -> None:
    nobody = "01980000-0000-7000-8000-000000000000"
    problem_of(await api.post("/v1/undo", json={}), 422)
    problem_of(await api.post("/v1/undo", json={"job_id": nobody, "event_id": nobody}), 422)
    problem_of(await api.post("/v1/undo", json={"job_id": nobody}), 404, "nothing_to_undo")


async def test_a_key_of_another_user_undoes_nothing(api: httpx.AsyncClient, tenant: Tenant) -> None:
    memory = await add(api, "drinks tea", **ADA)
    (added,) = await history_of(api, memory["id"])
    bob = await tenant.client("member", ["bob"])
    problem_of(await bob.post("/v1/undo", json={"event_id": added["id"]}), 404, "nothing_to_undo")


def on(day: int) -> str:
    return f"2026-{day // 28 + 1:02d}-{day % 28 + 1:02d}T12:00:00Z"


@pytest.mark.parametrize(
    ("said", "values", "question"),
    [
        (["I live in Berlin.", "I moved to Lisbon."], ["Berlin", "Lisbon"], "Where do I live?"),
        (["我住在上海。", "我搬到了杭州。"], ["上海", "杭州"], "我住在哪里?"),
    ],
)
async def test_what_was_true_at_another_time_can_be_asked_for(
    api: httpx.AsyncClient, tenant: Tenant, said: list[str], values: list[str], question: str
) -> None:
    (old,) = (await told(api, tenant, said[0], occurred_at=on(10)))["result"]["memory_ids"]
    learnt = clock.now()
    (new,) = (await told(api, tenant, said[1], occurred_at=on(60)))["result"]["memory_ids"]

    async def found(**then: Any) -> list[str]:
        return [hit["id"] for hit in (await search(api, question, **ADA, **then))["results"]]

    async def listed(**then: Any) -> list[str]:
        page = body_of(await api.get("/v1/memories", params={**ADA, **then}))
        return [memory["id"] for memory in page["results"]]

    for ask in (found, listed):
        assert await ask() == [new]
        assert await ask(as_of=on(30)) == [old]
        assert await ask(as_of=on(5)) == []
        assert await ask(as_of=on(70)) == [new]
        assert await ask(known_at=learnt.isoformat()) == [old], "nobody had said it yet"
        assert await ask(known_at=learnt.isoformat(), as_of=on(70)) == [old]
        assert await ask(known_at=(learnt - timedelta(days=1)).isoformat()) == []
    then = body_of(await api.get(f"/v1/memories/{old}", params={"known_at": learnt.isoformat()}))
    assert (then["status"], then["valid_to"], then["superseded_by"]) == ("active", None, None)
    assert values[0] in then["text"]
    problem_of(await api.get(f"/v1/memories/{new}", params={"as_of": on(30)}), 404, "memory_not_found")
    problem_of(await api.get("/v1/memories", params={"as_of": "yesterday"}), 422)


async def test_a_corrected_memory_is_shown_as_it_was_known(api: httpx.AsyncClient) -> None:
    memory = await add(api, "Ada drinks tea.", **ADA)
    then = clock.now().isoformat()
    body_of(await api.patch(f"/v1/memories/{memory['id']}", json={"text": "Ada drinks pu-erh tea.", "importance": 9}))
    was = body_of(await api.get(f"/v1/memories/{memory['id']}", params={"known_at": then}))
    assert (was["text"], was["importance"]) == ("Ada drinks tea.", memory["importance"])
    assert await texts_found(api, "tea", **ADA, known_at=then) == ["Ada drinks tea."]
    assert (await api.delete(f"/v1/memories/{memory['id']}")).status_code == 204
    assert await texts_found(api, "tea", **ADA, known_at=then) == [], "what is deleted is not shown by looking back"


async def test_looking_back_counts_as_no_access(api: httpx.AsyncClient, tenant: Tenant) -> None:
    memory = await add(api, "Ada drinks tea.", **ADA)
    now = clock.now().isoformat()
    await texts_found(api, "tea", **ADA, known_at=now)
    await tenant.services.accesses.flush()
    assert body_of(await api.get(f"/v1/memories/{memory['id']}"))["access_count"] == 0
