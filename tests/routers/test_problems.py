"""Bad input gets a clear answer of one shape, stores nothing, and is never our own fault."""

import asyncio
import gzip
import json
import socket
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import httpx
import pytest

from app.routers.answering import InOnePiece
from tests.conftest import Tenant
from tests.routers.calls import body_of, every, problem_of

HOSTILE = {
    "NUL": "a\0b",
    "lone surrogate": "a\ud800b",
    "reversed pair": "\udc00\ud800",
    "number": 5,
    "huge number": 10**400,
    "infinite number": float("inf"),
    "not a number": float("nan"),
    "list": ["a"],
    "object": {"a": "b"},
    "boolean": True,
}
TEXT_FIELDS = [
    *(
        ("POST", "/v1/memories", {"user_id": "ada", "text": "x"}, field)
        for field in (
            "text",
            "key",
            "user_id",
            "agent_id",
            "app_id",
            "session_id",
            "kind",
            "category",
            "source",
            "use",
            "expires_at",
            "occurred_at",
        )
    ),
    *(
        ("POST", "/v1/sessions", {}, field)
        for field in ("id", "user_id", "agent_id", "app_id", "title", "timezone", "memory")
    ),
    *(
        ("POST", "/v1/sessions/s/messages", {"role": "user", "content": "x"}, field)
        for field in (
            "role",
            "name",
            "tool_call_id",
            "external_id",
            "timezone",
            "occurred_at",
            "user_id",
            "agent_id",
            "app_id",
        )
    ),
    *(
        ("POST", "/v1/memories/search", {"query": "x"}, field)
        for field in ("query", "user_id", "agent_id", "app_id", "session_id", "now")
    ),
]
JSON_FIELDS = [
    ("POST", "/v1/memories", {"user_id": "ada", "text": "x"}, "metadata"),
    ("POST", "/v1/memories", {"user_id": "ada", "text": "x", "key": "k"}, "value"),
    ("POST", "/v1/sessions", {}, "metadata"),
    ("POST", "/v1/sessions/s/messages", {"role": "user", "content": "x"}, "metadata"),
    ("POST", "/v1/sessions/s/messages", {"role": "user"}, "content"),
    ("POST", "/v1/sessions/s/messages", {"role": "user", "content": "x"}, "tool_calls"),
]
NUMBER_FIELDS = [
    *(
        ("/v1/memories", {"user_id": "ada", "text": "x"}, field)
        for field in ("importance", "confidence", "weight", "ttl")
    ),
    ("/v1/sessions", {}, "ttl"),
    ("/v1/sessions/s/messages", {"role": "user", "content": "x"}, "expected_seq"),
    *(("/v1/memories/search", {"query": "x"}, field) for field in ("top_k", "min_score")),
    *(
        ("/v1/memories/search", {"query": "x"}, (outer, field))
        for outer, field in (("weights", "relevance"), ("weights", "recency"), ("legs", "dense"), ("legs", "lexical"))
    ),
]


async def send(client: httpx.AsyncClient, method: str, path: str, body: Any) -> httpx.Response:
    """JSON as Python writes it, surrogates, infinities and all."""
    return await client.request(
        method, path, content=json.dumps(body).encode(), headers={"Content-Type": "application/json"}
    )


async def assert_nothing_is_stored(client: httpx.AsyncClient) -> None:
    for path in ("/v1/memories", "/v1/sessions", "/v1/jobs"):
        assert await every(client, path) == []


@pytest.mark.parametrize(("method", "path", "rest", "field"), TEXT_FIELDS)
async def test_a_text_field_refuses_what_is_no_text(
    api: httpx.AsyncClient, method: str, path: str, rest: dict[str, Any], field: str
) -> None:
    for name, value in HOSTILE.items():
        response = await send(api, method, path, rest | {field: value})
        problem = problem_of(response, 400 if name in {"infinite number", "not a number"} else 422)
        assert "\0" not in response.text
        assert problem["code"] in {"invalid", "bad_json"}
    await assert_nothing_is_stored(api)


