"""A transaction's tenant, and what is left of it on the connection: nothing."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from app.composition import acting_role, database
from app.core import clock, ids
from app.core.errors import Conflict, Unavailable
from app.db.base import APP_ROLE
from app.db.dsn import parse_dsn
from app.db.embedded.server import EmbeddedServer
from app.db.scoped import Database, TransactionLimits
from app.settings import Settings
from tests.databases import fetch

INSERT_USER = text("INSERT INTO users (tenant_id, id, first_seen_at, updated_at) VALUES (:tenant, :id, :at, :at)")
SETTING = text("SELECT current_setting('app.tenant', true)")
READ_USERS = text("SELECT id FROM users ORDER BY id")


async def open_pool(
    settings: Settings, *, size: int = 2, patience: float = 5.0, limits: TransactionLimits | None = None
) -> Database:
    assert settings.database_url is not None
    chosen = settings.model_copy(update={"pool_size": size, "pool_timeout_seconds": patience})
    store = database(chosen, parse_dsn(settings.database_url.get_secret_value()))
    return store if limits is None else Database(store.engine, store.role, limits)


@pytest.fixture
async def pool(settings: Settings) -> AsyncIterator[Database]:
    """A pool of the test's own, two connections wide."""
    made = await open_pool(settings)
    yield made
    await made.engine.dispose()


@pytest.fixture
async def tenants(pool: Database) -> tuple[UUID, UUID]:
    """Two tenants, each with one user named after it."""
    pair = (ids.new_id(), ids.new_id())
    for tenant in pair:
        async with pool.transaction(tenant) as connection:
            await connection.execute(INSERT_USER, {"tenant": tenant, "id": f"of-{tenant}", "at": clock.now()})
    return pair


async def test_a_tenant_sees_only_its_rows_by_sql_that_names_no_tenant(
    pool: Database, tenants: tuple[UUID, UUID]
) -> None:
    for tenant in tenants:
        async with pool.transaction(tenant) as connection:
            assert list((await connection.execute(READ_USERS)).scalars()) == [f"of-{tenant}"]


async def test_without_a_tenant_no_row_of_any_is_seen(pool: Database, tenants: tuple[UUID, UUID]) -> None:
    async with pool.transaction(None) as connection:
        assert list((await connection.execute(READ_USERS)).scalars()) == []


async def test_a_row_of_another_tenant_is_neither_written_nor_changed_nor_deleted(
    pool: Database, tenants: tuple[UUID, UUID]
) -> None:
    mine, other = tenants
    for statement in (INSERT_USER, text("UPDATE users SET tenant_id = :tenant, updated_at = :at WHERE id <> :id")):
        with pytest.raises(ProgrammingError, match="row-level security"):
            async with pool.transaction(mine) as connection:
                await connection.execute(statement, {"tenant": other, "id": "x", "at": clock.now()})
    async with pool.transaction(mine) as connection:
        touched = await connection.execute(text("UPDATE users SET timezone = 'UTC' WHERE tenant_id = :t"), {"t": other})
        assert touched.rowcount == 0
        gone = await connection.execute(text("DELETE FROM users WHERE tenant_id = :t"), {"t": other})
        assert gone.rowcount == 0
    async with pool.transaction(other) as connection:
        assert list((await connection.execute(READ_USERS)).scalars()) == [f"of-{other}"]


async def test_a_foreign_key_does_not_reach_into_another_tenant(pool: Database, tenants: tuple[UUID, UUID]) -> None:
    """Its check goes around row-level security, and the tenant is part of the key."""
    mine, other = tenants
    columns = "tenant_id, id, owner, memory, status, created_at, updated_at"
    session = text(f"INSERT INTO sessions ({columns}) VALUES (:t, 'there', 's:there', 'on', 'open', :at, :at)")
    async with pool.transaction(other) as connection:
        await connection.execute(session, {"t": other, "at": clock.now()})
    state = text("INSERT INTO session_states VALUES (:t, 'there', 1, '{}', 'me', :at)")
    with pytest.raises(Conflict):
        async with pool.transaction(mine) as connection:
            await connection.execute(state, {"t": mine, "at": clock.now()})


async def test_a_pooled_connection_forgets_the_tenant_that_it_served(settings: Settings) -> None:
    pool = await open_pool(settings, size=1)
    tenant = ids.new_id()
    async with pool.transaction(tenant) as connection:
        assert (await connection.execute(SETTING)).scalar_one() == str(tenant)
        await connection.execute(INSERT_USER, {"tenant": tenant, "id": "ada", "at": clock.now()})
    async with pool.transaction(None) as connection:
        assert (await connection.execute(SETTING)).scalar_one() == ""  # not NULL: hence nullif() in the policy
        assert list((await connection.execute(READ_USERS)).scalars()) == []
    async with pool.engine.connect() as bare:
        assert list((await bare.execute(READ_USERS)).scalars()) == []
    await pool.engine.dispose()


