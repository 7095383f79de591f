"""LangGraph's own suite of what a checkpointer must do, against a running service."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate

from mnemic_client.langgraph import AsyncMnemicSaver, MnemicSaver


async def counted(factory: Any, name: str) -> tuple[int, int, int, list[str]]:
    """Capabilities detected, tests passed, tests failed, and which."""
    report = await validate(checkpointer_test(name=name)(factory))
    results = report.results.values()
    return (
        sum(result.detected for result in results),
        sum(result.tests_passed for result in results),
        sum(result.tests_failed for result in results),
        [failure for result in results for failure in result.failures],
    )


@pytest.mark.timeout(120)
async def test_the_async_saver_passes_all_81_tests_of_all_8_capabilities(live: str, api_key: str) -> None:
    async def factory() -> AsyncIterator[AsyncMnemicSaver]:
        async with AsyncMnemicSaver(base_url=live, api_key=api_key) as saver:
            yield saver

    assert await counted(factory, "AsyncMnemicSaver") == (8, 81, 0, [])


@pytest.mark.timeout(120)
async def test_the_sync_saver_passes_all_81_tests_of_all_8_capabilities(live: str, api_key: str) -> None:
    async def factory() -> AsyncIterator[MnemicSaver]:
        with MnemicSaver(base_url=live, api_key=api_key) as saver:
            yield saver

    assert await counted(factory, "MnemicSaver") == (8, 81, 0, [])
