"""Sessions: opened, found, changed, deleted, expired."""

import asyncio
from datetime import timedelta

import httpx
import pytest
import time_machine

from app.core import clock
from tests.conftest import Tenant
from tests.routers.calls import add, body_of, every, open_session, problem_of, say, search, texts_found


async def test_a_session_comes_back_as_it_was_opened(api: httpx.AsyncClient) -> None:
    given = {
        "id": "旅行/计划",
        "user_id": "艾达",
        "agent_id": "planner",
        "app_id": "travel",
        "title": "去里斯本",
        "timezone": "Asia/Shanghai",
        "metadata": {"颜色": ["红", {"n": 1.5}], "none": None},
        "memory": "read_only",
    }
    response = await api.post("/v1/sessions", json=given)
    session = body_of(response, 201)
    assert {name: session[name] for name in given} == given
    assert (session["version"], session["last_seq"], session["message_count"]) == (1, 0, 0)
    assert session["status"] == "open"
    assert response.headers["etag"] == '"1"'
    got = await api.get("/v1/sessions/%E6%97%85%E8%A1%8C%2F%E8%AE%A1%E5%88%92")
    assert body_of(got) == session
    assert got.headers["etag"] == '"1"'


async def test_an_id_is_made_up_if_none_is_chosen(api: httpx.AsyncClient) -> None:
    first, second = [body_of(await api.post("/v1/sessions", json={}), 201)["id"] for _ in range(2)]
    assert first != second


async def test_a_taken_id_is_a_409(api: httpx.AsyncClient) -> None:
    await open_session(api, "s", title="first")
    problem_of(await api.post("/v1/sessions", json={"id": "s", "title": "second"}), 409, "id_taken")
    assert body_of(await api.get("/v1/sessions/s"))["title"] == "first"


async def test_of_parallel_openings_of_one_id_one_wins(api: httpx.AsyncClient) -> None:
    answers = await asyncio.gather(*(api.post("/v1/sessions", json={"id": "s"}) for _ in range(10)))
    assert sorted(answer.status_code for answer in answers) == [201, *[409] * 9]


async def test_lists_take_scope_and_status_as_filters(api: httpx.AsyncClient) -> None:
    await open_session(api, "one", user_id="ada", agent_id="a", app_id="p")
    await open_session(api, "two", user_id="bob", agent_id="a")
    for query, expected in (
        ({"user_id": "ada"}, {"one"}),
        ({"agent_id": "a"}, {"one", "two"}),
        ({"agent_id": "a", "app_id": "p"}, {"one"}),
        ({"status": "open"}, {"one", "two"}),
        ({"status": "closed"}, set()),
        ({"user_id": "ada", "agent_id": "b"}, set()),
    ):
        assert {one["id"] for one in await every(api, "/v1/sessions", **query)} == expected, query


async def test_a_change_writes_the_named_fields_only(api: httpx.AsyncClient) -> None:
    before = await open_session(api, "s", title="a", timezone="Asia/Shanghai", metadata={"k": 1})
    response = await api.patch("/v1/sessions/s", json={"title": None, "memory": "off"})
    after = body_of(response)
    assert (after["title"], after["memory"], after["version"]) == (None, "off", 2)
    assert response.headers["etag"] == '"2"'
    untouched = ("timezone", "metadata", "user_id", "created_at", "last_seq")
    assert {name: after[name] for name in untouched} == {name: before[name] for name in untouched}
    assert after["updated_at"] > before["updated_at"]


@pytest.mark.parametrize(
    "change",
    [{}, {"version": 1}, {"metadata": None}, {"memory": None}, {"memory": "sometimes"}, {"timezone": "Mars/Base"},
     {"title": "x" * 1001}, {"metadata": []}, {"user_id": "bob"}, {"metadata": {"k": "x" * 70_000}},
     {"expires_at": "2026-01-01"}],
)  # fmt: skip
async def test_a_bad_change_is_a_422_and_changes_nothing(api: httpx.AsyncClient, change: dict[str, object]) -> None:
    before = await open_session(api, "s", user_id="ada")
    problem_of(await api.patch("/v1/sessions/s", json=change), 422, "invalid")
    assert body_of(await api.get("/v1/sessions/s")) == before