@pytest.mark.parametrize(("method", "path", "rest", "field"), JSON_FIELDS)
async def test_json_fields_refuse_what_cannot_be_stored(
    api: httpx.AsyncClient, method: str, path: str, rest: dict[str, Any], field: str
) -> None:
    for value in ({"a\0": 1}, {"a": "b\0"}, {"\ud800": 1}, {"a": ["\udfff"]}, {"a": {"b": [{"c": "\0"}]}}):
        given = [value] if field in {"content", "tool_calls"} else value
        problem_of(await send(api, method, path, rest | {field: given}), 422)
    await assert_nothing_is_stored(api)


@pytest.mark.parametrize(("path", "rest", "field"), NUMBER_FIELDS)
async def test_a_number_field_answers_any_number(
    api: httpx.AsyncClient, path: str, rest: dict[str, Any], field: str | tuple[str, str]
) -> None:
    outer, inner = field if isinstance(field, tuple) else (None, field)
    for number in ("1e999", "-1e999", "1e400", "-1", "0", "9" * 400, "1e-400000", '"x"', "[]", "{}", "null"):
        part = f'"{inner}": {number}'
        part = part if outer is None else f'"{outer}": {{{part}}}'
        body = json.dumps(rest)[:-1] + (", " if rest else "") + part + "}"
        response = await api.post(path, content=body, headers={"Content-Type": "application/json"})
        if response.status_code not in {200, 201}:
            problem_of(response, 412 if inner == "expected_seq" and response.status_code == 412 else 422)


async def test_weights_of_which_none_counts_are_a_422(api: httpx.AsyncClient) -> None:
    none = {"weights": {"relevance": 0, "recency": 0, "importance": 0}}
    problem_of(await api.post("/v1/memories/search", json={"query": "x", **none}), 422, "invalid")
    legs = dict.fromkeys(("dense", "lexical", "time", "key", "constraint"), 0)
    problem_of(await api.post("/v1/memories/search", json={"query": "x", "legs": legs}), 422)


async def test_huge_numbers_in_metadata_come_back_or_are_refused(api: httpx.AsyncClient) -> None:
    for number, status in (("9" * 300, 201), ("-0.0", 201), ("1e308", 201), ("1e309", 422), ("9" * 5000, 400)):
        body = f'{{"text": "number {number[:3]} {len(number)}", "user_id": "ada", "metadata": {{"n": {number}}}}}'
        response = await api.post("/v1/memories", content=body, headers={"Content-Type": "application/json"})
        assert response.status_code == status, (number[:10], response.text)
        if status == 201:
            assert float(response.json()["metadata"]["n"]) == float(number)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"text": ', "bad_json"),
        (b"", "bad_json"),
        (b'{"text": "x"} {}', "bad_json"),
        (b'{"text": NaN}', "bad_json"),
        (b'{"text": -Infinity}', "bad_json"),
        (b"{'text': 'x'}", "bad_json"),
        (b"\xef\xbb\xbf{}", "bad_json"),
        (b'{"text": "\xff"}', "bad_utf8"),
        (b'{"text": "\xed\xa0\x80"}', "bad_utf8"),
        ('{"text": "x"}'.encode("utf-16"), "bad_utf8"),
    ],
)
async def test_what_is_not_json_in_utf8_is_a_400(api: httpx.AsyncClient, body: bytes, code: str) -> None:
    for path in ("/v1/memories", "/v1/sessions", "/v1/sessions/s/messages", "/v1/memories/search"):
        response = await api.post(path, content=body, headers={"Content-Type": "application/json"})
        if body:
            problem_of(response, 400, code)
        else:
            problem_of(response, 422)


@pytest.mark.parametrize("body", ["null", "[]", "[1]", '"text"', "1", "true", '{"memories": 1}', '{"messages": {}}'])
async def test_json_of_another_shape_is_a_422(api: httpx.AsyncClient, body: str) -> None:
    for path in ("/v1/memories", "/v1/sessions", "/v1/sessions/s/messages", "/v1/memories/search"):
        response = await api.post(path, content=body, headers={"Content-Type": "application/json"})
        problem_of(response, 422, "invalid")


async def test_deep_nesting_is_a_422_at_any_depth(api: httpx.AsyncClient) -> None:
    for depth in (65, 1_000, 100_000):
        for opening, closing in (("[", "]"), ('{"a":', "}")):
            nested = opening * depth + "1" + closing * depth
            body = f'{{"text": "x", "user_id": "ada", "metadata": {{"n": {nested}}}}}'
            response = await api.post("/v1/memories", content=body, headers={"Content-Type": "application/json"})
            problem_of(response, 422, "json_too_deep")


