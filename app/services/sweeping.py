"""The broom: sessions whose vectors lag, jobs that the dispatcher forgot, answers and records past their time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import structlog

from app.core import clock
from app.core.errors import Problem
from app.domain.jobs import JOB_KINDS, JobKind
from app.domain.scope import Scope
from app.repositories.sessions import Lagging
from app.services.answers import KEPT_FOR
from app.services.dreaming.turns import DreamTurns
from app.services.explaining import KEPT_FOR as EXPLANATIONS_KEPT
from app.services.forgetting.expiring import anything_to_expire
from app.services.insights.turns import ReflectionTurns
from app.services.sessions import forget_expired
from app.services.tenancy import tenant_defaults
from app.services.vectorising import JobRun
from app.uow import Transaction, UnitOfWork

log = structlog.get_logger()

SUBJECT: Final = "tenant"
CONTEXTS_KEPT: Final = timedelta(hours=1)
"""As long as they are served."""

MAINTAINED_EVERY: Final = timedelta(days=1)
MANY: Final = 500
OWNERS_AT_ONCE: Final = 200
"""Owners whose counters one sweep compares with their rows."""

ROWS_AT_ONCE: Final = 50_000
"""Rows that it counts for that, unless a single owner has more."""

DREAMS_KEPT: Final = timedelta(days=30)
"""What was proposed or done by them: as long as it can be undone."""

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
    kinds: Sequence[Lagging] = ("embed_messages",)
    """Work for which sessions may lag behind."""

    async def tick(self) -> None:
        """Queue one sweep for each tenant; one that cannot have it now does not keep it from the others."""
        async with self.uow.begin_global() as tx:
            tenants = await tx.access.tenant_ids()
            await tx.rates.forget_full(clock.now())
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
        await self._expired_checkpoints(run.tenant_id)
        recounted, owners_to = await self._counters(run.tenant_id)
        maintained = await self._due_owners(run.tenant_id)
        dreaming = await DreamTurns(self.uow).queue(run.tenant_id)
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            woken = [job for job in await tx.jobs.overdue(at - self.patience, MANY) if job != run.fence.job_id]
            for job_id in woken:
                await tx.jobs.wake(job_id)
            answers = await tx.idempotency.sweep(at - KEPT_FOR)
            await tx.store.forget(at, MANY)
            await tx.explanations.forget(at - EXPLANATIONS_KEPT)
            await tx.contexts.expire(at - CONTEXTS_KEPT)
            await tx.dreams.forget(at - DREAMS_KEPT)
            if await anything_to_expire(tx, at):
                await tx.jobs.enqueue("expire", SUBJECT, at)
            await self._forget_records(tx, at)
            await tx.jobs.forget_dispatch_log(at - DISPATCH_LOG_KEPT)
            done = {"sessions": requeued, "expired": expired, "jobs": len(woken), "answers": answers}
            await run.finish(
                tx, done | {"recounted": recounted, "owners_to": owners_to, "due": maintained, "dreams": dreaming}
            )

    async def _due_owners(self, tenant_id: UUID) -> int:
        """Queue the daily maintenance of those whose turn it is; an owner's first is a day after the first look."""
        at = clock.now()
        async with self.uow.begin_tenant(tenant_id) as tx:
            consolidates = (await tenant_defaults(tx)).forgetting.consolidate
            new = await tx.owners.unmaintained(None, MANY)
            due = await tx.owners.unmaintained(at - MAINTAINED_EVERY, MANY)
            if new or due:
                await tx.owners.maintained([*new, *due], at)
            for owner in due:
                user_id = Scope.of_owner(owner).user_id
                await tx.jobs.enqueue("maintain", owner, at, user_id=user_id)
                if consolidates:
                    await tx.jobs.enqueue("consolidate", owner, at, user_id=user_id)
        for owner in due:
            await ReflectionTurns(self.uow).of_owner(tenant_id, owner)
        return len(due)

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

    async def _expired_checkpoints(self, tenant_id: UUID) -> None:
        """Remove checkpoints that are past their time, with what nothing names then, thread by thread."""
        at = clock.now()
        async with self.uow.begin_tenant(tenant_id) as tx:
            late = await tx.checkpoint_upkeep.expired(at, MANY)
        for thread_id, gone in late.items():
            async with self.uow.begin_tenant(tenant_id) as tx:
                if await tx.checkpoint_upkeep.lock(thread_id) is not None:
                    await tx.checkpoint_upkeep.delete_checkpoints(thread_id, gone)
                    await tx.checkpoint_upkeep.sweep_blobs(thread_id)

    async def _counters(self, tenant_id: UUID) -> tuple[int, str | None]:
        """Compare some owners' counters with their rows, from where the last sweep stopped, and repair what differs.

        Returns:
            How many owners were repaired, and the last one looked at; None where the next sweep begins anew.
        """
        async with self.uow.begin_tenant(tenant_id) as tx:
            done = await tx.jobs.page({"kind": "sweep", "state": "succeeded"}, None, 1)
            stopped = (done[0]["result"] or {}).get("owners_to") if done else None
            known = await tx.owners.after(stopped, OWNERS_AT_ONCE)
            owners = _portion(known)
            wrong = await tx.owners.differing(owners)
        for owner in wrong:
            async with self.uow.begin_tenant(tenant_id) as tx:
                await tx.owners.lock([owner])
                await tx.owners.recount(owner)
        if wrong:
            log.warning("counters_repaired", tenant=str(tenant_id), owners=len(wrong))
        return len(wrong), owners[-1] if len(owners) < len(known) or len(known) == OWNERS_AT_ONCE else None

    async def _lagging_sessions(self, tenant_id: UUID) -> int:
        at = clock.now()
        async with self.uow.begin_tenant(tenant_id) as tx:
            behind = [
                (kind, one) for kind in self.kinds for one in await tx.sessions.lagging(kind, at - self.patience, MANY)
            ]
            for kind, session_id in behind:
                await tx.jobs.enqueue(kind, session_id, at)
            return len(behind)


def _portion(known: Sequence[tuple[str, int]]) -> list[str]:
    """The first owners that have few enough rows together; at least one."""
    owners: list[str] = []
    rows = 0
    for owner, count in known:
        rows += count
        if owners and rows > ROWS_AT_ONCE:
            break
        owners.append(owner)
    return owners
