"""The worker process: pgqueuer wakes it with ids, the runner does the work, the schedule ticks."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import asyncpg
import structlog
from pgqueuer import PgQueuer
from pgqueuer.errors import PgqException, RetryRequested
from pgqueuer.models import Job, Schedule

from app.composition import Services, acting_role, app_dsn
from app.core.errors import ConfigurationError, Problem
from app.db.dsn import Dsn, parse_dsn
from app.db.faults import problem_of
from app.repositories.jobs import ENTRYPOINT
from app.settings import Settings
from app.workers.runner import JobRunner

log = structlog.get_logger()

SPARE_CONNECTIONS: Final = 2
"""One listens, one carries heartbeats, beside those that claim and log."""

PAUSE_SECONDS: Final = 1.0
CLOSE_SECONDS: Final = 5.0
AGAIN: Final = timedelta(seconds=1)


@dataclass(slots=True)
class Worker:
    """Runs until it is stopped; a database that goes away, or is not migrated yet, is waited for."""

    services: Services
    _stopped: asyncio.Event = field(default_factory=asyncio.Event)
    _waits_for: str | None = field(default=None)

    async def run(self) -> None:
        """Work. Raises `ConfigurationError` where row-level security would not bind us."""
        while not self._stopped.is_set():
            try:
                await self._work()
            except ConfigurationError:
                raise
            except Exception as error:
                reason = _passing(error)
                if reason is None:
                    raise
                self._say_once(reason)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopped.wait(), PAUSE_SECONDS)

    def stop(self) -> None:
        """Take no more jobs, finish those that run, return; after `shutdown_seconds` hand them back instead."""
        self._stopped.set()

    async def _work(self) -> None:
        await self._become_ready()
        async with self._pool() as pool:
            queue = PgQueuer.from_asyncpg_pool(pool)
            self._register(queue)
            log.info("worker_ready", concurrency=self.services.settings.worker_concurrency)
            self._waits_for = None
            await self._drive(queue)

    async def _become_ready(self) -> None:
        async with self.services.uow.begin_global() as tx:
            await tx.access.ping()  # refuses a role that row-level security does not bind
        checks = (await self.services.health.readiness()).checks
        for part in ("database", "migrations", "embedder"):
            if checks[part] != "ok":
                raise _NotReady(checks[part])

    async def _drive(self, queue: PgQueuer) -> None:
        """Let the dispatcher run until it fails or we are stopped; then give running jobs their time."""
        settings = self.services.settings
        running = asyncio.create_task(
            queue.run(
                dequeue_timeout=timedelta(seconds=settings.worker_poll_seconds),
                batch_size=max(settings.worker_concurrency // 2, 1),
                max_concurrent_tasks=max(settings.worker_concurrency, 2),
                heartbeat_timeout=timedelta(seconds=settings.job_heartbeat_seconds),
                shutdown_on_listener_failure=True,
                log_aggregation_interval=timedelta(0),  # its statistics would grow for ever, and nobody reads them
            )
        )
        stopped = asyncio.create_task(self._stopped.wait())
        try:
            await asyncio.wait({running, stopped}, return_when=asyncio.FIRST_COMPLETED)
            queue.shutdown.set()
            await asyncio.wait({running}, timeout=settings.shutdown_seconds)
        finally:
            stopped.cancel()
            running.cancel()
            await asyncio.wait({running})
        if not running.cancelled():
            running.result()

    def _register(self, queue: PgQueuer) -> None:
        runner = JobRunner(self.services)
        sweeping = self.services.sweeping
        # The dispatcher takes two jobs at least.
        places = asyncio.Semaphore(self.services.settings.worker_concurrency)

        @queue.entrypoint(ENTRYPOINT)
        async def run(job: Job) -> None:
            tenant_id, _, job_id = (job.payload or b"").decode().partition(":")
            try:
                async with places:
                    await runner.run(UUID(tenant_id), UUID(job_id))
            except Problem as problem:
                # The record could not be read or written: the wake-up call must not be used up.
                log.warning("job_postponed", job_id=job_id, reason=problem.code)
                raise RetryRequested(AGAIN, problem.code) from problem
            except Exception:
                log.exception("job_not_run", job_id=job_id)
                raise

        @queue.schedule("mnemic_sweep", f"* * * * * */{self.services.settings.sweep_seconds}", clean_old=True)
        async def tick(_schedule: Schedule) -> None:
            await _passed_over("tick_failed", sweeping.tick)

        @queue.schedule("mnemic_audit", "* * * * * *", clean_old=True)
        async def seal(_schedule: Schedule) -> None:
            await _passed_over("audit_not_sealed", self.services.audit.tick)

    @asynccontextmanager
    async def _pool(self) -> AsyncIterator["asyncpg.Pool[Any]"]:
        """The dispatcher's own connections: it listens, so they must be direct ones, not a transaction pooler's."""
        settings = self.services.settings
        dsn = _listening_dsn(settings)
        role = acting_role(settings, dsn)
        arguments = dsn.asyncpg_arguments
        names = {"application_name": "mnemic-worker", **arguments.pop("server_settings", {})}
        if role is not None:
            names["role"] = role
        pool = await asyncpg.create_pool(
            **{"timeout": settings.connect_timeout_seconds, **arguments},
            server_settings=names,
            # Open at once: the dispatcher's first look at its listener would overtake the LISTEN of a slow connection.
            min_size=SPARE_CONNECTIONS,
            max_size=settings.worker_concurrency + SPARE_CONNECTIONS,
            command_timeout=settings.statement_timeout_seconds,
            reset=_nothing_to_reset,
        )
        try:
            yield pool
        finally:
            # Cut off, it closes its connections the hard way.
            with suppress(TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
                await asyncio.wait_for(pool.close(), CLOSE_SECONDS)

    def _say_once(self, reason: str) -> None:
        if reason != self._waits_for:
            log.warning("worker_waits", reason=reason)
        self._waits_for = reason


class _NotReady(Exception):  # noqa: N818 - a state of affairs, not an error
    """The database does not hold what we need yet."""


def _listening_dsn(settings: Settings) -> Dsn:
    """Where the dispatcher connects. Raises `ConfigurationError` where the only way leads through a pooler."""
    given = settings.direct_database_url
    dsn = app_dsn(settings) if given is None else parse_dsn(given.get_secret_value())
    if dsn.pooled:
        raise ConfigurationError(
            "The worker listens for notifications, which a transaction pooler does not pass on: "
            "give it DIRECT_DATABASE_URL, a DSN that goes to the server."
        )
    return dsn


async def _nothing_to_reset(_connection: object) -> None:
    """Single statements leave nothing behind; asyncpg's own reset would double what an idle worker sends."""


def _passing(error: Exception) -> str | None:
    """What is waited for where an error passes by itself; None where it is a fault of ours."""
    if isinstance(error, Problem):
        return error.detail
    problem = problem_of(error)
    if problem is not None:
        return problem.detail
    if isinstance(error, _NotReady | PgqException | asyncpg.PostgresError):
        return str(error) or type(error).__name__
    return None


async def _passed_over(name: str, tick: Callable[[], Awaitable[object]]) -> None:
    """Do what is done again and again; a failure is logged, for the next time is soon."""
    try:
        await tick()
    except Exception as error:
        reason = _passing(error)
        if reason is None:
            log.exception(name)
        else:
            log.warning(name, reason=reason)
