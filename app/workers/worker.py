"""The worker process: pgqueuer wakes it with ids, the runner does the work, the schedule ticks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import asyncpg
import structlog
from pgqueuer import PgQueuer
from pgqueuer.models import Job, Schedule

from app.composition import Services, acting_role, app_dsn
from app.core.errors import ConfigurationError
from app.db.faults import problem_of
from app.repositories.jobs import ENTRYPOINT
from app.workers.runner import JobRunner

log = structlog.get_logger()

SPARE_CONNECTIONS = 2
"""One listens, one carries heartbeats, beside those that claim and log."""


@dataclass(slots=True)
class Worker:
    """Runs until it is stopped; a database that goes away is waited for."""

    services: Services
    _stopped: asyncio.Event = field(default_factory=asyncio.Event)
    _current: PgQueuer | None = field(default=None)

    async def run(self) -> None:
        """Work. Raises `ConfigurationError` where row-level security would not bind us."""
        while not self._stopped.is_set():
            try:
                await self._work()
            except ConfigurationError:
                raise
            except Exception as error:
                if problem_of(error) is None and not isinstance(error, RuntimeError | asyncpg.PostgresError):
                    raise
                log.warning("worker_waits_for_database", error=type(error).__name__)
                await self._pause()

    def stop(self) -> None:
        """Take no more jobs, finish those that run, return."""
        self._stopped.set()
        if self._current is not None:
            self._current.shutdown.set()

    async def _work(self) -> None:
        settings = self.services.settings
        async with self.services.uow.begin_global() as tx:
            await tx.access.ping()
        async with self._pool() as pool:
            queue = PgQueuer.from_asyncpg_pool(pool)
            self._current = queue
            self._register(queue)
            log.info("worker_ready", concurrency=settings.worker_concurrency)
            if self._stopped.is_set():
                return
            await queue.run(
                dequeue_timeout=timedelta(seconds=settings.worker_poll_seconds),
                batch_size=max(settings.worker_concurrency // 2, 1),
                max_concurrent_tasks=max(settings.worker_concurrency, 2),
                heartbeat_timeout=timedelta(seconds=settings.job_heartbeat_seconds),
                shutdown_on_listener_failure=True,
            )
            if not self._stopped.is_set():
                raise RuntimeError("the listener was lost")

    def _register(self, queue: PgQueuer) -> None:
        runner = JobRunner(self.services)
        sweeping = self.services.sweeping

        @queue.entrypoint(ENTRYPOINT)
        async def run(job: Job) -> None:
            tenant_id, _, job_id = (job.payload or b"").decode().partition(":")
            await runner.run(UUID(tenant_id), UUID(job_id))

        @queue.schedule("mnemic_sweep", f"* * * * * */{self.services.settings.sweep_seconds}", clean_old=True)
        async def tick(_schedule: Schedule) -> None:
            await sweeping.tick()

    @asynccontextmanager
    async def _pool(self) -> AsyncIterator["asyncpg.Pool[Any]"]:
        """The dispatcher's own connections: it listens, so they must be direct ones, not a transaction pooler's."""
        settings = self.services.settings
        dsn = app_dsn(settings)
        role = acting_role(settings, dsn)
        arguments = dsn.asyncpg_arguments
        names = {"application_name": "mnemic-worker", **arguments.pop("server_settings", {})}
        if role is not None:
            names["role"] = role
        pool = await asyncpg.create_pool(
            **{"timeout": settings.connect_timeout_seconds, **arguments},
            server_settings=names,
            min_size=1,
            max_size=settings.worker_concurrency + SPARE_CONNECTIONS,
        )
        try:
            yield pool
        finally:
            await pool.close()

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._stopped.wait(), timeout=1.0)
        except TimeoutError:
            return