async def test_brackets_in_a_string_are_no_nesting(api: httpx.AsyncClient) -> None:
    text = "[{" * 500 + '"\\'
    response = await api.post("/v1/memories", json={"text": text, "user_id": "ada"})
    assert body_of(response, 201)["text"] == text


async def test_an_unknown_field_is_a_422_on_every_body_and_level(api: httpx.AsyncClient) -> None:
    memory = body_of(await api.post("/v1/memories", json={"text": "x", "user_id": "ada"}), 201)
    await api.post("/v1/sessions", json={"id": "s"})
    bodies: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/v1/memories", {"text": "y", "user_id": "ada", "usr": 1}),
        ("POST", "/v1/memories", {"memories": [{"text": "y", "user_id": "ada"}], "user_id": "ada"}),
        ("POST", "/v1/memories", {"memories": [{"text": "y", "user_id": "ada", "usr": 1}]}),
        ("POST", "/v1/memories", {"text": "y", "user_id": "ada", "sources": [{"session_id": "s", "seq": 1}]}),
        ("PATCH", f"/v1/memories/{memory['id']}", {"txt": "y"}),
        ("POST", "/v1/memories/search", {"query": "x", "filter": {}}),
        ("POST", "/v1/memories/search", {"query": "x", "weights": {"age": 1}}),
        ("POST", "/v1/memories/search", {"query": "x", "legs": {"sparse": 1}}),
        ("POST", "/v1/sessions", {"name": "x"}),
        ("PATCH", "/v1/sessions/s", {"name": "x"}),
        ("POST", "/v1/sessions/s/messages", {"role": "user", "content": "x", "usr": 1}),
        ("POST", "/v1/sessions/s/messages", {"messages": [{"role": "user", "content": "x", "user_id": "ada"}]}),
        ("POST", "/v1/sessions/s/messages", {"messages": [{"role": "user", "content": "x"}], "role": "user"}),
    ]
    for method, path, body in bodies:
        problem = problem_of(await api.request(method, path, json=body), 422, "invalid")
        assert problem["errors"], body
    assert len(await every(api, "/v1/memories")) == 1
    assert await every(api, "/v1/sessions/s/messages") == []


async def test_an_unknown_query_parameter_is_a_422_on_every_route(api: httpx.AsyncClient, tenant: Tenant) -> None:
    nobody = str(UUID(int=7))
    for path, operations in tenant.app.openapi()["paths"].items():
        if not path.startswith("/v1/"):
            continue
        filled = path.replace("{seq}", "1").replace("{session_id}", "s")
        filled = filled.replace("{memory_id}", nobody).replace("{job_id}", nobody).replace("{", "").replace("}", "")
        for method in operations:
            response = await api.request(method.upper(), filled, params={"usr_id": "ada"}, json={})
            problem = problem_of(response, 422)
            if problem["code"] == "unknown_parameter":
                assert problem["errors"][0]["loc"] == ["query", "usr_id"]
    await assert_nothing_is_stored(api)


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=201", "limit=x", "limit=" + "9" * 5000, "limit=1e3", "cursor=%00", "user_id=%00", "user_id=",
     "user_id=.", "user_id=" + "x" * 256, "count=perhaps", "kind=x", "status=x", "category=x", "%00=1", "%ff=1",
     "cursor=" + "x" * 3000],
)  # fmt: skip
async def test_a_bad_query_parameter_is_a_422(api: httpx.AsyncClient, query: str) -> None:
    problem_of(await api.get(f"/v1/memories?{query}"), 422)


async def test_a_query_parameter_that_is_given_twice_is_a_422(api: httpx.AsyncClient) -> None:
    for path in ("/v1/memories?user_id=ada&user_id=bob", "/v1/sessions?limit=1&limit=1", "/v1/jobs?count=true&count="):
        problem = problem_of(await api.get(path), 422, "duplicate_parameter")
        assert problem["errors"][0]["loc"][0] == "query"


