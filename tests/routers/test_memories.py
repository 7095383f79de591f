"""Memories: added, reinforced, corrected, deleted, expired, and their history."""

import asyncio
import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
import time_machine

from app.core import clock
from tests.conftest import Tenant
from tests.routers.calls import add, body_of, every, open_session, problem_of, say, search, texts_found


async def history(client: httpx.AsyncClient, memory_id: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = body_of(await client.get(f"/v1/memories/{memory_id}/history"))["results"]
    return events


async def test_a_memory_comes_back_as_it_was_stated(api: httpx.AsyncClient) -> None:
    await open_session(api, "s", user_id="ada")
    given = {
        "text": "艾达住在里斯本。",
        "kind": "episodic",
        "key": "user.city",
        "value": {"city": "Lisbon", "n": [1, None, 2.5]},
        "category": "identity",
        "source": "imported",
        "user_id": "ada",
        "agent_id": "a",
        "app_id": "p",
        "session_id": "s",
        "importance": 8,
        "confidence": 0.25,
        "weight": 2.5,
        "use": "this_app",
        "pinned": True,
        "expires_at": "2099-01-01T00:00:00Z",
        "occurred_at": "2026-01-01T00:00:00Z",
        "metadata": {"颜色": "红"},
    }
    response = await api.post("/v1/memories", json=given)
    memory = body_of(response, 201)
    assert {name: memory[name] for name in given} == given
    assert response.headers["etag"] == '"1"'
    assert (memory["version"], memory["seen_count"], memory["status"]) == (1, 1, "active")
    assert (memory["shared"], memory["uncertain"], memory["degraded"]) == (False, False, [])
    got = await api.get(f"/v1/memories/{memory['id']}")
    assert got.headers["etag"] == '"1"'
    assert body_of(got) == {name: value for name, value in memory.items() if name != "degraded"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"importance": 5, "weight": 1.0, "pinned": False, "confidence": 0.9, "uncertain": False}),
        ({"category": "constraint"}, {"importance": 9, "weight": 1.5, "pinned": True}),
        ({"category": "preference"}, {"importance": 6, "weight": 1.0, "pinned": False}),
        ({"source": "assistant_said"}, {"confidence": 0.4, "uncertain": True}),
        ({"source": "tool_observed"}, {"confidence": 0.8, "uncertain": False}),
        ({"shared": True}, {"shared": True, "user_id": None}),
    ],
)
async def test_what_is_not_said_follows_from_category_and_source(
    api: httpx.AsyncClient, given: dict[str, Any], expected: dict[str, Any]
) -> None:
    memory = await add(api, "x", **given)
    assert {name: memory[name] for name in expected} == expected


async def test_a_list_gives_results_in_input_order_also_of_one(api: httpx.AsyncClient) -> None:
    one = body_of(await api.post("/v1/memories", json={"memories": [{"text": "a", "user_id": "ada"}]}), 201)
    assert [memory["text"] for memory in one["results"]] == ["a"]
    assert (one["job_id"], one["degraded"]) == (None, [])
    many = [{"text": text, "user_id": user} for text, user in (("b", "bob"), ("a", "ada"), ("c", "ada"), ("b", "bob"))]
    results = body_of(await api.post("/v1/memories", json={"memories": many}), 201)["results"]
    assert [(memory["text"], memory["user_id"]) for memory in results] == [
        ("b", "bob"),
        ("a", "ada"),
        ("c", "ada"),
        ("b", "bob"),
    ]
    assert results[0]["id"] == results[3]["id"]
    assert results[1]["id"] == one["results"][0]["id"]
    assert results[1]["seen_count"] == 2


