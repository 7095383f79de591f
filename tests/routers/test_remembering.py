"""What is done at once, on demand, and about contradictions, through HTTP and in both languages."""

from typing import Any
from uuid import UUID

import httpx
import pytest

from app.core import clock
from tests.conftest import Tenant
from tests.routers.calls import add, body_of, every, problem_of, say, search

ADA = {"user_id": "ada"}


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("Please remember that my locker code word is marigold.", "marigold"),
        ("请记住,我女儿的生日是五月三号。", "五月三号"),
    ],
)
async def test_what_is_to_be_remembered_is_a_memory_when_the_append_is_answered(
    api: httpx.AsyncClient, tenant: Tenant, said: str, word: str
) -> None:
    answered = await say(api, "s", said, **ADA)
    (memory_id,) = answered["remembered"]
    memory = body_of(await api.get(f"/v1/memories/{memory_id}"))
    assert word in memory["text"]
    assert memory["sources"][0]["seqs"] == [answered["seq"]]
    assert word in (await search(api, said, user_id="ada"))["results"][0]["text"]
    await tenant.work()
    kept = await every(api, "/v1/memories", user_id="ada")
    assert [(one["id"], one["seen_count"]) for one in kept] == [(memory_id, 1)], "the job does not count it again"


async def test_a_list_of_messages_says_what_it_made_and_a_repeated_call_the_same(api: httpx.AsyncClient) -> None:
    messages = [
        {"role": "user", "content": "Hello!"},
        {"role": "user", "content": "Remember that I park on level 4."},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": "记住:我的工位在三楼。"},
    ]
    call = {"json": {"messages": messages, **ADA}, "headers": {"Idempotency-Key": "once"}}
    first = body_of(await api.post("/v1/sessions/s/messages", **call), 201)  # type: ignore[arg-type]
    assert len(first["remembered"]) == 2
    assert body_of(await api.post("/v1/sessions/s/messages", **call), 201) == first  # type: ignore[arg-type]
    kept = body_of(await api.post("/v1/memories/get", json={"ids": first["remembered"]}))["results"]
    assert [one["sources"][0]["seqs"] for one in kept] == [[2], [4]]


@pytest.mark.parametrize(
    ("kept", "said"),
    [("I'm allergic to peanuts.", "Forget that I'm allergic to peanuts."), ("我对花生过敏。", "请忘掉我对花生过敏。")],
)
async def test_what_is_to_be_forgotten_is_gone_when_the_append_is_answered(
    api: httpx.AsyncClient, kept: str, said: str
) -> None:
    memory = await add(api, kept)
    assert (await say(api, "s", said, **ADA))["forgotten"] == [memory["id"]]
    assert await every(api, "/v1/memories", user_id="ada") == []
    assert (await say(api, "s", said, **ADA))["forgotten"] == [], "the host is told that there was nothing"


async def test_a_session_without_memory_remembers_nothing(api: httpx.AsyncClient) -> None:
    body_of(await api.post("/v1/sessions", json={"id": "s", "memory": "off", **ADA}), 201)
    assert (await say(api, "s", "Remember that I park on level 4.", **ADA))["remembered"] == []
    assert await every(api, "/v1/memories", user_id="ada") == []


async def test_another_users_session_is_not_learnt_from(api: httpx.AsyncClient, tenant: Tenant) -> None:
    bob = await tenant.client("member", ["bob"])
    answered = await bob.post("/v1/sessions/s/messages", json={"role": "user", "content": "Remember that I park here."})
    assert body_of(answered, 201)["remembered"]
    assert await every(api, "/v1/memories", user_id="ada") == []
    assert len(await every(api, "/v1/memories", user_id="bob")) == 1


