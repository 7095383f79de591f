"""How a run of a job ends: once, in its record, whatever happens."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from app.core import clock
from app.core.errors import Unavailable
from app.domain.jobs import backoff
from app.repositories.base import Row
from app.services.vectorising import WINDOW, JobRun
from app.workers.runner import JobRunner
from tests.workers.conftest import Desk, GatedModel, until


async def queued(desk: Desk, session: str = "s", text: str = "text") -> UUID:
    await desk.append(session, text)
    found: UUID = (await desk.jobs(state="queued"))[-1]["id"]
    return found


async def running(desk: Desk, model: GatedModel, job_id: UUID) -> asyncio.Task[Row]:
    """A run that has read its window and stands at the model's gate."""
    model.gate.clear()
    model.entered.clear()
    task = asyncio.create_task(desk.run(job_id))
    await model.entered.wait()
    return task


async def test_success_says_what_was_done(desk: Desk) -> None:
    await desk.append("s", "one", "two", "三")
    job = await desk.run((await desk.jobs())[0]["id"])
    assert (job["state"], job["attempts"], job["error"]) == ("succeeded", 1, None)
    assert job["result"] == {"embedded": 3}
    assert job["input_window"] == {"from_seq": 1, "to_seq": 3}
    assert job["finished_at"] is not None


@pytest.mark.parametrize("count", [WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW])
async def test_windows_are_read_to_the_end(desk: Desk, count: int) -> None:
    await desk.append("s", *(f"message {number}" for number in range(count)))
    job = await desk.run((await desk.jobs())[0]["id"])
    assert job["input_window"] == {"from_seq": 1, "to_seq": count}
    assert await desk.vectors() == count


async def test_failure_is_retried_with_growing_pauses_and_then_dead(desk: Desk, model: GatedModel) -> None:
    job_id = await queued(desk)
    model.broken = True
    limit = desk.services.settings.job_max_attempts
    pauses = []
    for attempt in range(1, limit):
        before = clock.now()
        job = await desk.run(job_id)
        assert (job["state"], job["attempts"]) == ("queued", attempt)
        assert "EmbeddingUnavailable" in job["error"]
        pauses.append(job["run_after"] - before)
    first = timedelta(seconds=desk.services.settings.job_backoff_seconds)
    for attempt, pause in enumerate(pauses, 1):
        assert pause >= backoff(attempt, first)
    dead = await desk.run(job_id)
    assert (dead["state"], dead["attempts"]) == ("dead", limit)
    assert "The model is broken." in dead["error"]
    model.broken = False
    assert dict(await desk.run(job_id)) == dict(dead)
    assert model.passages == []


def test_backoff_doubles_up_to_its_limit() -> None:
    first = timedelta(seconds=2)
    assert [backoff(n, first).total_seconds() for n in (1, 2, 3, 4)] == [2, 4, 8, 16]
    assert backoff(1000, first) == timedelta(minutes=10)


async def test_nothing_is_lost_while_the_model_is_down(desk: Desk, model: GatedModel) -> None:
    job_id = await queued(desk, text="早上好")
    model.broken = True
    await desk.run(job_id)
    await desk.append("s", "good morning")
    assert [job["id"] for job in await desk.jobs()] == [job_id]
    model.broken = False
    await desk.run(job_id)
    assert sorted(model.passages) == ["good morning", "早上好"]
    assert await desk.vectors() == 2


async def test_attempts_are_counted_on_claim_and_lost_workers_end_in_a_dead_letter(desk: Desk) -> None:
    job_id = await queued(desk)
    limit = desk.services.settings.job_max_attempts
    for attempt in range(1, limit + 1):
        assert (await desk.claim(job_id))["attempts"] == attempt
    dead = await desk.run(job_id)
    assert dead["state"] == "dead"
    assert dead["error"] == "The worker was lost in every attempt."


async def test_retry_that_meets_a_younger_job_ends_as_failed_and_the_younger_takes_over(
    desk: Desk, model: GatedModel
) -> None:
    older = await queued(desk, text="one")
    run = await running(desk, model, older)
    younger = await queued(desk, text="two")
    model.broken = True
    model.gate.set()
    assert (await run)["state"] == "failed"
    model.broken = False
    assert (await desk.run(younger))["result"] == {"embedded": 2}
    assert sorted(model.passages) == ["one", "two"]


async def test_retry_that_meets_a_younger_job_at_the_same_moment_ends_as_failed(desk: Desk, model: GatedModel) -> None:
    older = await queued(desk, text="one")
    run = await running(desk, model, older)
    model.broken = True
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        await tx.jobs.enqueue("embed_messages", "s", clock.now())
        model.gate.set()
        await until(desk.waits_for_a_lock)
    assert (await run)["state"] == "failed"
    assert [job["state"] for job in await desk.jobs()] == ["failed", "queued"]


