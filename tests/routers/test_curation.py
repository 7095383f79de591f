"""Many memories at once, and what is done with one that was read; messages taken back; sessions closed and forked."""

import asyncio
import json

import httpx
import pytest

from tests.conftest import Tenant


async def _add(api: httpx.AsyncClient, text: str, **more: object) -> dict[str, object]:
    answer = await api.post("/v1/memories", json={"text": text, "user_id": "ada", **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_bulk_delete_needs_a_scope_or_a_filter(api: httpx.AsyncClient) -> None:
    kept = await _add(api, "kept")
    for body in ({}, {"dry_run": True}, {"user": "ada"}, {"user_id": ""}, {"filters": {}}):
        assert (await api.post("/v1/memories/delete", json=body)).status_code == 422
    assert (await api.get(f"/v1/memories/{kept['id']}")).status_code == 200


async def test_bulk_delete_says_first_and_then_deletes_what_matches_and_nothing_else(api: httpx.AsyncClient) -> None:
    for number in range(7):
        await _add(api, f"茶 {number}", metadata={"topic": "tea", "n": number})
    await _add(api, "coffee", metadata={"topic": "coffee"})
    await api.post("/v1/memories", json={"text": "茶", "user_id": "bob", "metadata": {"topic": "tea"}})
    body = {"user_id": "ada", "filters": {"metadata.topic": {"eq": "tea"}}}
    dry = (await api.post("/v1/memories/delete", json=body | {"dry_run": True})).json()
    assert (dry["matched"], dry["deleted"], dry["undo_id"], len(dry["sample"])) == (7, 0, None, 5)
    done = (await api.post("/v1/memories/delete", json=body)).json()
    assert (done["matched"], done["deleted"]) == (7, 7)
    left = (await api.get("/v1/memories?user_id=ada&count=true")).json()
    assert (left["total"], left["results"][0]["text"]) == (1, "coffee")
    assert (await api.get("/v1/memories?user_id=bob&count=true")).json()["total"] == 1
    history = (await api.get(f"/v1/memories/{done['sample'][0]['id']}/history")).json()["results"]
    assert history[-1]["undo_id"] == done["undo_id"]


async def test_a_bound_key_deletes_only_its_own(tenant: Tenant, api: httpx.AsyncClient) -> None:
    await _add(api, "ada's")
    await api.post("/v1/memories", json={"text": "bob's", "user_id": "bob"})
    await api.post("/v1/memories", json={"text": "everyone's", "shared": True})
    bound = await tenant.client("member", ["bob"])
    everything = {"filters": {"text": {"contains": "'s"}}}
    assert (await bound.post("/v1/memories/delete", json=everything)).json()["deleted"] == 1
    assert (await bound.post("/v1/memories/delete", json={"user_id": "ada"})).status_code == 403
    assert (await api.get("/v1/memories?count=true")).json()["total"] == 2


async def test_memories_are_read_by_their_ids(api: httpx.AsyncClient) -> None:
    first, second = await _add(api, "first"), await _add(api, "第二")
    absent = "01980000-0000-7000-8000-000000000000"
    found = (await api.post("/v1/memories/get", json={"ids": [second["id"], absent, first["id"]]})).json()
    assert [memory["text"] for memory in found["results"]] == ["第二", "first"]
    assert found["missing"] == [absent]


async def test_a_deleted_memory_is_restored_unless_it_was_said_again(api: httpx.AsyncClient) -> None:
    memory = await _add(api, "Rows every morning")
    await api.delete(f"/v1/memories/{memory['id']}")
    restored = await api.post(f"/v1/memories/{memory['id']}/restore")
    assert (restored.status_code, restored.json()["status"]) == (200, "active")
    assert (await api.post(f"/v1/memories/{memory['id']}/restore")).json()["code"] == "not_restorable"
    await api.delete(f"/v1/memories/{memory['id']}")
    await _add(api, "Rows every morning")
    assert (await api.post(f"/v1/memories/{memory['id']}/restore")).json()["code"] == "duplicate_memory"


async def test_a_confirmed_memory_is_served_as_fact(api: httpx.AsyncClient) -> None:
    memory = await _add(api, "喜欢绿茶", source="assistant_said")
    query = {"query": "绿茶", "user_id": "ada"}
    assert (await api.post("/v1/memories/search", json=query)).json()["results"] == []
    confirmed = await api.post(f"/v1/memories/{memory['id']}/confirm", json={"reason": "she said so"})
    assert (confirmed.json()["uncertain"], confirmed.json()["version"]) == (False, 2)
    assert len((await api.post("/v1/memories/search", json=query)).json()["results"]) == 1


async def test_a_rejected_memory_is_gone_and_its_history_says_why(api: httpx.AsyncClient) -> None:
    memory = await _add(api, "Has a dog")
    assert (await api.post(f"/v1/memories/{memory['id']}/reject", json={"reason": "a cat"})).status_code == 200
    assert (await api.get(f"/v1/memories/{memory['id']}")).status_code == 404
    last = (await api.get(f"/v1/memories/{memory['id']}/history")).json()["results"][-1]
    assert (last["action"], last["reason"]) == ("rejected", "a cat")


async def test_feedback_is_recorded(api: httpx.AsyncClient) -> None:
    memory = await _add(api, "Has a dog")
    used = (await api.post(f"/v1/memories/{memory['id']}/feedback", json={"verdict": "used"})).json()
    assert used["access_count"] == 1
    wrong = (await api.post(f"/v1/memories/{memory['id']}/feedback", json={"verdict": "wrong"})).json()
    assert wrong["confidence"] == used["confidence"] / 2
    await api.post(f"/v1/memories/{memory['id']}/feedback", json={"verdict": "ignored"})
    actions = [event["action"] for event in (await api.get(f"/v1/memories/{memory['id']}/history")).json()["results"]]
    assert actions == ["added", "feedback_used", "feedback_wrong", "feedback_ignored"]


async def test_an_erased_memory_leaves_nothing(api: httpx.AsyncClient) -> None:
    memory = await _add(api, "Has a dog")
    assert (await api.delete(f"/v1/memories/{memory['id']}?erase=true")).status_code == 204
    assert (await api.get(f"/v1/memories/{memory['id']}/history")).status_code == 404


async def test_lists_and_searches_take_the_same_filters(api: httpx.AsyncClient) -> None:
    for number, city in enumerate(["Berlin", "北京", "Lisbon"]):
        await _add(
            api, f"city {city}", metadata={"city": city, "n": number, "tags": ["x", city]}, importance=number + 1
        )
    cases = [
        ({"metadata.city": {"eq": "北京"}}, {"北京"}),
        ({"metadata.n": {"gte": 1}}, {"北京", "Lisbon"}),
        ({"metadata.tags": {"contains": "Lisbon"}}, {"Lisbon"}),
        ({"metadata.city": {"icontains": "BER"}}, {"Berlin"}),
        ({"metadata.none": {"exists": False}, "importance": {"lt": 3}}, {"Berlin", "北京"}),
        ({"NOT": [{"metadata.city": {"in": ["Berlin"]}}]}, {"北京", "Lisbon"}),
        ({"OR": [{"importance": {"eq": 1}}, {"text": {"contains": "Lis"}}]}, {"Berlin", "Lisbon"}),
        ({"metadata.none": {"ne": 1}, "created_at": {"gt": "2020-01-01T00:00:00Z"}}, {"Berlin", "北京", "Lisbon"}),
        ({"metadata.a'); DROP TABLE memories; --": {"eq": 1}}, set()),
    ]
    for asked, expected in cases:
        listed = await api.get("/v1/memories", params={"user_id": "ada", "filter": json.dumps(asked)})
        assert {memory["metadata"]["city"] for memory in listed.json()["results"]} == expected, asked
        found = await api.post("/v1/memories/search", json={"query": "city", "user_id": "ada", "filters": asked})
        assert {hit["metadata"]["city"] for hit in found.json()["results"]} == expected, asked


async def test_a_filter_that_is_not_understood_is_refused(api: httpx.AsyncClient) -> None:
    for asked in (
        {"nonsense": {"eq": 1}},
        {"kind": {"like": "x"}},
        {"kind": "semantic"},
        {"importance": {"eq": "high"}},
        {"created_at": {"gt": "yesterday"}},
        {"created_at": {"gt": "2026-01-01T00:00:00"}},
        {"metadata.": {"eq": 1}},
        {"AND": []},
        {"kind": {"in": []}},
        {"pinned": {"gt": True}},
        [],
        {},
    ):
        listed = await api.get("/v1/memories", params={"filter": json.dumps(asked)})
        assert (listed.status_code, listed.json()["code"]) == (422, "bad_filter"), asked
    assert (await api.get("/v1/memories", params={"filter": "{"})).json()["code"] == "bad_filter"


async def test_a_redacted_message_is_empty_unfindable_and_keeps_its_place(
    api: httpx.AsyncClient, tenant: Tenant
) -> None:
    for text in ("my password is hunter2", "我的密码是 hunter3", "bye"):
        await api.post("/v1/sessions/s/messages", json={"role": "user", "content": text, "user_id": "ada"})
    await tenant.work()
    assert (await api.delete("/v1/sessions/s/messages/1")).status_code == 204
    message = (await api.get("/v1/sessions/s/messages/1")).json()
    assert (message["content"], message["seq"]) == ("", 1)
    assert message["redacted_at"] is not None
    found = await api.post("/v1/messages/search", json={"query": "hunter2 password", "session_id": "s"})
    assert 1 not in [hit["message"]["seq"] for hit in found.json()["results"]]


async def test_two_callers_never_pop_the_same_message(api: httpx.AsyncClient) -> None:
    messages = [{"role": "user", "content": str(number)} for number in range(6)]
    await api.post("/v1/sessions/s/messages", json={"messages": messages})
    popped = await asyncio.gather(*(api.post("/v1/sessions/s/messages/pop") for _ in range(8)))
    seqs = [answer.json()["message"] and answer.json()["message"]["seq"] for answer in popped]
    assert sorted(seq for seq in seqs if seq) == [1, 2, 3, 4, 5, 6]
    assert seqs.count(None) == 2


async def test_cleared_numbers_are_not_used_again(api: httpx.AsyncClient) -> None:
    await api.post("/v1/sessions/s/messages", json={"messages": [{"role": "user", "content": "a"}] * 3})
    assert (await api.request("DELETE", "/v1/sessions/s/messages")).json() == {"deleted": 3}
    again = await api.post("/v1/sessions/s/messages", json={"role": "user", "content": "b"})
    assert again.json()["seq"] == 4
    assert (await api.get("/v1/sessions/s")).json()["message_count"] == 1


async def test_recall_finds_by_words_meaning_time_and_role_and_shows_what_stood_around(
    api: httpx.AsyncClient, tenant: Tenant
) -> None:
    said = [
        ("user", "I moved to Lisbon.", "2026-01-01T10:00:00Z"),
        ("assistant", "恭喜你搬家!", "2026-01-01T10:01:00Z"),
        ("user", "The weather is fine.", "2026-02-01T10:00:00Z"),
    ]
    messages = [{"role": role, "content": text, "occurred_at": at} for role, text, at in said]
    await api.post("/v1/sessions/s/messages", json={"user_id": "ada", "messages": messages})
    await tenant.work()

    async def seqs(**asked: object) -> list[int]:
        answer = await api.post("/v1/messages/search", json={"user_id": "ada", **asked})
        assert answer.status_code == 200, answer.text
        return [hit["message"]["seq"] for hit in answer.json()["results"]]

    assert await seqs(query="Lisbon", mode="keyword") == [1]
    assert (await seqs(query="她住在葡萄牙的里斯本", mode="semantic"))[0] == 1
    assert await seqs(query="搬家", roles=["assistant"], mode="keyword") == [2]
    assert await seqs(since="2026-01-15T00:00:00+08:00") == [3]
    assert await seqs(until="2026-01-15T00:00:00Z") == [2, 1]
    around = await api.post(
        "/v1/messages/search",
        json={"query": "恭喜", "session_id": "s", "mode": "keyword", "context_before": 2, "context_after": 1},
    )
    hit = around.json()["results"][0]
    assert ([one["seq"] for one in hit["before"]], [one["seq"] for one in hit["after"]]) == ([1], [3])
    other = await tenant.client("member", ["bob"])
    assert (await other.post("/v1/messages/search", json={"query": "Lisbon"})).json()["results"] == []


async def test_a_closed_session_takes_no_messages_until_it_is_reopened(api: httpx.AsyncClient) -> None:
    await api.post("/v1/sessions/s/messages", json={"role": "user", "content": "a"})
    assert (await api.post("/v1/sessions/s/close")).json()["status"] == "closed"
    refused = await api.post("/v1/sessions/s/messages", json={"role": "user", "content": "b"})
    assert (refused.status_code, refused.json()["code"]) == (409, "session_closed")
    assert (await api.post("/v1/sessions/s/reopen")).json()["closed_at"] is None
    assert (await api.post("/v1/sessions/s/messages", json={"role": "user", "content": "b"})).json()["seq"] == 2


async def test_a_fork_has_the_messages_up_to_a_number_and_the_state_and_goes_its_own_way(
    api: httpx.AsyncClient, tenant: Tenant
) -> None:
    messages = [
        {"role": "user", "content": f"步骤 {number} tea", "external_id": f"x{number}"} for number in range(1, 5)
    ]
    await api.post("/v1/sessions/s/messages", json={"user_id": "ada", "messages": messages[:2]})
    await api.put("/v1/sessions/s/state", json={"state": {"step": 2}})
    await api.post("/v1/sessions/s/messages", json={"user_id": "ada", "messages": messages[2:]})
    await api.put("/v1/sessions/s/state", json={"state": {"step": 4}})
    await tenant.work()
    fork = await api.post("/v1/sessions/s/fork", json={"id": "f", "up_to_seq": 2})
    assert (fork.status_code, fork.json()["last_seq"], fork.json()["message_count"]) == (201, 2, 2)
    assert (await api.post("/v1/sessions/s/fork", json={"id": "f"})).status_code == 409
    assert (await api.get("/v1/sessions/f/state")).json()["state"] == {"step": 2}
    assert (await api.post("/v1/sessions/f/messages", json={"role": "user", "content": "new"})).json()["seq"] == 3
    assert (await api.get("/v1/sessions/s")).json()["last_seq"] == 4
    found = await api.post("/v1/messages/search", json={"query": "tea 步骤", "session_id": "f"})
    assert sorted(hit["message"]["seq"] for hit in found.json()["results"])[:2] == [1, 2]


async def test_deleting_a_session_with_its_memories_spares_what_has_another_source(api: httpx.AsyncClient) -> None:
    for session in ("s", "t"):
        await api.post(f"/v1/sessions/{session}/messages", json={"role": "user", "content": "x", "user_id": "ada"})
    source = {"session_id": "s", "seqs": [1]}
    gone = await _add(api, "only here", sources=[source])
    kept = await _add(api, "also there", sources=[source, {"session_id": "t", "seqs": [1]}])
    assert (await api.delete("/v1/sessions/s?memories=true")).status_code == 204
    assert (await api.get(f"/v1/memories/{gone['id']}")).status_code == 404
    left = (await api.get(f"/v1/memories/{kept['id']}")).json()
    assert [one["session_id"] for one in left["sources"]] == [None, "t"]


async def test_more_than_a_transaction_takes_is_deleted_by_a_job_and_can_be_waited_for(
    api: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.services import bulk

    monkeypatch.setattr(bulk, "AT_ONCE", 4)
    memories = [{"text": f"茶 {number}", "user_id": "ada"} for number in range(10)]
    await api.post("/v1/memories", json={"memories": memories})
    accepted = await api.post("/v1/memories/delete", json={"user_id": "ada"})
    assert (accepted.status_code, accepted.json()["matched"], accepted.json()["deleted"]) == (202, 10, 0)
    later = await api.post("/v1/memories", json={"text": "said after it was asked", "user_id": "ada"})
    waiting = asyncio.create_task(api.get(f"/v1/jobs/{accepted.json()['job_id']}?wait=30"))
    await tenant.work()
    assert (await waiting).json()["result"] == {"deleted": 10}
    left = (await api.get("/v1/memories?user_id=ada")).json()["results"]
    assert [memory["id"] for memory in left] == [later.json()["id"]]


async def test_a_bulk_add_can_wait_for_its_vectors(api: httpx.AsyncClient, tenant: Tenant) -> None:
    memories = [{"text": f"memory {number}", "user_id": "ada"} for number in range(101)]
    waiting = asyncio.create_task(api.post("/v1/memories?wait=30", json={"memories": memories}))
    while not waiting.done():
        await tenant.work()
        await asyncio.sleep(0.05)
    answer = await waiting
    assert (answer.status_code, answer.json()["status"], len(answer.json()["results"])) == (200, "succeeded", 101)


async def test_every_list_says_how_many_there_are_when_asked(api: httpx.AsyncClient) -> None:
    await api.post("/v1/sessions", json={"id": "s", "user_id": "ada"})
    for number in range(3):
        await api.put(f"/v1/users/ada/facts/project.k{number}", json={"value": number})
        await api.put("/v1/sessions/s/state", json={"state": {"n": number}})
        await api.put("/v1/blocks/human?user_id=ada", json={"text": str(number)})
    for path, total in (
        ("/v1/users/ada/facts", 3),
        ("/v1/sessions/s/state/history", 3),
        ("/v1/blocks/human/history?user_id=ada", 3),
        ("/v1/blocks", 1),
        ("/v1/sessions", 1),
        ("/v1/users", 1),
        ("/v1/memories?user_id=ada", 3),
        ("/v1/admin/keys", 1),
    ):
        answer = await api.get(path, params={**dict(httpx.URL(path).params), "count": "true", "limit": "1"})
        assert answer.json()["total"] == total, path
    assert (await api.get("/v1/keys?count=true")).json()["total"] >= 30


async def test_a_memorys_key_is_stored_in_its_canonical_spelling(api: httpx.AsyncClient) -> None:
    memory = await _add(api, "住在柏林", key="居住地", value="柏林")
    assert memory["key"] == "user.city"
    assert (await api.get("/v1/users/ada/facts/city")).json()["value"] == "柏林"
    changed = await api.patch(f"/v1/memories/{memory['id']}", json={"key": "home.country"})
    assert changed.json()["key"] == "user.country"
