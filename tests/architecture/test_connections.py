"""A use case holds one connection at most: with two, a burst of calls would wait for each other until all fail."""

from collections.abc import AsyncIterator

import pytest

from app.composition import Services, compose, database
from app.db.dsn import parse_dsn
from app.schemas.memories import MemoryAdd, MemoryChange
from app.schemas.messages import MessageAppend
from app.schemas.search import SearchRequest
from app.settings import Settings
from app.workers.runner import JobRunner
from tests.conftest import Tenant


@pytest.fixture
async def narrow(settings: Settings, services: Services) -> AsyncIterator[Services]:
    """Fresh use cases, nothing looked up yet, on a pool of one connection."""
    assert settings.database_url is not None
    chosen = settings.model_copy(update={"pool_size": 1, "pool_timeout_seconds": 2.0})
    store = database(chosen, parse_dsn(settings.database_url.get_secret_value()))
    yield compose(chosen, store, services.embedder.model)
    await store.engine.dispose()


async def test_the_first_memory_needs_one_connection(narrow: Services, tenant: Tenant) -> None:
    principal = await tenant.principal()
    answer = await narrow.memories.add(principal, MemoryAdd(user_id="ada", text="She lives in Lisbon."), None)
    assert answer.status == 201


async def test_the_first_correction_needs_one_connection(narrow: Services, tenant: Tenant) -> None:
    principal = await tenant.principal()
    await tenant.services.memories.add(principal, MemoryAdd(user_id="ada", text="She lives in Lisbon."), None)
    async with narrow.uow.begin(principal) as tx:
        found = await tx.vectors._connection.exec_driver_sql("SELECT id FROM memories")
        memory_id = found.scalar_one()
    change = MemoryChange.model_validate({"text": "She lives in Porto."})
    assert (await narrow.memories.change(principal, memory_id, change, None)).status == 200


async def test_the_first_search_and_the_first_append_need_one_connection(narrow: Services, tenant: Tenant) -> None:
    principal = await tenant.principal()
    said = MessageAppend.model_validate({"user_id": "ada", "role": "user", "content": "I moved to Lisbon."})
    assert (await narrow.messages.append(principal, "s", said, None)).status == 201
    found = await narrow.retrieval.search(
        principal, SearchRequest(query="Lisbon", user_id="ada", include_messages=True)
    )
    assert len(found.results) == 1


async def test_the_first_job_needs_one_connection(narrow: Services, tenant: Tenant) -> None:
    principal = await tenant.principal()
    said = MessageAppend.model_validate({"user_id": "ada", "role": "user", "content": "I moved to Lisbon."})
    await narrow.messages.append(principal, "s", said, None)
    async with narrow.uow.begin(principal) as tx:
        (job,) = await tx.jobs.page({}, None, 10)
    await JobRunner(narrow).run(tenant.id, job["id"])
    async with narrow.uow.begin(principal) as tx:
        done = await tx.jobs.get(job["id"])
    assert done is not None
    assert done["state"] == "succeeded"