async def test_a_failed_transaction_leaves_nothing_behind(settings: Settings) -> None:
    pool = await open_pool(settings, size=1)
    tenant = ids.new_id()

    async def fail_after_writing() -> None:
        async with pool.transaction(tenant) as connection:
            await connection.execute(INSERT_USER, {"tenant": tenant, "id": "ada", "at": clock.now()})
            raise LookupError

    with pytest.raises(LookupError):
        await fail_after_writing()
    with pytest.raises(ProgrammingError):
        async with pool.transaction(tenant) as connection:
            await connection.execute(text("SELECT nonsense"))
    async with pool.transaction(tenant) as connection:
        assert list((await connection.execute(READ_USERS)).scalars()) == []
    await pool.engine.dispose()


async def test_an_error_that_the_caller_caught_does_not_become_a_commit(settings: Settings) -> None:
    """PostgreSQL answers COMMIT of a failed transaction with ROLLBACK and no error: a lie about a write, passed on."""
    pool = await open_pool(settings, size=1)
    tenant = ids.new_id()

    async def pass_over() -> None:
        async with pool.transaction(tenant) as connection:
            await connection.execute(INSERT_USER, {"tenant": tenant, "id": "ada", "at": clock.now()})
            with pytest.raises(ProgrammingError):
                await connection.execute(text("SELECT nonsense"))

    with pytest.raises(RuntimeError, match="passed over"):
        await pass_over()
    await pool.engine.dispose()


async def test_one_login_for_both_roles_steps_down_to_the_app_role(server: EmbeddedServer, settings: Settings) -> None:
    one = settings.model_copy(update={"database_url": settings.migration_database_url, "migration_database_url": None})
    assert one.database_url is not None
    dsn = parse_dsn(one.database_url.get_secret_value())
    assert acting_role(one, dsn) == APP_ROLE
    pool = database(one, dsn)
    tenant = ids.new_id()
    async with pool.transaction(tenant) as connection:
        assert (await connection.execute(text("SELECT current_user"))).scalar_one() == APP_ROLE
        assert (await connection.execute(text("SELECT session_user"))).scalar_one() == dsn.url.username
        await connection.execute(INSERT_USER, {"tenant": tenant, "id": "ada", "at": clock.now()})
    async with pool.transaction(ids.new_id()) as connection:
        assert list((await connection.execute(READ_USERS)).scalars()) == []
    await pool.engine.dispose()


async def test_connections_that_the_server_ended_are_replaced_unseen(server: EmbeddedServer, pool: Database) -> None:
    names = text("SELECT pg_backend_pid()")
    async with pool.transaction(None) as one, pool.transaction(None) as two:
        pids = [(await connection.execute(names)).scalar_one() for connection in (one, two)]
    await fetch(server.superuser_dsn, "SELECT pg_terminate_backend(p, 5000) FROM unnest($1::int[]) p", pids)
    async with pool.transaction(None) as one, pool.transaction(None) as two:
        fresh = [(await connection.execute(names)).scalar_one() for connection in (one, two)]
    assert not set(fresh) & set(pids)


async def test_a_connection_that_ends_within_a_transaction_is_a_503_and_the_next_call_works(
    server: EmbeddedServer, pool: Database
) -> None:
    async def lose_the_server() -> None:
        async with pool.transaction(None) as connection:
            pid = (await connection.execute(text("SELECT pg_backend_pid()"))).scalar_one()
            await fetch(server.superuser_dsn, "SELECT pg_terminate_backend($1, 5000)", pid)
            await connection.execute(text("SELECT 1"))

    with pytest.raises(Unavailable):
        await lose_the_server()
    async with pool.transaction(None) as connection:
        assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1


async def test_a_full_pool_is_a_503_with_retry_after_within_its_time(settings: Settings) -> None:
    pool = await open_pool(settings, size=1, patience=0.3)
    async with pool.transaction(None):
        began = time.monotonic()
        with pytest.raises(Unavailable) as caught:
            async with pool.transaction(None):
                raise AssertionError
        assert 0.2 < time.monotonic() - began < 3
    assert caught.value.status == 503
    assert caught.value.code == "pool_exhausted"
    assert int(caught.value.headers["Retry-After"]) >= 1
    async with pool.transaction(None) as connection:
        assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1
    await pool.engine.dispose()


async def test_a_statement_that_runs_too_long_is_a_503(settings: Settings) -> None:
    pool = await open_pool(settings, size=1, limits=TransactionLimits(statement_seconds=0.2))
    with pytest.raises(Unavailable):
        async with pool.transaction(None) as connection:
            await connection.execute(text("SELECT pg_sleep(20)"))
    async with pool.transaction(None) as connection:
        assert (await connection.execute(text("SELECT 1"))).scalar_one() == 1
    await pool.engine.dispose()


