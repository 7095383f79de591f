"""The same Idempotency-Key: the same call is done once, and its first answer is given again."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest
import time_machine

from app.core import clock
from tests.conftest import Tenant
from tests.routers.calls import add, body_of, every, open_session, problem_of, say

WRITES: list[tuple[str, str, dict[str, Any] | None]] = [
    ("POST", "/v1/sessions", {"id": "new", "title": "汇率"}),
    ("POST", "/v1/sessions", {}),
    ("PATCH", "/v1/sessions/s", {"title": "Tea"}),
    ("DELETE", "/v1/sessions/s", None),
    ("POST", "/v1/sessions/s/messages", {"role": "user", "content": "hello", "metadata": {"n": 1.0, "m": [1e22]}}),
    ("POST", "/v1/sessions/t/messages", {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}]}),
    ("POST", "/v1/memories", {"text": "x", "user_id": "ada", "key": "k", "value": {"a": [1, None, "汇"]}}),
    ("POST", "/v1/memories", {"memories": [{"text": "x", "user_id": "ada"}, {"text": "y", "user_id": "ada"}]}),
    ("PATCH", "/v1/memories/{memory}", {"text": "changed"}),
    ("DELETE", "/v1/memories/{memory}", None),
    ("POST", "/v1/jobs/{job}/cancel", None),
]


async def prepared(api: httpx.AsyncClient) -> dict[str, str]:
    await open_session(api, "s")
    await say(api, "s", "first")
    return {"memory": (await add(api, "A memory."))["id"], "job": (await every(api, "/v1/jobs"))[0]["id"]}


@pytest.mark.parametrize(("method", "path", "body"), WRITES)
async def test_a_repeated_write_is_done_once_and_answered_alike_byte_for_byte(
    api: httpx.AsyncClient, method: str, path: str, body: dict[str, Any] | None
) -> None:
    path = path.format(**await prepared(api))
    key = {"Idempotency-Key": "key 1 汇".encode()}
    first = await api.request(method, path, json=body, headers=key)
    assert first.is_success, first.text
    assert "idempotent-replayed" not in first.headers
    again = await api.request(method, path, json=body, headers=key)
    assert again.headers["idempotent-replayed"] == "true"
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers.get("etag") == first.headers.get("etag")
    assert again.headers["x-request-id"] != first.headers["x-request-id"]


async def test_a_repeated_append_is_stored_once(api: httpx.AsyncClient) -> None:
    message = {"role": "user", "content": "hello"}
    for _ in range(3):
        await api.post("/v1/sessions/s/messages", json=message, headers={"Idempotency-Key": "k"})
    assert [one["content"] for one in await every(api, "/v1/sessions/s/messages")] == ["hello"]


async def test_key_order_and_spaces_do_not_make_another_body(api: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "k", "Content-Type": "application/json"}
    first = await api.post("/v1/memories", content=b'{"text":"x","user_id":"ada"}', headers=headers)
    again = await api.post("/v1/memories", content=b'{ "user_id": "ada",\n "text": "x" }', headers=headers)
    assert again.content == first.content


async def test_another_body_under_the_same_key_is_a_409(api: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "k"}
    body_of(await api.post("/v1/memories", json={"text": "x", "user_id": "ada"}, headers=key), 201)
    for other in ({"text": "y", "user_id": "ada"}, {"text": "x", "user_id": "bob"}):
        problem_of(await api.post("/v1/memories", json=other, headers=key), 409, "idempotency_key_reused")
    assert len(await every(api, "/v1/memories")) == 1


async def test_the_same_key_on_another_route_or_method_is_another_call(api: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "k"}
    body_of(await api.post("/v1/memories", json={"text": "x", "user_id": "ada"}, headers=key), 201)
    body_of(await api.post("/v1/sessions", json={"id": "s"}, headers=key), 201)
    body_of(await api.patch("/v1/sessions/s", json={"title": "t"}, headers=key))
    assert (await api.delete("/v1/sessions/s", headers=key)).status_code == 204


async def test_the_same_key_for_another_resource_of_the_route_is_a_409(api: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "k"}
    message = {"role": "user", "content": "hello"}
    body_of(await api.post("/v1/sessions/s/messages", json=message, headers=key), 201)
    problem_of(await api.post("/v1/sessions/t/messages", json=message, headers=key), 409, "idempotency_key_reused")


async def test_each_key_holder_has_idempotency_keys_of_its_own(tenant: Tenant) -> None:
    one, other = await tenant.client(), await tenant.client()
    key = {"Idempotency-Key": "k"}
    first = await one.post("/v1/sessions", json={"title": "one"}, headers=key)
    second = await other.post("/v1/sessions", json={"title": "one"}, headers=key)
    assert first.json()["id"] != second.json()["id"]
    assert "idempotent-replayed" not in second.headers


async def test_a_failed_call_is_not_kept(api: httpx.AsyncClient) -> None:
    key = {"Idempotency-Key": "k"}
    await open_session(api, "s")
    problem_of(await api.post("/v1/sessions", json={"id": "s"}, headers=key), 409, "id_taken")
    assert (await api.delete("/v1/sessions/s")).status_code == 204
    answer = await api.post("/v1/sessions", json={"id": "s"}, headers=key)
    assert answer.status_code == 201
    assert "idempotent-replayed" not in answer.headers
    message = {"role": "user", "content": "x", "expected_seq": 5}
    problem_of(await api.post("/v1/sessions/s/messages", json=message, headers=key), 412, "seq_mismatch")
    body_of(await api.post("/v1/sessions/s/messages", json=message | {"expected_seq": 0}, headers=key), 201)


async def test_twins_in_parallel_run_once(api: httpx.AsyncClient) -> None:
    message = {"messages": [{"role": "user", "content": "hello"}, {"role": "user", "content": "again"}]}
    calls = (api.post("/v1/sessions/s/messages", json=message, headers={"Idempotency-Key": "k"}) for _ in range(12))
    answers = await asyncio.gather(*calls)
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert sum("idempotent-replayed" not in answer.headers for answer in answers) == 1
    assert len(await every(api, "/v1/sessions/s/messages")) == 2


async def test_twins_with_different_bodies_give_one_answer_and_conflicts(api: httpx.AsyncClient) -> None:
    calls = (
        api.post("/v1/memories", json={"text": f"t{n}", "user_id": "ada"}, headers={"Idempotency-Key": "k"})
        for n in range(8)
    )
    assert sorted([answer.status_code for answer in await asyncio.gather(*calls)]) == [201, *[409] * 7]
    assert len(await every(api, "/v1/memories")) == 1


async def test_an_answer_is_kept_for_24_hours(api: httpx.AsyncClient) -> None:
    key, body = {"Idempotency-Key": "k"}, {"title": "x"}
    start = clock.now()
    first = body_of(await api.post("/v1/sessions", json=body, headers=key), 201)["id"]
    with time_machine.travel(start + timedelta(hours=23, minutes=59), tick=True):
        assert body_of(await api.post("/v1/sessions", json=body, headers=key), 201)["id"] == first
    with time_machine.travel(start + timedelta(hours=24, minutes=1), tick=True):
        assert body_of(await api.post("/v1/sessions", json=body, headers=key), 201)["id"] != first
    problem_of(await api.post("/v1/sessions", json={"title": "y"}, headers=key), 409)


async def test_a_replay_is_given_although_the_resource_has_moved_on(api: httpx.AsyncClient) -> None:
    memory = await add(api, "x")
    headers = {"Idempotency-Key": "k", "If-Match": '"1"'}
    first = await api.patch(f"/v1/memories/{memory['id']}", json={"importance": 8}, headers=headers)
    body_of(await api.patch(f"/v1/memories/{memory['id']}", json={"importance": 9}))
    again = await api.patch(f"/v1/memories/{memory['id']}", json={"importance": 8}, headers=headers)
    assert again.content == first.content
    assert body_of(await api.get(f"/v1/memories/{memory['id']}"))["importance"] == 9


@pytest.mark.parametrize("key", ["", "  ", "x" * 256, "a\0b"])
async def test_a_bad_key_is_a_422_and_stores_nothing(api: httpx.AsyncClient, key: str) -> None:
    problem_of(await api.post("/v1/sessions", json={}, headers={"Idempotency-Key": key}), 422)
    assert await every(api, "/v1/sessions") == []


async def test_reads_take_no_notice_of_the_key(api: httpx.AsyncClient) -> None:
    for _ in range(2):
        response = await api.get("/v1/sessions", headers={"Idempotency-Key": "k"})
        assert response.status_code == 200
        assert "idempotent-replayed" not in response.headers
