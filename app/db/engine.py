"""The connection pool: sized by settings, safe behind PgBouncer, taught pgvector's types."""

from typing import Any, Final

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from app.db import changes, lending
from app.db.dsn import Dsn
from app.db.types import register_halfvec, register_halfvec_within

PLANNER: Final = {"jit": "off", "max_parallel_workers_per_gather": "0"}
"""Neither compiling a plan nor starting workers for it pays for statements of milliseconds."""


def create_engine(dsn: Dsn, *, pool_size: int, pool_timeout: float, connect_timeout: float) -> AsyncEngine:
    """An engine whose transactions are begun by `app.db.scoped` alone (hence AUTOCOMMIT: SQLAlchemy sends no BEGIN).

    Args:
        dsn: Where to connect.
        pool_size: Connections at most.
        pool_timeout: Seconds to wait for a free one.
        connect_timeout: Seconds to wait for the server to accept.
    """
    arguments: dict[str, Any] = {"timeout": connect_timeout, **dsn.connect_args}
    own = {"application_name": "mnemic", **PLANNER}
    arguments["server_settings"] = {**own, **arguments.get("server_settings", {})}
    # No named statements, no settings of a session: PgBouncer may hand any server connection to any client.
    if dsn.pooled:
        arguments |= {"statement_cache_size": 0, "prepared_statement_cache_size": 0, "server_settings": {}}
    engine = create_async_engine(
        dsn.url,
        connect_args=arguments,
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,  # errors are kept with jobs and told in logs: they name the statement, not its values
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=pool_timeout,
        pool_use_lifo=True,
    )

    @event.listens_for(engine.sync_engine, "connect")
    def teach_types(connection: Any, _record: Any) -> None:  # noqa: ANN401 - SQLAlchemy's adapter
        connection.run_async(register_halfvec_within if dsn.pooled else register_halfvec)

    changes.watch(engine)
    lending.watch(engine)
    return engine
