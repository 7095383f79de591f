"""One current value under a key, whatever made it current; what was said before takes over what is named now."""

import asyncio

import httpx
import pytest


async def _current(api: httpx.AsyncClient, key: str = "user.city") -> list[object]:
    facts = (await api.get("/v1/users/ada/facts", params={"prefix": key})).json()["results"]
    return sorted(str(fact["value"]) for fact in facts)


async def _add(api: httpx.AsyncClient, text: str, **more: object) -> dict[str, object]:
    answer = await api.post("/v1/memories", json={"text": text, "user_id": "ada", **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def test_two_keys_with_the_same_words_are_two_facts(api: httpx.AsyncClient) -> None:
    for key, value in (("pref.tea", 1), ("pref.coffee", 2)):
        put = await api.put(f"/v1/users/ada/facts/{key}", json={"value": value, "text": "same words"})
        assert put.status_code == 201
    assert (await api.get("/v1/users/ada/facts/pref.tea")).json()["value"] == 1
    assert (await api.get("/v1/users/ada/facts/pref.coffee")).json()["value"] == 2


async def test_another_value_with_the_same_words_supersedes_and_is_in_history(api: httpx.AsyncClient) -> None:
    first = (await api.put("/v1/users/ada/facts/k", json={"value": "A", "text": "T"})).json()
    second = (await api.put("/v1/users/ada/facts/k", json={"value": "B", "text": "T"})).json()
    assert first["memory_id"] != second["memory_id"]
    old = (await api.get(f"/v1/memories/{first['memory_id']}")).json()
    assert (old["status"], old["value"]) == ("superseded", "A")
    history = (await api.get(f"/v1/memories/{second['memory_id']}/history")).json()["results"]
    assert history[0]["after"]["value"] == "B"


async def test_a_facts_version_goes_on_over_its_values(api: httpx.AsyncClient) -> None:
    at = "/v1/users/ada/facts/user.city"
    first = await api.put(at, json={"value": "A", "version": 0})
    assert (first.status_code, first.headers["etag"]) == (201, '"1"')
    assert (await api.put(at, json={"value": "B"})).headers["etag"] == '"2"'
    stale = await api.put(at, json={"value": "C"}, headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.json()["current_version"]) == (412, 2)
    assert (await api.put(at, json={"value": "C", "version": 0})).status_code == 412


async def test_a_restored_value_is_the_current_one(api: httpx.AsyncClient) -> None:
    paris = (await api.put("/v1/users/ada/facts/user.city", json={"value": "Paris"})).json()
    await api.put("/v1/users/ada/facts/user.city", json={"value": "罗马"})
    assert (await api.post(f"/v1/memories/{paris['memory_id']}/restore")).status_code == 200
    assert await _current(api) == ["Paris"]


async def test_an_added_value_supersedes_and_one_that_is_older_does_not(api: httpx.AsyncClient) -> None:
    await _add(api, "住在柏林", key="居住地", value="柏林", occurred_at="2026-03-01T00:00:00Z")
    await _add(api, "Lives in Lisbon", key="user.city", value="Lisbon", occurred_at="2026-05-01T00:00:00Z")
    assert await _current(api) == ["Lisbon"]
    late = await _add(api, "Lived in Oslo", key="city", value="Oslo", occurred_at="2026-04-01T00:00:00Z")
    assert late["status"] == "superseded"
    assert await _current(api) == ["Lisbon"]


async def test_what_an_assistant_said_supersedes_nothing_until_it_is_confirmed(api: httpx.AsyncClient) -> None:
    await _add(api, "Lives in Lisbon", key="user.city", value="Lisbon")
    said = await _add(api, "Lives in Oslo", key="user.city", value="Oslo", source="assistant_said")
    assert (await api.get("/v1/memories?user_id=ada")).json()["results"][0]["value"] == "Lisbon"
    await api.post(f"/v1/memories/{said['id']}/confirm")
    assert await _current(api) == ["Oslo"]


async def test_a_changed_key_settles_too(api: httpx.AsyncClient) -> None:
    await _add(api, "Lives in Lisbon", key="user.city", value="Lisbon")
    other = await _add(api, "Comes from Oslo", key="user.hometown", value="Oslo")
    await api.patch(f"/v1/memories/{other['id']}", json={"key": "user.city"})
    assert await _current(api) == ["Oslo"]


async def test_a_key_with_many_values_keeps_them_all(api: httpx.AsyncClient) -> None:
    for hobby in ("chess", "围棋"):
        await api.put("/v1/users/ada/facts/user.hobby", json={"value": hobby})
    assert await _current(api, "user.hobby") == ["chess", "围棋"]


async def test_a_value_needs_a_key(api: httpx.AsyncClient) -> None:
    memory = await _add(api, "no key")
    refused = await api.patch(f"/v1/memories/{memory['id']}", json={"value": 5})
    assert (refused.status_code, refused.json()["code"]) == (422, "key_required")


async def test_fifty_contradicting_values_leave_one_current_and_all_in_history(api: httpx.AsyncClient) -> None:
    puts = [api.put("/v1/users/ada/facts/user.city", json={"value": f"city {n}"}) for n in range(50)]
    assert {answer.status_code for answer in await asyncio.gather(*puts)} <= {200, 201}
    assert len(await _current(api)) == 1
    old = (await api.get("/v1/memories?user_id=ada&status=superseded&count=true")).json()
    assert old["total"] == 49


async def test_what_is_named_anew_is_taken_over_as_a_new_version(api: httpx.AsyncClient) -> None:
    first = await _add(api, "Zoe plays chess.", metadata={"a": 1})
    again = await _add(api, "Zoe plays chess.", metadata={"b": 2}, importance=9, pinned=True, category="preference")
    assert again["id"] == first["id"]
    assert (again["metadata"], again["importance"], again["pinned"]) == ({"a": 1, "b": 2}, 9, True)
    assert (again["category"], again["version"]) == ("preference", 2)
    same = await _add(api, "Zoe plays chess.", metadata={"b": 2}, importance=9)
    assert same["version"] == 2


@pytest.mark.parametrize(("first", "then"), [({"ttl": 60}, {}), ({}, {"ttl": 60})])
async def test_of_two_lives_the_longer_one_holds(
    api: httpx.AsyncClient, first: dict[str, int], then: dict[str, int]
) -> None:
    await _add(api, "说过两次", **first)
    assert (await _add(api, "说过两次", **then))["expires_at"] is None


async def test_an_expired_memory_is_not_there_and_can_be_restored(api: httpx.AsyncClient) -> None:
    memory = await _add(api, "short", expires_at="2020-01-01T00:00:00Z")
    assert memory["status"] == "expired"
    assert (await api.get(f"/v1/memories/{memory['id']}")).json()["code"] == "memory_not_found"
    assert (await api.post(f"/v1/memories/{memory['id']}/confirm")).json()["code"] == "not_current"
    restored = (await api.post(f"/v1/memories/{memory['id']}/restore")).json()
    assert (restored["status"], restored["expires_at"]) == ("active", None)


async def test_a_hit_says_whose_it_is(api: httpx.AsyncClient) -> None:
    await _add(api, "tea", agent_id="helper")
    await api.post("/v1/sessions/s/messages", json={"role": "user", "content": "tea", "user_id": "bob"})
    hits = (await api.post("/v1/memories/search", json={"query": "tea", "include_messages": True})).json()["results"]
    assert sorted((hit["type"], hit["user_id"], hit["agent_id"], hit["session_id"]) for hit in hits) == [
        ("memory", "ada", "helper", None),
        ("message", "bob", None, "s"),
    ]


async def test_a_merge_leaves_one_current_value_and_what_both_ids_know_of_the_person(api: httpx.AsyncClient) -> None:
    await api.put("/v1/users/old/facts/user.city", json={"value": "Milan", "occurred_at": "2026-01-01T00:00:00Z"})
    await api.put("/v1/users/ada/facts/user.city", json={"value": "奥斯陆", "occurred_at": "2026-02-01T00:00:00Z"})
    await api.put("/v1/users/old/facts/k", json={"value": 1, "text": "same words"})
    await api.put("/v1/users/ada/facts/other", json={"value": 2, "text": "same words"})
    await api.patch("/v1/users/old", json={"timezone": "Europe/Rome", "metadata": {"crm": 7}})
    merged = (await api.post("/v1/users/ada/merge", json={"from_user_id": "old"})).json()
    assert (merged["timezone"], merged["metadata"], merged["superseded"]) == ("Europe/Rome", {"crm": 7}, 1)
    assert await _current(api) == ["奥斯陆"]
    assert [await _current(api, key) for key in ("k", "other")] == [["1"], ["2"]]


@pytest.mark.parametrize("text", ["over", "过期了"])
async def test_a_list_by_status_knows_what_is_past_its_time_before_a_job_does(
    api: httpx.AsyncClient, text: str
) -> None:
    over = await _add(api, text, expires_at="2020-01-01T00:00:00Z")
    lasting = await _add(api, f"{text} +")
    for status, there in (("active", lasting), ("expired", over)):
        found = (await api.get("/v1/memories", params={"status": status, "count": True})).json()
        assert ([one["id"] for one in found["results"]], found["total"]) == ([there["id"]], 1)
