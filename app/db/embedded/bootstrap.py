"""What the superuser lays down in a fresh server, each step harmless when repeated, and the proof that vectors work."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import asyncpg

from app.core import clock
from app.core.errors import ConfigurationError
from app.db.embedded.binaries import unrunnable
from app.db.embedded.credentials import FILE, Credentials

HOST = "127.0.0.1"
DATABASE = "mnemic"
SUPERUSER, MIGRATOR, APP = "postgres", "mnemic_migrator", "mnemic_app"
DIMENSIONS = 64
NOT_YET = (OSError, TimeoutError, asyncpg.CannotConnectNowError, asyncpg.ConnectionDoesNotExistError)
PROOF = f"""
CREATE TEMP TABLE proof (id integer, embedding vector({DIMENSIONS})) ON COMMIT DROP;
INSERT INTO proof
    SELECT n, (SELECT array_agg(cos(n * i)) FROM generate_series(1, {DIMENSIONS}) AS i)::vector({DIMENSIONS})
    FROM generate_series(1, 50) AS n;
CREATE INDEX ON proof USING hnsw ((embedding::halfvec({DIMENSIONS})) halfvec_cosine_ops);
SET LOCAL enable_seqscan = off
"""  # noqa: S608 - a number of ours
NEAREST = f"""
SELECT id FROM proof ORDER BY embedding::halfvec({DIMENSIONS}) <=>
    (SELECT embedding::halfvec({DIMENSIONS}) FROM proof WHERE id = 7) LIMIT 1
"""  # noqa: S608 - a number of ours

T = TypeVar("T")


def finished(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in a loop of its own, also where the calling thread has one running."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


@contextlib.asynccontextmanager
async def connected(port: int, password: str, database: str) -> AsyncIterator[asyncpg.Connection]:
    """A connection as the superuser."""
    connection: asyncpg.Connection = await asyncpg.connect(
        host=HOST,
        port=port,
        user=SUPERUSER,
        password=password,
        database=database,
        ssl=False,
        timeout=10.0,
    )
    try:
        yield connection
    finally:
        await connection.close()


async def accepting(port: int, password: str, pgdata: Path, *, alive: Callable[[], bool], seconds: float) -> bool:
    """Wait until the server of `pgdata` answers on `port`; False if it ends before, or not within `seconds`.

    Raises `ConfigurationError` if it does not know the password.
    """
    deadline = clock.monotonic() + seconds
    while alive() and clock.monotonic() < deadline:
        try:
            async with connected(port, password, "postgres") as connection:
                return Path(await connection.fetchval("SHOW data_directory")) == pgdata
        except asyncpg.InvalidPasswordError as error:
            raise ConfigurationError(
                f"The database in {pgdata} was made with other passwords than those of {FILE}: bring that file back.",
            ) from error
        except NOT_YET:
            await asyncio.sleep(0.02)
    return False


async def lay_foundation(port: int, credentials: Credentials) -> None:
    """Roles, database, grants and extension, as they should be; each is made or put right.

    Raises `ConfigurationError` if this processor cannot run the vector code.
    """
    async with connected(port, credentials.superuser, "postgres") as connection:
        await connection.execute("SET log_min_error_statement = panic")  # a password stands in what follows
        await _role(connection, MIGRATOR, "LOGIN NOSUPERUSER BYPASSRLS", credentials.migrator)
        await _role(connection, APP, "LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE", credentials.app)
        await connection.execute(f"GRANT {APP} TO {MIGRATOR}")
        await make_database(connection, DATABASE)
    try:
        async with connected(port, credentials.superuser, DATABASE) as connection:
            await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            await _prove(connection)
    except (OSError, asyncpg.PostgresConnectionError, asyncpg.InterfaceError) as error:
        raise unrunnable("the server fell over a vector query; pgvector needs AVX2, which it may lack") from error


async def make_database(connection: asyncpg.Connection, name: str) -> None:
    """A database that the migrator owns and the app may enter, and nobody else; made if it is missing."""
    if not await connection.fetchval("SELECT true FROM pg_database WHERE datname = $1", name):
        await connection.execute(f"CREATE DATABASE {name} OWNER {MIGRATOR}")
    await connection.execute(f"REVOKE ALL ON DATABASE {name} FROM PUBLIC")
    await connection.execute(f"GRANT CONNECT ON DATABASE {name} TO {APP}")


async def _role(connection: asyncpg.Connection, name: str, attributes: str, password: str) -> None:
    if not await connection.fetchval("SELECT true FROM pg_roles WHERE rolname = $1", name):
        await connection.execute(f"CREATE ROLE {name}")
    secret = await connection.fetchval("SELECT quote_literal($1::text)", password)
    await connection.execute(f"ALTER ROLE {name} {attributes} PASSWORD {secret}")


async def _prove(connection: asyncpg.Connection) -> None:
    """Insert, index, cast and query vectors; all of it is rolled back."""
    transaction = connection.transaction()
    await transaction.start()
    await connection.execute(PROOF)
    nearest = await connection.fetchval(NEAREST)
    await transaction.rollback()
    if nearest != 7:  # noqa: PLR2004 - the row it was asked for
        raise unrunnable(f"its vector search gives wrong answers (row {nearest} for row 7)")