async def test_up_to_a_hundred_are_embedded_before_the_answer_and_more_by_a_job(
    api: httpx.AsyncClient, tenant: Tenant
) -> None:
    hundred = [{"text": f"note {number}", "user_id": "ada"} for number in range(100)]
    assert body_of(await api.post("/v1/memories", json={"memories": hundred}), 201)["job_id"] is None
    assert await every(api, "/v1/jobs") == []
    more = [{"text": f"kingfisher {number} 翠鸟", "user_id": "bob"} for number in range(1000)]
    answer = body_of(await api.post("/v1/memories", json={"memories": more}), 202)
    assert answer["status"] == "queued"
    assert [memory["text"] for memory in answer["results"]] == [one["text"] for one in more]
    found = await search(api, "翠鸟 999", user_id="bob", legs={"dense": 0})
    assert found["results"][0]["text"] == "kingfisher 999 翠鸟"
    await tenant.work()
    job = body_of(await api.get(f"/v1/jobs/{answer['job_id']}"))
    assert (job["state"], job["result"]) == ("succeeded", {"embedded": 1000})
    hit = (await search(api, "kingfisher 7 翠鸟", user_id="bob"))["results"][0]
    assert hit["text"] == "kingfisher 7 翠鸟"
    assert hit["score_breakdown"]["similarity"] >= 0.99


async def test_more_than_a_thousand_or_none_is_a_422(api: httpx.AsyncClient) -> None:
    for count in (0, 1001):
        many = [{"text": f"n {number}", "user_id": "ada"} for number in range(count)]
        problem_of(await api.post("/v1/memories", json={"memories": many}), 422, "invalid")
    assert await every(api, "/v1/memories") == []


@pytest.mark.parametrize(
    "bad",
    [{"text": ""}, {"text": " \n\t"}, {"text": "x" * 100_001}, {"text": "x", "importance": 11}, {"text": "x", "ttl": 0},
     {"text": "x", "ttl": 5, "expires_at": "2099-01-01T00:00:00Z"}, {"text": "x", "value": 1},
     {"text": "x", "user_id": ""},
     {"text": "x", "sensitive": True}, {"text": "x", "session_id": "absent"}, {"text": "x", "weight": 101},
     {"text": "x", "metadata": {"k": "x" * 70_000}}, {"text": "x", "sources": [{"session_id": "absent"}]},
     {"text": "x", "sources": [{"session_id": "s", "seqs": [1, 99]}]}, {"text": "x", "sources": [{"seqs": [1]}]}],
    ids=range(15),
)  # fmt: skip
async def test_of_a_bad_list_nothing_is_stored(api: httpx.AsyncClient, bad: dict[str, Any]) -> None:
    await say(api, "s", "hello")
    batch = {"memories": [{"text": "fine", "user_id": "ada"}, {"user_id": "ada", **bad}]}
    problem_of(await api.post("/v1/memories", json=batch), 422)
    problem_of(await api.post("/v1/memories", json={"user_id": "ada", **bad}), 422)
    assert await every(api, "/v1/memories") == []
    assert (await search(api, "fine"))["results"] == []


async def test_fifty_parallel_identical_adds_are_one_memory(api: httpx.AsyncClient) -> None:
    body = {"text": "Ada prefers tea over coffee.", "user_id": "ada"}
    answers = await asyncio.gather(*(api.post("/v1/memories", json=body) for _ in range(50)))
    assert [answer.status_code for answer in answers] == [201] * 50
    assert len({(one.json()["id"], one.json()["text"], one.json()["version"]) for one in answers}) == 1
    assert {answer.json()["version"] for answer in answers} == {1}
    rows = await every(api, "/v1/memories")
    assert [(row["id"], row["seen_count"]) for row in rows] == [(answers[0].json()["id"], 50)]
    found = await search(api, "tea", user_id="ada", explain=True)
    assert found["explanation"]["rows_in_scope"] == {"memories": 1}
    assert [event["action"] for event in await history(api, rows[0]["id"])] == ["added", *["reinforced"] * 49]


