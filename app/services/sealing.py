"""Sealing anew: every sealed memory comes under the newest key, while the service goes on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from app.core.sealing import Unsealable
from app.uow import UnitOfWork

AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class Rotated:
    """What a rotation did: memories sealed anew, those that had the newest key, those that no key here opens."""

    resealed: int = 0
    current: int = 0
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class SealingService:
    """The use cases of sealing keys."""

    uow: UnitOfWork

    async def total(self) -> int:
        """How many memories of all tenants are sealed."""
        return sum([await self._count(tenant_id) for tenant_id in await self._tenants()])

    async def rotate(self, progress: Callable[[int], None] = lambda _: None) -> Rotated:
        """Seal all anew that has an older key; stopped anywhere, the next run does the rest.

        Args:
            progress: Told how many more have been looked at.
        """
        resealed = current = unreadable = 0
        for tenant_id in await self._tenants():
            after: UUID | None = None
            while True:
                async with self.uow.begin_tenant(tenant_id) as tx:
                    rows = await tx.sealed.page(after, AT_ONCE)
                    for row in rows:
                        if self.uow.ring.is_current(bytes(row["sealed"])):
                            current += 1
                            continue
                        try:
                            resealed += await tx.sealed.reseal(self.uow.ring, row)
                        except Unsealable:
                            unreadable += 1
                progress(len(rows))
                if len(rows) < AT_ONCE:
                    break
                after = rows[-1]["id"]
        return Rotated(resealed, current, unreadable)

    async def _tenants(self) -> list[UUID]:
        async with self.uow.begin_global() as tx:
            return list(await tx.access.tenant_ids())

    async def _count(self, tenant_id: UUID) -> int:
        async with self.uow.begin_tenant(tenant_id) as tx:
            return await tx.sealed.count()
