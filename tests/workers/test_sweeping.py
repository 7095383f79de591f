"""What the broom finds and what it leaves."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from app.core import clock, ids
from app.repositories.base import Row
from app.repositories.owners import OwnerChange
from app.services import sweeping
from app.services.sweeping import Sweeping
from tests.workers.conftest import Desk, GatedModel


@pytest.fixture
def impatient(desk: Desk) -> Desk:
    """Whatever has waited at all has waited too long."""
    desk.tenant.services = replace(desk.services, sweeping=Sweeping(desk.services.uow, timedelta(0)))
    return desk


async def sweep(desk: Desk) -> dict[str, Any]:
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        job_id = await tx.jobs.enqueue("sweep", "tenant", clock.now())
    job: Row = await desk.run(job_id)
    assert job["state"] == "succeeded", job["error"]
    result: dict[str, Any] = job["result"]
    return result


async def embed_jobs(desk: Desk) -> list[Row]:
    return await desk.jobs(kind="embed_messages")


async def kill(desk: Desk, model: GatedModel, job_id: UUID) -> None:
    model.broken = True
    for _ in range(desk.services.settings.job_max_attempts):
        await desk.run(job_id)
    model.broken = False


async def test_lagging_session_is_queued_again(impatient: Desk) -> None:
    await impatient.append("s", "text")
    await impatient.sql("DELETE FROM jobs WHERE tenant_id = $1", impatient.tenant.id)
    assert (await sweep(impatient))["sessions"] == 1
    await impatient.tenant.work()
    assert await impatient.vectors() == 1
    assert (await sweep(impatient))["sessions"] == 0


async def test_session_that_has_just_moved_is_left_in_peace(desk: Desk) -> None:
    await desk.append("s", "text")
    await desk.sql("DELETE FROM jobs WHERE tenant_id = $1", desk.tenant.id)
    assert (await sweep(desk))["sessions"] == 0


async def test_session_whose_job_waits_is_not_queued_again(impatient: Desk) -> None:
    await impatient.append("s", "text")
    assert (await sweep(impatient))["sessions"] == 0
    assert len(await embed_jobs(impatient)) == 1


async def test_session_whose_job_died_is_left_until_it_moves_again(impatient: Desk, model: GatedModel) -> None:
    await impatient.append("s", "one")
    await kill(impatient, model, (await embed_jobs(impatient))[0]["id"])
    assert (await sweep(impatient))["sessions"] == 0
    await impatient.append("s", "two")
    await impatient.sql("DELETE FROM jobs WHERE tenant_id = $1 AND state = 'queued'", impatient.tenant.id)
    assert (await sweep(impatient))["sessions"] == 1
    await impatient.tenant.work()
    assert sorted(model.passages) == ["one", "two"]


async def test_session_whose_job_was_cancelled_is_left_too(impatient: Desk) -> None:
    await impatient.append("s", "one")
    await impatient.api.post(f"/v1/jobs/{(await embed_jobs(impatient))[0]['id']}/cancel")
    assert (await sweep(impatient))["sessions"] == 0


async def test_sessions_left_to_a_person_do_not_hide_those_that_lag(
    impatient: Desk, model: GatedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "MANY", 2)
    for session in ("a", "b", "c"):
        await impatient.append(session, "text")
    for job in await embed_jobs(impatient):
        await impatient.api.post(f"/v1/jobs/{job['id']}/cancel")
    await impatient.append("lost", "text")
    await impatient.sql("DELETE FROM jobs WHERE tenant_id = $1 AND state = 'queued'", impatient.tenant.id)
    assert (await sweep(impatient))["sessions"] == 1


async def test_queued_job_that_the_dispatcher_forgot_is_woken(impatient: Desk) -> None:
    await impatient.append("s", "text")
    job_id = (await embed_jobs(impatient))[0]["id"]
    await impatient.sql("DELETE FROM pgqueuer")
    assert (await sweep(impatient))["jobs"] == 1
    assert len(await impatient.calls(job_id)) == 1
    assert (await sweep(impatient))["jobs"] == 0


async def test_running_job_that_the_dispatcher_forgot_is_woken(impatient: Desk) -> None:
    await impatient.append("s", "text")
    job_id = (await embed_jobs(impatient))[0]["id"]
    await impatient.claim(job_id)
    await impatient.sql("DELETE FROM pgqueuer")
    assert (await sweep(impatient))["jobs"] == 1
    assert (await impatient.run(job_id))["state"] == "succeeded"


async def test_job_in_the_hands_of_a_worker_is_not_woken(impatient: Desk) -> None:
    await impatient.append("s", "text")
    job_id = (await embed_jobs(impatient))[0]["id"]
    await impatient.claim(job_id)
    await impatient.sql("UPDATE pgqueuer SET status = 'picked'")
    assert (await sweep(impatient))["jobs"] == 0


async def test_job_that_rests_before_its_retry_is_not_woken(impatient: Desk) -> None:
    async with impatient.services.uow.begin_tenant(impatient.tenant.id) as tx:
        await tx.jobs.enqueue("embed_messages", "s", clock.now(), delay=timedelta(hours=1))
    await impatient.sql("DELETE FROM pgqueuer")
    assert (await sweep(impatient))["jobs"] == 0


async def test_known_jobs_do_not_hide_forgotten_ones(impatient: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "MANY", 2)
    for session in ("a", "b", "c", "forgotten"):
        await impatient.append(session, "text")
    forgotten = (await embed_jobs(impatient))[-1]["id"]
    payload = f"{impatient.tenant.id}:{forgotten}".encode()
    await impatient.sql("DELETE FROM pgqueuer WHERE payload = $1", payload)
    assert (await sweep(impatient))["jobs"] == 1
    assert len(await impatient.calls(forgotten)) == 1


async def test_old_answers_are_forgotten_and_fresh_ones_kept(desk: Desk) -> None:
    body = {"role": "user", "content": "text"}
    for key in ("old", "fresh"):
        await desk.api.post("/v1/sessions/s/messages", json=body, headers={"Idempotency-Key": key})
        if key == "old":
            await desk.age(idempotency_keys="created_at")
    assert (await sweep(desk))["answers"] == 1
    kept = await desk.sql("SELECT key FROM idempotency_keys WHERE tenant_id = $1", desk.tenant.id)
    assert [row["key"] for row in kept] == ["fresh"]


async def test_old_records_of_success_are_forgotten_and_dead_letters_kept(desk: Desk, model: GatedModel) -> None:
    await desk.append("well", "text")
    await desk.tenant.work()
    await desk.append("badly", "text")
    await kill(desk, model, (await desk.jobs(state="queued"))[0]["id"])
    await sweep(desk)
    assert len(await desk.jobs()) == 3
    await desk.age(jobs="finished_at")
    await sweep(desk)
    assert [(job["kind"], job["state"]) for job in await desk.jobs()] == [
        ("embed_messages", "dead"),
        ("sweep", "succeeded"),
    ]


async def test_dispatchers_old_log_is_dropped(desk: Desk) -> None:
    await desk.append("s", "text")
    await desk.sql("UPDATE pgqueuer_log SET created = created - interval '2 hours'")
    await desk.append("s2", "text")
    await sweep(desk)
    oldest = await desk.sql("SELECT now() - min(created) AS age, count(*) AS n FROM pgqueuer_log")
    assert oldest[0]["age"] < timedelta(hours=1)
    assert oldest[0]["n"] >= 2


async def test_tick_queues_one_sweep_for_each_tenant(desk: Desk) -> None:
    other = await desk.services.access.tenant(f"other-{ids.new_id()}")
    await desk.services.sweeping.tick()
    await desk.services.sweeping.tick()
    for tenant_id in (desk.tenant.id, other):
        async with desk.services.uow.begin_tenant(tenant_id) as tx:
            assert [job["state"] for job in await tx.jobs.page({"kind": "sweep"}, None, 10)] == ["queued"]


async def test_tenant_whose_sweep_cannot_be_queued_does_not_stop_the_others(desk: Desk) -> None:
    younger = await desk.services.access.tenant(f"younger-{ids.new_id()}")
    database = desk.services.uow.database
    hasty = replace(database, limits=replace(database.limits, lock_seconds=0.2))
    tick = Sweeping(replace(desk.services.uow, database=hasty), timedelta(0)).tick
    await tick()
    async with desk.services.uow.begin_tenant(younger) as tx:
        (job,) = await tx.jobs.page({"kind": "sweep"}, None, 10)
        await tx.jobs.cancel(job["id"], clock.now())
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        await tx.jobs.enqueue("sweep", "tenant", clock.now())  # its row stays locked
        await tick()
    async with desk.services.uow.begin_tenant(younger) as tx:
        assert [job["state"] for job in await tx.jobs.page({"kind": "sweep"}, None, 10)] == ["queued", "cancelled"]


async def test_counters_that_are_not_what_the_rows_say_are_repaired_some_at_a_time(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "OWNERS_AT_ONCE", 1)
    for user in ("ada", "bob"):
        added = await desk.api.post("/v1/memories", json={"user_id": user, "text": "我喜欢喝茶。"})
        assert added.status_code == 201
    await desk.append("s", "first")
    owners = ["s:s", "u:ada", "u:bob"]
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        assert await tx.owners.differing(owners) == []
        await tx.owners.lock_and_change("u:ada", OwnerChange(memories=3, messages=1))
        await tx.owners.lock_and_change("u:bob", OwnerChange(memory_tokens=-1))
        await tx.owners.lock_and_change("s:s", OwnerChange(messages=-1))
        assert await tx.owners.differing(owners) == owners
    assert [(await sweep(desk))["recounted"] for _ in range(5)] == [1, 1, 1, 0, 0]
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        assert await tx.owners.differing(owners) == []


def test_a_sweep_counts_no_more_rows_than_it_may_unless_one_owner_has_more() -> None:
    most = sweeping.ROWS_AT_ONCE
    assert sweeping._portion([("a", most + 1), ("b", 1)]) == ["a"]
    assert sweeping._portion([("a", most - 1), ("b", 1), ("c", 1)]) == ["a", "b"]
    assert sweeping._portion([]) == []