async def test_an_integer_in_a_body_is_one_and_in_a_query_is_text(api: httpx.AsyncClient) -> None:
    await api.post("/v1/sessions", json={"id": "s"})
    for method, path, body in (
        ("POST", "/v1/memories", {"text": "x", "user_id": "ada", "importance": True}),
        ("POST", "/v1/memories", {"text": "x", "user_id": "ada", "ttl": "60"}),
        ("POST", "/v1/memories", {"text": "x", "user_id": "ada", "shared": 0}),
        ("POST", "/v1/memories/search", {"query": "x", "top_k": 1.0}),
        ("POST", "/v1/messages/search", {"query": "x", "context_before": True}),
        ("POST", "/v1/sessions/s/fork", {"up_to_seq": "0"}),
        ("POST", "/v1/sessions/s/state/restore", {"to_version": True}),
        ("PATCH", "/v1/admin/settings", {"default_memory_ttl": "60"}),
    ):
        problem = problem_of(await api.request(method, path, json=body), 422, "invalid")
        assert problem["errors"], (path, body)
    assert await every(api, "/v1/memories") == []
    body_of(await api.get("/v1/memories?limit=1&count=1"))


async def test_a_name_given_twice_in_a_body_or_a_filter_is_a_422(api: httpx.AsyncClient) -> None:
    kind = {"Content-Type": "application/json"}
    for body in (
        '{"text": "x", "user_id": "ada", "user_id": "bob"}',
        '{"text": "x", "shared": true, "metadata": {"a": 1, "a": 2}}',
    ):
        problem_of(await api.post("/v1/memories", content=body, headers=kind), 422, "duplicate_key")
    twice = '{"kind": {"eq": "event"}, "kind": {"eq": "semantic"}}'
    problem_of(await api.get("/v1/memories", params={"filter": twice}), 422, "duplicate_key")
    assert await every(api, "/v1/memories") == []


@pytest.mark.parametrize("coding", ["gzip", "br", "GZIP", "identity, deflate", "nonsense"])
async def test_an_encoded_body_is_a_415(api: httpx.AsyncClient, coding: str) -> None:
    body = json.dumps({"text": "x", "user_id": "ada"})
    headers = {"Content-Type": "application/json", "Content-Encoding": coding}
    for content in (body.encode(), gzip.compress(body.encode())):
        problem_of(await api.post("/v1/memories", content=content, headers=headers), 415, "unsupported_encoding")
    assert await every(api, "/v1/memories") == []


