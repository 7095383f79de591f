"""The broom: sessions whose vectors lag, jobs that the dispatcher forgot, answers and records past their time."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import structlog

from app.core import clock
from app.core.errors import Problem
from app.domain.jobs import JOB_KINDS, JobKind
from app.services.answers import KEPT_FOR
from app.services.sessions import forget_expired
from app.services.vectorising import JobRun
from app.uow import Transaction, UnitOfWork

log = structlog.get_logger()

SUBJECT: Final = "tenant"
MANY: Final = 500
RECORDS_KEPT: Final = timedelta(days=7)
SWEEPS_KEPT: Final = timedelta(hours=1)
DISPATCH_LOG_KEPT: Final = timedelta(hours=1)
FAILURES_IN_A_ROW: Final = 3
"""So many tenants one after the other: then it is the database, and the next tick is early enough."""


@dataclass(frozen=True, slots=True)
class Sweeping:
    """The use cases of the job `sweep` and of the tick that queues it."""

    uow: UnitOfWork
    patience: timedelta

    async def tick(self) -> None:
        """Queue one sweep for each tenant; one that cannot have it now does not keep it from the others."""
        async with self.uow.begin_global() as tx:
            tenants = await tx.access.tenant_ids()
        failures = 0
        for tenant_id in tenants:
            try:
                async with self.uow.begin_tenant(tenant_id) as tx:
                    await tx.jobs.enqueue("sweep", SUBJECT, clock.now())
            except Problem as problem:
                failures += 1
                log.warning("sweep_not_queued", tenant=str(tenant_id), reason=problem.code)
                if failures == FAILURES_IN_A_ROW:
                    raise
            else:
                failures = 0

    async def sweep(self, run: JobRun) -> None:
        """Sweep one tenant."""
        at = clock.now()
        expired = await self._expired_sessions(run.tenant_id)
        requeued = await self._lagging_sessions(run.tenant_id)
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            woken = [job for job in await tx.jobs.overdue(at - self.patience, MANY) if job != run.fence.job_id]
            for job_id in woken:
                await tx.jobs.wake(job_id)
            answers = await tx.idempotency.sweep(at - KEPT_FOR)
            await self._forget_records(tx, at)
            await tx.jobs.forget_dispatch_log(at - DISPATCH_LOG_KEPT)
            await run.finish(tx, {"sessions": requeued, "expired": expired, "jobs": len(woken), "answers": answers})

    async def _forget_records(self, tx: Transaction, at: datetime) -> None:
        """Work that died or was cancelled is kept: it waits for a person. What failed was taken over by a younger."""
        work: list[JobKind] = [kind for kind in JOB_KINDS if kind != "sweep"]
        await tx.jobs.forget(at - SWEEPS_KEPT, ["sweep"], ["succeeded"])
        await tx.jobs.forget(at - RECORDS_KEPT, ["sweep"], ["failed", "dead", "cancelled"])
        await tx.jobs.forget(at - RECORDS_KEPT, work, ["succeeded", "failed"])

    async def _expired_sessions(self, tenant_id: UUID) -> int:
        """Remove what is past its time, one by one: an append that comes first starts the session anew."""
        at = clock.now()
        async with self.uow.begin_tenant(tenant_id) as tx:
            late = await tx.sessions.expired(at, MANY)
        gone = 0
        for session_id in late:
            async with self.uow.begin_tenant(tenant_id) as tx:
                gone += await forget_expired(tx, session_id, at)
        return gone

    async def _lagging_sessions(self, tenant_id: UUID) -> int:
        at = clock.now()
        async with self.uow.begin_tenant(tenant_id) as tx:
            lagging = await tx.sessions.lagging(at - self.patience, MANY)
            for session_id in lagging:
                await tx.jobs.enqueue("embed_messages", session_id, at)
            return len(lagging)