async def test_a_lock_that_is_not_given_in_time_is_a_503(settings: Settings) -> None:
    pool = await open_pool(settings, size=2, limits=TransactionLimits(lock_seconds=0.2))
    lock = text("SELECT pg_advisory_xact_lock(4711)")
    async with pool.transaction(None) as holder:
        await holder.execute(lock)
        with pytest.raises(Unavailable):
            async with pool.transaction(None) as waiter:
                await waiter.execute(lock)
    await pool.engine.dispose()


async def call(pool: Database, tenant: UUID) -> None:
    """A request: several statements in one transaction, one of which takes a while."""
    async with pool.transaction(tenant) as connection:
        await connection.execute(READ_USERS)
        await connection.execute(text("SELECT pg_sleep(0.003)"))
        await connection.execute(INSERT_USER, {"tenant": tenant, "id": str(ids.new_id()), "at": clock.now()})


async def insist(task: asyncio.Task[None]) -> None:
    """Cancel as an outer scope does that wants to be done: at every turn of the loop, until the task has ended."""
    while not task.done():
        task.cancel()
        await asyncio.sleep(0)


@pytest.mark.parametrize("insistent", [False, True])
async def test_cancelled_calls_leave_an_idle_pool_and_no_open_transaction(
    server: EmbeddedServer, settings: Settings, full_size: bool, insistent: bool
) -> None:
    pool = await open_pool(settings, size=4, patience=30)
    tenant = ids.new_id()
    chance = random.Random(insistent)
    for _ in range(100 if full_size else 20):
        calls = [asyncio.create_task(call(pool, tenant)) for _ in range(10)]
        await asyncio.sleep(chance.random() * 0.02)
        for task in calls:
            if insistent:
                await insist(task)
            else:
                await asyncio.sleep(chance.random() * 0.002)
                task.cancel()
        await asyncio.wait(calls)
        assert all(task.cancelled() or task.exception() is None for task in calls)
    await idle(pool)
    async with pool.transaction(None) as connection:
        ours = (await connection.execute(text("SELECT pg_backend_pid()"))).scalar_one()
        open_now = await fetch(
            server.superuser_dsn,
            "SELECT pid, state, query FROM pg_stat_activity"
            " WHERE application_name = 'mnemic' AND state LIKE 'idle in%' AND pid <> $1",
            ours,
        )
    assert open_now == []
    for _ in range(8):
        await call(pool, tenant)
    await pool.engine.dispose()


async def idle(pool: Database) -> None:
    """Wait until every connection is back, without asking for one."""
    deadline = time.monotonic() + 10
    while pool.engine.pool.checkedout():  # type: ignore[attr-defined]
        assert time.monotonic() < deadline, pool.engine.pool.status()
        await asyncio.sleep(0.01)


async def test_a_cancelled_write_is_not_committed(settings: Settings) -> None:
    pool = await open_pool(settings, size=1)
    tenant = ids.new_id()
    written = asyncio.Event()

    async def write() -> None:
        async with pool.transaction(tenant) as connection:
            await connection.execute(INSERT_USER, {"tenant": tenant, "id": "ada", "at": clock.now()})
            written.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(write())
    await written.wait()
    task.cancel()
    await asyncio.wait([task])
    async with pool.transaction(tenant) as connection:
        assert list((await connection.execute(READ_USERS)).scalars()) == []
    await pool.engine.dispose()


async def test_a_database_that_is_not_there_is_a_503_within_its_time(settings: Settings) -> None:
    assert settings.database_url is not None
    dsn = parse_dsn(settings.database_url.get_secret_value())
    nobody = parse_dsn("postgresql://mnemic_app:x@127.0.0.1:9/mnemic")
    for wrong in (nobody, parse_dsn(dsn.url.set(password="wrong").render_as_string(hide_password=False))):
        pool = database(settings.model_copy(update={"pool_timeout_seconds": 0.5}), wrong)
        began = time.monotonic()
        with pytest.raises(Unavailable):
            async with pool.transaction(None):
                raise AssertionError
        assert time.monotonic() - began < 5
        await pool.engine.dispose()


async def test_a_pooler_is_served_without_named_statements(settings: Settings) -> None:
    assert settings.database_url is not None
    pool = database(settings, parse_dsn(settings.database_url.get_secret_value() + "?pgbouncer=true"))
    for _ in range(6):
        async with pool.transaction(ids.new_id()) as connection:
            await connection.execute(READ_USERS)
            names = await connection.execute(text("SELECT count(*) FROM pg_prepared_statements WHERE name <> ''"))
            assert names.scalar_one() == 0
    await pool.engine.dispose()
