"""Folding that is killed, met by appends or taken over: nothing is folded twice, nothing is passed over."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import pytest

from app.core import clock
from app.domain.summary.lines import Line
from app.services.summaries.folding import FoldingService
from app.services.summaries.summarisers import RulesSummariser, Summarised
from tests.workers.conftest import Desk, until

TURNS = 16


@dataclass
class Gated:
    """Rules that wait at a gate; `entered` says that somebody came; a fault stands for the worker's end."""

    gate: asyncio.Event = field(default_factory=asyncio.Event)
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    seen: list[int] = field(default_factory=list)

    async def summarise(self, lines: Sequence[Line], room: int, before: Line | None = None) -> Summarised:
        self.seen += [line.seq for line in lines]
        self.entered.set()
        await self.gate.wait()
        return await RulesSummariser().summarise(lines, room, before)


@pytest.fixture
def gated(desk: Desk) -> Gated:
    """The desk's service folds through it, at once and with no window but one turn."""
    made = Gated()
    services = desk.services
    folding = FoldingService(services.uow, made)
    desk.tenant.services = replace(services, folding=folding)
    return made


async def said(desk: Desk, first: int, count: int) -> None:
    """Turns in both languages, each with a number of its own."""
    numbers = range(first, first + count)
    await desk.append("s", *[f"Order {n} weighs {n + 500} grams." if n % 2 else f"订单{n}重{n}克。" for n in numbers])


async def queue(desk: Desk) -> Any:
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        return await tx.jobs.enqueue("summarise", "s", clock.now())


async def stretches(desk: Desk) -> list[tuple[int, int]]:
    statement = "SELECT from_seq, to_seq FROM summaries WHERE tenant_id = $1 AND level = 0 ORDER BY from_seq"
    return [(row["from_seq"], row["to_seq"]) for row in await desk.sql(statement, desk.tenant.id)]


async def all_folded_once(desk: Desk, last: int) -> None:
    found = await stretches(desk)
    assert found[0][0] == 1
    assert found[-1][1] == last
    assert all(end + 1 == start for (_, end), (start, _) in pairwise(found))
    (row,) = await desk.sql("SELECT summarized_seq FROM sessions WHERE tenant_id = $1", desk.tenant.id)
    assert row["summarized_seq"] == last


async def test_a_fold_whose_worker_is_killed_before_its_commit_is_done_again_and_once(desk: Desk, gated: Gated) -> None:
    await said(desk, 0, TURNS)
    job = await queue(desk)
    run = asyncio.create_task(desk.run(job))
    await gated.entered.wait()
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    assert await stretches(desk) == []
    gated.gate.set()
    await said(desk, TURNS, 2)
    await desk.run(job)
    await all_folded_once(desk, TURNS + 2 - 10)


async def test_what_is_appended_while_a_fold_is_at_work_is_folded_by_the_next(desk: Desk, gated: Gated) -> None:
    await said(desk, 0, TURNS)
    run = asyncio.create_task(desk.run(await queue(desk)))
    await gated.entered.wait()
    await said(desk, TURNS, 8)
    gated.gate.set()
    await run
    await desk.run(await queue(desk))
    await all_folded_once(desk, TURNS + 8 - 10)


async def test_a_fold_that_was_cancelled_writes_nothing(desk: Desk, gated: Gated) -> None:
    await said(desk, 0, TURNS)
    job = await queue(desk)
    run = asyncio.create_task(desk.run(job))
    await gated.entered.wait()
    assert (await desk.api.post(f"/v1/jobs/{job}/cancel")).status_code == 200
    gated.gate.set()
    await run
    assert await stretches(desk) == []


async def test_a_fold_waits_for_an_append_that_has_no_commit_yet(desk: Desk, gated: Gated) -> None:
    await said(desk, 0, TURNS)
    gated.gate.set()
    job = await queue(desk)
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        await tx.sessions.get_for_update("s")
        run = asyncio.create_task(desk.run(job))
        await until(desk.waits_for_a_lock)
        assert gated.seen == []
    await run
    await all_folded_once(desk, TURNS - 10)


async def test_the_sweep_finds_a_session_whose_fold_was_lost(desk: Desk, gated: Gated) -> None:
    gated.gate.set()
    await said(desk, 0, TURNS)
    await desk.tenant.work()
    services = desk.services
    sweeping = replace(services.sweeping, kinds=("embed_messages", "summarise"))
    desk.tenant.services = replace(services, sweeping=sweeping)
    await desk.age(sessions="updated_at")
    async with services.uow.begin_tenant(desk.tenant.id) as tx:
        await tx.jobs.enqueue("sweep", "tenant", clock.now())
    await desk.tenant.work()
    await all_folded_once(desk, TURNS - 10)
    # What was looked at and left as it was is not looked at again.
    async with services.uow.begin_tenant(desk.tenant.id) as tx:
        assert await tx.sessions.lagging("summarise", clock.now(), 10) == []
