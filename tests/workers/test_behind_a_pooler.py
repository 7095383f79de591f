"""API and worker behind PgBouncer in transaction mode, with fewer server connections than the pool has."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from app.composition import Services, compose, database
from app.core.errors import ConfigurationError
from app.db import embedded
from app.db.dsn import parse_dsn
from app.main import create_app
from app.settings import Settings
from app.workers.worker import Worker
from tests.conftest import tenant_of
from tests.pooler import SERVER_CONNECTIONS, pgbouncer
from tests.workers.conftest import Desk, GatedModel, at_work, until


@pytest.fixture(scope="module")
def pooled_dsn(server: embedded.EmbeddedServer) -> Iterator[str]:
    with pgbouncer(server.app_dsn) as dsn:
        yield dsn


@pytest.fixture
async def pooled(
    settings: Settings, pooled_dsn: str, server: embedded.EmbeddedServer, store: object
) -> AsyncIterator[Services]:
    del store  # it enters the embedding model
    chosen = settings.model_copy(
        update={
            "database_url": SecretStr(pooled_dsn),
            "direct_database_url": SecretStr(server.app_dsn),
            "pool_size": 4 * SERVER_CONNECTIONS,
            "pool_timeout_seconds": 30,
            "extractor": "rules",
            "extract_debounce_seconds": 0,
        }
    )
    through = database(chosen, parse_dsn(pooled_dsn))
    yield compose(chosen, through, GatedModel())
    await through.engine.dispose()


@pytest.fixture
async def desk(pooled: Services, server: embedded.EmbeddedServer) -> AsyncIterator[Desk]:
    app: Any = create_app(pooled.settings)
    app.state.services = pooled
    tenant = await tenant_of(pooled, app)
    yield Desk(tenant, await tenant.client(), server.superuser_dsn)
    await tenant.close()


async def _ok(call: Any) -> dict[str, Any]:
    answer: httpx.Response = await call
    assert answer.is_success, answer.text
    return dict(answer.json())


@pytest.mark.usefixtures("empty_queue")
async def test_append_extraction_search_checkpoints_and_facts_work_through_it(desk: Desk) -> None:
    api = desk.api
    said = {"en": "I live in Lisbon.", "zh": "我住在里斯本。"}
    async with at_work(desk.services):
        for user, text in said.items():
            body = {"role": "user", "content": text, "user_id": user}
            await _ok(api.post(f"/v1/sessions/{user}/messages", json=body))
            await _ok(api.put(f"/v1/users/{user}/facts/user.drink", json={"value": "茶 tea"}))

        async def learnt() -> bool:
            found = [await _ok(api.get("/v1/memories", params={"user_id": user})) for user in said]
            return all(any(one["key"] == "user.city" for one in page["results"]) for page in found)

        await until(learnt)
    for user, text in said.items():
        query = {"query": text, "user_id": user}
        for path in ("/v1/memories/search", "/v1/messages/search"):
            assert (await _ok(api.post(path, json=query)))["results"], path
        assert (await _ok(api.get(f"/v1/users/{user}/facts/user.drink")))["value"] == "茶 tea"
        kept = await _ok(api.post(f"/v1/sessions/{user}/checkpoints", json={"state": {"said": text}}))
        latest = await _ok(api.get(f"/v1/sessions/{user}/checkpoints/latest"))
        assert (latest["id"], latest["state"]) == (kept["id"], {"said": text})
        thread = {"thread_id": user, "checkpoint_id": "c1", "type": "m", "document": "eA==", "metadata": {}}
        await _ok(api.put("/v1/checkpoints", json=thread))
        assert (await _ok(api.post("/v1/checkpoints/get", json={"thread_id": user})))["checkpoint"][
            "document"
        ] == "eA=="


async def test_each_of_many_calls_at_once_meets_its_own_tenant(desk: Desk, full_size: bool) -> None:
    other = await tenant_of(desk.services, desk.tenant.app)
    count = 2_000 if full_size else 60
    apis = [desk.api, await other.client()]

    async def call(number: int) -> None:
        mine = apis[number % 2]
        body = {"role": "user", "content": f"tenant {number % 2}, call {number}"}
        await _ok(mine.post(f"/v1/sessions/s{number % 10}/messages", json=body))
        page = await _ok(mine.get(f"/v1/sessions/s{number % 10}/messages"))
        assert {one["content"][:8] for one in page["results"]} == {f"tenant {number % 2}"}

    places = asyncio.Semaphore(40)

    async def in_turn(number: int) -> None:
        async with places:
            await call(number)

    await asyncio.gather(*(in_turn(number) for number in range(count)))
    total = 0
    for api in apis:
        for session in range(10):
            answer = await api.get(f"/v1/sessions/s{session}")
            total += answer.json()["last_seq"] if answer.is_success else 0
    assert total == count
    await other.close()


async def test_a_pooled_transaction_has_limits_and_planner_settings_and_leaves_none_behind(desk: Desk) -> None:
    shown = "SELECT current_setting('jit') || current_setting('lock_timeout') || current_setting('statement_timeout')"
    async with desk.services.uow.begin_tenant(desk.tenant.id) as tx:
        inside = (await tx.users._connection.exec_driver_sql(shown)).scalar_one()
    assert inside == "off10s30s"
    left = await desk.sql(
        "SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction' AND usename = 'mnemic_app'"
    )
    assert left == []


async def test_a_worker_that_can_only_reach_a_pooler_refuses(pooled: Services) -> None:
    alone = pooled.settings.model_copy(update={"direct_database_url": None})
    with pytest.raises(ConfigurationError, match="DIRECT_DATABASE_URL"):
        await Worker(replace(pooled, settings=alone)).run()