async def test_a_stale_version_is_a_412_with_the_current_one(api: httpx.AsyncClient) -> None:
    await open_session(api, "s")
    body_of(await api.patch("/v1/sessions/s", json={"title": "b"}, headers={"If-Match": '"1"'}))
    for headers, body in (({"If-Match": '"1"'}, {}), ({"If-Match": 'W/"1"'}, {}), ({}, {"version": 1})):
        response = await api.patch("/v1/sessions/s", json={"title": "c", **body}, headers=headers)
        assert problem_of(response, 412, "version_mismatch")["current_version"] == 2
    body_of(await api.patch("/v1/sessions/s", json={"title": "c", "version": 2}))
    body_of(await api.patch("/v1/sessions/s", json={"title": "d"}, headers={"If-Match": "*"}))
    assert body_of(await api.get("/v1/sessions/s"))["version"] == 4


@pytest.mark.parametrize(
    "tag", ["x", '"x"', '"-1"', '"1", "2"', '"' + "9" * 60 + '"', '"²"'.encode().decode("latin-1")]
)
async def test_a_bad_if_match_is_a_422(api: httpx.AsyncClient, tag: str) -> None:
    await open_session(api, "s")
    response = await api.patch("/v1/sessions/s", json={"title": "x"}, headers={"If-Match": tag.encode("latin-1")})
    problem_of(response, 422)


async def test_of_parallel_changes_on_one_version_one_wins(api: httpx.AsyncClient) -> None:
    await open_session(api, "s")
    calls = (api.patch("/v1/sessions/s", json={"title": f"t{n}", "version": 1}) for n in range(8))
    assert sorted(answer.status_code for answer in await asyncio.gather(*calls)) == [200, *[412] * 7]


async def test_an_append_does_not_raise_the_version(api: httpx.AsyncClient) -> None:
    await open_session(api, "s")
    await say(api, "s", "hello")
    session = body_of(await api.get("/v1/sessions/s"))
    assert (session["version"], session["last_seq"], session["message_count"]) == (1, 1, 1)
    assert session["last_message_at"] is not None


async def test_a_deleted_session_takes_its_messages_and_leaves_the_memories_drawn_from_it(
    api: httpx.AsyncClient, tenant: Tenant
) -> None:
    await say(api, "s", "I moved to Lisbon.", user_id="ada")
    source = {"session_id": "s", "seqs": [1], "quote": "moved to Lisbon"}
    drawn = await add(api, "Ada lives in Lisbon.", sources=[source])
    scoped = await add(api, "Lisbon is meant, in Portugal.", session_id="s", user_id="ada")
    await tenant.work()
    assert (await api.delete("/v1/sessions/s")).status_code == 204
    for path in ("/v1/sessions/s", "/v1/sessions/s/messages", "/v1/sessions/s/messages/1"):
        problem_of(await api.get(path), 404, "session_not_found")
    problem_of(await api.delete("/v1/sessions/s"), 404, "session_not_found")
    problem_of(await api.get(f"/v1/memories/{scoped['id']}"), 404, "memory_not_found")
    kept = body_of(await api.get(f"/v1/memories/{drawn['id']}"))
    assert kept["sources"][0]["quote"] == "moved to Lisbon"
    assert kept["sources"][0]["session_id"] is None
    found = await search(api, "Lisbon", user_id="ada", include_messages=True, explain=True)
    assert [hit["id"] for hit in found["results"]] == [drawn["id"]]
    assert found["explanation"]["rows_in_scope"] == {"memories": 1, "messages": 0}
    # The id is free again, and its numbers start anew.
    assert (await say(api, "s", "hello"))["seq"] == 1


