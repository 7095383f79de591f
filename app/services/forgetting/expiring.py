"""The job `expire`: memories past their time are marked in small batches, and deleted for good after a time of grace.

No read waits for it: what has expired is invisible from that instant on by every query's own condition.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from app.core import clock
from app.repositories.base import Row
from app.services.forgetting.marking import Marker
from app.services.tenancy import tenant_defaults
from app.services.vectorising import JobRun
from app.uow import Transaction, UnitOfWork

AT_ONCE: Final = 200
"""Memories of one transaction: owners are locked for some milliseconds."""

MOST_EXPIRED: Final = 10_000
"""Memories that one job marks: as many as one undo brings back. More are left to the next job."""

DELETED_KEPT: Final = timedelta(days=30)
"""How long what was deleted can be brought back."""

SUBJECT: Final = "tenant"


async def anything_to_expire(tx: Transaction, at: datetime) -> bool:
    """Whether a tenant has something that is past its time, or past its grace."""
    policy = (await tenant_defaults(tx)).forgetting
    return bool(
        await tx.forgetting.expiring(at, 1)
        or await tx.forgetting.expired_before(at - policy.expired_kept, 1)
        or await tx.forgetting.deleted_before(at - DELETED_KEPT, 1)
    )


@dataclass(frozen=True, slots=True)
class ExpiryService:
    """The use case of the job."""

    uow: UnitOfWork

    async def run(self, run: JobRun) -> None:
        """Mark, then erase what was marked long ago. Killed anywhere, the next run goes on with what is left."""
        at = clock.now()
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            policy = (await tenant_defaults(tx)).forgetting
        expired = erased = 0
        while count := await self._expire(run, at):
            expired += count
            if expired >= MOST_EXPIRED:
                break
        while count := await self._erase(run, at - policy.expired_kept, at - DELETED_KEPT):
            erased += count
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            if expired >= MOST_EXPIRED:
                await tx.jobs.enqueue("expire", SUBJECT, at)
            await run.finish(tx, {"expired": expired, "erased": erased, "undo_id": str(run.fence.job_id)})

    async def _expire(self, run: JobRun, at: datetime) -> int:
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            found = await tx.forgetting.expiring(at, AT_ONCE)
            owners = set(await tx.owners.lock(sorted({row["owner"] for row in found})))
            rows = await tx.memories.any_for_update([row["id"] for row in found])
            over = [row for row in rows if row["owner"] in owners and is_over(row, at)]
            await Marker.of(tx, run, at).mark(over, "expired", {"status": "expired"})
            await run.check(tx)
            return len(over)

    async def _erase(self, run: JobRun, expired_before: datetime, deleted_before: datetime) -> int:
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            found = await tx.forgetting.expired_before(expired_before, AT_ONCE)
            found = found or await tx.forgetting.deleted_before(deleted_before, AT_ONCE)
            await tx.owners.lock(sorted({row["owner"] for row in found}))
            await tx.forgetting.erase([row["id"] for row in found])
            await run.check(tx)
            return len(found)


def is_over(row: Row, at: datetime) -> bool:
    """Whether a row is still what was found: past its time, and not marked."""
    return row["expires_at"] is not None and row["expires_at"] <= at and row["status"] in EXPIRING


EXPIRING: Final = ("active", "disputed", "archived")
