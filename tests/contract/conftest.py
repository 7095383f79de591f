"""A tenant full of things that nobody else may see."""

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
    ids = {"session_id": "ada-session", "user_id": "ada", "label": "human", "key": "user.city", "seq": "1"}
    ids["name"] = "archival_memory_search"
    ids["model_id"] = "1"
    await _made(api, "POST", "/v1/sessions", {"id": "ada-session", "user_id": "ada", "title": CANARY})
    message = {"role": "user", "content": CANARY, "metadata": {"c": CANARY}}
    await _made(api, "POST", "/v1/sessions/ada-session/messages", message)
    await _made(api, "PUT", "/v1/sessions/ada-session/state", {"state": {"c": CANARY}})
    memory = {"text": f"{CANARY} tea", "user_id": "ada", "metadata": {"c": CANARY}}
    ids["memory_id"] = (await _made(api, "POST", "/v1/memories", memory))["id"]
    history = (await api.get(f"/v1/memories/{ids['memory_id']}/history")).json()
    ids["event_id"] = history["results"][0]["id"]
    await _made(api, "PUT", "/v1/users/ada/facts/user.city", {"value": CANARY})
    await _made(api, "PUT", "/v1/blocks/human?user_id=ada", {"text": CANARY, "description": CANARY})
    await _made(api, "PATCH", "/v1/users/ada", {"metadata": {"c": CANARY}})
    ids |= await _checkpoints(api)
    key = await _made(api, "POST", "/v1/admin/keys", {"name": CANARY, "user_ids": ["ada"]})
    ids["key_id"] = key["id"]
    ids |= await _procedures(api)
    jobs = (await api.get("/v1/jobs", params={"subject": "ada-session"})).json()["results"]
    ids["job_id"] = jobs[0]["id"]
    async with services.uow.begin_tenant(tenant.id) as tx:
        await tx.conflicts.open(UUID(ids["memory_id"]), [UUID(ids["memory_id"])], CANARY, clock.now())
        (conflict,) = await tx.conflicts.page(None, 1)
    ids["conflict_id"] = str(conflict["id"])
    ids["erasure_id"] = (await api.delete("/v1/users/nobody-at-all")).json()["id"]
    ids["dream_id"] = (await _made(api, "POST", "/v1/users/ada/dream", {"dry_run": True}))["dream_id"]
    await tenant.work()
    yield Planted(tenant, other, api, ids)
    await tenant.close()
    await other.close()


async def _checkpoints(api: httpx.AsyncClient) -> dict[str, str]:
    opaque = {"thread_id": "ada-thread", "checkpoint_id": "c1", "type": "m", "document": "eA==", "user_id": "ada"}
    metadata = {"metadata": {"c": CANARY, "run_id": "ada-run"}}
    await _made(api, "PUT", "/v1/checkpoints", opaque | metadata)
    write = {"idx": 0, "channel": CANARY, "type": "m", "data": "eA=="}
    place = {"thread_id": "ada-thread", "checkpoint_id": "c1", "task_id": CANARY}
    await _made(api, "POST", "/v1/checkpoints/writes", place | {"writes": [write]})
    item = {"op": "put", "namespace": ["ada"], "key": "k", "value": {"c": CANARY, "text": "tea"}}
    await _made(api, "POST", "/v1/store/batch", {"ops": [item], "user_id": "ada"})
    kept = {"state": {"c": CANARY}, "label": CANARY}
    made = await _made(api, "POST", "/v1/sessions/ada-session/checkpoints", kept)
    await _made(api, "PUT", "/v1/sessions/ada-session/checkpoints/steps/ada-step", {"output": CANARY})
    return {"checkpoint_id": made["id"], "step_id": "ada-step"}


async def _procedures(api: httpx.AsyncClient) -> dict[str, str]:
    procedure = {"title": CANARY, "when_to_use": f"{CANARY} tea", "body": CANARY, "user_id": "ada"}
    kept = await _made(api, "POST", "/v1/procedures", procedure)
    attempt = {"task": f"{CANARY} tea", "outcome": "failure", "evaluation": CANARY, "user_id": "ada"}
    learnt: Any = await _made(api, "POST", "/v1/experiences", attempt)
    return {"procedure_id": kept["id"], "lesson_id": learnt["lesson"]["id"]}


async def _made(api: httpx.AsyncClient, method: str, path: str, body: dict[str, object]) -> dict[str, str]:
    answer = await api.request(method, path, json=body)
    assert answer.is_success, answer.text
    return answer.json()
