"""Runs migrations online, on one asyncpg connection, with timeouts that keep a live database answering."""

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace

from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, pool, text
from sqlalchemy.ext.asyncio import create_async_engine

from alembic import context
from app.db import models  # noqa: F401 - fills the metadata
from app.db.base import metadata
from app.db.dsn import parse_dsn

LOCK_TIMEOUT = "4s"
STATEMENT_TIMEOUT = "60s"
WAIT_SECONDS = 0.2
MIGRATION_LOCK = 0x6D6E656D6963  # two migrators never run at once: "mnemic"


def limit(connection: Connection) -> None:
    """Keep a live database answering: give up what waits or runs for long."""
    connection.execute(text(f"SET lock_timeout = '{LOCK_TIMEOUT}'"))
    connection.execute(text(f"SET statement_timeout = '{STATEMENT_TIMEOUT}'"))


def limit_again(*, ctx: MigrationContext, **_: object) -> None:
    """An index that is built beside the traffic takes its time: the next migration is limited anew."""
    if ctx.connection is not None:
        limit(ctx.connection)


def run(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=metadata,
        transaction_per_migration=True,
        compare_type=True,
        on_version_apply=limit_again,
    )
    with context.begin_transaction():
        context.run_migrations()


async def migrate() -> None:
    dsn = parse_dsn(context.config.attributes["dsn"])
    engine = create_async_engine(dsn.url, connect_args=dsn.connect_args, poolclass=pool.NullPool)
    async with engine.connect() as connection:
        while not await connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": MIGRATION_LOCK}):
            await connection.commit()  # an index that is built concurrently waits for every older transaction
            await asyncio.sleep(WAIT_SECONDS)
        await connection.run_sync(limit)
        await connection.commit()
        await connection.run_sync(run)
        await connection.commit()
    await engine.dispose()


class Printed:
    """Stands for the driver's connection, to which a library's scripts go: they are printed."""

    def __init__(self, ctx: MigrationContext) -> None:
        self._ctx = ctx

    def run_async(self, work: Callable[["Printed"], Awaitable[object]]) -> None:
        """As SQLAlchemy's adapter has it."""
        asyncio.run(work(self))  # type: ignore[arg-type]

    async def execute(self, script: str) -> None:
        """As asyncpg's connection has it."""
        self._ctx.impl.static_output(f"{script.rstrip().rstrip(chr(59))};")


def write_down() -> None:
    """Print the SQL of the migrations (`alembic upgrade head --sql`), with the limits that they run under."""
    context.configure(dialect_name="postgresql", target_metadata=metadata, transaction_per_migration=True)
    bind = context.get_bind()
    bind.connection = SimpleNamespace(dbapi_connection=Printed(context.get_context()))
    with context.begin_transaction():
        context.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
        context.execute(f"SET statement_timeout = '{STATEMENT_TIMEOUT}'")
        context.run_migrations()


existing = context.config.attributes.get("connection")
if context.is_offline_mode():
    write_down()
elif existing is not None:
    run(existing)
else:
    asyncio.run(migrate())
