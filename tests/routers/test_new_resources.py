"""Facts, keys, blocks, state, users, the caller and administration."""

import httpx
import pytest

from tests.conftest import Tenant


async def test_a_fact_has_one_current_value_and_the_old_one_stays_in_history(api: httpx.AsyncClient) -> None:
    first = await api.put("/v1/users/ada/facts/%E5%B1%85%E4%BD%8F%E5%9C%B0", json={"value": "柏林"})
    assert first.status_code == 201, first.text
    assert first.json()["key"] == "user.city"
    second = await api.put("/v1/users/ada/facts/home.location", json={"value": "Lisbon"})
    assert second.status_code == 200
    assert (await api.get("/v1/users/ada/facts/city")).json()["value"] == "Lisbon"
    old = (await api.get(f"/v1/memories/{first.json()['memory_id']}")).json()
    assert (old["status"], old["superseded_by"]) == ("superseded", second.json()["memory_id"])
    found = await api.post("/v1/memories/search", json={"query": "Lisbon", "user_id": "ada"})
    assert [hit["key"] for hit in found.json()["results"]] == ["user.city"]
    assert (await api.delete("/v1/users/ada/facts/user.city")).status_code == 204
    assert (await api.get("/v1/users/ada/facts/user.city")).status_code == 404


async def test_facts_are_listed_by_prefix(api: httpx.AsyncClient) -> None:
    for key in ("project.database", "project.owner", "preference.editor"):
        await api.put(f"/v1/users/ada/facts/{key}", json={"value": key})
    listed = (await api.get("/v1/users/ada/facts", params={"prefix": "project.", "limit": 1})).json()
    assert [fact["key"] for fact in listed["results"]] == ["project.database"]
    rest = (await api.get("/v1/users/ada/facts", params={"prefix": "project.", "cursor": listed["next_cursor"]})).json()
    assert [fact["key"] for fact in rest["results"]] == ["project.owner"]


async def test_a_tenants_own_key_gives_its_aliases_to_facts(api: httpx.AsyncClient) -> None:
    put = await api.put("/v1/keys/user.car", json={"aliases": ["座驾", "My Car"]})
    assert put.json() == {
        "key": "user.car",
        "aliases": ["my.car", "座驾"],
        "multi_valued": False,
        "description": None,
        "built_in": False,
    }
    await api.put("/v1/users/ada/facts/座驾", json={"value": "Saab"})
    assert (await api.get("/v1/users/ada/facts/my-car")).json()["value"] == "Saab"
    assert (await api.get("/v1/keys")).json()["results"][0]["key"] == "user.car"


async def test_state_is_patched_compared_and_restored(api: httpx.AsyncClient) -> None:
    await api.post("/v1/sessions", json={"id": "s"})
    assert (await api.get("/v1/sessions/s/state")).json()["version"] == 0
    task = {"task": {"goal": "Book", "pending_steps": ["hotel"]}, "free": 1}
    put = await api.put("/v1/sessions/s/state", json={"state": task, "version": 0})
    assert (put.status_code, put.headers["etag"]) == (200, '"1"')
    patched = await api.patch(
        "/v1/sessions/s/state",
        json={"patch": {"free": None, "environment": {"os": "linux"}}},
        headers={"If-Match": '"1"'},
    )
    assert patched.json()["state"] == {"task": task["task"], "environment": {"os": "linux"}}
    stale = await api.put("/v1/sessions/s/state", json={"state": {}, "version": 1})
    assert (stale.status_code, stale.json()["current_version"]) == (412, 2)
    wrong = await api.patch("/v1/sessions/s/state", json={"patch": {"task": {"done_steps": "x"}}})
    assert wrong.status_code == 422
    restored = await api.post("/v1/sessions/s/state/restore", json={"to_version": 1})
    assert restored.json()["state"] == task
    versions = (await api.get("/v1/sessions/s/state/history")).json()["results"]
    assert [version["version"] for version in versions] == [3, 2, 1]


async def test_a_block_is_appended_to_replaced_in_and_limited(api: httpx.AsyncClient) -> None:
    at = "/v1/blocks/human?user_id=ada"
    assert (await api.put(at, json={"text": "Ada.", "limit": 40})).status_code == 201
    assert (await api.patch(at, json={"append": "Likes tea."})).json()["text"] == "Ada.\nLikes tea."
    replaced = await api.patch(at, json={"replace": {"old": "tea", "new": "茶"}})
    assert replaced.json()["text"] == "Ada.\nLikes 茶."
    twice = await api.patch(at, json={"replace": {"old": ".", "new": "!"}})
    assert (twice.status_code, twice.json()["code"]) == (422, "old_text_not_unique")
    full = await api.patch(at, json={"append": "x" * 40})
    assert (full.status_code, full.json()["code"]) == (422, "block_full")
    history = (await api.get("/v1/blocks/human/history?user_id=ada")).json()["results"]
    assert [version["version"] for version in history] == [3, 2, 1]
    assert (await api.get("/v1/blocks/human")).status_code == 404
    assert (await api.delete(at)).status_code == 204


async def test_a_bound_key_reads_shared_blocks_and_writes_only_its_own(tenant: Tenant, api: httpx.AsyncClient) -> None:
    bound = await tenant.client("member", ["ada"])
    await api.put("/v1/blocks/persona", json={"text": "Kind."})
    assert (await bound.get("/v1/blocks/persona")).status_code == 200
    assert (await bound.put("/v1/blocks/persona", json={"text": "Rude."})).status_code == 403
    assert (await bound.put("/v1/blocks/human?user_id=ada", json={"text": "Ada"})).status_code == 201
    await api.put("/v1/blocks/human?user_id=bob", json={"text": "Bob"})
    assert (await bound.get("/v1/blocks/human?user_id=bob")).status_code == 404


