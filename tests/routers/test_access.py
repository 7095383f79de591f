"""Who may do what: keys, roles, and keys that are bound to users."""

import json
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.conftest import Tenant
from tests.routers.calls import add, body_of, every, open_session, problem_of, say, search

CANARY = "canary kingfisher 翠鸟"


async def test_a_key_is_taken_in_each_of_its_three_forms(tenant: Tenant) -> None:
    key = await tenant.key()
    for headers in (
        {"Authorization": f"Bearer {key}"},
        {"authorization": f"bearer {key}"},
        {"Authorization": f"Token {key}"},
        {"X-API-Key": key},
    ):
        body_of(await tenant.bare(headers).get("/v1/sessions"))


@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer"}, {"Authorization": "Bearer "}, {"Authorization": "Bearer mnk_wrong"},
     {"Authorization": "Basic YTpi"}, {"Authorization": "Token"}, {"X-API-Key": ""}, {"X-API-Key": "汇率".encode()},
     {"Authorization": "Bearer " + "x" * 20_000}, {"Authorization": "Bearer a\x7fb"}],
)  # fmt: skip
async def test_no_key_and_a_wrong_key_are_a_401(tenant: Tenant, headers: dict[str, Any]) -> None:
    response = await tenant.bare(headers).get("/v1/sessions")
    problem_of(response, 401)
    assert response.headers["www-authenticate"] == "Bearer"


async def test_every_route_under_v1_asks_for_a_key_before_anything_else(tenant: Tenant) -> None:
    client = tenant.bare()
    for path, operations in tenant.app.openapi()["paths"].items():
        if path.startswith("/v1/"):
            for method in operations:
                filled = path.replace("{seq}", "1").replace("{", "").replace("}", "")
                problem_of(await client.request(method.upper(), filled, json={"bad": 1}), 401, "unauthenticated")


async def test_a_revoked_key_is_a_401(tenant: Tenant) -> None:
    principal = await tenant.principal()
    key = await tenant.key()
    holder = await tenant.services.access.authenticate(key)
    assert await tenant.services.access.revoke(holder.key_id)
    problem_of(await tenant.bare({"X-API-Key": key}).get("/v1/sessions"), 401, "invalid_key")
    assert principal.key_id != holder.key_id


async def test_a_reader_reads_and_writes_nothing(tenant: Tenant, api: httpx.AsyncClient) -> None:
    await open_session(api, "s")
    await say(api, "s", "hello")
    memory = await add(api, "Ada drinks tea.")
    reader = await tenant.client("reader")
    for path in ("/v1/sessions", "/v1/sessions/s", "/v1/sessions/s/messages", "/v1/sessions/s/messages/1",
                 "/v1/memories", f"/v1/memories/{memory['id']}", f"/v1/memories/{memory['id']}/history",
                 "/v1/jobs"):  # fmt: skip
        body_of(await reader.get(path))
    assert (await search(reader, "tea", user_id="ada"))["results"]
    job = (await every(reader, "/v1/jobs"))[0]["id"]
    for method, path, body in (
        ("POST", "/v1/sessions", {}),
        ("PATCH", "/v1/sessions/s", {"title": "x"}),
        ("DELETE", "/v1/sessions/s", None),
        ("POST", "/v1/sessions/s/messages", {"role": "user", "content": "x"}),
        ("POST", "/v1/memories", {"text": "x", "user_id": "ada"}),
        ("PATCH", f"/v1/memories/{memory['id']}", {"importance": 1}),
        ("DELETE", f"/v1/memories/{memory['id']}", None),
        ("POST", f"/v1/jobs/{job}/cancel", None),
        ("POST", f"/v1/jobs/{job}/retry", None),
    ):
        problem_of(await reader.request(method, path, json=body), 403, "missing_scope")
    assert len(await every(api, "/v1/sessions/s/messages")) == 1


class Foreign:
    """What somebody else has."""

    def __init__(self, memory: str, job: str) -> None:
        self.calls: list[tuple[str, str, Any]] = [
            ("GET", "/v1/sessions/hers", None),
            ("PATCH", "/v1/sessions/hers", {"title": "x"}),
            ("DELETE", "/v1/sessions/hers", None),
            ("GET", "/v1/sessions/hers/messages", None),
            ("GET", "/v1/sessions/hers/messages/1", None),
            ("GET", f"/v1/memories/{memory}", None),
            ("PATCH", f"/v1/memories/{memory}", {"text": "x"}),
            ("DELETE", f"/v1/memories/{memory}", None),
            ("GET", f"/v1/memories/{memory}/history", None),
            ("GET", f"/v1/jobs/{job}", None),
            ("POST", f"/v1/jobs/{job}/cancel", None),
            ("POST", f"/v1/jobs/{job}/retry", None),
        ]
        self.absent = [
            (method, path.replace(memory, str(uuid4())).replace(job, str(uuid4())).replace("hers", "nobodys"), body)
            for method, path, body in self.calls
        ]


