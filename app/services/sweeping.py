"""The broom: sessions whose vectors lag, jobs that the dispatcher forgot, answers and records past their time."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from app.core import clock
from app.services.answers import KEPT_FOR
from app.services.vectorising import JobRun
from app.uow import UnitOfWork

MANY: Final = 500
RECORDS_KEPT: Final = timedelta(days=7)
SWEEPS_KEPT: Final = timedelta(hours=1)
DISPATCH_LOG_KEPT: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Sweeping:
    """The use cases of the job `sweep` and of the tick that queues it."""

    uow: UnitOfWork
    patience: timedelta

    async def tick(self) -> None:
        """Queue one sweep for each tenant."""
        async with self.uow.begin_global() as tx:
            tenants = await tx.access.tenant_ids()
        for tenant_id in tenants:
            async with self.uow.begin_tenant(tenant_id) as tx:
                await tx.jobs.enqueue("sweep", "tenant", clock.now())

    async def sweep(self, run: JobRun) -> None:
        """Sweep one tenant."""
        at = clock.now()
        requeued = await self._lagging_sessions(run.tenant_id)
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            woken = [job for job in await tx.jobs.overdue(at - self.patience, MANY) if job != run.job_id]
            for job_id in woken:
                await tx.jobs.wake(job_id)
            answers = await tx.idempotency.sweep(at - KEPT_FOR)
            await tx.jobs.forget(at - SWEEPS_KEPT, ["sweep"])
            await tx.jobs.forget(at - RECORDS_KEPT, ["embed_messages", "embed_memories"])
            await tx.jobs.forget_dispatch_log(at - DISPATCH_LOG_KEPT)
            await run.finish(tx, {"sessions": requeued, "jobs": len(woken), "answers": answers})

    async def _lagging_sessions(self, tenant_id: UUID) -> int:
        """Queue what no job takes care of; a session whose job died is left to a person until it moves again."""
        at = clock.now()
        async with self.uow.begin_tenant(tenant_id) as tx:
            requeued = 0
            for session_id, touched in await tx.sessions.lagging(at - self.patience, MANY):
                if not await tx.jobs.ended_badly_since("embed_messages", session_id, touched):
                    await tx.jobs.enqueue("embed_messages", session_id, at)
                    requeued += 1
            return requeued
