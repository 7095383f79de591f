"""What a conversation leaves behind, through HTTP and the worker's own jobs, in both languages."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from app.core import clock
from tests.conftest import Tenant
from tests.routers.calls import add, body_of, every, say, search, texts_found

ADA = {"user_id": "ada"}


@pytest.fixture
def tenant(learning_tenant: Tenant) -> Tenant:
    """A fresh tenant of a service that learns from what is appended."""
    return learning_tenant


async def memories(api: httpx.AsyncClient, **filters: Any) -> list[dict[str, Any]]:
    """Ada's, oldest first."""
    return (await every(api, "/v1/memories", user_id="ada", **filters))[::-1]


async def told(api: httpx.AsyncClient, tenant: Tenant, *texts: str, session: str = "s", **fields: Any) -> None:
    """Ada says this, and the worker does its jobs."""
    for text in texts:
        await say(api, session, text, **ADA, **fields)
    await tenant.work()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Hi! By the way, I live in Lisbon and I'm allergic to peanuts.", ("Lisbon", "peanuts")),
        ("你好!对了,我住在杭州,我对花生过敏。", ("杭州", "花生")),
    ],
)
async def test_what_a_user_says_of_themselves_becomes_memories_with_the_place_it_was_said_at(
    api: httpx.AsyncClient, tenant: Tenant, said: str, words: tuple[str, ...]
) -> None:
    await told(api, tenant, said)
    kept = await memories(api)
    assert len(kept) == len(words)
    for memory, word in zip(kept, words, strict=True):
        assert word in memory["text"]
        assert (memory["source"], memory["uncertain"], memory["user_id"]) == ("user_stated", False, "ada")
        (source,) = memory["sources"]
        assert (source["session_id"], source["seqs"]) == ("s", [1])
        assert source["quote"] in said
    found = await search(api, words[1], user_id="ada")
    assert words[1] in found["results"][0]["text"]


@pytest.mark.parametrize(
    "said",
    [
        "Thanks, that helps!",
        "What is the capital of Peru?",
        "I'm a bit tired right now.",
        "好的,谢谢!",
        "秘鲁的首都是哪里?",
        "我现在有点困。",
    ],
)
async def test_small_talk_questions_and_passing_states_leave_nothing(
    api: httpx.AsyncClient, tenant: Tenant, said: str
) -> None:
    await told(api, tenant, said)
    assert await memories(api) == []
    (job,) = [job for job in await every(api, "/v1/jobs") if job["kind"] == "extract"]
    assert (job["state"], job["result"]["kept"]) == ("succeeded", 0)
    assert job["input_window"] == {"from_seq": 1, "to_seq": 1}


@pytest.mark.parametrize(
    ("first", "then", "old", "new"),
    [
        ("I live in Berlin.", "I moved from Berlin to Lisbon last month.", "Berlin", "Lisbon"),
        ("我住在上海。", "我上个月从上海搬到了杭州。", "上海", "杭州"),
    ],
)
async def test_what_changed_has_one_current_value_and_a_past(
    api: httpx.AsyncClient, tenant: Tenant, first: str, then: str, old: str, new: str
) -> None:
    await told(api, tenant, first)
    (before,) = await memories(api)
    await told(api, tenant, then)
    (current,) = [memory for memory in await memories(api) if memory["key"] == before["key"]]
    assert new in current["value"]
    was = body_of(await api.get(f"/v1/memories/{before['id']}"))
    assert (was["status"], was["superseded_by"]) == ("superseded", current["id"])
    assert old in was["text"]
    history = body_of(await api.get(f"/v1/memories/{before['id']}/history"))
    assert [event["action"] for event in history["results"]] == ["added", "superseded"]


@pytest.mark.parametrize(
    ("first", "then", "word"),
    [
        ("I like coffee.", "I no longer like coffee.", "coffee"),
        ("我喜欢喝咖啡。", "我不再喜欢喝咖啡了。", "咖啡"),
    ],
)
async def test_what_is_over_is_no_longer_current(
    api: httpx.AsyncClient, tenant: Tenant, first: str, then: str, word: str
) -> None:
    await told(api, tenant, first)
    liked = [memory for memory in await memories(api) if memory["key"] is not None]
    assert liked
    await told(api, tenant, then)
    gone = [body_of(await api.get(f"/v1/memories/{memory['id']}")) for memory in liked]
    assert {memory["status"] for memory in gone} == {"superseded"}
    assert any(word in memory["text"] for memory in await memories(api))


