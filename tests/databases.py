"""Databases beside the one that `settings` leads to, on the same server, for tests that shape a schema themselves."""

from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import uuid4

import asyncpg

from app.db.embedded.server import EmbeddedServer


@dataclass(frozen=True)
class Place:
    """A database and its three ways in."""

    name: str
    app_dsn: str
    migrator_dsn: str
    superuser_dsn: str


async def create_database(server: EmbeddedServer) -> Place:
    """An empty database as `mnemic up` makes it: the migrator's, with the extension, open to the app role."""
    name = f"test_{uuid4().hex}"
    await run_sql(server.superuser_dsn, f"CREATE DATABASE {name} OWNER mnemic_migrator")
    await run_sql(server.superuser_dsn, f"GRANT CONNECT ON DATABASE {name} TO mnemic_app")
    dsns = (server.app_dsn, server.migrator_dsn, server.superuser_dsn)
    place = Place(name, *(urlsplit(dsn)._replace(path=f"/{name}").geturl() for dsn in dsns))
    await run_sql(place.superuser_dsn, "CREATE EXTENSION vector")
    return place


async def drop_database(server: EmbeddedServer, place: Place) -> None:
    """Remove it, whoever is connected."""
    await run_sql(server.superuser_dsn, f"DROP DATABASE {place.name} WITH (FORCE)")


async def run_sql(dsn: str, sql: str) -> None:
    """Run a script on a connection of its own."""
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()


async def fetch(dsn: str, sql: str, *arguments: object) -> list[asyncpg.Record]:
    """Rows, read on a connection of its own."""
    connection = await asyncpg.connect(dsn)
    try:
        return list(await connection.fetch(sql, *arguments))
    finally:
        await connection.close()
