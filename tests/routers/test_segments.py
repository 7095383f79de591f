"""A path segment stays what it is: `a%2Fb` is one id, and nothing else is ever reached through it."""

from typing import Any

import httpx
import pytest

from app.composition import Services
from app.main import create_app
from app.settings import Settings
from tests.conftest import Tenant
from tests.routers.calls import add, body_of, every, open_session, problem_of

IDS = {
    "a/b": "a%2Fb",
    "a/b/messages": "a%2fb%2Fmessages",
    "a%2Fb": "a%252Fb",
    "/": "%2F",
    "//": "%2F%2F",
    "../x": "..%2Fx",
    "...": "...",
    "a b": "a%20b",
    "a+b": "a+b",
    "a?b#c": "a%3Fb%23c",
    "a;b=c": "a;b=c",
    "%": "%25",
    "会话-1": "%E4%BC%9A%E8%AF%9D-1",
    "\U0001f600é": "%F0%9F%98%80%C3%A9",
    "x" * 255: "x" * 255,
    "汇" * 255: "%E6%B1%87" * 255,
    "messages": "messages",
    "search": "search",
}


@pytest.mark.parametrize("session_id", IDS, ids=[f"id {number}" for number in range(len(IDS))])
async def test_an_id_of_any_characters_makes_the_round_trip(api: httpx.AsyncClient, session_id: str) -> None:
    segment = IDS[session_id]
    assert (await open_session(api, session_id))["id"] == session_id
    assert body_of(await api.get(f"/v1/sessions/{segment}"))["id"] == session_id
    said = await api.post(f"/v1/sessions/{segment}/messages", json={"role": "user", "content": "x"})
    assert body_of(said, 201)["session_id"] == session_id
    assert body_of(await api.get(f"/v1/sessions/{segment}/messages/1"))["session_id"] == session_id
    changed = await api.patch(f"/v1/sessions/{segment}", json={"title": session_id})
    assert body_of(changed)["title"] == session_id
    assert body_of(await api.get("/v1/jobs", params={"subject": session_id}))["results"][0]["subject"] == session_id
    assert (await api.delete(f"/v1/sessions/{segment}")).status_code == 204
    assert await every(api, "/v1/sessions") == []


async def test_a_slash_in_an_id_never_reaches_another_resource(api: httpx.AsyncClient) -> None:
    for session_id in ("a", "a/messages", "a/messages/1", "a%2Fmessages"):
        await open_session(api, session_id)
        await api.post(
            f"/v1/sessions/{session_id.replace('%', '%25').replace('/', '%2F')}/messages",
            json={"role": "user", "content": session_id},
        )
    assert (await api.delete("/v1/sessions/a%2Fmessages%2F1")).status_code == 204
    assert (await api.delete("/v1/sessions/a%2Fmessages")).status_code == 204
    assert {one["id"] for one in await every(api, "/v1/sessions")} == {"a", "a%2Fmessages"}
    assert body_of(await api.get("/v1/sessions/a/messages/1"))["content"] == "a"
    problem_of(await api.get("/v1/sessions/a%2Fmessages%2F1"), 404, "session_not_found")


@pytest.mark.parametrize(
    "segment",
    ["%00", "a%00b", "%0A", "%0d%0aX: y", "%1F", "a%1Fb", "%7F", "%C2%80", "%C2%9F", "%2e", "%2E%2e", ".%2E", "%FF",
     "%ED%A0%80", "%C0%AF", "x" * 256, "%E6%B1%87" * 256],
)  # fmt: skip
async def test_a_segment_that_cannot_be_an_id_is_refused_and_nothing_is_made(
    api: httpx.AsyncClient, segment: str
) -> None:
    path = f"http://test/v1/sessions/{segment}/messages"
    response = await api.post(path, json={"role": "user", "content": "x"})
    assert response.status_code in {400, 422}
    problem_of(response, response.status_code)
    assert await every(api, "/v1/sessions") == []


async def raw_call(app: Any, key: str, raw_path: bytes, method: str = "GET", root_path: str = "") -> int:
    """The status for a path as no client would write it."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": "/ignored",
        "raw_path": raw_path,
        "query_string": b"",
        "headers": [(b"x-api-key", key.encode())],
        "client": ("127.0.0.1", 1),
        "server": ("test", 80),
        "root_path": root_path,
    }
    await app(scope, receive, send)
    status: int = sent[0]["status"]
    return status


@pytest.mark.parametrize(
    ("raw_path", "status"),
    [(b"/v1/sessions/.", 400), (b"/v1/sessions/..", 400), (b"/v1/sessions/../memories", 400), (b"/v1/./sessions", 400),
     (b"/v1/sessions/a\x00", 400), (b"/v1/sessions/\xff", 400), (b"/v1//sessions", 404), (b"//v1/sessions", 404),
     (b"/v1/sessions//messages", 404), (b"/v1%2Fsessions", 404), (b"", 404), (b"/v1/sessions/%", 404),
     (b"/v1/sessions/%zz", 404), (b"/v1/sessions", 200), (b"/v1/sessions?limit=1", 200)],
)  # fmt: skip
async def test_a_path_as_no_client_writes_it_is_answered(tenant: Tenant, raw_path: bytes, status: int) -> None:
    expected = {status, 404} if raw_path == b"" else {status}
    assert await raw_call(tenant.app, await tenant.key(), raw_path) in expected


async def test_a_trailing_slash_in_v1_is_a_404_and_no_redirect(api: httpx.AsyncClient) -> None:
    await open_session(api, "s")
    for method, path in (("GET", "/v1/sessions/"), ("DELETE", "/v1/sessions/s/"), ("POST", "/v1/memories/"),
                         ("GET", "/v1/sessions/s/messages/"), ("GET", "/v1/")):  # fmt: skip
        response = await api.request(method, path)
        problem_of(response, 404, "not_found")
        assert "location" not in response.headers
    assert len(await every(api, "/v1/sessions")) == 1


async def test_under_a_proxys_prefix_paths_docs_and_ids_work(
    services: Services, settings: Settings, tenant: Tenant
) -> None:
    app = create_app(settings.model_copy(update={"root_path": "/memory"}))
    app.state.services = services
    key = await tenant.key()
    for prefix in ("", "/memory"):  # whether the proxy takes the prefix off or not
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(
            transport=transport, base_url=f"http://test{prefix}", headers={"X-API-Key": key}
        ) as client:
            assert (await open_session(client, f"a/b{prefix}"))["id"] == f"a/b{prefix}"
            segment = f"a/b{prefix}".replace("/", "%2F")
            assert body_of(await client.get(f"/v1/sessions/{segment}"))["id"] == f"a/b{prefix}"
            problem_of(await client.get("/v1/memories/"), 404, "not_found")
            page = await client.get("/docs")
            assert page.status_code == 200
            assert "/memory/openapi.json" in page.text
            assert body_of(await client.get("/openapi.json"))["servers"] == [{"url": "/memory"}]


async def test_an_id_with_a_slash_works_in_queries_and_bodies_unescaped(api: httpx.AsyncClient) -> None:
    await add(api, "x", user_id="org/ada", agent_id="a/b")
    assert len(await every(api, "/v1/memories", user_id="org/ada", agent_id="a/b")) == 1
    assert await every(api, "/v1/memories", user_id="org%2Fada") == []
