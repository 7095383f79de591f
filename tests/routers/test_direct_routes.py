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
    for path in ("/v1/checkpoints/get", "/v1/memories/extract"):  # the second one is an ordinary route
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


APPEND = {"role": "user", "content": "I live in Lisbon. 我住在里斯本。"}
STORE_PUT = {"op": "put", "namespace": ["a"], "key": "k", "value": {"city": "里斯本"}}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/v1/checkpoints", PUT),
        ("POST", "/v1/checkpoints/get", {"thread_id": "t"}),
        ("POST", "/v1/sessions/a%2Fb/messages", APPEND),
        ("POST", "/v1/sessions/a%2Fb/messages", {"messages": [APPEND], "user_id": "ada"}),
        ("POST", "/v1/sessions/a%2Fb/messages", {"messages": [], "user_id": "ada"}),
        ("POST", "/v1/sessions/" + "x" * 256 + "/messages", APPEND),
        ("POST", "/v1/sessions/nobody/context", {"query": "Where do I live?"}),
        ("POST", "/v1/sessions/a%2Fb/context", {"retrieval": "never", "now": "2026-06-01T00:00:00Z"}),
        ("POST", "/v1/memories/search", {"query": "我住在哪里?", "user_id": "ada", "now": "2026-06-01T00:00:00Z"}),
        ("POST", "/v1/memories/search", {"query": ""}),
        ("POST", "/v1/messages/search", {"query": "Lisbon", "session_id": "a/b"}),
        ("POST", "/v1/store/batch", {"ops": [STORE_PUT]}),
        ("GET", "/v1/memories/search", {"query": "x"}),
    ],
)
async def test_the_short_way_and_the_long_way_answer_alike(tenant: Tenant, method: str, path: str, body: Any) -> None:
    key = await tenant.key()
    answers = []
    for headers in ({"Authorization": f"Bearer {key}"}, {"X-API-Key": key}):
        client = tenant.bare(headers)
        await client.post("/v1/sessions/a%2Fb/messages", json=APPEND)
        answer = await client.request(method, path, json=body)
        kinds = {name: type(value) for name, value in answer.json().items()}
        answers.append((answer.status_code, answer.headers["content-type"], kinds, answer.json().get("code")))
    assert answers[0] == answers[1]


async def test_a_context_may_be_asked_for_without_a_body(api: httpx.AsyncClient) -> None:
    await api.post("/v1/sessions/bodiless/messages", json=APPEND)
    headers = {"Content-Type": "application/json"}
    assert body_of(await api.post("/v1/sessions/bodiless/context", headers=headers))["messages"]
    assert body_of(await api.post("/v1/sessions/bodiless/context", json={}))["messages"]
