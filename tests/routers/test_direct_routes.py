"""Routes that skip the framework's detours answer like all others, however a request comes."""

from typing import Any

import httpx
import pytest

from tests.conftest import Tenant
from tests.routers.calls import body_of, problem_of

PUT = {"thread_id": "t", "checkpoint_id": "1", "type": "m", "document": "eHh4", "metadata": {"n": 1}}


async def test_a_key_may_come_in_any_header_and_a_call_be_done_once(tenant: Tenant) -> None:
    key = await tenant.key()
    for headers in ({"Authorization": f"bearer {key}"}, {"Authorization": f"Token {key}"}, {"X-API-Key": key}):
        client = tenant.bare(headers)
        assert body_of(await client.put("/v1/checkpoints", json=PUT))["checkpoint_id"] == "1"
        found = body_of(await client.post("/v1/checkpoints/get", json={"thread_id": "t"}))
        assert found["checkpoint"]["metadata"] == {"n": 1}
    once = {"Authorization": f"Bearer {key}", "Idempotency-Key": "k"}
    for replayed in (None, "true"):
        answer = await tenant.bare(once).put("/v1/checkpoints", json=PUT)
        assert (answer.status_code, answer.headers.get("idempotent-replayed")) == (200, replayed)


async def test_without_a_good_key_nothing_is_answered(tenant: Tenant) -> None:
    for headers in ({}, {"Authorization": "Bearer mnk_wrong"}, {"Authorization": "Bearer "}, {"Authorization": "x"}):
        problem_of(await tenant.bare(headers).put("/v1/checkpoints", json=PUT), 401)
    reader = await tenant.client("reader")
    problem_of(await reader.put("/v1/checkpoints", json=PUT), 403, "missing_scope")
    assert body_of(await reader.post("/v1/checkpoints/get", json={"thread_id": "t"})) == {"checkpoint": None}


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"{", 400),
        (b"\xff", 400),
        (b"", 422),
        (b"[]", 422),
        (b'{"thread_id": 1}', 422),
        (b'{"thread_id": "t", "unknown": 1}', 422),
        (b'{"thread_id": "t", "thread_id": "u"}', 422),
        (b'{"thread_id": "\\u0000"}', 422),
    ],
)
async def test_a_body_that_cannot_be_read_is_refused_as_everywhere(
    api: httpx.AsyncClient, content: bytes, status: int
) -> None:
    headers = {"Content-Type": "application/json"}
    for path in ("/v1/checkpoints/get", "/v1/messages/search"):  # the second one is an ordinary route
        direct = problem_of(await api.post(path, content=content, headers=headers), status)
        assert direct["code"]


async def test_unknown_parameters_and_other_bodies_are_refused(api: httpx.AsyncClient) -> None:
    body: Any = {"thread_id": "t"}
    problem_of(await api.post("/v1/checkpoints/get?x=1", json=body), 422, "unknown_parameter")
    encoded = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    problem_of(await api.post("/v1/checkpoints/get", content=b"x", headers=encoded), 415)
    deep = b'{"thread_id": "t", "filter": ' + b"[" * 200 + b"]" * 200 + b"}"
    problem_of(await api.post("/v1/checkpoints/list", content=deep, headers={"Content-Type": "application/json"}), 422)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"document": "not base64!"}, "bad_base64"),
        ({"values": [{"channel": "c", "version": "1", "type": "m"}]}, "no_data"),
    ],
)
async def test_data_that_is_none_is_refused_by_name(api: httpx.AsyncClient, change: Any, code: str) -> None:
    problem_of(await api.put("/v1/checkpoints", json=PUT | change), 422, code)


async def test_two_writes_under_one_number_are_refused(api: httpx.AsyncClient) -> None:
    write = {"idx": 0, "channel": "c", "type": "m", "data": "eHh4"}
    body = {"thread_id": "t", "checkpoint_id": "1", "task_id": "x", "writes": [write, write]}
    problem_of(await api.post("/v1/checkpoints/writes", json=body), 422, "duplicate_idx")
    same = {"source_thread_id": "t", "target_thread_id": "t"}
    problem_of(await api.post("/v1/checkpoints/copy", json=same), 422, "same_thread")
