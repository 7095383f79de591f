"""How work gets into the queue: with the transaction that makes it, once, at its time."""

import asyncio
from datetime import timedelta

import httpx
import pytest

from app.core import clock
from app.repositories.jobs import JobBusy
from tests.workers.conftest import Desk, GatedModel, until


async def test_rolled_back_append_leaves_no_job_and_no_call(desk: Desk) -> None:
    async def fail() -> None:
        async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
            await tx.jobs.enqueue("embed_messages", "s", clock.now())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await desk.jobs() == []
    assert await desk.calls() == []


async def test_refused_append_leaves_no_job(desk: Desk) -> None:
    refused = await desk.api.post("/v1/sessions/s/messages", json={"role": "user", "content": "x", "expected_seq": 7})
    assert refused.status_code == 412
    assert await desk.jobs() == []
    assert await desk.calls() == []


async def test_ten_appends_queue_one_job_with_one_call(desk: Desk) -> None:
    await asyncio.gather(*(desk.append("s", f"第{number}条消息") for number in range(10)))
    assert [job["state"] for job in await desk.jobs()] == ["queued"]
    assert len(await desk.calls()) == 1
    assert await desk.tenant.work() == 1
    assert await desk.vectors() == 10


async def test_sessions_have_jobs_of_their_own(desk: Desk) -> None:
    await desk.append("one", "a")
    await desk.append("two", "b")
    assert {job["subject"] for job in await desk.jobs()} == {"one", "two"}


async def test_append_while_the_job_runs_queues_a_second_one(desk: Desk, model: GatedModel) -> None:
    await desk.append("s", "before")
    first = (await desk.jobs())[0]["id"]
    model.gate.clear()
    running = asyncio.create_task(desk.run(first))
    await model.entered.wait()
    await desk.append("s", "meanwhile")
    assert [job["state"] for job in await desk.jobs()] == ["running", "queued"]
    model.gate.set()
    await running
    assert await desk.tenant.work() == 1
    assert sorted(model.passages) == ["before", "meanwhile"]


async def test_claim_waits_for_the_commit_of_an_append_that_joined(desk: Desk, model: GatedModel) -> None:
    await desk.append("s", "first")
    job_id = (await desk.jobs())[0]["id"]
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        assert await tx.jobs.enqueue("embed_messages", "s", clock.now()) == job_id
        claim = asyncio.create_task(desk.claim(job_id))
        await until(desk.waits_for_a_lock)
        assert not claim.done()
    assert (await claim)["state"] == "running"


async def test_call_comes_due_after_the_delay(desk: Desk) -> None:
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        await tx.jobs.enqueue("embed_messages", "s", clock.now(), delay=timedelta(minutes=5))
    (call,) = await desk.calls()
    assert timedelta(minutes=4) < call["due"] <= timedelta(minutes=5)
    (job,) = await desk.jobs()
    assert job["run_after"] - job["created_at"] == timedelta(minutes=5)


async def test_queued_job_is_cancelled_and_never_runs(desk: Desk, model: GatedModel) -> None:
    await desk.append("s", "text")
    job_id = (await desk.jobs())[0]["id"]
    answer = await desk.api.post(f"/v1/jobs/{job_id}/cancel")
    assert answer.json()["status"] == "cancelled"
    assert (await desk.run(job_id))["state"] == "cancelled"
    assert model.passages == []


async def test_finished_job_cannot_be_cancelled(desk: Desk) -> None:
    await desk.append("s", "text")
    await desk.tenant.work()
    answer = await desk.api.post(f"/v1/jobs/{(await desk.jobs())[0]['id']}/cancel")
    assert (answer.status_code, answer.json()["code"]) == (409, "job_finished")


async def test_retried_job_is_called_again_and_counts_anew(desk: Desk, model: GatedModel) -> None:
    await desk.append("s", "text")
    job_id = (await desk.jobs())[0]["id"]
    await desk.api.post(f"/v1/jobs/{job_id}/cancel")
    before = len(await desk.calls(job_id))
    answer = await desk.api.post(f"/v1/jobs/{job_id}/retry")
    assert (answer.status_code, answer.json()["status"]) == (200, "queued")
    assert len(await desk.calls(job_id)) == before + 1
    assert (await desk.run(job_id))["attempts"] == 1
    assert model.passages == ["text"]


async def test_job_is_not_retried_beside_one_that_waits(desk: Desk, api: httpx.AsyncClient) -> None:
    await desk.append("s", "text")
    old = (await desk.jobs())[0]["id"]
    await api.post(f"/v1/jobs/{old}/cancel")
    await desk.append("s", "more")
    answer = await api.post(f"/v1/jobs/{old}/retry")
    assert (answer.status_code, answer.json()["code"]) == (409, "job_waiting")


async def test_second_job_of_a_subject_is_not_claimed_while_one_runs(desk: Desk) -> None:
    await desk.append("s", "one")
    await desk.claim((await desk.jobs())[0]["id"])
    await desk.append("s", "two")
    younger = (await desk.jobs())[1]["id"]
    with pytest.raises(JobBusy):
        await desk.claim(younger)
    before = len(await desk.calls(younger))
    assert (await desk.run(younger))["state"] == "queued"
    calls = await desk.calls(younger)
    assert len(calls) == before + 1
    assert max(call["due"] for call in calls) > timedelta(0)


async def test_an_erasure_is_called_before_conversations_and_these_before_the_rest(desk: Desk) -> None:
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        import_job = await tx.jobs.enqueue("reconcile", "an import", clock.now(), payload={"memory_ids": []})
    for number in range(3):
        await desk.append(f"s{number}", "我记得")
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        erasure = await tx.jobs.enqueue("erase", "ada", clock.now(), user_id="ada")
    ranks = {bytes(row["payload"]).decode().partition(":")[2]: row["priority"] for row in await desk.calls()}
    assert (ranks.pop(str(erasure)), ranks.pop(str(import_job))) == (2, 0)
    assert set(ranks.values()) == {1}
    assert len(ranks) == 3