async def test_merging_users_moves_everything_and_keeps_one_of_what_both_have(
    api: httpx.AsyncClient, tenant: Tenant
) -> None:
    for user in ("ada", "ada-old"):
        await api.post("/v1/memories", json={"text": "我喜欢喝茶。", "user_id": user})
    await api.post("/v1/memories", json={"text": "Rows every morning.", "user_id": "ada-old"})
    await api.post("/v1/sessions/s/messages", json={"role": "user", "content": "hello there", "user_id": "ada-old"})
    await tenant.work()
    merged = await api.post("/v1/users/ada/merge", json={"from_user_id": "ada-old"})
    assert (merged.status_code, merged.json()["superseded"]) == (200, 1)
    listed = (await api.get("/v1/memories?user_id=ada")).json()["results"]
    assert sorted(memory["text"] for memory in listed) == ["Rows every morning.", "我喜欢喝茶。"]
    found = await api.post("/v1/memories/search", json={"query": "hello", "user_id": "ada", "include_messages": True})
    assert found.json()["results"][0]["text"] == "hello there"
    assert (await api.get("/v1/users/ada-old")).status_code == 404
    assert (await api.get("/v1/sessions/s")).json()["user_id"] == "ada"


async def test_a_users_zone_can_be_set(api: httpx.AsyncClient) -> None:
    changed = await api.patch("/v1/users/ada", json={"timezone": "Asia/Shanghai"})
    assert changed.json()["timezone"] == "Asia/Shanghai"
    assert (await api.patch("/v1/users/ada", json={"timezone": "Mars/Base"})).status_code == 422
    assert [user["id"] for user in (await api.get("/v1/users")).json()["results"]] == ["ada"]


async def test_me_says_whose_key_it_is(tenant: Tenant) -> None:
    bound = await tenant.client("reader", ["ada"])
    me = (await bound.get("/v1/me")).json()
    assert (me["role"], me["user_ids"], me["tenant_id"]) == ("reader", ["ada"], str(tenant.id))


async def test_an_admin_makes_lists_and_revokes_keys(tenant: Tenant, api: httpx.AsyncClient) -> None:
    made = (await api.post("/v1/admin/keys", json={"name": "agent", "role": "member", "user_ids": ["ada"]})).json()
    client = tenant.bare({"X-API-Key": made["key"]})
    assert (await client.get("/v1/me")).json()["user_ids"] == ["ada"]
    assert made["id"] in {key["id"] for key in (await api.get("/v1/admin/keys")).json()["results"]}
    assert (await client.get("/v1/admin/keys")).status_code == 403
    assert (await api.delete(f"/v1/admin/keys/{made['id']}")).status_code == 204
    assert (await client.get("/v1/me")).status_code == 401


@pytest.mark.parametrize("asked", [{"role": "operator"}, {"role": "reader", "scopes": ["admin"]}])
async def test_no_key_gives_more_rights_than_it_has(api: httpx.AsyncClient, asked: dict[str, object]) -> None:
    assert (await api.post("/v1/admin/keys", json={"name": "x", **asked})).status_code == 403


async def test_an_operator_reaches_other_tenants_and_an_admin_does_not(tenant: Tenant, api: httpx.AsyncClient) -> None:
    operator = await tenant.client("operator")
    name = f"acme-{tenant.id}"
    assert (await operator.post("/v1/admin/tenants", json={"name": name})).status_code == 201
    assert (await operator.post("/v1/admin/tenants", json={"name": name})).status_code == 409
    made = await operator.post(f"/v1/admin/keys?tenant={name}", json={"name": "theirs", "role": "admin"})
    assert made.status_code == 201
    assert made.json()["tenant_id"] != str(tenant.id)
    assert (await api.get("/v1/admin/tenants")).status_code == 403
    assert (await api.get(f"/v1/admin/keys?tenant={name}")).status_code == 403


async def test_tenant_settings_take_effect_at_once(api: httpx.AsyncClient) -> None:
    await api.patch("/v1/admin/settings", json={"timezone": "Asia/Tokyo", "default_session_ttl": 3600})
    session = (await api.post("/v1/sessions", json={})).json()
    assert session["timezone"] == "Asia/Tokyo"
    assert session["expires_at"] is not None
    await api.patch("/v1/admin/settings", json={"default_session_ttl": None})
    assert (await api.get("/v1/admin/settings")).json()["default_session_ttl"] is None


async def test_stats_count_what_a_tenant_has(api: httpx.AsyncClient) -> None:
    await api.post("/v1/sessions/s/messages", json={"role": "user", "content": "hi", "user_id": "ada"})
    await api.post("/v1/memories", json={"text": "x", "user_id": "ada"})
    stats = (await api.get("/v1/admin/stats")).json()
    assert (stats["users"], stats["sessions"], stats["messages"], stats["memories"]) == (1, 1, 1, {"active": 1})


async def test_a_default_life_longer_than_dates_reach_is_refused(api: httpx.AsyncClient) -> None:
    for name in ("default_memory_ttl", "default_session_ttl"):
        assert (await api.patch("/v1/admin/settings", json={name: 2**62})).status_code == 422
