"""Administration takes a key that is bound to nobody; the registry of keys stays of one meaning."""

import httpx
import pytest

from app.domain.principal import Role
from tests.conftest import Tenant
from tests.routers.calls import add, body_of, problem_of

CALLS = [
    ("GET", "/v1/admin/keys", None),
    ("POST", "/v1/admin/keys", {"name": "x", "role": "reader", "user_ids": ["ada"]}),
    ("DELETE", "/v1/admin/keys/01980000-0000-7000-8000-000000000000", None),
    ("GET", "/v1/admin/tenants", None),
    ("POST", "/v1/admin/tenants", {"name": "x"}),
    ("PATCH", "/v1/admin/keys/01980000-0000-7000-8000-000000000000", {"rate_limit": 1}),
    ("POST", "/v1/admin/keys/01980000-0000-7000-8000-000000000000/rotate", {}),
    ("GET", "/v1/admin/embedding-models", None),
    ("POST", "/v1/admin/embedding-models", {"name": "x"}),
    ("GET", "/v1/admin/audit", None),
    ("GET", "/v1/admin/audit/export", None),
    ("GET", "/v1/admin/audit/verify", None),
    ("GET", "/v1/admin/export", None),
    ("POST", "/v1/admin/import", None),
    ("GET", "/v1/admin/stats", None),
    ("GET", "/v1/admin/quotas", None),
    ("PATCH", "/v1/admin/quotas", {"memories": 100}),
    ("GET", "/v1/admin/memory-health", None),
    ("GET", "/v1/admin/settings", None),
    ("PATCH", "/v1/admin/settings", {"timezone": "Asia/Shanghai"}),
    ("PUT", "/v1/keys/user.car", {"aliases": ["座驾"]}),
    ("DELETE", "/v1/keys/user.car", None),
    ("GET", "/metrics", None),
]


def test_every_operation_of_administration_is_called_here(tenant: Tenant) -> None:
    called = {(method.lower(), path.rpartition("/0198")[0] or path) for method, path, _ in CALLS}
    for path, operations in tenant.app.openapi()["paths"].items():
        if path.startswith("/v1/admin"):
            for method in operations:
                assert (method, path.partition("/{")[0]) in called


@pytest.mark.parametrize("role", ["admin", "operator"])
@pytest.mark.parametrize("users", [["ada"], ["ada", "bob"], []])
async def test_a_bound_key_does_not_administer(
    tenant: Tenant, api: httpx.AsyncClient, role: Role, users: list[str]
) -> None:
    bound = await tenant.client(role, users)
    for method, path, body in CALLS:
        problem_of(await bound.request(method, path, json=body), 403, "foreign_user")
    assert body_of(await api.get("/v1/admin/settings"))["timezone"] is None
    assert all(one["built_in"] for one in body_of(await api.get("/v1/keys"))["results"])


@pytest.mark.parametrize("alias", ["user.employer", "User Employer", "preference.programming_language", "user.car"])
async def test_an_alias_that_is_a_canonical_key_itself_is_a_422(api: httpx.AsyncClient, alias: str) -> None:
    body_of(await api.put("/v1/keys/user.car", json={"aliases": ["座驾"]}))
    problem_of(await api.put("/v1/keys/user.city", json={"aliases": ["town", alias]}), 422, "bad_key")
    assert [one["key"] for one in body_of(await api.get("/v1/keys"))["results"] if not one["built_in"]] == ["user.car"]


async def test_a_key_may_name_itself_and_its_aliases_again(api: httpx.AsyncClient) -> None:
    for _ in range(2):
        put = await api.put("/v1/keys/user.car", json={"aliases": ["座驾", "User Car"]})
        assert body_of(put)["aliases"] == ["座驾"]


async def test_a_change_that_leaves_a_value_without_a_key_is_a_422(api: httpx.AsyncClient) -> None:
    bare = await add(api, "Ada has a bicycle.")
    path = f"/v1/memories/{bare['id']}"
    problem_of(await api.patch(path, json={"value": 5}), 422)
    assert body_of(await api.patch(path, json={"value": 5, "key": "user.car"}))["value"] == 5
    problem_of(await api.patch(path, json={"key": None}), 422)
    changed = body_of(await api.patch(path, json={"key": None, "value": None}))
    assert (changed["key"], changed["value"]) == (None, None)
    assert body_of(await api.patch(path, json={"value": None, "importance": 2}))["importance"] == 2
