"""How much of the language model a tenant may use in a day, and how much it has used."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from app.core import clock
from app.domain.principal import TenantDefaults
from app.uow import Transaction, UnitOfWork


@dataclass(frozen=True, slots=True)
class Allowance:
    """Counts what is used; days begin at midnight UTC."""

    uow: UnitOfWork

    @staticmethod
    async def used_up(tx: Transaction, defaults: TenantDefaults) -> bool:
        """Whether nothing is left of today's budget."""
        budget = defaults.daily_token_budget
        return budget is not None and await tx.usage.tokens(clock.now().date()) >= budget

    async def note(self, tenant_id: UUID, calls: int, tokens: int) -> None:
        """Count calls that were made."""
        if calls:
            async with self.uow.begin_tenant(tenant_id) as tx:
                await tx.usage.add(clock.now().date(), calls, tokens)


def renewal(at: datetime) -> datetime:
    """When the next day's budget begins."""
    return at.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
