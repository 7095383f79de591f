"""Which memories were served: counted in memory, written down in batches, never in the path of a read."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

import structlog

from app.core.errors import Problem
from app.uow import UnitOfWork

log = structlog.get_logger()

AT_ONCE: Final = 1_000
MOST: Final = 100_000
"""Memories whose accesses wait to be written; beyond, counts are lost rather than memory."""


@dataclass(slots=True)
class _Seen:
    times: int
    last: datetime


@dataclass(slots=True)
class AccessLog:
    """The accesses of this process. What is not yet written is lost with the process: it steers ranking, no more."""

    uow: UnitOfWork
    interval: float
    _waiting: dict[tuple[UUID, UUID], _Seen] = field(default_factory=dict)

    def note(self, tenant_id: UUID, memory_ids: Sequence[UUID], at: datetime) -> None:
        """These memories were served."""
        for memory_id in memory_ids:
            seen = self._waiting.get((tenant_id, memory_id))
            if seen is not None:
                seen.times, seen.last = seen.times + 1, at
            elif len(self._waiting) < MOST:
                self._waiting[tenant_id, memory_id] = _Seen(1, at)

    async def flush(self) -> None:
        """Write down what waits; rows that another transaction holds at the moment are passed over."""
        waiting, self._waiting = self._waiting, {}
        by_tenant: dict[UUID, dict[UUID, _Seen]] = {}
        for (tenant_id, memory_id), seen in waiting.items():
            by_tenant.setdefault(tenant_id, {})[memory_id] = seen
        for tenant_id, mine in by_tenant.items():
            ids = sorted(mine)
            for start in range(0, len(ids), AT_ONCE):
                await self._write(tenant_id, {one: mine[one] for one in ids[start : start + AT_ONCE]})

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Flush again and again for as long as the block lasts, and once more at its end."""
        task = asyncio.ensure_future(self._run())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await self.flush()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self.interval)
            await self.flush()

    async def _write(self, tenant_id: UUID, seen: dict[UUID, _Seen]) -> None:
        try:
            async with self.uow.begin_tenant(tenant_id) as tx:
                await tx.memories.accessed([(one, what.times, what.last) for one, what in seen.items()])
        except Problem as problem:
            log.warning("accesses_not_written", memories=len(seen), reason=problem.code)
