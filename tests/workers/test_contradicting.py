"""Many conversations of one person at once, each saying something else: one thing is true in the end."""

import asyncio
from typing import Any

import pytest

from app.workers.runner import JobRunner
from tests.conftest import Tenant
from tests.routers.calls import body_of, every, say

ADA = {"user_id": "ada"}


@pytest.fixture
def tenant(learning_tenant: Tenant) -> Tenant:
    """A fresh tenant of a service that learns from what is appended."""
    return learning_tenant


@pytest.mark.parametrize(
    ("sentence", "value"), [("I live in {}.", "Town{}"), ("我住在{}。", "{}号镇")], ids=["en", "zh"]
)
async def test_parallel_sessions_that_contradict_each_other_leave_one_current_value_and_a_whole_history(
    api: Any, tenant: Tenant, full_size: bool, sentence: str, value: str
) -> None:
    count = 50 if full_size else 8
    values = [value.format(number) for number in range(count)]
    for number, name in enumerate(values):
        at = f"2026-03-01T00:{number:02d}:00Z"
        await say(api, f"s{number}", sentence.format(name), **ADA, occurred_at=at)
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        jobs = [job["id"] for job in await tx.jobs.page({"state": "queued"}, None, 200) if job["kind"] == "extract"]
    assert len(jobs) == count
    runner = JobRunner(tenant.services)
    await asyncio.gather(*(runner.run(tenant.id, job) for job in reversed(jobs)))
    await tenant.work()
    current = await every(api, "/v1/memories", **ADA)
    assert [memory["value"] for memory in current] == [values[-1]], "the newest statement holds, in whichever order"
    past = await every(api, "/v1/memories", **ADA, status="superseded")
    assert sorted(memory["value"] for memory in [*current, *past]) == sorted(values)
    for memory in past:
        history = body_of(await api.get(f"/v1/memories/{memory['id']}/history"))["results"]
        assert [event["action"] for event in history] == ["added", "superseded"]
        assert memory["valid_from"] < memory["valid_to"]
        assert memory["superseded_by"] is not None
    assert len({(memory["valid_from"], memory["valid_to"]) for memory in past}) == count - 1
