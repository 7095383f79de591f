"""The audit log: every change leaves a line, and a line that was touched is found."""

import json
from typing import Any

import httpx
import pytest

from app.db.embedded.server import EmbeddedServer
from tests.conftest import Tenant
from tests.databases import run_sql
from tests.routers.calls import add, body_of, open_session, problem_of, say


async def lines(api: httpx.AsyncClient, **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = body_of(await api.get("/v1/admin/audit", params=asked))["results"]
    return found


async def verdict(tenant: Tenant, api: httpx.AsyncClient, **anchor: Any) -> dict[str, Any]:
    await tenant.services.audit.seal(tenant.id)
    found: dict[str, Any] = body_of(await api.get("/v1/admin/audit/verify", params=anchor))
    return found


async def test_a_change_leaves_a_line_without_content_or_names(tenant: Tenant, api: httpx.AsyncClient) -> None:
    memory = await add(api, "Ada's secret garden 秘密花园", user_id="ada@example.org")
    await open_session(api, "session-of-ada", user_id="ada@example.org")
    (opened, added) = [one for one in await lines(api) if one["action"] in {"add_memories", "create_session"}]
    assert added["details"]["changed"]["memories.insert"] == 1
    assert added["subject"] == opened["subject"] is not None
    told = json.dumps(await lines(api), ensure_ascii=False)
    for word in ("garden", "秘密", "ada@example.org", "session-of-ada"):
        assert word not in told
    await api.patch(f"/v1/memories/{memory['id']}", json={"importance": 9})
    (changed,) = await lines(api, memory_id=memory["id"])
    assert (changed["action"], changed["resource_id"]) == ("change_memory", memory["id"])
    assert changed["actor"].startswith("key:")


async def test_lines_are_asked_for_by_user_and_session_as_the_client_names_them(
    tenant: Tenant, api: httpx.AsyncClient
) -> None:
    await say(api, "艾达%2F1", "你好", user_id="ada")
    await say(api, "bobs", "hello", user_id="bob")
    assert [one["action"] for one in await lines(api, user_id="bob")] == ["append_messages"]
    assert [one["action"] for one in await lines(api, session_id="艾达/1")] == ["append_messages"]
    both = await api.get("/v1/admin/audit", params={"session_id": "bobs", "memory_id": str(tenant.id)})
    problem_of(both, 422, "one_resource")


async def test_a_read_of_a_search_leaves_no_line_and_an_administrators_read_leaves_one(api: httpx.AsyncClient) -> None:
    await add(api, "Tea.")
    before = len(await lines(api))  # asking is told as well
    await api.post("/v1/memories/search", json={"query": "tea"})
    await api.get("/v1/memories")
    await api.get("/v1/admin/settings")
    await api.get("/v1/admin/keys")
    found = await lines(api)
    assert [one["action"] for one in found[: len(found) - before]] == [
        *("list_api_keys", "get_tenant_settings", "list_audit_lines")
    ]


async def test_changes_of_keys_and_settings_are_told(api: httpx.AsyncClient) -> None:
    made = body_of(await api.post("/v1/admin/keys", json={"name": "agent"}), 201)
    await api.patch("/v1/admin/settings", json={"timezone": "UTC"})
    await api.delete(f"/v1/admin/keys/{made['id']}")
    told = [(one["action"], one["details"].get("changed")) for one in await lines(api)]
    assert ("revoke_api_key", {"api_keys.update": 1}) in told
    assert ("change_tenant_settings", {"tenants.update": 1}) in told
    assert ("create_api_key", {"api_keys.insert": 1}) in told


async def test_what_a_job_learns_is_told_as_the_jobs_doing(learning_tenant: Tenant) -> None:
    api = await learning_tenant.client()
    await say(api, "s", "I am allergic to peanuts.", user_id="ada")
    await learning_tenant.work()
    (line,) = [one for one in await lines(api) if one["action"] == "job.extract"]
    assert line["actor"].startswith("job:")
    assert line["details"]["changed"]["memories.insert"] == 1
    assert line["subject"] == (await lines(api, user_id="ada"))[0]["subject"]


async def test_a_refused_or_failed_write_leaves_no_line(api: httpx.AsyncClient) -> None:
    await open_session(api, "taken", user_id="ada")
    assert (await api.post("/v1/sessions", json={"id": "taken"})).status_code == 409
    assert len([one for one in await lines(api) if one["action"] == "create_session"]) == 1


async def test_the_log_is_for_administrators(tenant: Tenant) -> None:
    for role, users in (("member", None), ("reader", None), ("admin", ["ada"])):
        client = await tenant.client(role, users)  # type: ignore[arg-type]
        for path in ("", "/export", "/verify"):
            problem_of(await client.get(f"/v1/admin/audit{path}"), 403)


async def test_a_log_that_nobody_touched_is_intact(tenant: Tenant, api: httpx.AsyncClient) -> None:
    for number in range(5):
        await add(api, f"Fact {number}")
    found = await verdict(tenant, api)
    assert (found["intact"], found["breaks"], found["checked"]) == (True, [], 5)
    again = await verdict(tenant, api, position=found["head"]["position"], hash=found["head"]["hash"])
    assert again["intact"]
    assert again["checked"] == 6  # the first look was told too


SWAP = """
UPDATE audit_log SET position = -position WHERE position IN (2, 3);
UPDATE audit_log SET position = 5 + position WHERE position < 0
"""


@pytest.mark.parametrize(
    ("tampering", "fault"),
    [
        ("UPDATE audit_log SET action = 'nothing' WHERE position = 3", "changed"),
        ("UPDATE audit_log SET created_at = created_at + interval '1 second' WHERE position = 3", "changed"),
        ("UPDATE audit_log SET details = '{}' WHERE position = 3", "changed"),
        ("DELETE FROM audit_log WHERE position = 3", "missing"),
        ("DELETE FROM audit_log WHERE position = 1", "missing"),
        ("DELETE FROM audit_log WHERE position = 5", "cut_off"),
        (SWAP, "out_of_order"),
    ],
)
async def test_a_line_that_was_changed_removed_or_moved_is_found(
    tenant: Tenant, api: httpx.AsyncClient, server: EmbeddedServer, tampering: str, fault: str
) -> None:
    for number in range(5):
        await add(api, f"Fact {number}")
    await tenant.services.audit.seal(tenant.id)
    own = tampering.replace("WHERE ", f"WHERE tenant_id = '{tenant.id}' AND ")
    await run_sql(server.superuser_dsn, own)
    found = body_of(await api.get("/v1/admin/audit/verify"))
    assert not found["intact"]
    assert fault in {one["fault"] for one in found["breaks"]}


async def test_a_log_written_anew_as_a_whole_is_found_by_a_hash_that_was_kept(
    tenant: Tenant, api: httpx.AsyncClient, server: EmbeddedServer
) -> None:
    for number in range(3):
        await add(api, f"Fact {number}")
    kept = (await verdict(tenant, api))["head"]
    forged = f"""
        UPDATE audit_log SET action = 'nothing', position = NULL, hash = NULL, previous_hash = NULL
        WHERE tenant_id = '{tenant.id}';
        DELETE FROM audit_heads WHERE tenant_id = '{tenant.id}'"""
    await run_sql(server.superuser_dsn, forged)
    assert (await verdict(tenant, api))["intact"], "the forger has done it well"
    assert not (await verdict(tenant, api, position=kept["position"], hash=kept["hash"]))["intact"]


async def test_the_service_itself_cannot_change_or_remove_a_line(
    tenant: Tenant, api: httpx.AsyncClient, server: EmbeddedServer
) -> None:
    await add(api, "Tea.")
    for statement in ("UPDATE audit_log SET action = 'x'", "DELETE FROM audit_log"):
        with pytest.raises(Exception, match="permission denied"):
            await run_sql(server.app_dsn, f"SET app.tenant = '{tenant.id}'; {statement}")


async def test_the_export_has_every_chained_line_in_order_and_goes_on_from_a_position(
    tenant: Tenant, api: httpx.AsyncClient
) -> None:
    for number in range(4):
        await add(api, f"Fact {number}")
    await tenant.services.audit.seal(tenant.id)
    answer = await api.get("/v1/admin/audit/export")
    assert answer.headers["content-type"] == "application/x-ndjson"
    rows = [json.loads(line) for line in answer.text.splitlines()]
    assert [row["position"] for row in rows] == [1, 2, 3, 4]
    assert [row["previous_hash"] for row in rows[1:]] == [row["hash"] for row in rows[:-1]]
    await tenant.services.audit.seal(tenant.id)
    rest = await api.get("/v1/admin/audit/export", params={"after_position": 4})
    assert [json.loads(line)["action"] for line in rest.text.splitlines()] == ["export_audit_log"]


async def test_a_tick_chains_what_was_written_since_the_last_one(tenant: Tenant, api: httpx.AsyncClient) -> None:
    await add(api, "Tea.")
    while not all(one["position"] for one in await lines(api, action="add_memories")):
        await tenant.services.audit.tick()
    assert (await lines(api, action="add_memories"))[0]["position"] == 1