async def test_parallel_lists_that_overlap_in_any_order_wait_for_each_other(api: httpx.AsyncClient) -> None:
    texts = [{"text": f"n {number}", "user_id": f"u{number % 4}"} for number in range(12)]
    orders = [texts, texts[::-1], texts[6:] + texts[:6], texts[::2] + texts[1::2]] * 3
    answers = await asyncio.gather(*(api.post("/v1/memories", json={"memories": order}) for order in orders))
    assert {answer.status_code for answer in answers} == {201}
    assert sorted((one["text"], one["seen_count"]) for one in await every(api, "/v1/memories")) == sorted(
        (one["text"], 12) for one in texts
    )


async def test_adding_again_reinforces_and_moves_nothing_else(api: httpx.AsyncClient) -> None:
    first = await add(api, "Ada likes tea.", importance=3, metadata={"a": 1}, occurred_at="2026-01-02T00:00:00Z")
    again = await add(api, "Ada likes tea.", importance=3, metadata={"a": 1}, occurred_at="2026-01-01T00:00:00Z")
    moved = {name for name in first if first[name] != again[name]}
    assert moved == {"seen_count", "confidence"}
    assert again["seen_count"] == 2
    assert first["confidence"] < again["confidence"] < 1
    later = await add(api, "Ada likes tea.", occurred_at="2026-03-01T00:00:00Z")
    assert later["last_seen_at"] == "2026-03-01T00:00:00Z"
    assert (later["version"], later["updated_at"]) == (1, first["updated_at"])


async def test_the_same_words_in_another_scope_or_kind_are_another_memory(api: httpx.AsyncClient) -> None:
    await open_session(api, "s", user_id="ada")
    scopes: list[dict[str, Any]] = [
        {"user_id": "ada"},
        {"user_id": "bob"},
        {"user_id": "ada", "agent_id": "a"},
        {"user_id": "ada", "app_id": "a"},
        {"user_id": "ada", "session_id": "s"},
        {"agent_id": "ada"},
        {"app_id": "ada"},
        {"shared": True},
        {"user_id": "ada", "kind": "episodic"},
    ]
    ids = [(await add(api, "The same.", **scope))["id"] for scope in scopes]
    assert len(set(ids)) == len(scopes)
    assert [(await add(api, "The same.", **scope))["id"] for scope in scopes] == ids


async def test_an_identical_source_is_kept_once_and_another_is_added(api: httpx.AsyncClient) -> None:
    for number in range(3):
        await say(api, "s", f"m{number}", external_id=f"e{number}")
    first = {"session_id": "s", "seqs": [2, 1, 2], "quote": "m0"}
    memory = await add(api, "x", sources=[first, first])
    assert memory["sources"] == [
        {"session_id": "s", "seqs": [1, 2], "message_ids": memory["sources"][0]["message_ids"],
         "external_ids": ["e0", "e1"], "quote": "m0"}
    ]  # fmt: skip
    assert len(memory["sources"][0]["message_ids"]) == 2
    again = await add(api, "x", sources=[first])
    assert again["sources"] == memory["sources"]
    for other in ({"seqs": [3]}, {"seqs": [1, 2], "quote": "m1"}, {"seqs": []}):
        await add(api, "x", sources=[{"session_id": "s", **other}])
    assert len((await add(api, "x", sources=[first]))["sources"]) == 4


async def test_a_text_given_twice_in_one_list_keeps_the_sources_of_both(api: httpx.AsyncClient) -> None:
    await say(api, "s", "m1")
    await say(api, "s", "m2")
    twice = [{"text": "x", "user_id": "ada", "sources": [{"session_id": "s", "seqs": [seq]}]} for seq in (1, 2)]
    results = body_of(await api.post("/v1/memories", json={"memories": twice}), 201)["results"]
    assert [source["seqs"] for source in results[0]["sources"]] == [[1], [2]]


async def test_parallel_adds_of_one_source_keep_it_once(api: httpx.AsyncClient) -> None:
    await say(api, "s", "m1")
    source = {"session_id": "s", "seqs": [1], "quote": "m1"}
    await asyncio.gather(*(add(api, "x", sources=[source]) for _ in range(8)))
    assert len((await every(api, "/v1/memories"))[0]["sources"]) == 1