@pytest.mark.parametrize("coding", ["identity", "Identity", ""])
async def test_a_body_that_says_it_is_plain_is_read(api: httpx.AsyncClient, coding: str) -> None:
    body = {"text": "x", "user_id": "ada"}
    body_of(await api.post("/v1/memories", json=body, headers={"Content-Encoding": coding}), 201)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/sessions", "GET, POST"),
        ("POST", "/v1/memories/01980000-0000-7000-8000-000000000000", "GET, PATCH, DELETE"),
        ("PATCH", "/v1/users/小明/facts/k", "GET, PUT, DELETE"),
        ("PUT", "/v1/users/a%2Fb", "GET, PATCH, DELETE"),
        ("GET", "/v1/memories/01980000-0000-7000-8000-000000000000/restore", "POST"),
        ("BREW", "/v1/sessions/s/state", "GET, PUT, PATCH"),
        ("DELETE", "/healthz", "GET"),
    ],
)
async def test_a_405_names_every_method_of_the_path(
    api: httpx.AsyncClient, method: str, path: str, allowed: str
) -> None:
    answer = await api.request(method, path)
    problem_of(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == allowed


async def test_an_unknown_path_is_a_404_and_a_wrong_method_a_405(api: httpx.AsyncClient, tenant: Tenant) -> None:
    for client in (api, tenant.bare()):
        problem_of(await client.get("/nowhere"), 404, "not_found")
        problem_of(await client.get("/v1/nowhere"), 404, "not_found")
        problem_of(await client.put("/v1/sessions"), 405, "method_not_allowed")
        problem_of(await client.request("BREW", "/v1/memories"), 405, "method_not_allowed")


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data; boundary=x", "garbage"])
async def test_a_body_of_another_type_is_a_clear_error(api: httpx.AsyncClient, kind: str) -> None:
    response = await api.post("/v1/sessions", content=b"<xml/>", headers={"Content-Type": kind})
    assert response.status_code in {400, 415, 422}
    problem_of(response, response.status_code)


async def test_a_body_above_the_limit_is_a_413_announced_or_not(api: httpx.AsyncClient) -> None:
    limit = 10 * 1024 * 1024
    frame = b'{"text": "", "user_id": "ada"}'
    body = b'{"text": "' + b"x" * (limit + 1 - len(frame)) + b'", "user_id": "ada"}'
    assert len(body) == limit + 1

    async def chunks(of: bytes) -> AsyncIterator[bytes]:
        for start in range(0, len(of), 1024 * 1024):
            yield of[start : start + 1024 * 1024]

    kind = {"Content-Type": "application/json"}
    for path in ("/v1/memories", "/v1/sessions", "/v1/sessions/s/messages", "/v1/memories/search"):
        problem_of(await api.post(path, content=body, headers=kind), 413, "body_too_large")
        problem_of(await api.post(path, content=chunks(body), headers=kind), 413, "body_too_large")
    # One byte less is read, and refused for its text.
    problem_of(await api.post("/v1/memories", content=body.replace(b"xx", b"x", 1), headers=kind), 422, "invalid")
    await assert_nothing_is_stored(api)


@pytest.mark.parametrize("length", ["²", "-1", "1x", "9" * 5000, ""])
async def test_an_odd_content_length_is_not_our_own_fault(tenant: Tenant, length: str) -> None:
    headers = [(b"content-length", length.encode("latin-1")), (b"content-type", b"application/json")]
    headers.append((b"authorization", f"Bearer {await tenant.key()}".encode()))
    sent: list[dict[str, Any]] = []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/v1/sessions",
        "raw_path": b"/v1/sessions",
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("test", 80),
        "root_path": "",
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send_out(message: dict[str, Any]) -> None:
        sent.append(message)

    await tenant.app(scope, receive, send_out)
    assert sent[0]["status"] < 500


async def test_a_text_above_100_000_characters_is_a_422_and_one_of_100_000_is_stored(api: httpx.AsyncClient) -> None:
    longest = "汇" * 100_000
    problem_of(await api.post("/v1/memories", json={"text": longest + "x", "user_id": "ada"}), 422, "invalid")
    message = {"role": "user", "content": longest + "x"}
    problem_of(await api.post("/v1/sessions/s/messages", json=message), 422, "invalid")
    parts = [{"type": "text", "text": longest}, {"type": "text", "text": "x"}]
    problem_of(await api.post("/v1/sessions/s/messages", json={"role": "user", "content": parts}), 422, "invalid")
    problem_of(await api.post("/v1/memories/search", json={"query": longest + "x"}), 422, "invalid")
    await assert_nothing_is_stored(api)
    assert body_of(await api.post("/v1/memories", json={"text": longest, "user_id": "ada"}), 201)["text"] == longest
    said = await api.post("/v1/sessions/s/messages", json={"role": "user", "content": longest})
    assert body_of(said, 201)["content"] == longest


@pytest.mark.parametrize(
    "instant",
    ["2026-01-01T00:00:00", "2026-01-01", 1_700_000_000, "1700000000", "yesterday", "2026-13-01T00:00:00Z", "",
     "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-01-01T25:00:00Z"],
)  # fmt: skip
async def test_a_time_without_offset_or_out_of_range_is_a_422(api: httpx.AsyncClient, instant: Any) -> None:
    for field in ("occurred_at", "expires_at"):
        body = {"text": "x", "user_id": "ada", field: instant}
        problem_of(await api.post("/v1/memories", json=body), 422, "invalid")
    message = {"role": "user", "content": "x", "occurred_at": instant}
    problem_of(await api.post("/v1/sessions/s/messages", json=message), 422, "invalid")


async def test_times_come_in_with_any_offset_and_go_out_in_utc(api: httpx.AsyncClient) -> None:
    body = {"text": "x", "user_id": "ada", "occurred_at": "2026-01-01T07:30:00.250+08:00"}
    added = body_of(await api.post("/v1/memories", json=body), 201)
    assert added["occurred_at"] == "2025-12-31T23:30:00.250000Z"


async def test_a_request_id_is_taken_over_if_sane_and_made_up_otherwise(api: httpx.AsyncClient) -> None:
    for path in ("/v1/sessions", "/v1/nowhere", "/healthz"):
        response = await api.get(path, headers={"X-Request-ID": "trace-7:a.b_c"})
        assert response.headers["x-request-id"] == "trace-7:a.b_c"
        for odd in ("", "a b", "x" * 129, "汇".encode(), "a\tb"):
            made_up = (await api.get(path, headers={"X-Request-ID": odd})).headers["x-request-id"]
            UUID(made_up)


async def test_an_unexpected_fault_is_a_500_problem_that_says_nothing_of_the_inside(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise RuntimeError("secret inside")

    api = await tenant.client()
    monkeypatch.setattr(type(tenant.services.sessions), "get", fail)
    response = await api.get("/v1/sessions/s")
    problem_of(response, 500, "internal")
    assert "secret" not in response.text


async def test_a_refused_value_is_not_repeated_in_the_answer(api: httpx.AsyncClient) -> None:
    response = await api.post("/v1/sessions", json={"timezone": "hunter2-secret", "memory": "hunter2-secret"})
    problem_of(response, 422)
    assert "hunter2" not in response.text


async def test_ids_of_255_rare_characters_everywhere_are_stored_or_refused_clearly(api: httpx.AsyncClient) -> None:
    def rare(seed: int) -> str:
        return "".join(chr(0x20000 + (seed * 7919 + place * 104_729) % 40_000) for place in range(255))

    scope = {"user_id": rare(1), "agent_id": rare(2), "app_id": rare(3)}
    response = await api.post("/v1/memories", json={"text": "x", **scope})
    assert response.status_code in {201, 422}, response.text
    if response.status_code == 422:
        problem_of(response, 422, "too_long_together")
    assert body_of(await api.post("/v1/memories", json={"text": "x", "user_id": rare(4)}), 201)["user_id"] == rare(4)


async def test_json_that_does_not_say_so_is_read(api: httpx.AsyncClient) -> None:
    for path, body in (
        ("/v1/sessions", b'{"id": "s"}'),
        ("/v1/memories", b'{"text": "Ada likes tea.", "shared": true}'),
    ):
        assert (await api.post(path, content=body)).status_code == 201, path


@pytest.mark.parametrize(
    "sent",
    [
        b"NONSENSE\r\n\r\n",
        b"GET /v1/me HTTP/9.9\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_what_is_no_http_request_gets_a_problem_document(live: str, sent: bytes) -> None:
    address = httpx.URL(live)
    with socket.create_connection((address.host, address.port or 80), timeout=10) as connection:
        connection.sendall(sent)
        received = b""
        while part := connection.recv(4096):
            received += part
    head, _, body = received.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    headers = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    assert headers[b"content-type"] == b"application/problem+json"
    assert int(headers[b"content-length"]) == len(body)
    problem = json.loads(body)
    assert (problem["status"], problem["code"]) == (400, "malformed_request")
    assert problem["request_id"] == headers[b"x-request-id"].decode()


async def test_a_head_leaves_with_its_body_and_alone_where_none_comes() -> None:
    class Wire:
        def __init__(self) -> None:
            self.sent: list[bytes] = []
            self.closed = False

        def write(self, data: bytes) -> None:
            self.sent.append(data)

        def close(self) -> None:
            self.closed = True

        def is_closing(self) -> bool:
            return self.closed

    wire: Any = Wire()
    transport = InOnePiece(wire)
    transport.write(b"HTTP/1.1 200 OK\r\n\r\n")
    assert wire.sent == []
    transport.write(b"HTTP/1.1 is what it says")
    transport.write(b"more")
    assert wire.sent == [b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 is what it says", b"more"]
    transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")
    await asyncio.sleep(0)
    assert wire.sent[2:] == [b"HTTP/1.1 204 No Content\r\n\r\n"]
    transport.write(b"HTTP/1.1 500 Oh\r\n\r\n")
    transport.close()
    assert (wire.sent[3:], wire.closed) == ([b"HTTP/1.1 500 Oh\r\n\r\n"], True)
