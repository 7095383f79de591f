"""A real worker on a real queue: woken, ticked, killed, cut off, stopped."""

import asyncio
import logging
import statistics
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
import structlog

from app.composition import compose, database
from app.core import clock
from app.core.errors import ConfigurationError
from app.db import embedded, migrate
from app.db.dsn import parse_dsn
from app.workers.worker import Worker
from tests.databases import create_database, drop_database, run_sql
from tests.workers.conftest import REGISTER, Desk, GatedModel, at_work, until

measured = logging.getLogger(__name__)
"""Shown by `pytest --log-cli-level=info`."""

pytestmark = pytest.mark.usefixtures("empty_queue")

LISTENERS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'mnemic-worker' AND query LIKE 'LISTEN%'"
CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'mnemic%'"


@asynccontextmanager
async def said() -> AsyncIterator[list[Any]]:
    """What is logged meanwhile, also by loggers that are bound already."""
    with structlog.testing.capture_logs() as lines:
        yield lines


async def embedded_all(desk: Desk, count: int) -> None:
    async def done() -> bool:
        unfinished = await desk.sql(
            "SELECT 1 FROM jobs WHERE tenant_id = $1 AND kind <> 'sweep' AND finished_at IS NULL", desk.tenant.id
        )
        return not unfinished and await desk.vectors() == count

    await until(done, 90)


async def test_committed_work_runs_within_moments(desk: Desk) -> None:
    took = []
    async with at_work(desk.services, worker_poll_seconds=5):
        await desk.append("warm", "text")
        await embedded_all(desk, 1)
        for number in range(10):
            started = clock.monotonic()
            await desk.append(f"s{number}", "text")
            await until(lambda: finished(desk))
            took.append(clock.monotonic() - started)
    measured.info("commit to end: median %.3f s, longest %.3f s", statistics.median(took), max(took))
    assert statistics.median(took) < 3  # the poll would take 5; a quiet machine takes a tenth of a second


async def finished(desk: Desk) -> bool:
    return all(job["finished_at"] for job in await desk.jobs(kind="embed_messages"))


async def test_deferred_work_runs_when_its_time_comes(desk: Desk) -> None:
    await desk.append("s", "text")
    await desk.sql("UPDATE pgqueuer SET execute_after = now() + interval '1 second'")
    async with at_work(desk.services, worker_poll_seconds=30):
        await embedded_all(desk, 1)


async def test_schedule_ticks_by_itself_and_sweeps_each_tenant(desk: Desk) -> None:
    other = await desk.services.access.tenant("ticked")

    async def swept() -> bool:
        statement = "SELECT count(DISTINCT tenant_id) FROM jobs WHERE kind = 'sweep' AND state = 'succeeded'"
        rows = await desk.sql(statement + " AND tenant_id = ANY($1)", [desk.tenant.id, other])
        return bool(rows[0][0] == 2)

    async with at_work(desk.services, sweep_seconds=1):
        await until(swept)


async def test_tick_heals_a_session_whose_job_was_lost(desk: Desk) -> None:
    await desk.append("s", "text")
    await desk.sql("DELETE FROM jobs WHERE tenant_id = $1", desk.tenant.id)
    await desk.age(sessions="updated_at")
    async with at_work(desk.services, sweep_seconds=1):
        await embedded_all(desk, 1)


async def test_job_of_a_killed_worker_runs_again_after_the_heartbeat_timeout(desk: Desk, model: GatedModel) -> None:
    await desk.append("s", "text")
    job_id = (await desk.jobs())[0]["id"]
    await desk.claim(job_id)
    await desk.sql("UPDATE pgqueuer SET status = 'picked', queue_manager_id = gen_random_uuid(), heartbeat = now()")
    started = clock.monotonic()
    async with at_work(desk.services, job_heartbeat_seconds=1):
        await embedded_all(desk, 1)
    assert clock.monotonic() - started > 0.9
    assert (await desk.job(job_id))["attempts"] == 2
    assert model.passages == ["text"]


async def test_job_that_takes_longer_than_the_heartbeat_timeout_is_not_run_twice(desk: Desk, model: GatedModel) -> None:
    model.gate.clear()
    async with at_work(desk.services, job_heartbeat_seconds=3), at_work(desk.services, job_heartbeat_seconds=3):
        await desk.append("s", "text")
        await model.entered.wait()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 4)
        model.gate.set()
        await embedded_all(desk, 1)
    assert (await desk.jobs(kind="embed_messages"))[0]["attempts"] == 1