async def test_a_late_message_does_not_overwrite_what_is_newer(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await told(api, tenant, "I live in Lisbon.", occurred_at="2026-05-01T10:00:00Z")
    await told(api, tenant, "I live in Berlin.", session="old", occurred_at="2024-05-01T10:00:00Z")
    (current,) = await memories(api)
    assert "Lisbon" in current["text"]
    (past,) = await memories(api, status="superseded")
    assert "Berlin" in past["text"]


@pytest.mark.parametrize(
    ("invented", "word"), [("As you told me, you live in Paris.", "Paris"), ("你之前说过你住在巴黎。", "巴黎")]
)
async def test_what_an_assistant_claims_is_never_served_as_fact(
    api: httpx.AsyncClient, tenant: Tenant, invented: str, word: str
) -> None:
    await say(api, "s", "Hello!", **ADA)
    await say(api, "s", invented, role="assistant")
    await tenant.work()
    assert all(memory["source"] == "assistant_said" and memory["uncertain"] for memory in await memories(api))
    assert not [text for text in await texts_found(api, word, user_id="ada") if word in text]


@pytest.mark.parametrize("role", ["system", "tool"])
async def test_system_and_tool_messages_give_nothing(api: httpx.AsyncClient, tenant: Tenant, role: str) -> None:
    await say(api, "s", "I live in Lisbon. 我住在杭州。", role=role, **ADA)
    await tenant.work()
    assert await memories(api) == []


async def test_a_session_without_memory_gives_none(api: httpx.AsyncClient, tenant: Tenant) -> None:
    for mode in ("off", "read_only"):
        body_of(await api.post("/v1/sessions", json={"id": mode, "memory": mode, **ADA}), 201)
        await told(api, tenant, "I live in Lisbon.", session=mode)
    assert await memories(api) == []
    body_of(await api.patch("/v1/sessions/off", json={"memory": "on"}))
    await told(api, tenant, "我对花生过敏。", session="off")
    (kept,) = await memories(api)
    assert "花生" in kept["text"], "what was said while it was off is not learnt from later"


@pytest.mark.parametrize(
    ("said", "word"), [("This week I'm working from Porto.", "Porto"), ("我本周在苏州出差。", "苏州")]
)
async def test_what_holds_for_a_while_expires_at_the_end_of_the_period(
    api: httpx.AsyncClient, tenant: Tenant, said: str, word: str
) -> None:
    await told(api, tenant, said, occurred_at="2099-06-10T12:00:00Z", timezone="Asia/Shanghai")
    (kept,) = [memory for memory in await memories(api) if word in memory["text"]]
    assert datetime.fromisoformat(kept["expires_at"]) == datetime(2099, 6, 14, 16, tzinfo=UTC), "Sunday, in Shanghai"


@pytest.mark.parametrize(
    ("kept", "ask", "word"),
    [
        ("I live in Lisbon. I'm allergic to peanuts.", "Please forget that I'm allergic to peanuts.", "peanuts"),
        ("我住在杭州。我对花生过敏。", "请忘掉我对花生过敏这件事。", "花生"),
    ],
)
async def test_what_is_to_be_forgotten_is_deleted_and_can_be_brought_back(
    api: httpx.AsyncClient, tenant: Tenant, kept: str, ask: str, word: str
) -> None:
    await told(api, tenant, kept)
    (meant,) = [memory for memory in await memories(api) if word in memory["text"]]
    await told(api, tenant, ask)
    assert not [memory for memory in await memories(api) if word in memory["text"]]
    assert await memories(api), "the rest stays"
    assert body_of(await api.post(f"/v1/memories/{meant['id']}/restore"))["text"] == meant["text"]


async def test_a_job_that_is_run_again_writes_nothing_twice(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await told(api, tenant, "I live in Lisbon.", "我对花生过敏。")
    before = await memories(api)
    (job,) = [job for job in await every(api, "/v1/jobs") if job["kind"] == "extract"]
    await api.post(f"/v1/jobs/{job['id']}/retry")
    await tenant.work()
    assert await memories(api) == before
    assert job["result"]["memory_ids"] == [memory["id"] for memory in before]


async def test_saying_it_again_reinforces_the_same_memory(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await told(api, tenant, "I'm allergic to peanuts.")
    await told(api, tenant, "I'm allergic to peanuts.", session="other")
    (kept,) = await memories(api)
    assert kept["seen_count"] == 2
    assert {source["session_id"] for source in kept["sources"]} == {"s", "other"}


async def test_a_memory_that_was_added_and_then_said_is_one(api: httpx.AsyncClient, tenant: Tenant) -> None:
    added = await add(api, "I'm allergic to peanuts.", key="user.allergy", value="peanuts")
    await told(api, tenant, "I'm allergic to peanuts.")
    kept = await memories(api)
    assert [memory["id"] for memory in kept] == [added["id"]]


async def test_secrets_are_gone_before_anything_is_learnt(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await told(api, tenant, "Remember that my wifi password is hunter2-very-long. 请记住我的口令是abc-12345-xyz。")
    assert "hunter2" not in str(await memories(api))
    assert "abc-12345" not in str(await memories(api))


@pytest.mark.parametrize(("said", "word"), [("By the way, I live in Lisbon.", "Lisbon"), ("对了,我住在杭州。", "杭州")])
async def test_closing_a_session_learns_from_what_is_left_of_it_at_once(
    api: httpx.AsyncClient, tenant: Tenant, said: str, word: str
) -> None:
    messages = tenant.services.messages
    slow = replace(messages, work_after={**messages.work_after, "extract": timedelta(hours=1)})
    tenant.app.state.services = replace(tenant.services, messages=slow)
    await say(api, "s", said, **ADA)
    (waiting,) = [job for job in await every(api, "/v1/jobs", state="queued") if job["kind"] == "extract"]
    assert datetime.fromisoformat(waiting["run_after"]) > clock.now() + timedelta(minutes=50)
    closing = asyncio.create_task(api.post("/v1/sessions/s/close", params={"wait": 20}))
    for _ in range(1_000):
        if body_of(await api.get("/v1/sessions/s"))["status"] == "closed":
            break
    (due,) = [job for job in await every(api, "/v1/jobs", state="queued") if job["kind"] == "extract"]
    assert datetime.fromisoformat(due["run_after"]) <= clock.now()
    await tenant.work()
    closed = body_of(await closing)
    assert (closed["status"], closed["job_ids"], closed["jobs_status"]) == ("closed", [waiting["id"]], "succeeded")
    assert any(word in memory["text"] for memory in await memories(api))
    again = body_of(await api.post("/v1/sessions/s/close"))
    assert again["job_ids"] == []
