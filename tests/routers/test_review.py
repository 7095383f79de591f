"""Memories that are added by hand are stored at once, and held against what is there by a job, in both languages."""

import httpx
import pytest

from tests.conftest import Tenant
from tests.routers.calls import add, body_of, every, texts_found

ADA = {"user_id": "ada"}


@pytest.fixture
def tenant(learning_tenant: Tenant) -> Tenant:
    """A fresh tenant of a service that compares what is added."""
    return learning_tenant


async def status_of(api: httpx.AsyncClient, memory: dict[str, str]) -> str:
    found: str = body_of(await api.get(f"/v1/memories/{memory['id']}"))["status"]
    return found


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        (
            "The staging server listens on port 8080.",
            "The staging server now listens on port 9090.",
            "Which port does the staging server listen on?",
        ),
        ("测试服务器监听8080端口。", "测试服务器现在改成监听9090端口。", "测试服务器监听哪个端口?"),
    ],
)
async def test_an_added_memory_that_says_a_change_ends_what_it_changes(
    api: httpx.AsyncClient, tenant: Tenant, old: str, new: str, question: str
) -> None:
    first, then = await add(api, old), await add(api, new)
    assert set(await texts_found(api, question, **ADA)) == {old, new}, "stored at once, judged later"
    await tenant.work()
    assert await status_of(api, first) == "superseded"
    assert await status_of(api, then) == "active"
    assert await texts_found(api, question, **ADA) == [new]
    (job,) = [job for job in await every(api, "/v1/jobs", state="succeeded") if job["result"].get("ended_ids")]
    assert job["kind"] == "reconcile"
    assert job["result"]["ended_ids"] == [first["id"]]
    body_of(await api.post("/v1/undo", json={"job_id": job["id"]}))
    assert await status_of(api, first) == "active"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Deploys are allowed on Fridays.", "Deploys are not allowed on Fridays."),
        ("周五可以部署。", "周五不可以部署。"),
    ],
)
async def test_what_cannot_both_be_true_is_disputed_until_somebody_decides(
    api: httpx.AsyncClient, tenant: Tenant, one: str, other: str
) -> None:
    first, second = await add(api, one), await add(api, other)
    await tenant.work()
    assert [await status_of(api, first), await status_of(api, second)] == ["disputed", "disputed"]
    (conflict,) = body_of(await api.get("/v1/conflicts"))["results"]
    assert {memory["id"] for memory in conflict["memories"]} == {first["id"], second["id"]}


async def test_what_has_nothing_to_do_with_each_other_stays(api: httpx.AsyncClient, tenant: Tenant) -> None:
    texts = ["Ada likes tea.", "Ada likes jazz.", "Ada喜欢爬山。", "The office is in Lisbon now."]
    for text in texts:
        await add(api, text)
    await tenant.work()
    assert sorted(await texts_found(api, "Ada office tea jazz 爬山", **ADA)) == sorted(texts)


async def test_memories_for_different_agents_do_not_end_each_other(api: httpx.AsyncClient, tenant: Tenant) -> None:
    scopes = [{"user_id": "ada", "agent_id": agent} for agent in ("one", "two")]
    first = await add(api, "The server listens on port 8080.", **scopes[0])
    await add(api, "The server now listens on port 9090.", **scopes[1])
    await tenant.work()
    assert await status_of(api, first) == "active"


async def test_many_memories_are_compared_in_short_jobs_so_that_others_get_their_turn(api: httpx.AsyncClient) -> None:
    memories = [{"text": f"Ada keeps book {number} on shelf {number % 7}.", **ADA} for number in range(90)]
    body_of(await api.post("/v1/memories", json={"memories": memories}), 201)
    assert sum(job["kind"] == "reconcile" for job in await every(api, "/v1/jobs")) == 3
