"""A message that arrives between a job's claim and its read, in every order that locks allow."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from app.core.metrics import Metrics
from app.domain.principal import Principal
from app.repositories.sessions import Lagging
from app.schemas.messages import MessageAppend
from app.services.messages import MessageService
from app.services.redacting import Redacting
from app.services.remembering import Remembering
from app.uow import Transaction, UnitOfWork
from tests.workers.conftest import Desk, GatedModel, until


class SlowOwners:
    """The step of an append after it has its numbers and before it queues its job."""

    def __init__(self, owners: Any, append: "SlowAppend") -> None:
        self._owners, self._append = owners, append

    async def lock_and_change(self, *arguments: Any) -> int:
        self._append.numbered.set()
        await self._append.may_queue.wait()
        version: int = await self._owners.lock_and_change(*arguments)
        return version


@dataclass
class SlowAppend:
    """An append that stops twice: with its numbers taken, and with all written but not committed."""

    uow: UnitOfWork
    numbered: asyncio.Event = field(default_factory=asyncio.Event)
    may_queue: asyncio.Event = field(default_factory=asyncio.Event)
    written: asyncio.Event = field(default_factory=asyncio.Event)
    may_commit: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def begin(self, principal: Principal, *, planned_once: bool = False) -> AsyncIterator[Transaction]:
        async with self.uow.begin(principal, planned_once=planned_once) as tx:
            tx.__dict__["owners"] = SlowOwners(tx.owners, self)
            yield tx
            self.written.set()
            await self.may_commit.wait()

    def start(self, principal: Principal, text: str) -> asyncio.Task[Any]:
        remembering = Remembering(self, None)  # type: ignore[arg-type] - nothing is asked to be remembered
        after: dict[Lagging, timedelta] = {"embed_messages": timedelta(0)}
        service = MessageService(self, after, Redacting(Metrics()), remembering)  # type: ignore[arg-type]
        return asyncio.create_task(service.append(principal, "s", MessageAppend(role="user", content=text), None))


@pytest.fixture
async def principal(desk: Desk) -> Principal:
    return await desk.tenant.principal()


@pytest.fixture
def slow(desk: Desk) -> SlowAppend:
    return SlowAppend(desk.services.uow)


async def all_embedded_once(desk: Desk, model: GatedModel, *texts: str) -> None:
    await desk.tenant.work()
    assert sorted(model.passages) == sorted(texts)
    assert await desk.vectors() == len(texts)
    assert {job["state"] for job in await desk.jobs()} == {"succeeded"}


async def test_append_that_joined_before_the_claim(
    desk: Desk, model: GatedModel, principal: Principal, slow: SlowAppend
) -> None:
    await desk.append("s", "first")
    slow.may_queue.set()
    append = slow.start(principal, "A")
    await slow.written.wait()
    run = asyncio.create_task(desk.run((await desk.jobs())[0]["id"]))
    await until(desk.waits_for_a_lock)
    assert model.passages == []
    slow.may_commit.set()
    await asyncio.gather(append, run)
    await desk.append("s", "B")
    await all_embedded_once(desk, model, "first", "A", "B")


async def test_claim_and_read_between_the_numbers_and_the_commit_of_an_append(
    desk: Desk, model: GatedModel, principal: Principal, slow: SlowAppend
) -> None:
    await desk.append("s", "first")
    job_id = (await desk.jobs())[0]["id"]
    append = slow.start(principal, "A")
    await slow.numbered.wait()
    run = asyncio.create_task(desk.run(job_id))
    await until(desk.waits_for_a_lock)  # claimed; the read waits for the session's row
    assert (await desk.job(job_id))["state"] == "running"
    slow.may_queue.set()
    await slow.written.wait()
    assert not run.done()
    slow.may_commit.set()
    await asyncio.gather(append, run)
    await desk.append("s", "B")
    await all_embedded_once(desk, model, "first", "A", "B")


async def test_append_begun_after_the_read_and_committed_after_the_run(
    desk: Desk, model: GatedModel, principal: Principal, slow: SlowAppend
) -> None:
    await desk.append("s", "first")
    model.gate.clear()
    run = asyncio.create_task(desk.run((await desk.jobs())[0]["id"]))
    await model.entered.wait()
    slow.may_queue.set()
    append = slow.start(principal, "A")
    await slow.written.wait()
    model.gate.set()
    await until(desk.waits_for_a_lock)  # the run stores under the session's lock
    later = asyncio.create_task(desk.append("s", "B"))
    slow.may_commit.set()
    await asyncio.gather(append, run, later)
    await all_embedded_once(desk, model, "first", "A", "B")


async def test_append_that_rolls_back_leaves_a_hole_and_no_harm(
    desk: Desk, model: GatedModel, principal: Principal, slow: SlowAppend
) -> None:
    await desk.append("s", "first")
    append = slow.start(principal, "A")
    await slow.numbered.wait()
    run = asyncio.create_task(desk.run((await desk.jobs())[0]["id"]))
    await until(desk.waits_for_a_lock)
    append.cancel()
    await asyncio.gather(append, run, return_exceptions=True)
    await desk.append("s", "B")
    await all_embedded_once(desk, model, "first", "B")


async def test_appends_and_runs_in_a_crowd(desk: Desk, model: GatedModel) -> None:
    done = asyncio.Event()

    async def work() -> None:
        while not done.is_set():
            await desk.tenant.work()

    workers = [asyncio.create_task(work()) for _ in range(2)]
    texts = [f"{writer}-{number}" for writer in range(4) for number in range(10)]

    async def write(writer: int) -> None:
        for number in range(10):
            await desk.append("s", f"{writer}-{number}")

    await asyncio.gather(*(write(writer) for writer in range(4)))
    done.set()
    await asyncio.gather(*workers)
    await desk.tenant.work()
    assert await desk.vectors() == len(texts)
    assert set(model.passages) == set(texts)
