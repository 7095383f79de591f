"""Export and import: what goes out of one place comes in at another the same."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from app.core.sealing import KeyRing, SealingKey
from tests.conftest import Tenant
from tests.routers.calls import add, body_of, every, open_session, problem_of, say, texts_found
from tests.routers.test_erasure import Planting, plant


@pytest.fixture
def ring(tenant: Tenant) -> Iterator[KeyRing]:
    ring = tenant.services.uow.ring
    ring.given = (SealingKey.fresh(),)
    yield ring
    ring.given = ()


async def exported(api: httpx.AsyncClient, user_id: str | None = None) -> str:
    path = "/v1/admin/export" if user_id is None else f"/v1/users/{user_id}/export"
    answer = await api.get(path)
    assert answer.is_success, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    return answer.text


async def imported(api: httpx.AsyncClient, text: str, user_id: str | None = None) -> dict[str, Any]:
    path = "/v1/admin/import" if user_id is None else f"/v1/users/{user_id}/import"
    done: dict[str, Any] = body_of(await api.post(path, content=text.encode()))
    return done


def by_line(text: str) -> list[str]:
    return text.splitlines()


async def test_a_tenant_goes_out_and_comes_in_the_same_byte_for_byte(
    learning_tenant: Tenant, other_tenant: Tenant
) -> None:
    api, other = await learning_tenant.client(), await other_tenant.client()
    await plant(api, Planting())
    await add(api, "Everybody likes tea.", shared=True)
    await api.put("/v1/keys/car.plate", json={"aliases": ["车牌"]})
    await learning_tenant.work()
    first = await exported(api)
    done = await imported(other, first)
    assert done["known"] == done["unreadable"] == 0
    await other_tenant.work()
    assert by_line(await exported(other)) == by_line(first)
    again = await imported(other, first)
    assert sum(again["stored"].values()) == 0
    assert by_line(await exported(other)) == by_line(first)


async def test_what_was_imported_is_found_by_words_and_meaning_and_counted(
    tenant: Tenant, api: httpx.AsyncClient, other_tenant: Tenant
) -> None:
    await add(api, "艾达住在里斯本。", key="user.city", value="里斯本")
    await say(api, "s", "My violin teacher moved to Porto.", user_id="ada")
    other = await other_tenant.client()
    await imported(other, await exported(api, "ada"), "ada")
    assert await texts_found(other, "里斯本", user_id="ada") == ["艾达住在里斯本。"]
    await other_tenant.work()
    hits = body_of(await other.post("/v1/messages/search", json={"query": "violin", "user_id": "ada"}))["results"]
    assert hits[0]["message"]["content"] == "My violin teacher moved to Porto."
    assert body_of(await other.get("/v1/admin/stats"))["memories"] == {"active": 1}
    assert body_of(await other.get("/v1/users/ada/facts/user.city"))["value"] == "里斯本"


async def test_history_and_supersession_come_along(
    tenant: Tenant, api: httpx.AsyncClient, other_tenant: Tenant
) -> None:
    for city in ("Faro", "Lisbon"):
        await api.put("/v1/users/ada/facts/user.city", json={"value": city})
    other = await other_tenant.client()
    await imported(other, await exported(api, "ada"), "ada")
    (old, new) = sorted(await every(other, "/v1/memories", status="superseded"), key=str) + await every(
        other, "/v1/memories"
    )
    assert old["superseded_by"] == new["id"]
    told = body_of(await other.get(f"/v1/memories/{old['id']}/history"))["results"]
    assert [event["action"] for event in told] == ["added", "superseded"]


async def test_an_import_that_broke_off_is_completed_by_sending_it_again(
    tenant: Tenant, api: httpx.AsyncClient, other_tenant: Tenant
) -> None:
    items = [{"text": f"Fact {number}", "user_id": "ada"} for number in range(300)]
    body_of(await api.post("/v1/memories", json={"memories": items}), 202)
    other = await other_tenant.client()
    whole = await exported(api)
    lines = whole.splitlines(keepends=True)
    broken = "".join(lines[:250]) + '{"table": "mem'
    problem = problem_of(await other.post("/v1/admin/import", content=broken), 422, "bad_import_line")
    assert "Line 251" in problem["detail"]
    done = await imported(other, whole)
    assert done["known"] > 0
    assert by_line(await exported(other)) == by_line(whole)


async def test_many_memories_go_out_and_come_in_the_same(
    tenant: Tenant, api: httpx.AsyncClient, other_tenant: Tenant, full_size: bool
) -> None:
    count = 100_000 if full_size else 2_000
    for start in range(0, count, 1_000):
        items = [{"text": f"Fact {n} 事实", "user_id": f"u{n % 7}"} for n in range(start, start + 1_000)]
        assert (await api.post("/v1/memories", json={"memories": items})).status_code == 202
    other = await other_tenant.client()
    whole = await exported(api)
    assert whole.count('{"table":"memories"') == count
    await imported(other, whole)
    assert await exported(other) == whole


async def test_sealed_memories_are_sealed_anew_where_they_arrive(
    tenant: Tenant, api: httpx.AsyncClient, other_tenant: Tenant, ring: KeyRing
) -> None:
    made = await add(api, "the gate code is heliotrope", sensitive=True, metadata={"a": 1})
    whole = await exported(api)
    assert "heliotrope" in whole
    ring.given = (SealingKey.fresh(),)
    other = await other_tenant.client()
    await imported(other, whole)
    read = body_of(await other.get(f"/v1/memories/{made['id']}"))
    assert (read["text"], read["metadata"], read["sensitive"]) == ("the gate code is heliotrope", {"a": 1}, True)
    assert await exported(other) == whole


async def test_an_export_without_the_scope_holds_no_sealed_content_and_is_refused_where_it_would_arrive(
    tenant: Tenant, api: httpx.AsyncClient, other_tenant: Tenant, ring: KeyRing
) -> None:
    await add(api, "the gate code is heliotrope", sensitive=True)
    scopes = ["admin", "memories:read", "sessions:read"]
    made = body_of(await api.post("/v1/admin/keys", json={"name": "x", "role": "admin", "scopes": scopes}), 201)
    whole = await exported(tenant.bare({"X-API-Key": made["key"]}))
    assert "heliotrope" not in whole
    other = await other_tenant.client()
    problem_of(await other.post("/v1/admin/import", content=whole), 422, "bad_import_line")


async def test_memories_of_another_system_are_kept_as_imported(tenant: Tenant, api: httpx.AsyncClient) -> None:
    lines = [
        {"text": "Ada prefers tea.", "occurred_at": "2024-01-31T12:00:00Z", "metadata": {"from": "elsewhere"}},
        {"text": "艾达喜欢喝茶。"},
    ]
    done = await imported(api, "\n".join(json.dumps(line) for line in lines), "ada")
    assert done["stored"] == {"memories": 2}
    found = await every(api, "/v1/memories", user_id="ada")
    assert {memory["source"] for memory in found} == {"imported"}
    assert found[1]["occurred_at"].startswith("2024-01-31")
    for path in ("/v1/users/ada/import", "/v1/admin/import"):
        problem_of(await api.post(path, content=b""), 422, "nothing_to_import")
    bad = await api.post("/v1/users/ada/import", content='{"text": "x", "nothing": 1}')
    assert "Line 1" in problem_of(bad, 422, "bad_import_line")["detail"]


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        '{"table": "api_keys", "row": {}}',
        '{"table": "users", "row": {"id": "ada", "tenant_id": "x"}}',
        '{"table": "users", "row": {"id": 5, "first_seen_at": "2024-01-01T00:00:00+00:00"}}',
        '{"table": "users", "row": {"id": "ada"}}',
        '{"table": "messages", "row": []}',
        '{"format": "mnemic-export", "version": 99}',
    ],
)
async def test_a_line_that_is_none_is_refused_and_named(api: httpx.AsyncClient, line: str) -> None:
    answer = await api.post("/v1/admin/import", content=line)
    assert "Line 1" in problem_of(answer, 422, "bad_import_line")["detail"]


async def test_one_users_import_brings_nothing_to_another(tenant: Tenant, api: httpx.AsyncClient) -> None:
    await open_session(api, "s", user_id="bob")
    text = await exported(api, "bob")
    assert "another user" in problem_of(await api.post("/v1/users/ada/import", content=text), 422)["detail"]


async def test_exports_and_imports_are_for_unbound_administrators(tenant: Tenant, api: httpx.AsyncClient) -> None:
    await add(api, "Tea.")
    for client in (await tenant.client("member"), await tenant.client("admin", ["ada"])):
        problem_of(await client.get("/v1/users/ada/export"), 403)
        problem_of(await client.get("/v1/admin/export"), 403)
        problem_of(await client.post("/v1/admin/import", content=""), 403)
        problem_of(await client.post("/v1/users/ada/import", content=""), 403)
    problem_of(await api.get("/v1/users/nobody/export"), 404, "user_not_found")
    told = body_of(await api.get("/v1/admin/audit", params={"action": "export_user"}))["results"]
    assert told == []
    await exported(api, "ada")
    told = body_of(await api.get("/v1/admin/audit", params={"action": "export_user"}))["results"]
    assert len(told) == 1


async def test_what_was_exported_before_an_erasure_brings_the_user_back(tenant: Tenant, api: httpx.AsyncClient) -> None:
    await say(api, "s", "Hello there.", user_id="ada")
    await add(api, "Tea.")
    kept = await exported(api, "ada")
    body_of(await api.delete("/v1/users/ada"), 202)
    await tenant.work()
    await imported(api, kept, "ada")
    assert by_line(await exported(api, "ada")) == by_line(kept)


async def test_governing_alone_neither_exports_nor_imports_texts(tenant: Tenant, api: httpx.AsyncClient) -> None:
    await add(api, "Ada likes tea. 艾达爱喝茶。")
    line = json.dumps({"text": "艾达爱喝茶。"}, ensure_ascii=False)
    paths = [("GET", "/v1/users/ada/export"), ("GET", "/v1/admin/export"), ("POST", "/v1/users/ada/import"),
             ("POST", "/v1/admin/import")]  # fmt: skip
    for scopes, allowed in (
        (["admin"], set[str]()),
        (["admin", "memories:read"], set[str]()),
        (["admin", "memories:read", "sessions:read"], {"GET"}),
        (["admin", "memories:write", "sessions:write"], {"POST"}),
    ):
        body = {"name": "governor", "role": "admin", "scopes": scopes}
        made = body_of(await api.post("/v1/admin/keys", json=body), 201)
        client = tenant.bare({"Authorization": f"Bearer {made['key']}"})
        for method, path in paths:
            content = line.encode() if method == "POST" else None
            headers = {"Content-Type": "application/x-ndjson"} if content else {}
            answer = await client.request(method, path, content=content, headers=headers)
            if method in allowed:
                assert answer.status_code in {200, 422}, answer.text
            else:
                problem_of(answer, 403, "missing_scope")