async def extract(api: httpx.AsyncClient, *said: str, **fields: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": text} for text in said]
    answered: dict[str, Any] = body_of(
        await api.post("/v1/memories/extract", json={"messages": messages, **ADA, **fields})
    )
    return answered


@pytest.mark.parametrize(
    ("said", "word", "chat"),
    [("I live in Lisbon.", "Lisbon", "Thanks!"), ("我住在杭州。", "杭州", "谢谢!")],
)
async def test_messages_of_a_request_are_read_as_a_sessions_own_are(
    api: httpx.AsyncClient, said: str, word: str, chat: str
) -> None:
    shown = await extract(api, chat, said, dry_run=True)
    (finding,) = shown["results"]
    assert (finding["outcome"], finding["places"], finding["memory_id"]) == ("added", [1], None)
    assert word in finding["text"]
    assert await every(api, "/v1/memories", user_id="ada") == [], "a rehearsal writes nothing"
    (written,) = (await extract(api, chat, said))["results"]
    (kept,) = await every(api, "/v1/memories", user_id="ada")
    assert (written["memory_id"], kept["key"]) == (kept["id"], finding["key"])
    (again,) = (await extract(api, said))["results"]
    assert (again["outcome"], again["memory_id"]) == ("reinforced", kept["id"])


async def test_a_rehearsal_shows_what_would_become_history(api: httpx.AsyncClient) -> None:
    (first,) = (await extract(api, "I live in Berlin."))["results"]
    (shown,) = (await extract(api, "I moved to Lisbon.", dry_run=True))["results"]
    assert shown["displaced_ids"] == [first["memory_id"]]
    (kept,) = await every(api, "/v1/memories", user_id="ada")
    assert kept["id"] == first["memory_id"]


async def test_without_inference_each_message_is_kept_as_it_stands(api: httpx.AsyncClient) -> None:
    found = await extract(api, "What a day!", "今天真累。", infer=False)
    assert found["extractor"] == "none"
    kept = (await every(api, "/v1/memories", user_id="ada"))[::-1]
    assert [one["text"] for one in kept] == ["What a day!", "今天真累。"]


async def test_extraction_needs_an_owner_and_a_key_that_may_write(api: httpx.AsyncClient, tenant: Tenant) -> None:
    body = {"messages": [{"role": "user", "content": "I live in Lisbon."}]}
    problem_of(await api.post("/v1/memories/extract", json=body), 422, "scope_required")
    reader = await tenant.client("reader")
    problem_of(await reader.post("/v1/memories/extract", json={**body, **ADA}), 403)


async def disputed(api: httpx.AsyncClient, tenant: Tenant) -> dict[str, Any]:
    """One open conflict between two memories of Ada's."""
    older = await add(api, "The launch is on Monday.")
    newer = await add(api, "The launch is on Friday.")
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        for one in (older, newer):
            await tx.memories.change(UUID(one["id"]), {"status": "disputed"})
        await tx.conflicts.open(UUID(newer["id"]), [UUID(older["id"])], "value", clock.now())
    (conflict,) = await every(api, "/v1/conflicts")
    assert [one["id"] for one in conflict["memories"]] == [newer["id"], older["id"]]
    return conflict


@pytest.mark.parametrize(
    ("keep", "statuses"),
    [
        ("newer", ("active", "superseded")),
        ("older", ("superseded", "active")),
        ("both", ("active", "active")),
        ("neither", ("superseded", "superseded")),
    ],
)
async def test_a_contradiction_is_served_marked_until_somebody_decides(
    api: httpx.AsyncClient, tenant: Tenant, keep: str, statuses: tuple[str, str]
) -> None:
    conflict = await disputed(api, tenant)
    found = await search(api, "When is the launch?", user_id="ada")
    assert [hit["disputed"] for hit in found["results"]] == [True, True]
    path = f"/v1/conflicts/{conflict['id']}/resolve"
    resolved = body_of(await api.post(path, json={"keep": keep}))
    assert resolved["resolution"] == keep
    now = [body_of(await api.get(f"/v1/memories/{one['id']}"))["status"] for one in conflict["memories"]]
    assert tuple(now) == statuses
    assert await every(api, "/v1/conflicts") == []
    problem_of(await api.post(path, json={"keep": keep}), 409, "conflict_resolved")


async def test_a_foreign_conflict_is_not_there(api: httpx.AsyncClient, tenant: Tenant) -> None:
    conflict = await disputed(api, tenant)
    bob = await tenant.client("member", ["bob"])
    assert await every(bob, "/v1/conflicts") == []
    path = f"/v1/conflicts/{conflict['id']}/resolve"
    problem_of(await bob.post(path, json={"keep": "newer"}), 404, "conflict_not_found")
