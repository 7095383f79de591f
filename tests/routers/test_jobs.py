"""Jobs: looked at, waited for, cancelled, run again."""

import asyncio
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app.providers.embeddings.base import EmbeddingUnavailable
from app.services.vectorising import Vectorising
from tests.conftest import Tenant
from tests.routers.calls import body_of, every, problem_of, say


async def queued(client: httpx.AsyncClient, session_id: str = "s", **fields: Any) -> dict[str, Any]:
    """A job that waits."""
    await say(client, session_id, "hello", **fields)
    jobs = await every(client, "/v1/jobs", subject=session_id, state="queued")
    assert len(jobs) == 1
    return jobs[0]


async def test_appends_gather_in_one_waiting_job(api: httpx.AsyncClient) -> None:
    first = await queued(api)
    again = await queued(api)
    assert again["id"] == first["id"]
    assert (first["kind"], first["subject"], first["attempts"]) == ("embed_messages", "s", 0)
    assert first["state"] == first["status"] == "queued"
    assert body_of(await api.get(f"/v1/jobs/{first['id']}"))["id"] == first["id"]


async def test_lists_take_kind_state_and_subject(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await queued(api, "a")
    await tenant.work()
    await queued(api, "b")
    for query, subjects in (
        ({}, ["b", "a"]),
        ({"state": "queued"}, ["b"]),
        ({"state": "succeeded"}, ["a"]),
        ({"subject": "a"}, ["a"]),
        ({"kind": "sweep"}, []),
        ({"kind": "embed_messages"}, ["b", "a"]),
    ):
        assert [job["subject"] for job in await every(api, "/v1/jobs", limit=1, **query)] == subjects, query
    for query in ({"kind": "x"}, {"state": "x"}):
        problem_of(await api.get("/v1/jobs", params=query), 422, "invalid")


async def test_waiting_ends_with_the_job(api: httpx.AsyncClient, tenant: Tenant) -> None:
    job = await queued(api)
    waiting = asyncio.create_task(api.get(f"/v1/jobs/{job['id']}", params={"wait": 30}))
    await asyncio.sleep(0)
    await tenant.work()
    done = body_of(await waiting)
    assert (done["state"], done["attempts"], done["error"]) == ("succeeded", 1, None)
    assert done["finished_at"] >= done["started_at"] >= done["created_at"]


async def test_waiting_in_vain_is_a_202(api: httpx.AsyncClient) -> None:
    job = await queued(api)
    assert body_of(await api.get(f"/v1/jobs/{job['id']}", params={"wait": 0.2}), 202)["state"] == "queued"
    for wait in ("61", "-1", "x", "nan", "inf"):
        problem_of(await api.get(f"/v1/jobs/{job['id']}", params={"wait": wait}), 422, "invalid")


async def test_waiting_holds_no_connection(api: httpx.AsyncClient, tenant: Tenant) -> None:
    job = await queued(api)
    waits = [asyncio.create_task(api.get(f"/v1/jobs/{job['id']}", params={"wait": 20})) for _ in range(40)]
    for number in range(10):
        await say(api, "t", f"m{number}")
    await tenant.work()
    assert {answer.status_code for answer in await asyncio.gather(*waits)} == {200}


async def test_a_cancelled_job_is_not_run_and_can_be_run_again(api: httpx.AsyncClient, tenant: Tenant) -> None:
    job = await queued(api)
    path = f"/v1/jobs/{job['id']}"
    cancelled = body_of(await api.post(f"{path}/cancel"))
    assert cancelled["state"] == "cancelled"
    assert cancelled["finished_at"] is not None
    assert await tenant.work() == 0
    assert body_of(await api.get(path, params={"wait": 5}))["state"] == "cancelled"
    problem_of(await api.post(f"{path}/cancel"), 409, "job_finished")
    assert body_of(await api.post(f"{path}/retry"))["state"] == "queued"
    problem_of(await api.post(f"{path}/retry"), 409, "job_not_retryable")
    await tenant.work()
    assert body_of(await api.get(path))["state"] == "succeeded"
    problem_of(await api.post(f"{path}/cancel"), 409, "job_finished")
    problem_of(await api.post(f"{path}/retry"), 409, "job_not_retryable")


async def test_a_job_is_not_run_again_beside_a_younger_one(api: httpx.AsyncClient) -> None:
    job = await queued(api)
    body_of(await api.post(f"/v1/jobs/{job['id']}/cancel"))
    await queued(api)
    problem_of(await api.post(f"/v1/jobs/{job['id']}/retry"), 409, "job_waiting")
    assert body_of(await api.get(f"/v1/jobs/{job['id']}"))["state"] == "cancelled"


async def test_a_job_that_always_fails_dies_after_its_attempts_and_can_be_run_again(
    api: httpx.AsyncClient, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise EmbeddingUnavailable("no luck")

    job = await queued(api)
    with monkeypatch.context() as broken:
        broken.setattr(Vectorising, "messages", fail)
        assert await tenant.work() == tenant.services.settings.job_max_attempts
    dead = body_of(await api.get(f"/v1/jobs/{job['id']}", params={"wait": 5}))
    assert (dead["state"], dead["attempts"]) == ("dead", tenant.services.settings.job_max_attempts)
    assert dead["error"].startswith("EmbeddingUnavailable")
    again = body_of(await api.post(f"/v1/jobs/{job['id']}/retry"))
    assert (again["state"], again["attempts"]) == ("queued", 0)
    await tenant.work()
    assert body_of(await api.get(f"/v1/jobs/{job['id']}"))["state"] == "succeeded"


async def test_an_absent_job_is_a_404(api: httpx.AsyncClient) -> None:
    path = f"/v1/jobs/{uuid4()}"
    for response in (await api.get(path), await api.post(f"{path}/cancel"), await api.post(f"{path}/retry")):
        problem_of(response, 404, "job_not_found")
    problem_of(await api.get("/v1/jobs/x"), 422, "invalid")


async def test_a_bound_key_sees_the_jobs_of_its_user_only(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await queued(api, "hers", user_id="ada")
    await queued(api, "his", user_id="bob")
    bob = await tenant.client("member", ["bob"])
    assert [job["subject"] for job in await every(bob, "/v1/jobs")] == ["his"]