async def test_a_job_of_a_session_deleted_meanwhile_ends_well(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await say(api, "s", "hello")
    assert (await api.delete("/v1/sessions/s")).status_code == 204
    await tenant.work()
    assert [job["state"] for job in await every(api, "/v1/jobs", subject="s")] == ["succeeded"]


async def test_an_expired_session_is_gone_at_that_instant(api: httpx.AsyncClient, tenant: Tenant) -> None:
    start = clock.now()
    session = await open_session(api, "s", ttl=60)
    await say(api, "s", "hello")
    await open_session(api, "t")
    assert session["expires_at"] is not None
    with time_machine.travel(start + timedelta(seconds=61), tick=True):
        for path in ("/v1/sessions/s", "/v1/sessions/s/messages", "/v1/sessions/s/messages/1"):
            problem_of(await api.get(path), 404, "session_not_found")
        problem_of(await api.patch("/v1/sessions/s", json={"title": "x"}), 404, "session_not_found")
        page = body_of(await api.get("/v1/sessions?count=true"))
        assert ([one["id"] for one in page["results"]], page["total"]) == (["t"], 1)
        scoped = {"text": "x", "session_id": "s"}
        problem_of(await api.post("/v1/memories", json=scoped), 422, "session_not_found")
        # An append starts it anew.
        assert (await say(api, "s", "again"))["seq"] == 1
        assert [one["content"] for one in await every(api, "/v1/sessions/s/messages")] == ["again"]
        assert body_of(await api.get("/v1/sessions/s"))["expires_at"] is None


async def test_what_an_expired_session_has_is_found_by_nothing(api: httpx.AsyncClient, tenant: Tenant) -> None:
    start = clock.now()
    await open_session(api, "s", user_id="ada", ttl=60)
    await say(api, "s", "The heron stands in the reeds.")
    mine = await add(api, "The heron is Ada's.", user_id="ada", session_id="s")
    kept = await add(api, "The heron flies at dawn.", user_id="ada")
    await open_session(api, "t", user_id="ada", ttl=3600)
    await say(api, "t", "A heron again.")
    await tenant.work()

    async def found() -> tuple[set[str], list[set[str]]]:
        hits = await texts_found(api, "heron", user_id="ada", include_messages=True)
        hits += await texts_found(api, "heron", user_id="ada", session_id="s", include_messages=True)
        recalled = [
            body_of(await api.post("/v1/messages/search", json=asked))["results"]
            for asked in ({"query": "heron"}, {"query": "heron", "mode": "keyword"}, {"user_id": "ada"},
                          {"query": "heron", "session_id": "s", "user_id": "ada"})
        ]  # fmt: skip
        return set(hits), [{hit["message"]["content"] for hit in hits} for hits in recalled]

    said = {"The heron stands in the reeds.", "A heron again."}
    hits, recalled = await found()
    assert hits == {mine["text"], kept["text"], *said}
    assert recalled == [said, said, said, {"The heron stands in the reeds."}]
    path = f"/v1/memories/{mine['id']}"
    with time_machine.travel(start + timedelta(seconds=61), tick=True):
        hits, recalled = await found()
        assert hits == {kept["text"], "A heron again."}
        assert recalled == [{"A heron again."}, {"A heron again."}, {"A heron again."}, set()]
        page = body_of(await api.get("/v1/memories?count=true"))
        assert ([one["id"] for one in page["results"]], page["total"]) == ([kept["id"]], 1)
        assert await every(api, "/v1/memories", session_id="s", status="active") == []
        for response in (
            await api.get(path), await api.get(f"{path}/history"), await api.patch(path, json={"importance": 1}),
            await api.delete(path),
        ):  # fmt: skip
            problem_of(response, 404, "memory_not_found")
        both = body_of(await api.post("/v1/memories/get", json={"ids": [mine["id"], kept["id"]]}))
        assert ([one["id"] for one in both["results"]], both["missing"]) == ([kept["id"]], [mine["id"]])
        bulk = await api.post("/v1/memories/delete", json={"session_id": "s", "dry_run": True})
        assert body_of(bulk)["matched"] == 0
    assert body_of(await api.get(path))["id"] == mine["id"]


async def test_the_id_of_an_expired_session_can_be_chosen_again(api: httpx.AsyncClient) -> None:
    start = clock.now()
    await open_session(api, "s", ttl=60, title="old")
    with time_machine.travel(start + timedelta(seconds=61), tick=True):
        assert (await open_session(api, "s", title="new"))["title"] == "new"


async def test_a_session_whose_expiry_is_taken_back_stays(api: httpx.AsyncClient) -> None:
    start = clock.now()
    await open_session(api, "s", ttl=60)
    body_of(await api.patch("/v1/sessions/s", json={"expires_at": None}))
    with time_machine.travel(start + timedelta(days=1), tick=True):
        body_of(await api.get("/v1/sessions/s"))


@pytest.mark.parametrize("ttl", [0, -1, 1.5, 10**12, "soon"])
async def test_a_bad_ttl_is_a_422(api: httpx.AsyncClient, ttl: object) -> None:
    problem_of(await api.post("/v1/sessions", json={"id": "s", "ttl": ttl}), 422, "invalid")
    problem_of(await api.post("/v1/memories", json={"text": "x", "user_id": "ada", "ttl": ttl}), 422, "invalid")
    problem_of(await api.get("/v1/sessions/s"), 404)
