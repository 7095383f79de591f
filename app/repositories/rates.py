"""Buckets of calls, shared by all processes."""

from datetime import datetime

from sqlalchemy import DateTime, case, delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.db.models import rate_buckets
from app.domain.rates import Rate

KEPT: int = 1_000
"""Full buckets that are forgotten in one statement."""


class RateRepository:
    """rate_buckets. Works in a transaction without a tenant."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def take(self, subject: str, rate: Rate, now: datetime) -> datetime | None:
        """Take one call out of a bucket; where it does not fit in, when the bucket will be full, else None."""
        bucket = rate_buckets.c
        sane = case((bucket.full_at > now + rate.within, now), else_=bucket.full_at)
        moved = func.greatest(sane, now, type_=DateTime(timezone=True)) + rate.spacing
        statement = insert(rate_buckets).values(subject=subject, full_at=now + rate.spacing)
        taken = await self._connection.execute(
            statement.on_conflict_do_update(
                index_elements=[bucket.subject], set_={"full_at": moved}, where=moved <= now + rate.within
            ).returning(bucket.full_at)
        )
        if taken.first() is not None:
            return None
        found = await self._connection.execute(select(bucket.full_at).where(bucket.subject == subject))
        full_at: datetime | None = found.scalar_one_or_none()
        return now + rate.within if full_at is None else full_at

    async def forget_full(self, now: datetime) -> int:
        """Drop buckets that are full again, a thousand at most: they say what no bucket says."""
        full = select(rate_buckets.c.subject).where(rate_buckets.c.full_at <= now).limit(KEPT)
        return (await self._connection.execute(delete(rate_buckets).where(rate_buckets.c.subject.in_(full)))).rowcount
