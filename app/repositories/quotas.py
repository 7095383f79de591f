"""What a tenant may hold, and what it holds: `app.db.metering` counts it."""

from typing import Any, Final

from sqlalchemy import RowMapping, delete, select, text, update
from sqlalchemy.dialects.postgresql import insert

from app.db.metering import COUNTED, held_statement
from app.db.models import tenant_usage
from app.repositories.base import Repository

COUNTED_TABLES: Final = tuple(counted.table for counted in COUNTED)
LIMITS: Final = {"memories": "memory_limit", "messages": "message_limit", "bytes": "byte_limit"}
"""The columns that hold the limits."""

_HELD: Final = tuple(text(held_statement(counted)) for counted in COUNTED)


class QuotaRepository(Repository):
    """tenant_usage: one row, or none where nothing is limited."""

    async def get(self) -> RowMapping | None:
        """The limits and what is used of them."""
        return await self._first(select(tenant_usage).where(tenant_usage.c.tenant_id == self._tenant_id))

    async def start(self) -> None:
        """Count from now on: what is written by transactions that begin later."""
        statement = insert(tenant_usage).values(tenant_id=self._tenant_id)
        await self._run(statement.on_conflict_do_nothing(index_elements=["tenant_id"]))

    async def drain(self, table: str) -> None:
        """Wait until every transaction has ended that has written to a table (one of `COUNTED_TABLES`) by now.

        New writers wait as well, until this transaction ends: do nothing else in it.
        """
        if table not in COUNTED_TABLES:
            raise ValueError(table)
        await self._connection.execute(text(f"LOCK TABLE {table} IN SHARE MODE"))

    async def lock(self) -> RowMapping | None:
        """The row, locked until the commit: nobody else's use is counted meanwhile."""
        statement = select(tenant_usage).where(tenant_usage.c.tenant_id == self._tenant_id)
        return await self._first(statement.with_for_update())

    async def held(self) -> dict[str, int]:
        """Memories, messages and bytes, counted row by row."""
        sums = {"memories": 0, "messages": 0, "bytes": 0}
        for statement in _HELD:
            row = (await self._connection.execute(statement, {"tenant_id": self._tenant_id})).mappings().one()
            for name in sums:
                sums[name] += int(row[name])
        return sums

    async def set(self, **values: Any) -> None:  # noqa: ANN401 - columns
        """Write columns of the row."""
        statement = update(tenant_usage).where(tenant_usage.c.tenant_id == self._tenant_id)
        await self._run(statement.values(values))

    async def stop(self) -> None:
        """Count no longer."""
        await self._run(delete(tenant_usage).where(tenant_usage.c.tenant_id == self._tenant_id))
