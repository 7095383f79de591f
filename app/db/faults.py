"""What the database says when it cannot, as problems for a caller."""

import asyncio
from typing import Final

import asyncpg
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.core.errors import Conflict, Contention, Invalid, Problem, QuotaExceeded, Unavailable
from app.db.metering import QUOTA_EXCEEDED

_TRY_AGAIN: Final = (
    asyncpg.QueryCanceledError,
    asyncpg.LockNotAvailableError,
    asyncpg.InsufficientResourcesError,
    asyncpg.PostgresSystemError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # what the driver says where the server vanished in the middle of an exchange
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.UndefinedTableError,
    asyncpg.ReadOnlySQLTransactionError,
    ConnectionError,
    OSError,
)

_IN_EACH_OTHERS_WAY: Final = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)

_OF_THE_DRIVER: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)


def driver_error(error: BaseException) -> BaseException:
    """The innermost asyncpg error under SQLAlchemy's wrappers, or the error itself."""
    seen = error
    while isinstance(seen, DBAPIError) and seen.orig is not None:
        seen = seen.orig
    cause = seen.__cause__
    return cause if isinstance(cause, _OF_THE_DRIVER) else seen


def problem_of(error: BaseException) -> Problem | None:
    """The problem that a database failure means to a caller; None where the failure is our own fault.

    A full pool, a lost server, a lock or statement timeout: 503, trying again helps. A value that PostgreSQL cannot
    hold: 422.
    """
    if isinstance(error, PoolTimeoutError):
        return Unavailable("All database connections are busy.", code="pool_exhausted")
    cause = driver_error(error)
    if getattr(cause, "sqlstate", None) == QUOTA_EXCEEDED:
        quota, limit, used = str(getattr(cause, "detail", "")).split()
        return QuotaExceeded(quota, int(limit), int(used))
    if isinstance(cause, asyncpg.DataError):
        return Invalid("A value cannot be stored in the database.", code="unstorable_value")
    if isinstance(cause, asyncpg.ProgramLimitExceededError):
        return Invalid("The ids or keys are too long together to be indexed: shorten them.", code="too_long_together")
    if isinstance(cause, asyncpg.ForeignKeyViolationError):
        return Conflict("Something that this refers to was removed at the same moment.", code="gone_meanwhile")
    if isinstance(cause, _IN_EACH_OTHERS_WAY):
        return Contention("Other calls were in the way of this one.", code="database_unavailable")
    if isinstance(cause, _TRY_AGAIN) or isinstance(error, OperationalError | InterfaceError):
        return Unavailable("The database does not answer at the moment.", code="database_unavailable")
    if isinstance(error, asyncio.TimeoutError):
        return Unavailable("The database did not accept a connection in time.", code="database_unavailable")
    return None