async def test_many_sources_go_in_one_call(api: httpx.AsyncClient) -> None:
    await say(api, "s", "m1")
    sources = [{"session_id": "s", "seqs": [1], "quote": f"q{number}"} for number in range(100)]
    many = [{"text": f"n {number}", "user_id": "ada", "sources": sources} for number in range(50)]
    results = body_of(await api.post("/v1/memories", json={"memories": many}), 201)["results"]
    assert {len(memory["sources"]) for memory in results} == {100}


async def test_what_an_assistant_said_becomes_fact_when_the_user_says_it(api: httpx.AsyncClient) -> None:
    uncertain = await add(api, "Ada plays the cello.", source="assistant_said")
    assert await every(api, "/v1/memories") == []
    assert await texts_found(api, "cello", user_id="ada") == []
    assert await texts_found(api, "cello", user_id="ada", include_uncertain=True) == ["Ada plays the cello."]
    assert len(await every(api, "/v1/memories", include_uncertain=True)) == 1
    fact = await add(api, "Ada plays the cello.")
    assert fact["id"] == uncertain["id"]
    assert (fact["uncertain"], fact["source"], fact["version"], fact["confidence"]) == (False, "user_stated", 2, 0.9)
    assert await texts_found(api, "cello", user_id="ada") == ["Ada plays the cello."]
    # And it does not become a claim again.
    again = await add(api, "Ada plays the cello.", source="inferred")
    assert (again["uncertain"], again["source"], again["version"]) == (False, "user_stated", 2)


async def test_an_expired_memory_is_invisible_at_that_instant(api: httpx.AsyncClient) -> None:
    start = clock.now()
    for name, value in (("ttl", 3600), ("expires_at", (start + timedelta(hours=1)).isoformat())):
        await add(api, f"The code for {name} is 4711.", **{name: value})
    await add(api, "The code of the door is 12.")
    with time_machine.travel(start + timedelta(minutes=59), tick=True):
        assert len(await every(api, "/v1/memories")) == 3
        assert len(await texts_found(api, "code", user_id="ada")) == 3
    with time_machine.travel(start + timedelta(minutes=61), tick=True):
        assert [one["text"] for one in await every(api, "/v1/memories")] == ["The code of the door is 12."]
        assert body_of(await api.get("/v1/memories?count=true"))["total"] == 1
        assert await texts_found(api, "code", user_id="ada") == ["The code of the door is 12."]
        # The time that recency counts from does not bring it back.
        assert await texts_found(api, "code", user_id="ada", now=start.isoformat()) == ["The code of the door is 12."]


@pytest.mark.parametrize("text", ["The gate is open until six.", "大门六点前开着。"])
async def test_an_expired_memory_is_not_there_from_that_instant_on(api: httpx.AsyncClient, text: str) -> None:
    start = clock.now()
    memory = await add(api, text, ttl=60)
    path = f"/v1/memories/{memory['id']}"
    fact = {"value": text, "text": text}
    body_of(await api.put("/v1/users/ada/facts/gate", json=fact), 201)
    (kept,) = body_of(await api.get("/v1/memories?user_id=ada&filter=" + json.dumps({"key": {"eq": "gate"}})))[
        "results"
    ]
    end = (start + timedelta(seconds=60)).isoformat()
    body_of(await api.patch(f"/v1/memories/{kept['id']}", json={"expires_at": end}))
    assert body_of(await api.get(path))["text"] == text
    assert body_of(await api.get("/v1/users/ada/facts/gate"))["value"] == text
    with time_machine.travel(start + timedelta(seconds=120), tick=True):
        problem_of(await api.get(path), 404, "memory_not_found")
        problem_of(await api.patch(path, json={"importance": 9}), 404, "memory_not_found")
        problem_of(await api.get("/v1/users/ada/facts/gate"), 404)
        assert body_of(await api.post("/v1/memories/get", json={"ids": [memory["id"]]}))["results"] == []
        assert await every(api, "/v1/memories", user_id="ada") == []
        assert await texts_found(api, text, user_id="ada") == []
        then = (start + timedelta(seconds=30)).isoformat()
        assert body_of(await api.get(path, params={"as_of": then}))["text"] == text, "the past stays readable by name"
        assert await history(api, memory["id"])
        assert body_of(await api.post(f"{path}/restore"))["expires_at"] is None
        assert body_of(await api.get(path))["text"] == text


