"""Expiry, maintenance and consolidation as jobs: queued by the sweep, killed in the middle, never done twice."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import time_machine

from app.core import clock
from app.domain.calibration import Calibration
from app.services.forgetting import consolidating, expiring, maintaining
from app.services.forgetting.joining import Joiner
from app.services.vectorising import JobRun
from app.uow import Transaction
from tests.doubles.embeddings import HashedModel
from tests.workers.conftest import Desk

ADA = {"user_id": "ada"}


@pytest.fixture
def alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the model, texts are near enough to each other for their words to decide."""
    monkeypatch.setattr(HashedModel, "calibration", Calibration(low=-1.0, high=1.0, duplicate=0.1))


@contextmanager
def later(days: float) -> Iterator[None]:
    with time_machine.travel(clock.now() + timedelta(days=days), tick=True):
        yield


async def add(desk: Desk, *texts: str, **fields: Any) -> list[str]:
    """Memories of Ada's, in one call; their ids."""
    body = {"memories": [{"text": text, **ADA, **fields} for text in texts]}
    answer = await desk.api.post("/v1/memories", json=body)
    assert answer.status_code == 201, answer.text
    return [one["id"] for one in answer.json()["results"]]


async def sweep(desk: Desk) -> dict[str, Any]:
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        job_id = await tx.jobs.enqueue("sweep", "tenant", clock.now())
    job = await desk.run(job_id)
    assert job["state"] == "succeeded", job["error"]
    result: dict[str, Any] = job["result"]
    return result


async def queued(desk: Desk, kind: str, subject: str) -> UUID:
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        return await tx.jobs.enqueue(kind, subject, clock.now())  # type: ignore[arg-type]


async def statuses(desk: Desk, ids: list[str]) -> list[str | None]:
    rows = await desk.sql("SELECT id, status FROM memories WHERE tenant_id = $1", desk.tenant.id)
    found = {str(row["id"]): row["status"] for row in rows}
    return [found.get(one) for one in ids]


async def rows_of(desk: Desk) -> list[dict[str, Any]]:
    """Every memory, but what no undoing brings back; how many sources, words and vectors each has."""
    columns = "to_jsonb(m) - 'version' - 'updated_at' AS columns"
    counts = ", ".join(
        f"(SELECT count(*) FROM {table} t WHERE t.tenant_id = m.tenant_id AND t.memory_id = m.id) AS {table}"
        for table in ("memory_sources", "memory_postings", "memory_vectors")
    )
    statement = f"SELECT {columns}, {counts} FROM memories m WHERE tenant_id = $1 ORDER BY id"
    return [dict(row) for row in await desk.sql(statement, desk.tenant.id)]


async def counters(desk: Desk) -> tuple[int, int]:
    (row,) = await desk.sql(
        "SELECT memory_count, memory_tokens FROM owner_stats WHERE tenant_id = $1 AND owner = 'u:ada'", desk.tenant.id
    )
    (true,) = await desk.sql(
        "SELECT count(*) AS n, coalesce(sum(length), 0) AS l FROM memories "
        "WHERE tenant_id = $1 AND owner = 'u:ada' AND status IN ('active', 'disputed')",
        desk.tenant.id,
    )
    assert (row["memory_count"], row["memory_tokens"]) == (true["n"], true["l"])
    return row["memory_count"], row["memory_tokens"]


async def undo(desk: Desk, job_id: UUID) -> None:
    answer = await desk.api.post("/v1/undo", json={"undo_id": str(job_id)})
    assert answer.status_code == 200, answer.text


class Killed(BaseException):
    """The process is gone: nothing is handed back, nothing is written any more."""


@contextmanager
def killed_at(monkeypatch: pytest.MonkeyPatch, count: int) -> Iterator[None]:
    """Lose the worker at its so many-th look at whether the job is still its own, within the transaction."""
    seen, true_check = [0], JobRun.check

    async def check(run: JobRun, tx: Transaction) -> None:
        await true_check(run, tx)
        seen[0] += 1
        if seen[0] == count:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(JobRun, "check", check)
        yield


async def lost(desk: Desk, job_id: UUID) -> None:
    with pytest.raises(Killed):
        await desk.runner.run(desk.tenant.id, job_id)
    assert (await desk.job(job_id))["state"] == "running"


async def test_what_is_past_its_time_is_marked_by_the_sweep_and_erased_after_its_grace(desk: Desk) -> None:
    gone = await add(desk, "the code is 4711", "验证码是四七一一", ttl=60)
    (kept,) = await add(desk, "the door is green")
    assert (await sweep(desk))["due"] == 0
    assert await desk.jobs(kind="expire") == []
    with later(1):
        await sweep(desk)
        (job,) = await desk.jobs(kind="expire")
        await desk.run(job["id"])
        assert await statuses(desk, [*gone, kept]) == ["expired", "expired", "active"]
        assert (await counters(desk))[0] == 1
    with later(29):
        await sweep(desk)
        assert await desk.jobs(kind="expire", state="queued") == []
    with later(32):
        await sweep(desk)
        (job,) = await desk.jobs(kind="expire", state="queued")
        done = await desk.run(job["id"])
        assert (done["result"]["expired"], done["result"]["erased"]) == (0, 2)
        assert await statuses(desk, [*gone, kept]) == [None, None, "active"]
        for table in ("memory_vectors", "memory_postings", "memory_events"):
            (row,) = await desk.sql(
                f"SELECT count(DISTINCT memory_id) AS n FROM {table} WHERE tenant_id = $1", desk.tenant.id
            )
            assert row["n"] == 1


