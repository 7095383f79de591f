"""How much of the language model a tenant may use in a day and in a month, and how much it has used."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal
from uuid import UUID

from app.core import clock
from app.domain.principal import TenantDefaults
from app.uow import Transaction, UnitOfWork

Spent = Literal["day", "month"]
"""The period whose tokens are used up."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """Counts what is used; days and months begin at midnight UTC."""

    uow: UnitOfWork

    @classmethod
    async def used_up(cls, tx: Transaction, defaults: TenantDefaults) -> bool:
        """Whether nothing is left of today's budget or of the month's."""
        return await cls.spent(tx, defaults) is not None

    @staticmethod
    async def spent(tx: Transaction, defaults: TenantDefaults) -> Spent | None:
        """Of which period nothing is left: the longer one where it is both; None where there is something left."""
        at = clock.now()
        monthly, daily = defaults.monthly_token_quota, defaults.daily_token_budget
        if monthly is not None and await tx.usage.tokens_between(month_of(at), next_month(at).date()) >= monthly:
            return "month"
        return "day" if daily is not None and await tx.usage.tokens(at.date()) >= daily else None

    async def note(self, tenant_id: UUID, calls: int, tokens: int) -> None:
        """Count calls that were made."""
        if calls:
            async with self.uow.begin_tenant(tenant_id) as tx:
                await tx.usage.add(clock.now().date(), calls, tokens)


def renewal(at: datetime, spent: Spent = "day") -> datetime:
    """When the next day's budget begins, or the next month's."""
    if spent == "month":
        return next_month(at)
    return at.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def month_of(at: datetime) -> date:
    """The first day of the month."""
    return at.date().replace(day=1)


def next_month(at: datetime) -> datetime:
    """When the next month begins."""
    return (at.replace(day=1, hour=0, minute=0, second=0, microsecond=0) + timedelta(days=32)).replace(day=1)