async def test_what_has_expired_can_be_stated_anew_and_is_seen(api: httpx.AsyncClient) -> None:
    start = clock.now()
    old = await add(api, "Ada is on holiday.", ttl=60)
    with time_machine.travel(start + timedelta(seconds=61), tick=True):
        new = await add(api, "Ada is on holiday.")
        assert new["id"] != old["id"]
        assert (new["seen_count"], new["expires_at"]) == (1, None)
        assert [one["id"] for one in await every(api, "/v1/memories")] == [new["id"]]
        assert await texts_found(api, "holiday", user_id="ada") == ["Ada is on holiday."]
        found = await search(api, "holiday", user_id="ada", explain=True)
        assert found["explanation"]["rows_in_scope"] == {"memories": 1}
        events = await history(api, old["id"])
        assert (events[-1]["before"]["status"], events[-1]["after"]["status"]) == ("active", "expired")


async def test_a_correction_changes_what_is_found(api: httpx.AsyncClient) -> None:
    await add(api, "Something about trains.")
    memory = await add(api, "艾达养了一只猫,叫咪咪。")
    text = "Ada keeps a kingfisher named Pip."
    changed = body_of(await api.patch(f"/v1/memories/{memory['id']}", json={"text": f"  {text} "}))
    assert (changed["text"], changed["version"]) == (text, 2)
    assert changed["id"] == memory["id"]
    for old in ("咪咪", "猫"):
        by_word = await search(api, old, user_id="ada", legs={"dense": 0})
        assert by_word["results"] == []
    assert await texts_found(api, "kingfisher", user_id="ada", legs={"dense": 0}) == [text]
    by_vector = (await search(api, text, user_id="ada", legs={"lexical": 0}))["results"][0]
    assert by_vector["text"] == text
    assert by_vector["score_breakdown"]["similarity"] >= 0.99
    old_text = (await search(api, "艾达养了一只猫,叫咪咪。", user_id="ada", legs={"lexical": 0}))["results"]
    assert all(hit["score_breakdown"]["similarity"] < 0.99 for hit in old_text)


async def test_a_correction_to_the_old_words_and_back_is_found(api: httpx.AsyncClient) -> None:
    memory = await add(api, "red apples")
    for text in ("green pears", "red apples"):
        body_of(await api.patch(f"/v1/memories/{memory['id']}", json={"text": text}))
        assert await texts_found(api, text, user_id="ada", legs={"dense": 0}) == [text]


async def test_a_correction_to_what_another_memory_says_is_a_409(api: httpx.AsyncClient) -> None:
    await add(api, "tea")
    memory = await add(api, "coffee")
    problem_of(await api.patch(f"/v1/memories/{memory['id']}", json={"text": "tea"}), 409, "duplicate_memory")
    assert body_of(await api.get(f"/v1/memories/{memory['id']}"))["text"] == "coffee"
    # Its own text is no other's.
    assert body_of(await api.patch(f"/v1/memories/{memory['id']}", json={"text": "coffee"}))["version"] == 2


async def test_parallel_corrections_and_adds_of_one_text_end_in_one_memory_of_it(api: httpx.AsyncClient) -> None:
    made = [await add(api, f"draft {number}") for number in range(6)]
    corrections = (api.patch(f"/v1/memories/{one['id']}", json={"text": "final"}) for one in made)
    adds = (api.post("/v1/memories", json={"text": "final", "user_id": "ada"}) for _ in range(6))
    answers = await asyncio.gather(*corrections, *adds)
    assert {answer.status_code for answer in answers} <= {200, 201, 409}
    assert {answer.status_code for answer in answers[6:]} == {201}
    assert [one["text"] for one in await every(api, "/v1/memories")].count("final") == 1