async def test_cancelled_run_writes_nothing_any_more(desk: Desk, model: GatedModel) -> None:
    job_id = await queued(desk)
    run = await running(desk, model, job_id)
    assert (await desk.api.post(f"/v1/jobs/{job_id}/cancel")).json()["status"] == "cancelled"
    model.gate.set()
    assert (await run)["state"] == "cancelled"
    assert await desk.vectors() == 0
    assert (await desk.sql("SELECT embedded_seq FROM sessions WHERE tenant_id = $1", desk.tenant.id))[0][0] == 0


async def test_run_that_was_taken_over_writes_nothing(desk: Desk, model: GatedModel) -> None:
    job_id = await queued(desk)
    run = await running(desk, model, job_id)
    taken = JobRun.of(await desk.claim(job_id))
    model.gate.set()
    job = await run
    assert (job["state"], job["attempts"]) == ("running", 2)
    assert await desk.vectors() == 0
    await desk.services.vectorising.messages(taken)
    assert await desk.vectors() == 1


async def test_cancelled_run_writes_nothing_after_its_job_is_retried_by_hand(desk: Desk, model: GatedModel) -> None:
    job_id = await queued(desk)
    lost = await running(desk, model, job_id)
    await desk.api.post(f"/v1/jobs/{job_id}/cancel")
    await desk.api.post(f"/v1/jobs/{job_id}/retry")
    again = JobRun.of(await desk.claim(job_id))
    model.gate.set()
    job = await lost
    assert (job["state"], job["attempts"]) == ("running", again.fence.attempt) == ("running", 1)
    assert await desk.vectors() == 0


async def test_failed_run_that_was_taken_over_leaves_the_record_alone(desk: Desk, model: GatedModel) -> None:
    job_id = await queued(desk)
    run = await running(desk, model, job_id)
    await desk.claim(job_id)
    model.broken = True
    model.gate.set()
    job = await run
    assert (job["state"], job["attempts"], job["error"]) == ("running", 2, None)


async def test_run_of_a_deleted_session_ends_well(desk: Desk, model: GatedModel) -> None:
    job_id = await queued(desk)
    run = await running(desk, model, job_id)
    assert (await desk.api.delete("/v1/sessions/s")).status_code == 204
    model.gate.set()
    job = await run
    assert (job["state"], job["result"]) == ("succeeded", {"embedded": 0})
    assert await desk.vectors() == 0


async def test_text_that_changes_while_the_model_works_gets_no_stale_vector(desk: Desk, model: GatedModel) -> None:
    job_id = await queued(desk)
    run = await running(desk, model, job_id)
    change = "UPDATE messages SET text = 'other', content_hash = '\\x00' WHERE tenant_id = $1"
    await desk.sql(change, desk.tenant.id)
    model.gate.set()
    assert (await run)["result"] == {"embedded": 0}
    assert await desk.vectors() == 0


async def test_no_connection_is_held_while_the_model_works(desk: Desk, model: GatedModel) -> None:
    pool = desk.services.uow.database.engine.pool
    held: list[int] = []
    model.busy = lambda: held.append(pool.checkedout())
    await desk.append("s", "one", "二")
    await desk.api.post("/v1/memories", json={"text": "Ada prefers tea.", "user_id": "ada"})
    await desk.tenant.work()
    assert held
    assert set(held) == {0}


async def test_run_that_is_stopped_hands_its_job_back(desk: Desk, model: GatedModel) -> None:
    job_id = await queued(desk)
    run = await running(desk, model, job_id)
    calls = len(await desk.calls(job_id))
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert (await desk.job(job_id))["state"] == "queued"
    assert len(await desk.calls(job_id)) == calls + 1
    model.gate.set()
    assert (await desk.run(job_id))["state"] == "succeeded"
    assert model.passages == ["text"]


async def test_run_whose_end_cannot_be_written_says_so_to_its_caller(desk: Desk, model: GatedModel) -> None:
    job_id = await queued(desk)
    impatient = replace(desk.services.uow.database, limits=replace(desk.services.uow.database.limits, lock_seconds=0.2))
    uow = replace(desk.services.uow, database=impatient)
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        await tx.jobs.enqueue("embed_messages", "s", clock.now())
        with pytest.raises(Unavailable):
            await JobRunner(replace(desk.services, uow=uow)).run(desk.tenant.id, job_id)
    assert (await desk.job(job_id))["attempts"] == 0


async def test_unexpected_error_is_recorded_without_the_words_that_may_quote_stored_text(
    desk: Desk, model: GatedModel
) -> None:
    job_id = await queued(desk, text="my secret")

    def choke() -> None:
        raise ValueError("cannot embed 'my secret'")

    model.busy = choke
    job = await desk.run(job_id)
    assert (job["state"], job["error"]) == ("queued", "ValueError")


async def test_run_of_an_unknown_job_does_nothing(desk: Desk) -> None:
    await desk.runner.run(desk.tenant.id, UUID(int=7))


async def test_blank_messages_end_their_job(desk: Desk) -> None:
    body = {"role": "assistant", "tool_calls": [{"id": "1", "name": "now"}]}
    assert (await desk.api.post("/v1/sessions/s/messages", json=body)).status_code == 201
    assert await desk.tenant.work() == 1
    assert (await desk.jobs())[0]["state"] == "succeeded"
    assert await desk.vectors() == 0
