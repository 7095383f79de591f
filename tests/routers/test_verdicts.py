"""What a new statement does to an old one, each verdict through HTTP and the worker, in both languages."""

from typing import Any

import httpx
import pytest

from tests.conftest import Tenant
from tests.routers.calls import body_of, every, say

ADA = {"user_id": "ada"}


@pytest.fixture
def tenant(learning_tenant: Tenant) -> Tenant:
    """A fresh tenant of a service that learns from what is appended."""
    return learning_tenant


async def told(api: httpx.AsyncClient, tenant: Tenant, *texts: str) -> None:
    """Ada says this, each in a conversation of its own, and the worker learns from it."""
    for text in texts:
        count = body_of(await api.get("/v1/sessions", params={"limit": 1, "count": True}))["total"]
        await say(api, f"s{count}", text, **ADA)
        await tenant.work()


async def in_status(api: httpx.AsyncClient, status: str, **more: Any) -> list[dict[str, Any]]:
    return (await every(api, "/v1/memories", **ADA, status=status, **more))[::-1]


@pytest.mark.parametrize(
    ("first", "then"),
    [("I live in Oslo.", "I live in Oslo, as you know."), ("我对花生过敏。", "我对花生过敏。")],
)
async def test_reinforce_counts_the_same_memory_once_more(
    api: httpx.AsyncClient, tenant: Tenant, first: str, then: str
) -> None:
    await told(api, tenant, first, then)
    (memory,) = await in_status(api, "active")
    assert memory["seen_count"] == 2
    assert len(memory["sources"]) == 2


@pytest.mark.parametrize(
    ("first", "then"),
    [("I'm allergic to peanuts.", "I'm allergic to shellfish."), ("我对花生过敏。", "我对海鲜过敏。")],
)
async def test_complement_stands_beside_it(api: httpx.AsyncClient, tenant: Tenant, first: str, then: str) -> None:
    await told(api, tenant, first, then)
    assert len(await in_status(api, "active")) == 2
    assert await in_status(api, "superseded") == []


@pytest.mark.parametrize(
    ("first", "then", "old", "new"),
    [("I live in Oslo.", "I moved to Riga.", "Oslo", "Riga"), ("我住在上海。", "我搬到了杭州。", "上海", "杭州")],
)
async def test_supersede_closes_the_old_one_when_the_new_one_was_said(
    api: httpx.AsyncClient, tenant: Tenant, first: str, then: str, old: str, new: str
) -> None:
    await told(api, tenant, first, then)
    (current,), (past,) = await in_status(api, "active"), await in_status(api, "superseded")
    assert (current["value"], past["value"]) == (new, old)
    assert past["valid_to"] == current["valid_from"]
    history = body_of(await api.get(f"/v1/memories/{past['id']}/history"))["results"]
    assert history[-1]["reason"].startswith("supersede: ")


@pytest.mark.parametrize(
    ("first", "then", "old", "new"),
    [
        ("I live in Oslo.", "Sorry, I meant I live in Riga, not Oslo.", "Oslo", "Riga"),
        ("我住在上海。", "说错了,我住在杭州,不是上海。", "上海", "杭州"),
    ],
)
async def test_correct_says_so_in_history(
    api: httpx.AsyncClient, tenant: Tenant, first: str, then: str, old: str, new: str
) -> None:
    await told(api, tenant, first, then)
    (current,), (past,) = await in_status(api, "active"), await in_status(api, "superseded")
    assert (current["value"], past["value"]) == (new, old)
    history = body_of(await api.get(f"/v1/memories/{past['id']}/history"))["results"]
    assert history[-1]["reason"].startswith("correct: ")


@pytest.mark.parametrize(
    ("first", "then"),
    [("I live in Oslo.", "I no longer live in Oslo."), ("我住在上海。", "我不再住在上海了。")],
)
async def test_retract_leaves_no_value(api: httpx.AsyncClient, tenant: Tenant, first: str, then: str) -> None:
    await told(api, tenant, first, then)
    (past,) = await in_status(api, "superseded")
    assert past["key"] == "user.city"
    assert all(memory["key"] is None for memory in await in_status(api, "active"))
    assert (await api.get("/v1/users/ada/facts/user.city")).status_code == 404


