"""The HNSW indexes of models: made and dropped by the migrator, while the tables stay in use."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import asyncpg

from app.db import embedded
from app.db.dsn import parse_dsn
from app.repositories.models import INDEX_LOCK, INVALID_INDEXES, ModelRecord, index_names, index_statements
from app.settings import Settings

PAUSE_SECONDS: Final = 0.2


class IndexesRefused(Exception):  # noqa: N818 - a state of affairs, not an error
    """The role may not build or drop indexes: it is not the migrator."""


@dataclass(frozen=True, slots=True)
class VectorIndexes:
    """Work on a connection of the migrator's own, outside of transactions and of statement timeouts.

    Args:
        arguments: How asyncpg connects as the migrator.
    """

    arguments: Mapping[str, Any] = field(repr=False)

    @classmethod
    def configured(cls, settings: Settings) -> "VectorIndexes | None":
        """By the migrator's DSN of the settings, or of a running embedded server; None where neither is known."""
        given = settings.migration_database_url or settings.database_url
        if given is not None:
            return cls(parse_dsn(given.get_secret_value()).asyncpg_arguments)
        running = embedded.running(settings.data_dir.resolve())
        return None if running is None else cls(parse_dsn(running.migrator_dsn).asyncpg_arguments)

    async def build(self, record: ModelRecord) -> None:
        """Build a model's missing indexes; mend what a kill left half done. Raises `IndexesRefused`."""
        async with self._alone() as connection:
            for row in await connection.fetch(INVALID_INDEXES):
                await connection.execute(f'DROP INDEX CONCURRENTLY IF EXISTS "{row["relname"]}"')
            for statement in index_statements(record):
                await connection.execute(statement)

    async def drop(self, model_id: int) -> None:
        """Drop a model's indexes. Raises `IndexesRefused`."""
        async with self._alone() as connection:
            for name in index_names(model_id):
                await connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator["asyncpg.Connection[Any]"]:
        connection = await asyncpg.connect(**self.arguments)
        try:
            await connection.execute("SET statement_timeout = 0")
            # Another migrator's half-built index looks like one that a kill left. Asked again and again, because CREATE
            # INDEX CONCURRENTLY waits for everyone who waits in a statement.
            while not await connection.fetchval(INDEX_LOCK):  # noqa: ASYNC110
                await asyncio.sleep(PAUSE_SECONDS)
            yield connection
        except asyncpg.InsufficientPrivilegeError as error:
            raise IndexesRefused from error
        finally:
            await connection.close()
