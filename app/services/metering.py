"""How much work is waiting, over all tenants, for whoever watches the service."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

import structlog

from app.core import clock
from app.core.errors import Problem
from app.core.metrics import QueueTally
from app.services.forgetting.health import MemoryHealthService
from app.uow import UnitOfWork

log = structlog.get_logger()

COUNTED_SECONDS: Final = 300.0
"""How long the counts over all memories are given again: they read every row."""

COUNT_PATIENCE_SECONDS: Final = 0.2

FRESH_SECONDS: Final = 10.0
"""How long a tally is given again: several scrapers cost no more than one."""


@dataclass(slots=True)
class Metering:
    """The use case of a scrape."""

    uow: UnitOfWork
    health: MemoryHealthService
    _tally: QueueTally | None = field(default=None)
    _until: float = field(default=0.0)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _memories: Mapping[str, int] = field(default_factory=dict)
    _counted_until: float = field(default=0.0)
    _counting: asyncio.Task[None] | None = field(default=None)

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
        return QueueTally(dict(jobs), waiting, await self._counted(tenants))

    async def _counted(self, tenants: Sequence[UUID]) -> Mapping[str, int]:
        """What memories are like, counted now and then: what is not counted in time is given at a later scrape."""
        if self._counting is None and clock.monotonic() >= self._counted_until:
            self._counting = asyncio.create_task(self._count_memories(tenants))
        if self._counting is not None:
            await asyncio.wait({self._counting}, timeout=COUNT_PATIENCE_SECONDS)
        return self._memories

    async def _count_memories(self, tenants: Sequence[UUID]) -> None:
        try:
            self._memories = await self.health.tally(tenants)
        except Problem as problem:
            log.warning("memories_not_counted", reason=problem.code)
        finally:
            self._counted_until, self._counting = clock.monotonic() + COUNTED_SECONDS, None