async def test_parallel_changes_deletes_and_adds_never_block_each_other_for_good(api: httpx.AsyncClient) -> None:
    memory = await add(api, "hot")
    calls = []
    for number in range(8):
        calls.append(api.patch(f"/v1/memories/{memory['id']}", json={"importance": number + 1}))
        calls.append(api.post("/v1/memories", json={"text": "hot", "user_id": "ada"}))
        calls.append(api.patch(f"/v1/memories/{memory['id']}", json={"text": f"hot {number}"}))
    statuses = {answer.status_code for answer in await asyncio.gather(*calls)}
    assert statuses <= {200, 201, 409}


async def test_a_change_writes_the_named_fields_only_and_null_clears(api: httpx.AsyncClient) -> None:
    before = await add(api, "x", key="k", value=1, importance=3, metadata={"a": 1}, ttl=60)
    response = await api.patch(
        f"/v1/memories/{before['id']}", json={"importance": 9, "expires_at": None, "value": None, "pinned": True}
    )
    after = body_of(response)
    assert response.headers["etag"] == '"2"'
    moved = {name for name in after if after[name] != before[name]}
    assert moved == {"importance", "expires_at", "value", "pinned", "version", "updated_at"}


@pytest.mark.parametrize(
    "change",
    [{}, {"version": 1}, {"text": None}, {"text": "  "}, {"importance": 0}, {"metadata": None}, {"kind": "episodic"},
     {"user_id": "bob"}, {"confidence": 2}, {"expires_at": "tomorrow"}, {"use": "never"}],
)  # fmt: skip
async def test_a_bad_change_is_a_422_and_changes_nothing(api: httpx.AsyncClient, change: dict[str, Any]) -> None:
    memory = await add(api, "x")
    before = body_of(await api.get(f"/v1/memories/{memory['id']}"))
    problem_of(await api.patch(f"/v1/memories/{memory['id']}", json=change), 422, "invalid")
    assert body_of(await api.get(f"/v1/memories/{memory['id']}")) == before


async def test_a_stale_version_is_a_412_for_changes_and_deletes(api: httpx.AsyncClient) -> None:
    path = f"/v1/memories/{(await add(api, 'x'))['id']}"
    body_of(await api.patch(path, json={"importance": 2, "version": 1}))
    stale = {"If-Match": '"1"'}
    for response in (
        await api.patch(path, json={"importance": 3}, headers=stale),
        await api.patch(path, json={"importance": 3, "version": 1}),
        await api.patch(path, json={"text": "y"}, headers=stale),
        await api.delete(path, headers=stale),
    ):
        assert problem_of(response, 412, "version_mismatch")["current_version"] == 2
    assert (await api.delete(path, headers={"If-Match": '"2"'})).status_code == 204


async def test_a_deleted_memory_is_gone_everywhere_at_once_but_for_its_history(api: httpx.AsyncClient) -> None:
    memory = await add(api, "Ada keeps a kingfisher.")
    path = f"/v1/memories/{memory['id']}"
    response = await api.delete(path)
    assert (response.status_code, response.content) == (204, b"")
    for again in (await api.get(path), await api.delete(path), await api.patch(path, json={"importance": 1})):
        problem_of(again, 404, "memory_not_found")
    assert await every(api, "/v1/memories") == []
    assert await every(api, "/v1/memories", status="active", include_uncertain=True) == []
    for legs in ({}, {"dense": 0}, {"lexical": 0}):
        assert await texts_found(api, "Ada keeps a kingfisher.", user_id="ada", legs=legs, include_shared=True) == []
    events = await history(api, memory["id"])
    assert [event["action"] for event in events] == ["added", "deleted"]
    anew = await add(api, "Ada keeps a kingfisher.")
    assert anew["id"] != memory["id"]
    assert await texts_found(api, "kingfisher", user_id="ada") == ["Ada keeps a kingfisher."]


