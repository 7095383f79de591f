"""What the server's own catalogs say about a database, for whoever looks after it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

APP_NAMES = "mnemic%"

_ABOUT = """
SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS version_text,
       current_database() AS database, session_user AS login, clock_timestamp() AS at,
       current_setting('server_encoding') AS encoding,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector,
       (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS vector_available
"""
_LOGIN = """
SELECT r.rolname AS name, r.rolsuper AS superuser, r.rolbypassrls AS bypasses,
       pg_has_role(r.oid, c.relowner, 'USAGE') AS owns
FROM pg_roles r LEFT JOIN pg_class c ON c.oid = to_regclass('memories') WHERE r.rolname = session_user
"""
_INDEXES = """
SELECT c.relname AS name, i.indisvalid AS valid,
       EXISTS (SELECT FROM pg_stat_progress_create_index p WHERE p.index_relid = c.oid) AS building
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname LIKE 'hnsw\\_%' ORDER BY 1
"""
_MODELS = "SELECT id, name, dimension, status FROM embedding_models ORDER BY id"
_DUE = """
SELECT coalesce(extract(epoch FROM clock_timestamp() - min(execute_after)), 0)::float8
FROM pgqueuer WHERE status = 'queued' AND execute_after < clock_timestamp()
"""
_DEAD = "SELECT count(*) FROM jobs WHERE state = 'dead'"


@dataclass(frozen=True, slots=True)
class About:
    """The server and the database that a connection leads to.

    `vector` is pgvector's version in this database, `vector_available` the one that lies on the server; None: none.
    """

    version: int
    version_text: str
    database: str
    login: str
    at: datetime
    encoding: str
    vector: str | None
    vector_available: str | None


@dataclass(frozen=True, slots=True)
class Login:
    """The role that logged in. `owns` is None where there are no tables yet."""

    name: str
    superuser: bool
    bypasses: bool
    owns: bool | None


@dataclass(frozen=True, slots=True)
class Index:
    """One vector index."""

    name: str
    valid: bool
    building: bool


@dataclass(frozen=True, slots=True)
class Catalog:
    """Questions to one connection."""

    connection: "asyncpg.Connection[Any]"

    async def about(self) -> About:
        """Server, database and extension."""
        return About(**await self._row(_ABOUT))

    async def login(self) -> Login:
        """Who logged in."""
        return Login(**await self._row(_LOGIN))

    async def revision(self) -> str | None:
        """The migration that the database stands at; None where there is none at all."""
        if await self.connection.fetchval("SELECT to_regclass('alembic_version') IS NULL"):
            return None
        found: str | None = await self.connection.fetchval("SELECT version_num FROM alembic_version")
        return found

    async def indexes(self) -> list[Index]:
        """The vector indexes, valid or not."""
        return [Index(**row) for row in await self.connection.fetch(_INDEXES)]

    async def models(self) -> list[dict[str, Any]]:
        """The registered embedding models: id, name, dimension, status."""
        return [dict(row) for row in await self.connection.fetch(_MODELS)]

    async def oldest_due_seconds(self) -> float:
        """For how long the job that is longest due has waited for a worker."""
        return float(await self.connection.fetchval(_DUE))

    async def dead_jobs(self) -> int:
        """Dead letters of all tenants, asked tenant by tenant: the connection acts as the app role."""
        dead = 0
        for row in await self.connection.fetch("SELECT id FROM tenants"):
            async with self.connection.transaction(readonly=True):
                await self.connection.execute(f"SET LOCAL app.tenant = '{UUID(str(row['id']))}'")
                dead += await self.connection.fetchval(_DEAD)
        return dead

    async def _row(self, statement: str) -> dict[str, Any]:
        return dict(await self.connection.fetchrow(statement) or {})