async def hers(client: httpx.AsyncClient) -> Foreign:
    """A session, a message, a memory and a job of Ada's, each with the canary in it."""
    await open_session(client, "hers", user_id="ada", title=CANARY, metadata={"note": CANARY})
    await say(client, "hers", CANARY, external_id="canary-1", user_id="ada")
    memory = await add(client, CANARY, user_id="ada", metadata={"note": CANARY}, key="bird", value=CANARY)
    await add(client, CANARY, user_id="ada", session_id="hers")
    return Foreign(memory["id"], (await every(client, "/v1/jobs"))[0]["id"])


def without_request(response: httpx.Response) -> dict[str, Any]:
    return {name: value for name, value in response.json().items() if name != "request_id"}


async def assert_blind(client: httpx.AsyncClient, foreign: Foreign, user_id: str | None) -> None:
    """No route shows the client anything of what is another's, nor whether it is there."""
    for (method, path, body), (_, absent, _) in zip(foreign.calls, foreign.absent, strict=True):
        there = await client.request(method, path, json=body)
        nowhere = await client.request(method, absent, json=body)
        problem_of(there, 404)
        assert without_request(there) == without_request(nowhere), path
    for path in ("/v1/sessions", "/v1/memories", "/v1/memories?status=active&include_uncertain=true", "/v1/jobs",
                 "/v1/memories?user_id=ada", "/v1/sessions?user_id=ada", "/v1/memories?session_id=hers",
                 "/v1/jobs?subject=hers", "/v1/memories?count=true"):  # fmt: skip
        page = body_of(await client.get(path))
        assert CANARY not in json.dumps(page, ensure_ascii=False)
        assert page["results"] == []
        assert not page["total"]
    for scope in ({}, {"session_id": "hers"}, {"user_id": user_id}):
        found = await search(
            client, CANARY, include_messages=True, include_shared=True, include_uncertain=True, explain=True, **scope
        )
        assert found["results"] == []
        assert found["filtered_count"] == 0
    source = {"session_id": "hers", "seqs": [1]}
    theft = await client.post("/v1/memories", json={"text": "x", "user_id": user_id, "sources": [source]})
    problem_of(theft, 422, "session_not_found")


async def test_another_tenant_sees_nothing_on_any_route(tenant: Tenant, other_tenant: Tenant) -> None:
    foreign = await hers(await tenant.client())
    for role in ("admin", "operator", "member"):
        await assert_blind(await other_tenant.client(role), foreign, "ada")
    # The id is free in another tenant: it is another session.
    assert (await say(await other_tenant.client(), "hers", "hello"))["seq"] == 1
    assert [one["content"] for one in await every(await tenant.client(), "/v1/sessions/hers/messages")] == [CANARY]


async def test_a_key_bound_to_another_user_sees_nothing_on_any_route(tenant: Tenant, api: httpx.AsyncClient) -> None:
    foreign = await hers(api)
    await assert_blind(await tenant.client("member", ["bob"]), foreign, "bob")
    await assert_blind(await tenant.client("admin", ["bob", "carol"]), foreign, "bob")
    assert [one["content"] for one in await every(api, "/v1/sessions/hers/messages")] == [CANARY]


async def test_a_bound_key_finds_its_own_user_filled_in(tenant: Tenant, api: httpx.AsyncClient) -> None:
    bob = await tenant.client("member", ["bob"])
    assert (await add(bob, "Tea, please.", app_id="kitchen"))["user_id"] == "bob"
    assert body_of(await bob.post("/v1/memories", json={"text": "Bob."}), 201)["user_id"] == "bob"
    assert (await open_session(bob, "his"))["user_id"] == "bob"
    await say(bob, "new", "hello")
    assert body_of(await api.get("/v1/sessions/new"))["user_id"] == "bob"
    await say(bob, "his", "again")
    assert {one["user_id"] for one in await every(bob, "/v1/memories")} == {"bob"}


async def test_a_key_bound_to_several_users_must_name_one(tenant: Tenant) -> None:
    both = await tenant.client("member", ["bob", "carol"])
    problem_of(await both.post("/v1/memories", json={"text": "x"}), 403, "user_required")
    assert (await add(both, "x", user_id="carol"))["user_id"] == "carol"


async def test_a_key_bound_to_nobody_sees_and_writes_nothing_of_anybody(tenant: Tenant, api: httpx.AsyncClient) -> None:
    await hers(api)
    nobody = await tenant.client("member", [])
    assert await every(nobody, "/v1/memories") == []
    problem_of(await nobody.post("/v1/memories", json={"text": "x"}), 403, "user_required")


