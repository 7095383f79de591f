"""The one door to a transaction: the tenant, the role and the time limits travel with its BEGIN."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeVar
from uuid import UUID

import asyncpg
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.core.errors import Problem
from app.db import changes
from app.db.checks import RoleCheck
from app.db.faults import problem_of
from app.db.lending import driver_of, given_back, lent

T = TypeVar("T")

_ROLLBACK_SECONDS: Final = 5

PLANNED_ONCE: Final = "SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off"
"""Without values the planner takes any owner for a tenth of all, and would read the whole table."""


_unfinished: Final[set["asyncio.Task[None]"]] = set()
"""What cancelled callers have left to be ended."""


@dataclass(frozen=True, slots=True)
class TransactionLimits:
    """Seconds that a statement may run, and that it may wait for a lock."""

    statement_seconds: float = 30.0
    lock_seconds: float = 10.0


@dataclass(frozen=True)
class Database:
    """A pool together with the role and limits that its transactions take on.

    `role` is set where one login serves migrations and service alike; None where the login is the app role itself.
    `further` settings go out with each BEGIN: those of a session mean nothing behind a pooler.
    """

    engine: AsyncEngine
    role: str | None = None
    limits: TransactionLimits = TransactionLimits()
    check: RoleCheck = field(default_factory=RoleCheck)
    further: Mapping[str, str] = field(default_factory=dict)

    def pool_size(self) -> int:
        """Connections that the pool may hold."""
        return int(self.engine.pool.size())  # type: ignore[attr-defined]

    def connections_in_use(self) -> int:
        """Connections that are lent out at the moment."""
        return int(self.engine.pool.checkedout())  # type: ignore[attr-defined]

    @cached_property
    def _opening(self) -> str:
        """BEGIN and its settings in one round trip; SET LOCAL, because set_config() does not reach Citus nodes."""
        parts = [
            "BEGIN",
            f"SET LOCAL statement_timeout = {int(self.limits.statement_seconds * 1000)}",
            f"SET LOCAL lock_timeout = {int(self.limits.lock_seconds * 1000)}",
        ]
        parts += [f"SET LOCAL {name} = {value}" for name, value in self.further.items()]
        if self.role is not None:
            parts.append(f"SET LOCAL ROLE {self.role}")
        return "; ".join(parts)

    @asynccontextmanager
    async def transaction(
        self, tenant_id: UUID | None, *, planned_once: bool = False
    ) -> AsyncIterator[AsyncConnection]:
        """A transaction in which row-level security shows this tenant's rows (None: global tables only).

        Commits when the block ends, rolls back when it raises; a database failure leaves as a `Problem`.

        Args:
            tenant_id: Whose rows are seen.
            planned_once: Statements are planned once for any values, and by indexes alone: for those whose joins are
                written down, and that take as long to plan as to run.

        Raises:
            Unavailable: No connection in time, or the server went away.
            ConfigurationError: Row-level security would not bind the acting role.
        """
        try:
            opened = await self._open(tenant_id, planned_once)
            try:
                yield opened.connection
            except BaseException:
                await _to_its_end(_close(opened))
                raise
            await _to_its_end(_commit(opened))
        except Problem:
            raise
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                raise
            raise problem from error

    async def _open(self, tenant_id: UUID | None, planned_once: bool) -> "_Opened":  # noqa: FBT001 - private
        """A connection on which BEGIN went through: one that the server has dropped meanwhile is replaced unseen."""
        begin = self._opening
        if planned_once:
            begin = f"{begin}; {PLANNED_ONCE}"
        if tenant_id is not None:
            begin = f"{begin}; SET LOCAL app.tenant = '{UUID(str(tenant_id))}'"
        attempts = self.engine.pool.size() + 2  # type: ignore[attr-defined]
        for attempt in range(attempts):
            connection = lent(self.engine)
            if connection is None:
                connection = await _to_its_end(_connected(self.engine), undo=AsyncConnection.close)
            opened = _Opened(connection, driver_of(connection))
            changes.begin(connection)
            try:
                await opened.raw.execute(begin)
                await self.check.ensure(opened.raw)
            except (asyncpg.PostgresConnectionError, asyncpg.InterfaceError, asyncpg.AdminShutdownError, OSError):
                await _to_its_end(_drop(opened))
                if attempt == attempts - 1:
                    raise
            except asyncio.CancelledError:  # nobody knows whether it has begun
                _keep(_drop(opened))
                raise
            except BaseException:
                await _to_its_end(_close(opened))
                raise
            else:
                return opened
        raise AssertionError("unreachable: the last attempt returns or raises")


@dataclass(frozen=True, slots=True)
class _Opened:
    """A connection within a transaction, and the driver's own connection under it."""

    connection: AsyncConnection
    raw: "asyncpg.Connection[Any]"


async def _commit(opened: _Opened) -> None:
    """Commit and give the connection back.

    PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK and without an error.
    """
    try:
        answer = await opened.raw.execute(f"{changes.script_at_commit(opened.connection)}COMMIT")
    finally:
        await _close(opened)
    if answer != "COMMIT":
        raise RuntimeError("A statement of this transaction failed and the failure was passed over: nothing was kept.")


async def _close(opened: _Opened) -> None:
    """Give the connection back clean, or throw it away; never hide the error on its way out."""
    connection, raw = opened.connection, opened.raw
    if not raw.is_closed() and not raw.is_in_transaction() and given_back(connection):
        return
    try:
        if raw.is_closed():
            await connection.invalidate()
        elif raw.is_in_transaction():
            await raw.execute("ROLLBACK", timeout=_ROLLBACK_SECONDS)
    except Exception:  # noqa: BLE001 - whatever it is, this connection is not to be trusted again
        await connection.invalidate()
    finally:
        await connection.close()


async def _drop(opened: _Opened) -> None:
    """Throw a connection away whose state nobody knows."""
    try:
        await opened.connection.invalidate()
    finally:
        await opened.connection.close()


async def _connected(engine: AsyncEngine) -> AsyncConnection:
    return await engine.connect()


async def _to_its_end(work: Coroutine[Any, Any, T], undo: Callable[[T], Coroutine[Any, Any, None]] | None = None) -> T:
    """Await what must not be left half done, however often the caller is cancelled: it then ends in the background.

    `undo` is given the result that nobody waits for any more.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        _keep(_finish(task, undo))
        raise


async def _finish(task: "asyncio.Task[T]", undo: Callable[[T], Coroutine[Any, Any, None]] | None) -> None:
    with suppress(Exception):
        result = await task
        if undo is not None:
            await undo(result)


def _keep(work: Coroutine[Any, Any, None]) -> None:
    """The event loop itself holds its tasks only weakly."""
    task = asyncio.ensure_future(work)
    _unfinished.add(task)
    task.add_done_callback(_unfinished.discard)
