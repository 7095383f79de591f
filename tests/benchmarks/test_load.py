"""Under mixed load there is no error, memory stays where it is, and no connection is left behind."""

import asyncio

import pytest

from benchmarks.load import CANCELLED, measure

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1500)]

FULL_SECONDS = 600.0
GROWTH = 1.25
"""A process that has warmed up for a minute grows by a quarter at most in the nine that follow."""

POOL = 10


async def test_mixed_load_meets_no_error_and_leaves_nothing_behind(full_size: bool) -> None:
    if not full_size:
        pytest.skip("ten minutes: with --full-size")
    outcome = await asyncio.to_thread(measure, FULL_SECONDS)
    assert outcome.errors == 0, outcome.statuses
    assert outcome.cancelled > CANCELLED / 2
    assert outcome.pool_in_use_afterwards <= 1
    assert max(outcome.backends) <= 3 * POOL, "of the API, the worker, and the worker's dispatcher"
    for memory in (outcome.api_memory_megabytes, outcome.worker_memory_megabytes):
        assert memory[-1] < GROWTH * memory[0], outcome
