"""One run of one job: claimed, done, and its end written down, whatever happens."""

from dataclasses import dataclass
from datetime import timedelta
from typing import cast
from uuid import UUID

import structlog

from app.composition import Services
from app.core import clock
from app.domain.jobs import JobKind, backoff
from app.repositories.base import Row
from app.repositories.jobs import JobBusy
from app.services.vectorising import JobLost, JobRun
from app.workers.handlers import handle

log = structlog.get_logger()

BUSY_PAUSE = timedelta(seconds=0.5)
MAX_ERROR = 2_000


@dataclass(frozen=True, slots=True)
class JobRunner:
    """Runs jobs by id. The record decides: a job that is finished, or another's by now, is left alone."""

    services: Services

    async def run(self, tenant_id: UUID, job_id: UUID) -> None:
        """Claim a job and run it; a failure is retried later, and after too many the job is dead."""
        claimed = await self._claim(tenant_id, job_id)
        if claimed is None:
            return
        run = JobRun(tenant_id, job_id, claimed["subject"], claimed["attempts"], claimed["payload"])
        bound = log.bind(job_id=str(job_id), kind=claimed["kind"], attempt=run.attempt)
        if run.attempt > self.services.settings.job_max_attempts:
            await self._end_as_dead(run, claimed["error"] or "The worker was lost in every attempt.")
            bound.error("job_dead")
            return
        try:
            await handle(self.services, cast("JobKind", claimed["kind"]), run)
        except JobLost:
            bound.warning("job_lost")
        except Exception as error:  # noqa: BLE001 - a job must end in its record, whatever happened
            bound.exception("job_failed")
            await self._end_as_failed(run, f"{type(error).__name__}: {error}"[:MAX_ERROR])

    async def _claim(self, tenant_id: UUID, job_id: UUID) -> Row | None:
        try:
            async with self.services.uow.begin_tenant(tenant_id) as tx:
                return await tx.jobs.claim(job_id, clock.now())
        except JobBusy:
            async with self.services.uow.begin_tenant(tenant_id) as tx:
                await tx.jobs.wake(job_id, BUSY_PAUSE)
            return None

    async def _end_as_failed(self, run: JobRun, error: str) -> None:
        settings = self.services.settings
        at = clock.now()
        async with self.services.uow.begin_tenant(run.tenant_id) as tx:
            if run.attempt >= settings.job_max_attempts:
                await tx.jobs.finish(run.job_id, run.attempt, "dead", at, error=error)
                return
            delay = backoff(run.attempt, timedelta(seconds=settings.job_backoff_seconds))
            await tx.jobs.retry_later(run.job_id, run.attempt, at, delay, error)

    async def _end_as_dead(self, run: JobRun, error: str) -> None:
        async with self.services.uow.begin_tenant(run.tenant_id) as tx:
            await tx.jobs.finish(run.job_id, run.attempt, "dead", clock.now(), error=error)
