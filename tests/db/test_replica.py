"""Reads that may lag go to a real streaming replica; all others, and all of them while it is away, to the primary."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from app.composition import Services, compose, database, read_replica
from app.core import clock
from app.db.dsn import parse_dsn
from app.db.embedded.server import EmbeddedServer
from app.main import create_app
from app.settings import Settings
from tests.conftest import Tenant, tenant_of
from tests.databases import fetch
from tests.routers.calls import body_of, problem_of
from tests.standby import Standby, standby_of

EVENTUAL = {"X-Consistency": "eventual"}


@pytest.fixture(scope="module")
def standby(server: EmbeddedServer, settings: Settings) -> Iterator[Standby]:
    del settings  # it migrates
    with standby_of(server) as running:
        yield running


@pytest.fixture
async def replicated(settings: Settings, services: Services, standby: Standby) -> AsyncIterator[Services]:
    chosen = settings.model_copy(update={"replica_database_url": SecretStr(standby.app_dsn), "pool_size": 3})
    assert settings.database_url is not None
    store = database(chosen, parse_dsn(settings.database_url.get_secret_value()))
    replica = read_replica(chosen, store)
    assert replica is not None
    yield compose(chosen, store, services.embedder.model, replica=replica)
    await replica.database.engine.dispose()
    await store.engine.dispose()


@pytest.fixture
async def tenant(replicated: Services) -> AsyncIterator[Tenant]:
    app: Any = create_app(replicated.settings)
    app.state.services = replicated
    made = await tenant_of(replicated, app)
    yield made
    await made.close()


async def caught_up(server: EmbeddedServer, standby: Standby) -> None:
    (at,) = await fetch(server.superuser_dsn, "SELECT pg_current_wal_insert_lsn() AS lsn")
    deadline = clock.monotonic() + 20
    while not (await fetch(standby.superuser_dsn, "SELECT pg_last_wal_replay_lsn() >= $1 AS done", at["lsn"]))[0][
        "done"
    ]:
        assert clock.monotonic() < deadline, "the replica does not follow"


async def _planted(api: httpx.AsyncClient) -> dict[str, str]:
    """One of each thing that is read."""
    said = {"role": "user", "content": "I like 乌龙茶 oolong", "user_id": "ada"}
    body_of(await api.post("/v1/sessions/s/messages", json=said), 201)
    body_of(await api.put("/v1/sessions/s/state", json={"state": {"a": 1}}))
    memory = body_of(await api.post("/v1/memories", json={"text": "Likes 乌龙茶 oolong", "user_id": "ada"}), 201)
    body_of(await api.put("/v1/users/ada/facts/user.drink", json={"value": "tea"}), 201)
    body_of(await api.put("/v1/blocks/human?user_id=ada", json={"text": "x"}), 201)
    procedure = {"title": "x", "when_to_use": "y", "body": "z", "user_id": "ada"}
    kept = body_of(await api.post("/v1/procedures", json=procedure), 201)
    attempt = {"task": "x", "outcome": "failure", "evaluation": "y", "user_id": "ada"}
    lesson = body_of(await api.post("/v1/experiences", json=attempt), 201)["lesson"]
    return {"memory": memory["id"], "procedure": kept["id"], "lesson": lesson["id"]}


async def _reads(api: httpx.AsyncClient, ids: dict[str, str], headers: dict[str, str]) -> list[Any]:
    """Everything that may come from a replica, asked once."""
    paths = ["/v1/sessions", "/v1/sessions/s", "/v1/sessions/s/messages?count=true", "/v1/sessions/s/messages/1"]
    paths += ["/v1/sessions/s/state", "/v1/sessions/s/state/history", "/v1/sessions/s/summary"]
    paths += ["/v1/memories?user_id=ada&count=true", f"/v1/memories/{ids['memory']}"]
    paths += [f"/v1/memories/{ids['memory']}/history", "/v1/users/ada/facts", "/v1/users/ada/facts/user.drink"]
    paths += ["/v1/users/ada/facts/user.drink/history", "/v1/blocks?user_id=ada", "/v1/blocks/human?user_id=ada"]
    paths += [
        "/v1/users/ada/timeline",
        "/v1/users/ada/profile",
        "/v1/procedures?user_id=ada",
        f"/v1/procedures/{ids['procedure']}",
    ]
    paths += [f"/v1/procedures/{ids['procedure']}/history", "/v1/lessons?user_id=ada", f"/v1/lessons/{ids['lesson']}"]
    found = [body_of(await api.get(path, headers=headers)) for path in paths]
    query = {"query": "乌龙茶 oolong", "user_id": "ada"}
    for path in ("/v1/memories/search", "/v1/messages/search"):
        hits = body_of(await api.post(path, json=query, headers=headers))
        assert hits["results"], path
        found.append([hit.get("id") or hit["message"]["id"] for hit in hits["results"]])
    return found


async def test_a_replica_answers_every_read_that_may_lag_as_the_primary_does(
    tenant: Tenant, server: EmbeddedServer, standby: Standby
) -> None:
    api = await tenant.client()
    ids = await _planted(api)
    await caught_up(server, standby)
    assert await _connections(standby) == 0
    assert await _reads(api, ids, EVENTUAL) == await _reads(api, ids, {})
    assert tenant.services.uow.replica is not None
    assert not tenant.services.uow.replica.is_away
    assert await _connections(standby) > 0


async def _connections(standby: Standby) -> int:
    """How many the service holds to the replica."""
    open_now = "SELECT count(*) AS n FROM pg_stat_activity WHERE usename = 'mnemic_app'"
    return int((await fetch(standby.superuser_dsn, open_now))[0]["n"])


async def test_only_a_read_that_may_lag_misses_what_was_just_written(
    tenant: Tenant, server: EmbeddedServer, standby: Standby
) -> None:
    api = await tenant.client()
    await caught_up(server, standby)
    await standby.pause()
    try:
        body_of(await api.put("/v1/users/ada/facts/user.city", json={"value": "里斯本"}), 201)
        assert body_of(await api.get("/v1/users/ada/facts/user.city"))["value"] == "里斯本"
        problem_of(await api.get("/v1/users/ada/facts/user.city", headers=EVENTUAL), 404)
        city = {"value": "Porto"}
        body_of(await api.put("/v1/users/ada/facts/user.city", json=city, headers=EVENTUAL))
        assert (
            body_of(await api.get("/v1/users/ada/facts/user.city", headers={"X-Consistency": "strong"}))["value"]
            == "Porto"
        )
    finally:
        await standby.resume()
    await caught_up(server, standby)
    assert body_of(await api.get("/v1/users/ada/facts/user.city", headers=EVENTUAL))["value"] == "Porto"


async def test_while_the_replica_is_away_the_primary_answers(
    tenant: Tenant, server: EmbeddedServer, standby: Standby
) -> None:
    api = await tenant.client()
    body_of(await api.put("/v1/users/ada/facts/user.city", json={"value": "Lisbon"}), 201)
    await caught_up(server, standby)
    assert body_of(await api.get("/readyz"))["checks"]["replica"] == "ok"
    standby.stop()
    try:
        for _ in range(3):
            assert body_of(await api.get("/v1/users/ada/facts/user.city", headers=EVENTUAL))["value"] == "Lisbon"
        ready = body_of(await api.get("/readyz"))
        assert (ready["status"], ready["checks"]["replica"]) == ("ready", "away: the primary answers instead")
    finally:
        standby.start()
    assert body_of(await api.get("/readyz"))["checks"]["replica"] == "ok"
    assert body_of(await api.get("/v1/users/ada/facts/user.city", headers=EVENTUAL))["value"] == "Lisbon"
    assert tenant.services.uow.replica is not None
    assert not tenant.services.uow.replica.is_away


async def test_an_unknown_consistency_is_refused(tenant: Tenant) -> None:
    api = await tenant.client()
    problem_of(await api.get("/v1/sessions", headers={"X-Consistency": "maybe"}), 422)
