"""The one door to a transaction: the tenant, the role and the time limits travel with its BEGIN."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import asyncpg
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.core.errors import Problem
from app.db.checks import RoleCheck
from app.db.faults import problem_of


@dataclass(frozen=True, slots=True)
class TransactionLimits:
    """Seconds that a statement may run, and that it may wait for a lock."""

    statement_seconds: float = 30.0
    lock_seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Database:
    """A pool together with the role and limits that its transactions take on.

    `role` is set where one login serves migrations and service alike; None where the login is the app role itself.
    """

    engine: AsyncEngine
    role: str | None = None
    limits: TransactionLimits = TransactionLimits()
    check: RoleCheck = field(default_factory=RoleCheck)

    @asynccontextmanager
    async def transaction(self, tenant_id: UUID | None) -> AsyncIterator[AsyncConnection]:
        """A transaction in which row-level security shows this tenant's rows (None: global tables only).

        Commits when the block ends, rolls back when it raises; a database failure leaves as a `Problem`.

        Raises:
            Unavailable: No connection in time, or the server went away.
            ConfigurationError: Row-level security would not bind the acting role.
        """
        try:
            async with self._connected(_begin(tenant_id, self.role, self.limits)) as (connection, raw):
                try:
                    await self.check.ensure(raw)
                    yield connection
                    await raw.execute("COMMIT")
                except BaseException:
                    await _roll_back(connection, raw)
                    raise
        except Problem:
            raise
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                raise
            raise problem from error

    @asynccontextmanager
    async def _connected(self, begin: str) -> AsyncIterator[tuple[AsyncConnection, "asyncpg.Connection[Any]"]]:
        """A connection on which BEGIN went through: one that the server has dropped meanwhile is replaced unseen."""
        attempts = self.engine.pool.size() + 2  # type: ignore[attr-defined]
        for attempt in range(attempts):
            connection = await self.engine.connect()
            raw: asyncpg.Connection[Any] = (await connection.get_raw_connection()).driver_connection  # type: ignore[assignment]
            try:
                await raw.execute(begin)
            except (asyncpg.PostgresConnectionError, asyncpg.InterfaceError, asyncpg.AdminShutdownError, OSError):
                await connection.invalidate()
                await connection.close()
                if attempt == attempts - 1:
                    raise
                continue
            except BaseException:
                await _roll_back(connection, raw)
                await connection.close()
                raise
            try:
                yield connection, raw
            finally:
                await asyncio.shield(connection.close())
            return


def _begin(tenant_id: UUID | None, role: str | None, limits: TransactionLimits) -> str:
    """BEGIN and all its settings in one round trip; SET LOCAL, because set_config() does not reach Citus nodes."""
    parts = [
        "BEGIN",
        f"SET LOCAL statement_timeout = {int(limits.statement_seconds * 1000)}",
        f"SET LOCAL lock_timeout = {int(limits.lock_seconds * 1000)}",
    ]
    if role is not None:
        parts.append(f"SET LOCAL ROLE {role}")
    if tenant_id is not None:
        parts.append(f"SET LOCAL app.tenant = '{UUID(str(tenant_id))}'")
    return "; ".join(parts)


async def _roll_back(connection: AsyncConnection, raw: "asyncpg.Connection[Any]") -> None:
    """Leave the connection clean for the next user, or out of the pool; never hide the error on its way out."""

    async def clean() -> None:
        try:
            if raw.is_closed():
                await connection.invalidate()
            elif raw.is_in_transaction():
                await raw.execute("ROLLBACK", timeout=5)
        except Exception:  # noqa: BLE001 - whatever it is, this connection is not to be trusted again
            await connection.invalidate()

    await asyncio.shield(clean())
