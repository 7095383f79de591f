"""A database of these tests' own: here servers are restarted, and a real worker runs whatever is queued."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import httpx
import pytest

from app.composition import Services, compose, database
from app.core import clock
from app.db import embedded, migrate
from app.db.dsn import parse_dsn
from app.db.scoped import Database
from app.main import create_app
from app.providers.embeddings.base import Vector
from app.repositories.base import Row
from app.settings import Settings
from app.workers.runner import JobRunner
from app.workers.worker import Worker
from tests.conftest import FAST, Tenant
from tests.databases import run_sql
from tests.doubles.embeddings import HashedModel


class GatedModel(HashedModel):
    """Its passages wait at a gate, which stands open at first. `entered` says that someone came."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()
        self.entered = asyncio.Event()
        self.busy: Callable[[], None] = lambda: None

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        self.busy()
        self.entered.set()
        await self.gate.wait()
        return await super().embed_passages(texts)


@pytest.fixture(scope="session")
def server() -> Iterator[embedded.EmbeddedServer]:
    folder = Path(tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp"))
    running = embedded.start(folder, settings=FAST)
    yield running
    running.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def settings(server: embedded.EmbeddedServer) -> Settings:
    """Short intervals."""
    migrate.upgrade(server.migrator_dsn)
    return Settings(
        _env_file=None,
        database_url=server.app_dsn,
        migration_database_url=server.migrator_dsn,
        key_cache_seconds=0,
        embed_debounce_seconds=0,
        extractor="off",
        summariser="off",
        prefetch="off",
        job_backoff_seconds=0.05,
        job_heartbeat_seconds=20,  # a loaded machine stops this loop for longer than a second
        worker_poll_seconds=0.2,
        shutdown_seconds=10,
        pool_size=8,
    )


REGISTER = (
    "INSERT INTO embedding_models (name, dimension, metric, status, created_at, activated_at) "
    "VALUES ('hashed', 64, 'cosine', 'active', now(), now())"
)


@pytest.fixture(scope="session")
async def store(settings: Settings, server: embedded.EmbeddedServer) -> AsyncIterator[Database]:
    await run_sql(server.migrator_dsn, REGISTER)
    opened = database(settings, parse_dsn(settings.database_url.get_secret_value()))
    yield opened
    await opened.engine.dispose()


@pytest.fixture
def model() -> GatedModel:
    return GatedModel()


@pytest.fixture
def services(settings: Settings, store: Database, model: GatedModel) -> Services:
    return compose(settings, store, model)


@pytest.fixture
def app(services: Services, settings: Settings) -> Any:
    made = create_app(settings)
    made.state.services = services
    return made


@dataclass
class Desk:
    """What these tests do and look at."""

    tenant: Tenant
    api: httpx.AsyncClient
    dsn: str
    """The superuser's: it sees the dispatcher's tables and every tenant."""

    @property
    def services(self) -> Services:
        return self.tenant.services

    @property
    def runner(self) -> JobRunner:
        return JobRunner(self.services)

    async def append(self, session: str, *texts: str) -> list[int]:
        body = {"messages": [{"role": "user", "content": text} for text in texts]}
        answer = await self.api.post(f"/v1/sessions/{session}/messages", json=body)
        assert answer.status_code == 201, answer.text
        return [message["seq"] for message in answer.json()["results"]]

    async def jobs(self, **filters: str) -> list[Row]:
        """The tenant's jobs, oldest first."""
        async with self.services.uow.begin_tenant(self.tenant.id) as tx:
            return list(reversed(await tx.jobs.page(filters, None, 1000)))

    async def job(self, job_id: UUID) -> Row:
        async with self.services.uow.begin_tenant(self.tenant.id) as tx:
            row = await tx.jobs.get(job_id)
        assert row is not None
        return row

    async def claim(self, job_id: UUID) -> Row:
        async with self.services.uow.begin_tenant(self.tenant.id) as tx:
            row = await tx.jobs.claim(job_id, clock.now())
        assert row is not None
        return row

    async def run(self, job_id: UUID) -> Row:
        await self.runner.run(self.tenant.id, job_id)
        return await self.job(job_id)

    async def sql(self, statement: str, *arguments: object) -> list[asyncpg.Record]:
        connection = await asyncpg.connect(self.dsn)
        try:
            return list(await connection.fetch(statement, *arguments))
        finally:
            await connection.close()

    async def calls(self, job_id: UUID | None = None) -> list[asyncpg.Record]:
        """The dispatcher's rows for the tenant, or for one of its jobs."""
        suffix = "%" if job_id is None else str(job_id)
        statement = "SELECT *, execute_after - now() AS due FROM pgqueuer WHERE convert_from(payload, 'UTF8') LIKE $1"
        return await self.sql(statement, f"{self.tenant.id}:{suffix}")

    async def vectors(self) -> int:
        rows = await self.sql("SELECT count(*) AS n FROM message_vectors WHERE tenant_id = $1", self.tenant.id)
        return int(rows[0]["n"])

    async def age(self, **columns: str) -> None:
        """Push instants of the tenant's rows into the past: `table='column'` by eight days."""
        for table, column in columns.items():
            statement = f"UPDATE {table} SET {column} = {column} - interval '8 days' WHERE tenant_id = $1"
            await self.sql(statement, self.tenant.id)

    async def waits_for_a_lock(self) -> bool:
        found = await self.sql("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = 'mnemic'")
        return bool(found)


@pytest.fixture
async def desk(tenant: Tenant, api: httpx.AsyncClient, server: embedded.EmbeddedServer) -> Desk:
    return Desk(tenant, api, server.superuser_dsn)


@asynccontextmanager
async def at_work(services: Services, **changes: Any) -> AsyncIterator[Worker]:
    """A real worker in this loop, stopped at the end."""
    settings = services.settings.model_copy(update=changes)
    worker = Worker(replace(services, settings=settings))
    task = asyncio.create_task(worker.run())
    try:
        yield worker
    finally:
        worker.stop()
        await asyncio.wait_for(task, 60)


@pytest.fixture
async def empty_queue(desk: Desk) -> None:
    """What other tests left to the dispatcher is gone."""
    await desk.sql("DELETE FROM pgqueuer")


async def until(happened: Callable[[], Awaitable[object]], seconds: float = 45.0) -> None:
    """Wait for what is asked for again and again."""
    deadline = clock.monotonic() + seconds
    while not await happened():
        assert clock.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.02)
