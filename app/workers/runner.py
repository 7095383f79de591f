"""One run of one job: claimed, done, and its end written down, whatever happens."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import cast
from uuid import UUID

import structlog

from app.composition import Services
from app.core import clock
from app.core.errors import ConfigurationError, Problem
from app.domain.calls import Call, served
from app.domain.jobs import JobKind, backoff
from app.providers.embeddings.base import EmbeddingUnavailable
from app.providers.llm.base import LanguageModelNonsense, LanguageModelUnavailable
from app.repositories.base import Row
from app.repositories.jobs import JobBusy
from app.services.history import job_actor
from app.services.vectorising import JobLost, JobRun
from app.workers.handlers import handle

log = structlog.get_logger()

BUSY_PAUSE = timedelta(seconds=0.5)
MAX_ERROR = 2_000
SPOKEN = (Problem, ConfigurationError, EmbeddingUnavailable, LanguageModelUnavailable, LanguageModelNonsense)
"""Errors whose words are written for readers; those of others may quote the stored text that they choke on."""


@dataclass(frozen=True, slots=True)
class JobRunner:
    """Runs jobs by id. The record decides: a job that is finished, or another's by now, is left alone."""

    services: Services

    async def run(self, tenant_id: UUID, job_id: UUID) -> None:
        """Claim a job and run it; a failure is retried later, and after too many the job is dead.

        Cancelled in the middle of a job, it hands the job back.

        Raises:
            Unavailable: The record cannot be read or written: whoever called must call again.
        """
        claimed = await self._claim(tenant_id, job_id)
        if claimed is None:
            return
        run = JobRun.of(claimed)
        bound = log.bind(job_id=str(job_id), kind=claimed["kind"], attempt=run.fence.attempt)
        if run.fence.attempt > self.services.settings.job_max_attempts:
            bound.error("job_dead")
            await self._end_as_dead(run, claimed["error"] or "The worker was lost in every attempt.")
            return
        with self.services.metrics.job_run(claimed["kind"]) as outcome:
            try:
                with served(_call(claimed)):
                    await handle(self.services, cast("JobKind", claimed["kind"]), run)
            except JobLost:
                outcome.word = "lost"
                bound.warning("job_lost")
            except asyncio.CancelledError:
                outcome.word = "handed_back"
                bound.warning("job_handed_back")
                await asyncio.shield(self._queue_again(run, timedelta(0), "The worker was stopped."))
                raise
            except Exception as error:  # noqa: BLE001 - a job must end in its record, whatever happened
                outcome.word = "failed"
                reason = type(error).__name__
                if isinstance(error, SPOKEN):
                    reason = f"{reason}: {error}"[:MAX_ERROR]
                    bound.warning("job_failed", reason=reason)
                else:
                    bound.exception("job_failed")
                await self._end_as_failed(run, reason)

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
        if run.fence.attempt >= settings.job_max_attempts:
            await self._end_as_dead(run, error)
            return
        pause = backoff(run.fence.attempt, timedelta(seconds=settings.job_backoff_seconds))
        await self._queue_again(run, pause, error)

    async def _queue_again(self, run: JobRun, pause: timedelta, error: str) -> None:
        """Where a younger job for the same subject waits already, that one takes over and this one ends as failed."""
        try:
            async with self.services.uow.begin_tenant(run.tenant_id) as tx:
                await tx.jobs.retry_later(run.fence, clock.now(), pause, error)
        except JobBusy:
            async with self.services.uow.begin_tenant(run.tenant_id) as tx:
                await tx.jobs.finish(run.fence, "failed", clock.now(), error=error)

    async def _end_as_dead(self, run: JobRun, error: str) -> None:
        async with self.services.uow.begin_tenant(run.tenant_id) as tx:
            await tx.jobs.finish(run.fence, "dead", clock.now(), error=error)


def _call(job: Row) -> Call:
    """What the audit log tells of a job's changes."""
    return Call(
        action=f"job.{job['kind']}",
        resource="jobs",
        actor=job_actor(job["id"]),
        ids={"job_id": str(job["id"])},
        user_id=job["user_id"],
        of_content=True,
    )