async def test_failing_job_is_retried_by_the_worker_until_the_model_is_back(desk: Desk, model: GatedModel) -> None:
    model.broken = True
    async with at_work(desk.services):
        await desk.append("s", "text")
        await until(lambda: failed_once(desk))
        model.broken = False
        await embedded_all(desk, 1)


async def failed_once(desk: Desk) -> bool:
    return any(job["error"] for job in await desk.jobs())


async def test_two_workers_embed_every_message_once(desk: Desk, model: GatedModel) -> None:
    texts = [f"{session}-{number}" for session in range(12) for number in range(3)]
    async with at_work(desk.services), at_work(desk.services):
        await asyncio.gather(*(desk.append(f"s{text.split('-')[0]}", text) for text in texts))
        await embedded_all(desk, len(texts))
    assert sorted(model.passages) == sorted(texts)


@pytest.mark.parametrize("concurrency", [1, 2, 3])
async def test_no_more_jobs_run_at_once_than_configured(desk: Desk, model: GatedModel, concurrency: int) -> None:
    for session in range(concurrency + 3):
        await desk.append(f"s{session}", "text")
    at_once: list[int] = []

    async def running() -> bool:
        at_once.append(len(await desk.jobs(state="running")))
        return at_once[-1] == concurrency and len(at_once) > 10

    model.gate.clear()
    async with at_work(desk.services, worker_concurrency=concurrency, sweep_seconds=59):
        await until(running)
        model.gate.set()
        await embedded_all(desk, concurrency + 3)
    assert max(at_once) == concurrency


async def test_worker_outlives_the_loss_of_all_its_connections(desk: Desk, model: GatedModel) -> None:
    async with at_work(desk.services):
        await desk.append("before", "one")
        await embedded_all(desk, 1)
        await desk.sql(CUT)  # answered before the last backend is gone: a call may still meet one
        while (await desk.api.get("/v1/sessions", params={"limit": 1})).status_code == 503:
            pass
        await desk.append("after", "two")
        await embedded_all(desk, 2)
    assert sorted(model.passages) == ["one", "two"]


async def test_worker_outlives_a_cut_in_the_middle_of_a_job(desk: Desk, model: GatedModel) -> None:
    model.gate.clear()
    async with at_work(desk.services, job_heartbeat_seconds=1):
        await desk.append("s", "text")
        await model.entered.wait()
        await desk.sql(CUT)
        model.gate.set()
        await embedded_all(desk, 1)


async def test_worker_that_no_longer_listens_works_on_and_listens_again(desk: Desk, full_size: bool) -> None:
    if not full_size:
        pytest.skip("waits until the dispatcher looks after its connection, half a minute: make soak")
    async with at_work(desk.services):
        await until(lambda: desk.sql(LISTENERS))
        (lost,) = await desk.sql(LISTENERS)
        await desk.sql("SELECT pg_terminate_backend($1)", lost["pid"])
        await desk.append("s", "text")
        await embedded_all(desk, 1)

        async def another() -> bool:
            return any(row["pid"] != lost["pid"] for row in await desk.sql(LISTENERS))

        await until(another, 40)
        await desk.append("s", "more")
        await embedded_all(desk, 2)


@pytest.mark.timeout(180)
async def test_worker_waits_for_a_database_that_is_restarted(
    desk: Desk, server: embedded.EmbeddedServer, model: GatedModel, full_size: bool
) -> None:
    if not full_size:
        pytest.skip("waits for the dispatcher's own pauses, 40 seconds: make soak")
    model.gate.clear()
    async with at_work(desk.services, job_heartbeat_seconds=1, sweep_seconds=2):
        await desk.append("s", "one")
        await model.entered.wait()
        await asyncio.to_thread(server.postmaster.stop)
        model.gate.set()
        await asyncio.to_thread(server.restart)
        await desk.append("s", "two")
        await embedded_all(desk, 2)
    assert {"one", "two"} <= set(model.passages)


async def test_stop_lets_running_jobs_finish_and_takes_no_more(desk: Desk, model: GatedModel) -> None:
    model.gate.clear()
    async with at_work(desk.services, worker_concurrency=2, sweep_seconds=59) as worker:
        for session in range(5):
            await desk.append(f"s{session}", "text")
        await until(lambda: two_run(desk))
        worker.stop()
        model.gate.set()
    states = [job["state"] for job in await desk.jobs(kind="embed_messages")]
    assert sorted(states) == ["queued"] * 3 + ["succeeded"] * 2


