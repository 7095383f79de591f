"""How much work is waiting, over all tenants, for whoever watches the service."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from app.core import clock
from app.core.metrics import QueueTally
from app.uow import UnitOfWork

FRESH_SECONDS: Final = 10.0
"""How long a tally is given again: several scrapers cost no more than one."""


@dataclass(slots=True)
class Metering:
    """The use case of a scrape."""

    uow: UnitOfWork
    _tally: QueueTally | None = field(default=None)
    _until: float = field(default=0.0)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def tally(self) -> QueueTally:
        """Jobs that wait, run or ended badly. Raises `Unavailable` where the database does not answer."""
        async with self._lock:
            if self._tally is None or clock.monotonic() >= self._until:
                self._tally = await self._count()
                self._until = clock.monotonic() + FRESH_SECONDS
            return self._tally

    async def _count(self) -> QueueTally:
        """One short transaction a tenant, as row-level security has it."""
        async with self.uow.begin_global() as tx:
            tenants = await tx.access.tenant_ids()
            waiting = await tx.access.oldest_due_seconds()
        jobs: Counter[tuple[str, str]] = Counter()
        for tenant_id in tenants:
            async with self.uow.begin_tenant(tenant_id) as tx:
                jobs.update(await tx.jobs.tally())
        return QueueTally(dict(jobs), waiting)
