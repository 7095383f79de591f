"""Keys: limits, rotation, last use, and whoever tries out keys."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from app.composition import Services
from app.core import clock
from tests.conftest import Tenant, tenant_of
from tests.routers.calls import body_of, problem_of


@pytest.fixture
async def admin(tenant: Tenant) -> httpx.AsyncClient:
    return await tenant.client("admin")


@pytest.fixture
async def other(services: Services, app: Any) -> AsyncIterator[Tenant]:
    stranger = await tenant_of(services, app)
    yield stranger
    await stranger.close()


def holder(tenant: Tenant, key: str) -> httpx.AsyncClient:
    return tenant.bare({"Authorization": f"Bearer {key}"})


async def test_a_key_makes_as_many_calls_a_minute_as_it_may(tenant: Tenant, admin: httpx.AsyncClient) -> None:
    made = body_of(await admin.post("/v1/admin/keys", json={"name": "limited", "rate_limit": 3}), 201)
    client = holder(tenant, made["key"])
    for path in ("/v1/me", "/v1/memories", "/v1/me"):
        assert (await client.get(path)).status_code == 200
    refused = await client.post("/v1/memories/search", json={"query": "x"})
    problem_of(refused, 429, "rate_limited")
    assert 1 <= int(refused.headers["retry-after"]) <= 20
    problem_of(await client.get("/v1/me"), 429, "rate_limited")
    free = body_of(await admin.patch(f"/v1/admin/keys/{made['id']}", json={"rate_limit": None}))
    assert free["rate_limit"] is None
    assert (await client.get("/v1/me")).status_code == 200


async def test_a_rotated_key_works_until_the_overlap_is_over(
    tenant: Tenant, admin: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"name": "agent", "role": "reader", "user_ids": ["ada"], "rate_limit": 600}
    old = body_of(await admin.post("/v1/admin/keys", json=body), 201)
    new = body_of(await admin.post(f"/v1/admin/keys/{old['id']}/rotate", json={"overlap_seconds": 3600}), 201)
    for same in ("name", "role", "scopes", "user_ids", "rate_limit", "expires_at"):
        assert new[same] == old[same]
    for key in (old["key"], new["key"]):
        assert body_of(await holder(tenant, key).get("/v1/me"))["user_ids"] == ["ada"]
    later = clock.now() + timedelta(hours=1, seconds=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    problem_of(await holder(tenant, old["key"]).get("/v1/me"), 401, "invalid_key")
    assert (await holder(tenant, new["key"]).get("/v1/me")).status_code == 200
    problem_of(await admin.post(f"/v1/admin/keys/{old['id']}/rotate", json={}), 404, "key_not_found")


async def test_the_last_use_of_a_key_is_known_to_the_minute(tenant: Tenant, admin: httpx.AsyncClient) -> None:
    made = body_of(await admin.post("/v1/admin/keys", json={"name": "used"}), 201)
    assert made["last_used_at"] is None
    await holder(tenant, made["key"]).get("/v1/me")
    listed = body_of(await admin.get("/v1/admin/keys"))["results"]
    used = next(key["last_used_at"] for key in listed if key["id"] == made["id"])
    assert abs(datetime.fromisoformat(used) - clock.now()) < timedelta(minutes=2)


async def test_a_strangers_key_is_neither_changed_nor_rotated(admin: httpx.AsyncClient, other: Tenant) -> None:
    theirs = body_of(await (await other.client("admin")).post("/v1/admin/keys", json={"name": "theirs"}), 201)
    path = f"/v1/admin/keys/{theirs['id']}"
    problem_of(await admin.patch(path, json={"rate_limit": 1}), 404, "key_not_found")
    problem_of(await admin.post(f"{path}/rotate", json={}), 404, "key_not_found")


async def test_a_key_with_more_rights_is_neither_rotated_nor_changed_nor_closed(
    tenant: Tenant, admin: httpx.AsyncClient
) -> None:
    operator = await tenant.client("operator")
    theirs = body_of(await operator.post("/v1/admin/keys", json={"name": "op", "role": "operator"}), 201)
    path = f"/v1/admin/keys/{theirs['id']}"
    problem_of(await admin.post(f"{path}/rotate", json={}), 403, "beyond_own_rights")
    problem_of(await admin.patch(path, json={"rate_limit": 1}), 403, "beyond_own_rights")
    problem_of(await admin.delete(path), 403, "beyond_own_rights")
    assert (await operator.delete(path)).status_code == 204


async def test_an_address_that_shows_too_many_wrong_keys_is_told_to_wait(
    tenant: Tenant, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services.access, "wrong_keys_per_minute", 2)
    right = await tenant.key("reader")
    transport = httpx.ASGITransport(tenant.app, client=("203.0.113.7", 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as caller:

        async def shown(headers: dict[str, str]) -> httpx.Response:
            return await caller.get("/v1/me", headers=headers)

        answers = [await shown({"Authorization": f"Bearer mnk_wrong{number}"}) for number in range(4)]
        assert [answer.status_code for answer in answers] == [401, 401, 429, 429]
        assert int(answers[-1].headers["retry-after"]) >= 1
        assert (await shown({})).status_code == 401
        assert (await shown({"Authorization": f"Bearer {right}"})).status_code == 200


async def test_a_key_that_would_be_over_already_is_refused(admin: httpx.AsyncClient) -> None:
    past = (clock.now() - timedelta(seconds=1)).isoformat()
    problem_of(await admin.post("/v1/admin/keys", json={"name": "钥匙", "expires_at": past}), 422, "expires_in_past")
    soon = (clock.now() + timedelta(hours=1)).isoformat()
    made = body_of(await admin.post("/v1/admin/keys", json={"name": "key", "expires_at": soon}), 201)
    path = f"/v1/admin/keys/{made['id']}"
    problem_of(await admin.patch(path, json={"expires_at": past}), 422, "expires_in_past")
    assert body_of(await admin.patch(path, json={"expires_at": None}))["expires_at"] is None