async def test_parallel_deletes_delete_once(api: httpx.AsyncClient) -> None:
    memory = await add(api, "x")
    answers = await asyncio.gather(*(api.delete(f"/v1/memories/{memory['id']}") for _ in range(6)))
    assert sorted(answer.status_code for answer in answers) == [204, *[404] * 5]
    found = await search(api, "x", user_id="ada", explain=True)
    assert found["explanation"]["rows_in_scope"] == {"memories": 0}


async def test_history_says_what_happened_by_whom_before_and_after(tenant: Tenant) -> None:
    api = await tenant.client()
    memory = await add(api, "coffee", importance=3, occurred_at="2026-01-01T00:00:00Z")
    await add(api, "coffee")
    body_of(await api.patch(f"/v1/memories/{memory['id']}", json={"text": "tea", "expires_at": "2099-01-01T00:00:00Z"}))
    await api.delete(f"/v1/memories/{memory['id']}")
    added, reinforced, updated, deleted = await history(api, memory["id"])
    assert [one["action"] for one in (added, reinforced, updated, deleted)] == [
        "added",
        "reinforced",
        "updated",
        "deleted",
    ]
    assert added["before"] is None
    assert (added["after"]["text"], added["after"]["importance"]) == ("coffee", 3)
    assert (reinforced["before"]["seen_count"], reinforced["after"]["seen_count"]) == (1, 2)
    assert (updated["before"]["text"], updated["after"]["text"]) == ("coffee", "tea")
    assert (updated["before"]["expires_at"], updated["after"]["expires_at"][:10]) == (None, "2099-01-01")
    assert (deleted["before"]["status"], deleted["after"]["status"]) == ("active", "deleted")
    actors = {event["actor"] for event in (added, reinforced, updated, deleted)}
    assert len(actors) == 1
    assert actors.pop().startswith("key:")
    times = [event["created_at"] for event in (added, reinforced, updated, deleted)]
    assert times == sorted(times)


async def test_lists_take_scope_kind_category_and_status(api: httpx.AsyncClient) -> None:
    await open_session(api, "s", user_id="ada")
    await add(api, "one", user_id="ada", agent_id="a", kind="episodic", category="event")
    await add(api, "two", user_id="ada", session_id="s", category="goal")
    await add(api, "three", app_id="p")
    for query, expected in (
        ({"user_id": "ada"}, {"one", "two"}),
        ({"agent_id": "a"}, {"one"}),
        ({"app_id": "p"}, {"three"}),
        ({"session_id": "s"}, {"two"}),
        ({"kind": "episodic"}, {"one"}),
        ({"category": "goal"}, {"two"}),
        ({"kind": "episodic", "category": "goal"}, set()),
        ({"status": "active"}, {"one", "two", "three"}),
        ({"status": "superseded"}, set()),
    ):
        assert {one["text"] for one in await every(api, "/v1/memories", **query)} == expected, query


async def test_an_absent_memory_is_a_404_and_an_id_of_another_form_a_422(api: httpx.AsyncClient) -> None:
    path = f"/v1/memories/{uuid4()}"
    for response in (
        await api.get(path),
        await api.patch(path, json={"importance": 1}),
        await api.delete(path),
        await api.get(f"{path}/history"),
    ):
        problem_of(response, 404, "memory_not_found")
    for odd in ("x", "a%2Fb", "汇率", "0" * 300):
        problem_of(await api.get(f"/v1/memories/{odd}"), 422, "invalid")


async def test_what_is_acknowledged_is_read_by_every_next_call(api: httpx.AsyncClient) -> None:
    for number in range(10):
        memory = await add(api, f"fact number {number}")
        assert body_of(await api.get(f"/v1/memories/{memory['id']}"))["text"] == memory["text"]
        assert (await every(api, "/v1/memories", limit=1))[0]["id"] == memory["id"]
        assert (await search(api, memory["text"], user_id="ada", top_k=1))["results"][0]["id"] == memory["id"]
