"""Nothing is served under a role that row-level security would not bind."""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest
from sqlalchemy import text

from app.composition import acting_role, database
from app.core.errors import ConfigurationError
from app.db.dsn import parse_dsn
from app.db.embedded.server import EmbeddedServer
from app.db.scoped import Database
from app.settings import Settings
from tests.databases import create_database, drop_database, fetch, run_sql


@pytest.fixture
async def login(server: EmbeddedServer, settings: Settings) -> AsyncIterator[str]:
    """The DSN of a login without any right of its own."""
    name = "mnemic_stranger"
    await run_sql(server.superuser_dsn, f"CREATE ROLE {name} LOGIN PASSWORD 'made-up'")
    await run_sql(server.superuser_dsn, f"GRANT CONNECT ON DATABASE mnemic TO {name}")
    parts = urlsplit(server.app_dsn)
    yield parts._replace(netloc=f"{name}:made-up@{parts.hostname}:{parts.port}").geturl()
    await run_sql(server.superuser_dsn, f"DROP OWNED BY {name}; DROP ROLE {name}")


async def first_transaction(settings: Settings, dsn: str, role: str | None = None) -> str:
    """Begin one; the role that it acted under."""
    made = database(settings, parse_dsn(dsn))
    store = Database(made.engine, role)
    try:
        async with store.transaction(None) as connection:
            return str((await connection.execute(text("SELECT current_user"))).scalar_one())
    finally:
        await store.engine.dispose()


async def refusal(settings: Settings, dsn: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        await first_transaction(settings, dsn)
    said = str(caught.value)
    assert "mnemic_app" in said
    assert "DATABASE_URL" in said
    assert "MIGRATION_DATABASE_URL" in said
    return said


async def test_a_superuser_is_refused(server: EmbeddedServer, settings: Settings) -> None:
    assert "postgres is a superuser" in await refusal(settings, server.superuser_dsn)


async def test_the_migrator_is_refused(server: EmbeddedServer, settings: Settings) -> None:
    assert "mnemic_migrator has BYPASSRLS" in await refusal(settings, server.migrator_dsn)


async def test_a_login_with_bypassrls_is_refused(server: EmbeddedServer, settings: Settings, login: str) -> None:
    await run_sql(server.superuser_dsn, "ALTER ROLE mnemic_stranger BYPASSRLS")
    assert "mnemic_stranger has BYPASSRLS" in await refusal(settings, login)


async def test_a_member_of_the_owner_is_refused(server: EmbeddedServer, settings: Settings, login: str) -> None:
    """The owner's policies are forced, but an owner can lift them."""
    await run_sql(server.superuser_dsn, "GRANT mnemic_migrator TO mnemic_stranger")
    assert "mnemic_stranger owns the tables" in await refusal(settings, login)


async def test_a_member_of_the_app_role_is_served(server: EmbeddedServer, settings: Settings, login: str) -> None:
    await run_sql(server.superuser_dsn, "GRANT mnemic_app TO mnemic_stranger")
    assert await first_transaction(settings, login) == "mnemic_stranger"


async def test_the_app_role_itself_is_served(server: EmbeddedServer, settings: Settings) -> None:
    assert await first_transaction(settings, server.app_dsn) == "mnemic_app"


async def test_an_owner_that_steps_down_to_the_app_role_is_served(server: EmbeddedServer, settings: Settings) -> None:
    assert await first_transaction(settings, server.migrator_dsn, "mnemic_app") == "mnemic_app"


async def test_a_superuser_that_steps_down_to_the_app_role_is_served(
    server: EmbeddedServer, settings: Settings
) -> None:
    assert await first_transaction(settings, server.superuser_dsn, "mnemic_app") == "mnemic_app"


async def test_a_table_whose_policy_is_not_forced_is_noticed(server: EmbeddedServer, settings: Settings) -> None:
    place = await create_database(server)
    try:
        await run_sql(place.migrator_dsn, "CREATE TABLE memories (tenant_id uuid)")
        assert "without forced row-level security" in await refusal(settings, place.app_dsn)
    finally:
        await drop_database(server, place)


async def test_a_database_without_tables_is_left_to_readyz_to_report(
    server: EmbeddedServer, settings: Settings
) -> None:
    place = await create_database(server)
    try:
        assert await first_transaction(settings, place.app_dsn) == "mnemic_app"
    finally:
        await drop_database(server, place)


async def test_a_refusal_is_given_again_at_every_call(server: EmbeddedServer, settings: Settings) -> None:
    store = database(settings, parse_dsn(server.superuser_dsn))
    for _ in range(3):
        with pytest.raises(ConfigurationError):
            async with store.transaction(None):
                raise AssertionError
    assert store.engine.pool.checkedout() == 0  # type: ignore[attr-defined]
    await store.engine.dispose()
    busy = "SELECT count(*) AS busy FROM pg_stat_activity WHERE usename = 'postgres' AND state LIKE 'idle in%'"
    assert (await fetch(server.superuser_dsn, busy))[0]["busy"] == 0


def test_one_dsn_for_both_roles_acts_as_the_app_role(server: EmbeddedServer, settings: Settings) -> None:
    def role(app: str, migrator: str | None) -> str | None:
        chosen = Settings(_env_file=None, database_url=app, migration_database_url=migrator)
        return acting_role(chosen, parse_dsn(app))

    assert role(server.migrator_dsn, None) == "mnemic_app"
    assert role(server.migrator_dsn, server.migrator_dsn + "?sslmode=prefer") == "mnemic_app"
    assert role(server.app_dsn, server.migrator_dsn) is None
    assert role(server.app_dsn, None) is None
