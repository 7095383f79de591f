"""How much a tenant may have. The limits are kept by the database itself at each COMMIT (`app.db.metering`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from app.core import clock
from app.core.errors import Contention
from app.domain.principal import Principal
from app.repositories.quotas import COUNTED_TABLES, LIMITS
from app.schemas.quotas import PeriodQuota, Quota, QuotaChange, Quotas
from app.services.access import AccessService
from app.services.admin import require_operator, tenant_meant
from app.services.allowance import month_of, next_month
from app.uow import Transaction, UnitOfWork

TOKENS: Final = "monthly_token_quota"
"""Where the tenant's settings have the limit on tokens."""


@dataclass(frozen=True, slots=True)
class QuotaService:
    """The use cases of quotas: an administrator sees them, an operator sets them."""

    uow: UnitOfWork
    access: AccessService

    async def get(self, principal: Principal, tenant: str | None) -> Quotas:
        """The limits, and what is used of each."""
        principal.require_administration()
        tenant_id = await tenant_meant(self.uow, principal, tenant)
        async with self.uow.begin_tenant(tenant_id) as tx:
            return await _quotas(tx)

    async def change(self, principal: Principal, tenant: str | None, request: QuotaChange) -> Quotas:
        """Set the limits that the request names. What is above a new limit stays; nothing more is taken in.

        Raises:
            Unavailable: A long write kept the counting from beginning: nothing was changed.
        """
        require_operator(principal)
        tenant_id = await tenant_meant(self.uow, principal, tenant)
        named = request.model_dump(exclude_unset=True)
        limits = {column: named[name] for name, column in LIMITS.items() if name in named}
        if any(limit is not None for limit in limits.values()):
            await self._count(tenant_id)
        async with self.uow.begin_tenant(tenant_id) as tx:
            await _set_tokens(tx, named)
            await _set_limits(tx, limits)
            quotas = await _quotas(tx)
        self.access.forget()
        return quotas

    async def _count(self, tenant_id: UUID) -> None:
        """Begin to count, if it has not begun: first what is written from now on, then what was there before.

        In between, those are waited for who had begun to write before anything was counted.
        """
        async with self.uow.begin_tenant(tenant_id) as tx:
            await tx.quotas.start()
            row = await tx.quotas.get()
        if row is not None and row["counted"]:
            return
        for table in COUNTED_TABLES:
            async with self.uow.begin_tenant(tenant_id) as tx:
                await tx.quotas.drain(table)
        async with self.uow.begin_tenant(tenant_id) as tx:
            locked = await tx.quotas.lock()
            if locked is not None and not locked["counted"]:
                await tx.quotas.set(**await tx.quotas.held(), counted=True)


async def _set_tokens(tx: Transaction, named: Mapping[str, Any]) -> None:
    if "llm_tokens" in named:
        await tx.set_tenant_settings({TOKENS: named["llm_tokens"]})


async def _set_limits(tx: Transaction, limits: Mapping[str, int | None]) -> None:
    row = await tx.quotas.lock() if limits else None
    if row is None or not row["counted"]:
        if any(limit is not None for limit in limits.values()):
            raise Contention("The quotas were changed by somebody else at this moment.")
        return
    then: dict[str, Any] = {**row, **limits}
    if all(then[column] is None for column in LIMITS.values()):
        await tx.quotas.stop()
    else:
        await tx.quotas.set(**limits)


async def _quotas(tx: Transaction) -> Quotas:
    row, tenant, at = await tx.quotas.get(), await tx.tenant(), clock.now()
    counted = row is not None and row["counted"]
    used: Mapping[str, int] = dict(row) if row is not None and counted else await tx.quotas.held()
    tokens = await tx.usage.tokens_between(month_of(at), next_month(at).date())
    return Quotas(
        **{name: Quota(limit=None if row is None else row[column], used=used[name]) for name, column in LIMITS.items()},
        llm_tokens=PeriodQuota(
            limit=None if tenant is None else tenant["settings"].get(TOKENS), used=tokens, renewed_at=next_month(at)
        ),
    )