async def test_another_users_id_in_the_body_is_a_403_and_stores_nothing(tenant: Tenant, api: httpx.AsyncClient) -> None:
    bob = await tenant.client("member", ["bob"])
    calls = (
        ("/v1/sessions", {"user_id": "ada"}),
        ("/v1/sessions/s/messages", {"role": "user", "content": "x", "user_id": "ada"}),
        ("/v1/sessions/s/messages", {"messages": [{"role": "user", "content": "x"}], "user_id": "ada"}),
        ("/v1/memories", {"text": "x", "user_id": "ada"}),
        ("/v1/memories", {"memories": [{"text": "x", "user_id": "bob"}, {"text": "y", "user_id": "ada"}]}),
        ("/v1/memories/search", {"query": "x", "user_id": "ada"}),
    )
    for path, body in calls:
        problem_of(await bob.post(path, json=body), 403, "foreign_user")
    assert await every(api, "/v1/memories") == []
    assert await every(api, "/v1/sessions") == []


async def test_creating_what_is_anothers_is_a_409_that_says_nothing_else(
    tenant: Tenant, api: httpx.AsyncClient
) -> None:
    await hers(api)
    bob = await tenant.client("member", ["bob"])
    for path, body in (
        ("/v1/sessions", {"id": "hers"}),
        ("/v1/sessions/hers/messages", {"role": "user", "content": "x"}),
        ("/v1/sessions/hers/messages", {"role": "user", "content": "x", "external_id": "canary-1"}),
        ("/v1/sessions/hers/messages", {"role": "user", "content": "x", "expected_seq": 7}),
    ):
        response = await bob.post(path, json=body)
        problem_of(response, 409, "id_taken")
        assert "ada" not in response.text
        assert CANARY not in response.text
    # For an unbound key too a session keeps its user.
    other = {"role": "user", "content": "x", "user_id": "bob"}
    problem_of(await api.post("/v1/sessions/hers/messages", json=other), 409, "id_taken")
    session = body_of(await api.get("/v1/sessions/hers"))
    assert (session["last_seq"], session["message_count"], session["user_id"]) == (1, 1, "ada")


async def test_a_bound_key_reads_shared_levels_and_cannot_write_them(tenant: Tenant, api: httpx.AsyncClient) -> None:
    shared = await add(api, "The office closes at six.", shared=True)
    of_app = await add(api, "The kitchen app speaks French.", app_id="kitchen")
    bob = await tenant.client("admin", ["bob"])
    for memory in (shared, of_app):
        assert body_of(await bob.get(f"/v1/memories/{memory['id']}"))["text"] == memory["text"]
        path = f"/v1/memories/{memory['id']}"
        problem_of(await bob.patch(path, json={"importance": 1}), 403, "foreign_user")
        problem_of(await bob.delete(path), 403, "foreign_user")
    assert {one["text"] for one in await every(bob, "/v1/memories")} == {shared["text"], of_app["text"]}
    found = await search(bob, "office closes", include_shared=True)
    assert found["results"][0]["text"] == shared["text"]
    problem_of(await bob.post("/v1/memories", json={"text": "x", "shared": True}), 403, "foreign_user")


async def test_a_session_of_no_user_is_not_a_bound_keys(tenant: Tenant, api: httpx.AsyncClient) -> None:
    await say(api, "open", CANARY)
    memory = await add(api, CANARY, session_id="open")
    bob = await tenant.client("member", ["bob"])
    problem_of(await bob.get("/v1/sessions/open"), 404, "session_not_found")
    problem_of(await bob.get(f"/v1/memories/{memory['id']}"), 404, "memory_not_found")
    problem_of(await bob.post("/v1/sessions/open/messages", json={"role": "user", "content": "x"}), 409, "id_taken")
    assert (await search(bob, CANARY, include_messages=True, include_shared=True))["results"] == []


async def test_an_empty_scope_is_refused(api: httpx.AsyncClient) -> None:
    problem_of(await api.post("/v1/memories", json={"text": "x"}), 422, "scope_required")
    both = {"text": "x", "shared": True, "user_id": "ada"}
    problem_of(await api.post("/v1/memories", json=both), 422, "invalid")
    assert await every(api, "/v1/memories") == []


async def test_deleting_one_users_memory_leaves_all_others(api: httpx.AsyncClient) -> None:
    mine = await add(api, "The same words.", user_id="ada")
    await add(api, "The same words.", user_id="bob")
    assert (await api.delete(f"/v1/memories/{mine['id']}")).status_code == 204
    assert [one["user_id"] for one in await every(api, "/v1/memories")] == ["bob"]