@pytest.mark.parametrize(
    ("first", "then"), [("I like jazz.", "I don't like jazz."), ("我喜欢爵士乐。", "我不喜欢爵士乐。")]
)
async def test_contradict_serves_both_as_disputed_until_the_next_words_settle_it(
    api: httpx.AsyncClient, tenant: Tenant, first: str, then: str
) -> None:
    await told(api, tenant, first, then)
    disputed = await in_status(api, "disputed")
    assert len(disputed) == 2
    (conflict,) = body_of(await api.get("/v1/conflicts"))["results"]
    keep = {"keep": "newer"}
    body_of(await api.post(f"/v1/conflicts/{conflict['id']}/resolve", json=keep))
    (active,) = await in_status(api, "active")
    assert active["id"] == disputed[1]["id"]


@pytest.mark.parametrize(
    ("first", "then"), [("I live in Oslo.", "My dog is called Otis."), ("我住在上海。", "我的狗叫豆豆。")]
)
async def test_add_leaves_the_rest_alone(api: httpx.AsyncClient, tenant: Tenant, first: str, then: str) -> None:
    await told(api, tenant, first, then)
    assert [memory["seen_count"] for memory in await in_status(api, "active")] == [1, 1]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (("Use metric units please.", "No, use metric units.", "Again: use metric units."), "metric"),
        (("短一点。", "再短一点。", "还是太长,短一点。"), "短"),
    ],
)
async def test_corrections_that_come_again_become_an_uncertain_wish_that_a_person_confirms_or_rejects(
    api: httpx.AsyncClient, tenant: Tenant, said: tuple[str, ...], words: str
) -> None:
    for text in said:
        await say(api, "s", text, **ADA)
    await tenant.work()
    every_one = await every(api, "/v1/memories", **ADA, include_uncertain=True)
    assert all(words in memory["text"] for memory in every_one)
    assert every_one
    for wish in [memory for memory in every_one if memory["uncertain"]]:
        assert wish["source"] == "inferred"
        body_of(await api.post(f"/v1/memories/{wish['id']}/reject", json={}))
        for text in said:
            await say(api, "again", text, **ADA)
        await tenant.work()
        rest = await every(api, "/v1/memories", **ADA, include_uncertain=True)
        assert wish["text"] not in [memory["text"] for memory in rest if memory["uncertain"]]


async def test_what_was_rejected_comes_back_by_the_users_own_words_alone(
    api: httpx.AsyncClient, tenant: Tenant
) -> None:
    claim = {"role": "assistant", "content": "You live in Lisbon, so the shop is near."}
    body_of(await api.post("/v1/sessions/a/messages", json={**claim, **ADA}), 201)
    await tenant.work()
    claims = await every(api, "/v1/memories", **ADA, include_uncertain=True)
    for memory in claims:
        body_of(await api.post(f"/v1/memories/{memory['id']}/reject", json={"reason": "no"}))
    body_of(await api.post("/v1/sessions/b/messages", json={**claim, **ADA}), 201)
    await tenant.work()
    assert await every(api, "/v1/memories", **ADA, include_uncertain=True) == []
    await told(api, tenant, "I live in Lisbon.")
    (memory,) = await every(api, "/v1/memories", **ADA)
    assert (memory["source"], memory["value"]) == ("user_stated", "Lisbon")


@pytest.mark.parametrize("said", ["I'm a nurse.", "我是护士。"])
async def test_a_tenants_threshold_decides_what_is_worth_keeping_but_for_what_was_asked(
    api: httpx.AsyncClient, tenant: Tenant, said: str
) -> None:
    body_of(await api.patch("/v1/admin/settings", json={"gate_threshold": 1.0}))
    await told(api, tenant, said)
    assert await every(api, "/v1/memories", **ADA) == []
    asked = "Remember that the key is under the mat." if said.isascii() else "请记住钥匙在垫子下面。"
    answer = await say(api, "asked", asked, **ADA)
    assert len(answer["remembered"]) == 1


@pytest.mark.parametrize(
    "said",
    [
        "To release, run make release, then tag the commit, then push the tag.",
        "发布的步骤是:先跑make release,再打标签,最后推送标签。",
    ],
)
async def test_a_method_is_never_among_the_facts(api: httpx.AsyncClient, tenant: Tenant, said: str) -> None:
    await told(api, tenant, said)
    kept = await every(api, "/v1/memories", **ADA)
    assert {memory["kind"] for memory in kept} <= {"procedural"}
