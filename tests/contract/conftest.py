"""Tenants full of things that nobody else may see."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
import pytest

from app.composition import Services
from app.core import clock
from tests.conftest import Tenant, tenant_of

CANARY = "CANARY7f3a金丝雀"
"""Stands in everything of the user ada."""


@dataclass
class Planted:
    """The ids of what was planted."""

    tenant: Tenant
    other: Tenant
    owner: httpx.AsyncClient
    ids: dict[str, str] = field(default_factory=dict)


@pytest.fixture(scope="module")
async def planted(services: Services, app: Any) -> AsyncIterator[Planted]:
    """One of each kind of resource, all of them ada's, all of them with the canary in every text.

    Made once: no test of this folder changes any of it, and each looks that it has not.
    """
    tenant = await tenant_of(services, app)
    other = await tenant_of(services, app)
    api = await tenant.client()
    ids = await plant(services, tenant, api, "ada", CANARY)
    await tenant.work()
    yield Planted(tenant, other, api, ids)
    await tenant.close()
    await other.close()


async def plant(
    services: Services, tenant: Tenant, api: httpx.AsyncClient, user: str, canary: str, bait: str = "tea"
) -> dict[str, str]:
    """One of each kind of resource for a user, with the canary in every text and the bait where one searches.

    The ids are returned by the names that paths have for them. The tenant's jobs are still to be run.
    """
    session, thing = f"{user}-session", {"c": canary}
    ids = {"session_id": session, "user_id": user, "label": "human", "key": "user.city", "seq": "1"}
    ids |= {"name": "archival_memory_search", "model_id": "1"}
    await _made(api, "POST", "/v1/sessions", {"id": session, "user_id": user, "title": canary})
    message = {"role": "user", "content": canary, "metadata": thing}
    await _made(api, "POST", f"/v1/sessions/{session}/messages", message)
    await _made(api, "PUT", f"/v1/sessions/{session}/state", {"state": thing})
    memory = {"text": f"{canary} {bait}", "user_id": user, "metadata": thing}
    ids["memory_id"] = (await _made(api, "POST", "/v1/memories", memory))["id"]
    history = (await api.get(f"/v1/memories/{ids['memory_id']}/history")).json()
    ids["event_id"] = history["results"][0]["id"]
    await _made(api, "PUT", f"/v1/users/{user}/facts/user.city", {"value": canary})
    await _made(api, "PUT", f"/v1/blocks/human?user_id={user}", {"text": canary, "description": canary})
    await _made(api, "PATCH", f"/v1/users/{user}", {"metadata": thing})
    ids |= await _checkpoints(api, user, canary, bait)
    ids["key_id"] = (await _made(api, "POST", "/v1/admin/keys", {"name": canary, "user_ids": [user]}))["id"]
    ids |= await _procedures(api, user, canary, bait)
    ids["job_id"] = (await api.get("/v1/jobs", params={"subject": session})).json()["results"][0]["id"]
    async with services.uow.begin_tenant(tenant.id) as tx:
        await tx.conflicts.open(UUID(ids["memory_id"]), [UUID(ids["memory_id"])], canary, clock.now())
        conflicts = await tx.conflicts.page(None, 100, clock.now())
    ids["conflict_id"] = max(str(conflict["id"]) for conflict in conflicts)
    ids["erasure_id"] = (await api.delete(f"/v1/users/nobody-like-{user}")).json()["id"]
    ids["dream_id"] = (await _made(api, "POST", f"/v1/users/{user}/dream", {"dry_run": True}))["dream_id"]
    return ids


async def _checkpoints(api: httpx.AsyncClient, user: str, canary: str, bait: str) -> dict[str, str]:
    thread = f"{user}-thread"
    opaque = {"thread_id": thread, "checkpoint_id": "c1", "type": "m", "document": "eA==", "user_id": user}
    metadata = {"metadata": {"c": canary, "run_id": f"{user}-run"}}
    await _made(api, "PUT", "/v1/checkpoints", opaque | metadata)
    write = {"idx": 0, "channel": canary, "type": "m", "data": "eA=="}
    place = {"thread_id": thread, "checkpoint_id": "c1", "task_id": canary}
    await _made(api, "POST", "/v1/checkpoints/writes", place | {"writes": [write]})
    item = {"op": "put", "namespace": [user], "key": "k", "value": {"c": canary, "text": bait}}
    await _made(api, "POST", "/v1/store/batch", {"ops": [item], "user_id": user})
    kept = {"state": {"c": canary}, "label": canary}
    made = await _made(api, "POST", f"/v1/sessions/{user}-session/checkpoints", kept)
    await _made(api, "PUT", f"/v1/sessions/{user}-session/checkpoints/steps/{user}-step", {"output": canary})
    return {"checkpoint_id": made["id"], "step_id": f"{user}-step"}


async def _procedures(api: httpx.AsyncClient, user: str, canary: str, bait: str) -> dict[str, str]:
    procedure = {"title": canary, "when_to_use": f"{canary} {bait}", "body": canary, "user_id": user}
    kept = await _made(api, "POST", "/v1/procedures", procedure)
    attempt = {"task": f"{canary} {bait}", "outcome": "failure", "evaluation": canary, "user_id": user}
    learnt: Any = await _made(api, "POST", "/v1/experiences", attempt)
    return {"procedure_id": kept["id"], "lesson_id": learnt["lesson"]["id"]}


async def _made(api: httpx.AsyncClient, method: str, path: str, body: dict[str, object]) -> dict[str, str]:
    answer = await api.request(method, path, json=body)
    assert answer.is_success, answer.text
    return answer.json()