async def test_what_was_deleted_is_erased_after_thirty_days(desk: Desk) -> None:
    (gone,) = await add(desk, "it rained")
    assert (await desk.api.delete(f"/v1/memories/{gone}")).status_code == 204
    for days, status in ((29, "deleted"), (31, None)):
        with later(days):
            await sweep(desk)
            await desk.tenant.work()
            assert await statuses(desk, [gone]) == [status]


async def test_a_sweep_that_is_killed_goes_on_and_is_undone_as_one(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiring, "AT_ONCE", 3)
    ids = await add(desk, *(f"note {n} 第{n}条" for n in range(10)), ttl=60)
    before, counted = await rows_of(desk), await counters(desk)
    with later(1):
        job_id = await queued(desk, "expire", "tenant")
        with killed_at(monkeypatch, 3):
            await lost(desk, job_id)
        assert sorted(await statuses(desk, ids)) == ["active"] * 4 + ["expired"] * 6
        job = await desk.run(job_id)
        assert (job["state"], job["attempts"], job["result"]["expired"]) == ("succeeded", 2, 4)
        assert set(await statuses(desk, ids)) == {"expired"}
        assert await counters(desk) == (0, 0)
        events = await desk.sql(
            "SELECT memory_id FROM memory_events WHERE tenant_id = $1 AND action = 'expired'", desk.tenant.id
        )
        assert len(events) == len({row["memory_id"] for row in events}) == 10
        await undo(desk, job_id)
        assert await rows_of(desk) == before
        assert await counters(desk) == counted


async def test_maintenance_that_is_killed_goes_on_and_is_undone_as_one(
    desk: Desk, alike: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintaining, "AT_ONCE", 4)
    ids = await add(desk, *(f"the bike was broken on day {n}" for n in range(10)), kind="episodic")
    await desk.tenant.work()
    before, counted = await rows_of(desk), await counters(desk)
    with later(200):
        job_id = await queued(desk, "maintain", "u:ada")
        with killed_at(monkeypatch, 2):
            await lost(desk, job_id)
        assert sorted(await statuses(desk, ids)).count("archived") == 4
        job = await desk.run(job_id)
        assert (job["state"], job["result"]["archived"]) == ("succeeded", 6)
        await desk.tenant.work()
        told = [
            one for row in await rows_of(desk) for one in json.loads(row["columns"])["metadata"].get("digest_of", [])
        ]
        assert len(told) == len(set(told)) == 8
        await undo(desk, job_id)
        assert [row for row in await rows_of(desk) if "digest_of" not in row["columns"]] == before
        assert await counters(desk) == counted


async def test_consolidation_that_is_killed_goes_on_and_sums_once(
    desk: Desk, alike: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consolidating, "AT_ONCE", 3)
    people = ("Mia", "Tom", "Lena", "小王")
    await add(desk, *(f"{one} usually drinks green tea in the morning." for one in people))
    await add(desk, *(f"In the morning {one} usually drinks green tea." for one in people))
    await desk.tenant.work()
    before, counted = await rows_of(desk), await counters(desk)
    job_id = await queued(desk, "consolidate", "u:ada")
    with killed_at(monkeypatch, 3):
        await lost(desk, job_id)
    job = await desk.run(job_id)
    assert job["state"] == "succeeded", job["error"]
    current = await desk.sql(
        "SELECT seen_count FROM memories WHERE tenant_id = $1 AND status = 'active'", desk.tenant.id
    )
    assert [row["seen_count"] for row in current] == [2] * 4
    assert (await counters(desk))[0] == 4
    await undo(desk, job_id)
    assert await rows_of(desk) == before
    assert await counters(desk) == counted


async def test_what_was_changed_meanwhile_is_not_merged(
    desk: Desk, alike: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    (old,) = await add(desk, "Mia usually drinks green tea in the morning.")
    (new,) = await add(desk, "In the morning Mia usually drinks green tea.")
    await desk.tenant.work()
    true_join = Joiner.join

    async def join(joiner: Joiner, kept: Any, others: Any) -> bool:
        answer = await desk.api.patch(f"/v1/memories/{old}", json={"text": "Mia drinks black coffee in the morning."})
        assert answer.status_code == 200
        return await true_join(joiner, kept, others)

    monkeypatch.setattr(Joiner, "join", join)
    job = await desk.run(await queued(desk, "consolidate", "u:ada"))
    assert (job["state"], job["result"]["merged"]) == ("succeeded", 0)
    assert await statuses(desk, [old, new]) == ["active", "active"]


async def test_an_owner_has_a_turn_a_day(desk: Desk) -> None:
    await add(desk, "it rained")
    assert (await sweep(desk))["due"] == 0
    assert (await sweep(desk))["due"] == 0
    with later(1.1):
        assert (await sweep(desk))["due"] == 1
        assert (await sweep(desk))["due"] == 0
        assert [job["subject"] for job in await desk.jobs(kind="maintain")] == ["u:ada"]
        assert await desk.jobs(kind="consolidate") == []
        await desk.api.patch("/v1/admin/settings", json={"consolidation": "auto"})
    with later(2.2):
        await sweep(desk)
        assert [job["subject"] for job in await desk.jobs(kind="consolidate")] == ["u:ada"]
