"""What a tenant has used of the language model."""

from datetime import date

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert

from app.db.models import language_model_usage
from app.repositories.base import Repository


class UsageRepository(Repository):
    """Calls and tokens, a row a day."""

    async def tokens(self, day: date) -> int:
        """Tokens used on a day."""
        used = language_model_usage.c
        statement = select(used.tokens).where(used.tenant_id == self._tenant_id, used.day == day)
        return int((await self._connection.execute(statement)).scalar_one_or_none() or 0)

    async def tokens_between(self, first: date, end: date) -> int:
        """Tokens used from a day on, until before another."""
        used = language_model_usage.c
        statement = select(func.coalesce(func.sum(used.tokens), 0)).where(
            used.tenant_id == self._tenant_id, used.day >= first, used.day < end
        )
        return int((await self._connection.execute(statement)).scalar_one())

    async def add(self, day: date, calls: int, tokens: int) -> None:
        """Count calls and their tokens."""
        used = language_model_usage.c
        row = {"tenant_id": self._tenant_id, "day": day, "calls": calls, "tokens": tokens}
        statement = insert(language_model_usage).values(row)
        counted = {"calls": used.calls + calls, "tokens": used.tokens + tokens}
        await self._run(statement.on_conflict_do_update(index_elements=["tenant_id", "day"], set_=counted))