async def two_run(desk: Desk) -> bool:
    return len(await desk.jobs(state="running")) == 2


async def test_job_that_does_not_finish_in_time_is_handed_back(desk: Desk, model: GatedModel) -> None:
    model.gate.clear()
    async with at_work(desk.services, shutdown_seconds=0.3) as worker:
        await desk.append("s", "text")
        await model.entered.wait()
        worker.stop()
    (job,) = await desk.jobs(kind="embed_messages")
    assert (job["state"], job["error"]) == ("queued", "The worker was stopped.")
    model.gate.set()
    async with at_work(desk.services):
        await embedded_all(desk, 1)


async def test_worker_that_is_stopped_before_it_is_ready_returns(desk: Desk) -> None:
    async with at_work(desk.services) as worker:
        worker.stop()


async def test_worker_that_waits_for_a_dead_database_can_be_stopped(desk: Desk) -> None:
    nowhere = desk.services.settings.model_copy(
        update={"database_url": type(desk.services.settings.database_url)("postgresql://u:p@127.0.0.1:9/none")}
    )
    store = database(nowhere, parse_dsn(nowhere.database_url.get_secret_value()))
    worker = Worker(compose(nowhere, store, GatedModel()))
    async with said() as lines:
        task = asyncio.create_task(worker.run())

        async def waits() -> bool:
            return bool(lines)

        await until(waits)
        worker.stop()
        await asyncio.wait_for(task, 10)
    assert [line["event"] for line in lines] == ["worker_waits"]
    await store.engine.dispose()


async def test_worker_waits_for_the_migrations_and_then_works(desk: Desk, server: embedded.EmbeddedServer) -> None:
    place = await create_database(server)
    changes = {
        name: type(desk.services.settings.database_url)(dsn)
        for name, dsn in (("database_url", place.app_dsn), ("migration_database_url", place.migrator_dsn))
    }
    settings = desk.services.settings.model_copy(update=changes)
    store = database(settings, parse_dsn(place.app_dsn))
    services = compose(settings, store, GatedModel())
    async with said() as lines, at_work(services):

        async def said_so() -> bool:
            return any("mnemic migrate" in line.get("reason", "") for line in lines)

        async def ready() -> bool:
            return any(line["event"] == "worker_ready" for line in lines)

        await until(said_so)
        await asyncio.to_thread(migrate.upgrade, place.migrator_dsn)
        await run_sql(place.migrator_dsn, REGISTER)
        await until(ready)
    assert 1 <= sum(line["event"] == "worker_waits" for line in lines) <= 3
    await store.engine.dispose()
    await drop_database(server, place)


async def test_worker_refuses_a_role_that_isolation_does_not_bind(desk: Desk) -> None:
    store = database(desk.services.settings, parse_dsn(desk.dsn))
    store = replace(store, role=None)
    with pytest.raises(ConfigurationError, match="is a superuser"):
        await Worker(compose(desk.services.settings, store, GatedModel())).run()
    await store.engine.dispose()


async def test_fault_of_our_own_is_not_taken_for_a_database_that_is_away(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("app.workers.worker.Worker._register", broken)
    with pytest.raises(RuntimeError, match="a fault of ours"):
        await Worker(desk.services).run()


async def test_idle_worker_sends_few_statements(desk: Desk) -> None:
    counter = "SELECT xact_commit + xact_rollback AS n FROM pg_stat_database WHERE datname = 'mnemic'"
    async with at_work(desk.services, worker_poll_seconds=1, sweep_seconds=59):
        await until(lambda: desk.sql(LISTENERS))
        await idle(1.5)
        sent, before = float("inf"), (await desk.sql(counter))[0]["n"]
        for _ in range(12):  # what others did before is told late, all at once: the calmest stretch is the worker's own
            await idle(1.5)
            now = (await desk.sql(counter))[0]["n"]
            sent, before = min(sent, (now - before) / 1.5), now
            if sent < 9:
                break
    measured.info("an idle worker sends %.1f statements a second", sent)
    assert sent < 9


async def idle(seconds: float) -> None:
    """What is measured here is time that passes."""
    await asyncio.sleep(seconds)


async def test_dispatcher_keeps_no_statistics_that_grow(desk: Desk) -> None:
    async with at_work(desk.services):
        await desk.append("s", "text")
        await embedded_all(desk, 1)
    assert (await desk.sql("SELECT count(*) FROM pgqueuer_statistics"))[0][0] == 0
