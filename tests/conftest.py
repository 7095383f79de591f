"""One real PostgreSQL per test process, built by the real migrations; each test has a tenant of its own."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
import structlog

from app import bootstrap
from app.composition import Services, compose, database
from app.core import ids
from app.core.ports import free_port
from app.db import embedded, migrate
from app.db.dsn import parse_dsn
from app.domain.principal import Principal, Role
from app.main import create_app
from app.providers.embeddings.cache import CachedQueries
from app.providers.embeddings.use import UseModel
from app.services.following import last_work, work_after
from app.settings import Settings
from app.workers.runner import JobRunner
from tests import watching
from tests.network import wait_until

# Tracebacks with every local variable in them take a minute to draw.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ]
)

FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full-size", action="store_true", help="run tests at the size of make soak")


WATCHED = pytest.StashKey[Path]()


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # those of xdist inherit it
        config.stash[WATCHED] = watching.begin()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """No process of the service has called anybody but this machine."""
    calls = session.config.stash.get(WATCHED, None)
    if calls is None:
        return
    elsewhere = watching.calls_elsewhere(calls)
    shutil.rmtree(calls.parent)
    if elsewhere:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        sys.stderr.write("\nThe service called other machines:\n" + "\n".join(elsewhere[:20]) + "\n")


@pytest.fixture(scope="session")
def full_size(request: pytest.FixtureRequest) -> bool:
    """Whether counts are those of `make soak`."""
    return bool(request.config.getoption("--full-size"))


@pytest.fixture(scope="session")
def server() -> Iterator[embedded.EmbeddedServer]:
    """A server of this test process's own, empty."""
    # pytest's own folders lie under one that only root may enter, where the server's account cannot follow.
    folder = Path(tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp"))
    running = embedded.start(folder, settings=FAST)
    yield running
    running.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def settings(server: embedded.EmbeddedServer) -> Settings:
    """Settings that lead to the migrated database."""
    chosen = Settings(
        _env_file=None,
        database_url=server.app_dsn,
        migration_database_url=server.migrator_dsn,
        key_cache_seconds=0,
        embed_debounce_seconds=0,
        summariser="off",
        prefetch="off",
        extractor="off",  # tests of other jobs count jobs; those of extraction switch it on
        job_backoff_seconds=0.05,
        pool_size=8,
    )
    migrate.upgrade(server.migrator_dsn)
    bootstrap.register_model(chosen, server.migrator_dsn)
    return chosen


@pytest.fixture(scope="session")
async def services(settings: Settings) -> AsyncIterator[Services]:
    """The use cases, with the bundled embedding model."""
    store = database(settings, parse_dsn(settings.database_url.get_secret_value()))
    model = UseModel(2)
    await model.warm()
    yield compose(settings, store, CachedQueries(model, 64))
    await model.close()
    await store.engine.dispose()


@dataclass
class Tenant:
    """A tenant of one test, its keys and its clients."""

    id: UUID
    services: Services
    app: Any
    _clients: list[httpx.AsyncClient] = field(default_factory=list)

    async def key(self, role: Role = "admin", users: list[str] | None = None) -> str:
        """A new key's secret."""
        issued = await self.services.access.issue(
            tenant_id=self.id, name="test", role=role, user_ids=users, expires_at=None
        )
        return issued.secret

    async def client(self, role: Role = "admin", users: list[str] | None = None) -> httpx.AsyncClient:
        """A client with a new key."""
        return self.bare({"Authorization": f"Bearer {await self.key(role, users)}"})

    def bare(self, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
        """A client without a key."""
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        client = httpx.AsyncClient(transport=transport, base_url="http://test", headers=headers)
        self._clients.append(client)
        return client

    async def principal(self, role: Role = "admin", users: list[str] | None = None) -> Principal:
        """The holder of a new key."""
        return await self.services.access.authenticate(await self.key(role, users))

    async def work(self) -> int:
        """Run the tenant's jobs in this process until none is left; how many runs that were."""
        runner, runs = JobRunner(self.services), 0
        while True:
            async with self.services.uow.begin_tenant(self.id) as tx:
                waiting = await tx.jobs.page({"state": "queued"}, None, 100)
            if not waiting:
                return runs
            for job in waiting:
                await runner.run(self.id, job["id"])
                runs += 1

    async def close(self) -> None:
        for client in self._clients:
            await client.aclose()


async def tenant_of(services: Services, app: Any) -> Tenant:
    """A fresh tenant; to be closed."""
    return Tenant(await services.access.tenant(f"test-{ids.new_id()}"), services, app)


@pytest.fixture(scope="session")
def app(services: Services, settings: Settings) -> Any:
    """The application; it keeps nothing of a request."""
    made = create_app(settings)
    made.state.services = services
    return made


@pytest.fixture
async def tenant(services: Services, app: Any) -> AsyncIterator[Tenant]:
    """A fresh tenant."""
    app.state.services = services  # a test may have put others there
    made = await tenant_of(services, app)
    yield made
    await made.close()


@pytest.fixture
async def learning_tenant(services: Services, app: Any) -> AsyncIterator[Tenant]:
    """A fresh tenant of a service that learns from what is appended."""
    settings = services.settings.model_copy(update={"extractor": "rules", "extract_debounce_seconds": 0})
    learning = replace(
        services,
        messages=replace(services.messages, work_after=work_after(settings)),
        memories=replace(services.memories, reviews=True),
        lifecycle=replace(services.lifecycle, last_work=last_work(settings)),
    )
    app.state.services = learning
    made = await tenant_of(learning, app)
    yield made
    await made.close()


@pytest.fixture
async def api(tenant: Tenant) -> httpx.AsyncClient:
    """A client with an admin key of the fresh tenant."""
    return await tenant.client()


@pytest.fixture(scope="session")
def mnemic() -> str:
    """The command under test."""
    return str(Path(sys.executable).with_name("mnemic"))


@pytest.fixture(scope="session")
def live(settings: Settings) -> Iterator[str]:
    """The API in a process of its own, on the tests' database."""
    port = free_port()
    environment = {
        **os.environ,  # noqa: TID251 - a child's environment
        "DATABASE_URL": settings.database_url.get_secret_value(),
        "MIGRATION_DATABASE_URL": settings.migration_database_url.get_secret_value(),
        "PORT": str(port),
        "LOG_LEVEL": "error",
    }
    command = [sys.executable, "-P", "-m", "app.cli", "serve"]
    with subprocess.Popen(command, env=environment) as process:
        url = f"http://127.0.0.1:{port}"
        try:
            wait_until(lambda: _ready(url), 60)
            yield url
        finally:
            process.terminate()
            process.wait(30)


def _ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", trust_env=False).is_success
    except httpx.HTTPError:
        return False
