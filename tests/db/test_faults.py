"""What a database failure means to a caller."""

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.composition import Services
from app.core.errors import Conflict, Contention, Invalid, Problem, Unavailable
from app.db.faults import driver_error, problem_of
from app.db.scoped import Database


@pytest.fixture
def store(services: Services) -> Database:
    return services.uow.database


async def failure(store: Database, statement: str, **values: object) -> BaseException:
    with pytest.raises(Exception, match=r".") as caught:
        async with store.transaction(None) as connection:
            await connection.execute(text(statement), values)
    return caught.value


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("SELECT 'nul' || chr(0)", Invalid),
        ("SELECT repeat('9', 400)::numeric::float8", Invalid),
        ("SELECT 1 / 0", Invalid),
        (r"""SELECT '{"a": "\u0000"}'::jsonb""", Invalid),
        (r"SELECT E'\xff'::bytea::text::int", Invalid),
        ("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'foreign_key_violation'; END $$", Conflict),
        ("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'program_limit_exceeded'; END $$", Invalid),
        ("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'deadlock_detected'; END $$", Contention),
        ("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'serialization_failure'; END $$", Contention),
        ("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'lock_not_available'; END $$", Unavailable),
        ("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'query_canceled'; END $$", Unavailable),
        ("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$", Unavailable),
        ("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'out_of_memory'; END $$", Unavailable),
        ("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'read_only_sql_transaction'; END $$", Unavailable),
        ("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'insufficient_resources'; END $$", Unavailable),
        ("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'io_error'; END $$", Unavailable),
        ("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'cannot_connect_now'; END $$", Unavailable),
        ("SELECT FROM a_table_that_no_migration_has_made_yet", Unavailable),
    ],
)
async def test_a_failure_of_the_database_is_a_problem_that_says_what_helps(
    store: Database, statement: str, problem: type[Problem]
) -> None:
    found = await failure(store, statement)
    assert type(found) is problem, found
    assert "$" not in str(found)
    assert statement not in str(found)


@pytest.mark.parametrize("value", ["nul\x00", "\ud800"])
async def test_a_text_that_postgresql_cannot_hold_is_the_callers_fault(store: Database, value: str) -> None:
    assert isinstance(await failure(store, "SELECT cast(:value AS text)", value=value), Invalid)


async def test_a_number_beyond_its_column_is_the_callers_fault(store: Database) -> None:
    assert isinstance(await failure(store, "SELECT cast(:value AS bigint)", value=2**70), Invalid)


@pytest.mark.parametrize(
    "statement",
    [
        "SELEKT 1",
        "SELECT no_such_column FROM tenants",
        "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'unique_violation'; END $$",
        "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'check_violation'; END $$",
        "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege'; END $$",
    ],
)
async def test_a_mistake_of_our_own_is_not_dressed_up_as_a_problem(store: Database, statement: str) -> None:
    found = await failure(store, statement)
    assert isinstance(found, DBAPIError)
    assert isinstance(driver_error(found), asyncpg.PostgresError)


@pytest.mark.parametrize("error", [ConnectionRefusedError(), TimeoutError(), OSError("gone")])
def test_a_server_that_cannot_be_reached_is_worth_another_try(error: BaseException) -> None:
    found = problem_of(error)
    assert isinstance(found, Unavailable)
    assert found.headers["Retry-After"]


def test_a_full_pool_has_a_code_of_its_own() -> None:
    found = problem_of(PoolTimeoutError())
    assert isinstance(found, Unavailable)
    assert found.code == "pool_exhausted"


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("x"), AssertionError()])
def test_what_is_no_failure_of_the_database_is_none_of_its_problems(error: BaseException) -> None:
    assert problem_of(error) is None
