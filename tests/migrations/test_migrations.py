"""The migrations make the schema that the models describe, and take it away again."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from app.db import migrate, models  # noqa: F401 - fills the metadata
from app.db.base import GLOBAL_TABLES, metadata, policy_statements, storage_statements, tenant_tables
from app.db.dsn import parse_dsn
from app.db.embedded.bootstrap import finished
from app.db.embedded.server import EmbeddedServer
from app.db.metering import metering_statements
from tests.databases import Place, create_database, drop_database, fetch

FOREIGN = "c.relname LIKE 'pgqueuer%' OR c.relname = 'alembic_version'"
"""Tables that are not ours to describe: the dispatcher's and alembic's own."""

OURS = f"c.relnamespace = 'public'::regnamespace AND NOT ({FOREIGN})"

CATALOGUE = {
    "tables": f"""
        SELECT c.relname, c.relpersistence, c.relrowsecurity, c.relforcerowsecurity, r.rolname AS owner, c.reloptions
        FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner WHERE c.relkind IN ('r', 'p') AND {OURS}""",
    "columns": f"""
        SELECT c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull,
               a.attidentity, a.attgenerated, a.attstorage, a.attcompression, l.collname,
               pg_get_expr(d.adbin, d.adrelid) AS default
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
        LEFT JOIN pg_collation l ON l.oid = a.attcollation
        WHERE c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped AND {OURS}""",
    "constraints": f"""
        SELECT c.relname, k.conname, k.contype, k.convalidated, pg_get_constraintdef(k.oid) AS definition
        FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid WHERE {OURS}""",
    "indexes": f"""
        SELECT c.relname, i.relname AS index, pg_get_indexdef(i.oid) AS definition, x.indisvalid
        FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid WHERE {OURS}""",
    "policies": f"""
        SELECT c.relname, p.polname, p.polpermissive, p.polroles::regrole[]::text[] AS roles, p.polcmd,
               pg_get_expr(p.polqual, p.polrelid) AS qual, pg_get_expr(p.polwithcheck, p.polrelid) AS with_check
        FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid WHERE {OURS}""",
    "sequences": f"SELECT c.relname, c.relkind FROM pg_class c WHERE c.relkind = 'S' AND {OURS}",
    "triggers": f"""
        SELECT c.relname, t.tgname, pg_get_triggerdef(t.oid) AS definition
        FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal AND {OURS}""",
}

LEFTOVERS = """
SELECT c.relname AS name FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relname NOT LIKE
    'alembic_version%'
UNION ALL
SELECT t.typname FROM pg_type t WHERE t.typnamespace = 'public'::regnamespace AND t.typtype IN ('e', 'd')
UNION ALL
SELECT p.proname FROM pg_proc p
WHERE p.pronamespace = 'public'::regnamespace
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
"""

NOT_TENANT_LED = {
    # The model is a global row; a vector's place is told by its primary key, which the tenant leads.
    "fk_memory_vectors_model_id",
    "fk_message_vectors_model_id",
}

NO_INDEX_FOR_THE_FOREIGN_KEY = {
    # Models are retired, never deleted, and their ids never change: nobody looks for vectors this way round.
    "fk_memory_vectors_model_id",
    "fk_message_vectors_model_id",
}


@pytest.fixture
async def place(server: EmbeddedServer) -> AsyncIterator[Place]:
    """An empty database."""
    made = await create_database(server)
    yield made
    await drop_database(server, made)


@pytest.fixture(scope="module")
def migrated(server: EmbeddedServer) -> Iterator[Place]:
    """A database at the newest revision, which the tests of this module only read."""
    made = finished(create_database(server))
    migrate.upgrade(made.migrator_dsn)
    yield made
    finished(drop_database(server, made))


async def catalogue(dsn: str) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for aspect, sql in CATALOGUE.items():
        rows = [dict(row) for row in await fetch(dsn, sql)]
        found[aspect] = sorted(rows, key=repr)
    return found


async def build_from_models(place: Place) -> None:
    dsn = parse_dsn(place.migrator_dsn)
    pool = create_async_engine(dsn.url, connect_args=dsn.connect_args, poolclass=NullPool)
    async with pool.begin() as connection:
        await connection.run_sync(metadata.create_all)
        statements = [statement for table in tenant_tables() for statement in policy_statements(table.name)]
        for statement in statements + storage_statements() + metering_statements():
            await connection.execute(text(statement))
    await pool.dispose()


async def test_the_migrated_schema_is_the_one_that_the_models_describe(migrated: Place, place: Place) -> None:
    await build_from_models(place)
    expected, found = await catalogue(place.migrator_dsn), await catalogue(migrated.migrator_dsn)
    for aspect in CATALOGUE:
        assert found[aspect] == expected[aspect], aspect
    assert {row["relname"] for row in found["tables"]} == set(metadata.tables)


async def test_up_down_up_ends_where_up_did_and_down_leaves_nothing(place: Place) -> None:
    await asyncio.to_thread(migrate.upgrade, place.migrator_dsn)
    first = await catalogue(place.migrator_dsn)
    await asyncio.to_thread(migrate.downgrade, place.migrator_dsn, "base")
    assert [row["name"] for row in await fetch(place.migrator_dsn, LEFTOVERS)] == []
    await asyncio.to_thread(migrate.upgrade, place.migrator_dsn)
    assert await catalogue(place.migrator_dsn) == first
    assert [row["version_num"] for row in await fetch(place.migrator_dsn, "TABLE alembic_version")] == [migrate.head()]


async def test_up_on_a_database_that_is_up_already_changes_nothing(place: Place) -> None:
    await asyncio.to_thread(migrate.upgrade, place.migrator_dsn)
    first = await catalogue(place.migrator_dsn)
    await asyncio.to_thread(migrate.upgrade, place.migrator_dsn)
    assert await catalogue(place.migrator_dsn) == first


async def test_two_migrators_at_once_do_the_work_once(place: Place) -> None:
    code = "import sys; from app.db import migrate; migrate.upgrade(sys.argv[1])"  # alembic is one a process
    command = (sys.executable, "-c", code, place.migrator_dsn)
    migrators = [await asyncio.create_subprocess_exec(*command) for _ in range(2)]
    assert [await migrator.wait() for migrator in migrators] == [0, 0]
    assert [row["version_num"] for row in await fetch(place.migrator_dsn, "TABLE alembic_version")] == [migrate.head()]


async def test_a_migration_gives_up_waiting_for_a_lock_and_changes_nothing(place: Place) -> None:
    await asyncio.to_thread(migrate.upgrade, place.migrator_dsn)
    reader = await asyncpg.connect(place.migrator_dsn)
    transaction = reader.transaction()
    await transaction.start()
    await reader.execute(f"LOCK TABLE {', '.join(metadata.tables)} IN ACCESS SHARE MODE")  # as one who reads them
    began = time.monotonic()
    with pytest.raises((asyncpg.LockNotAvailableError, DBAPIError), match="lock timeout"):
        await asyncio.to_thread(migrate.downgrade, place.migrator_dsn, "base")
    assert time.monotonic() - began < 30
    await transaction.rollback()
    await reader.close()
    # What came before the one that gave up is done, what it had begun is not: the schema is that of its revision.
    left = await catalogue(place.migrator_dsn)
    ((revision,),) = await fetch(place.migrator_dsn, "TABLE alembic_version")
    assert revision >= "0003"
    await asyncio.to_thread(migrate.upgrade, place.migrator_dsn)
    await asyncio.to_thread(migrate.downgrade, place.migrator_dsn, revision)
    assert await catalogue(place.migrator_dsn) == left


async def test_every_table_but_the_global_ones_is_under_forced_row_level_security(migrated: Place) -> None:
    found = await catalogue(migrated.migrator_dsn)
    guarded = {row["relname"] for row in found["tables"] if row["relrowsecurity"] and row["relforcerowsecurity"]}
    assert guarded == {row["relname"] for row in found["tables"]} - GLOBAL_TABLES
    assert {row["relname"] for row in found["policies"]} == guarded
    assert {row["relname"] for row in found["tables"]} >= GLOBAL_TABLES


async def test_every_policy_reads_the_same_and_binds_reads_and_writes(migrated: Place) -> None:
    policies = (await catalogue(migrated.migrator_dsn))["policies"]
    texts = {
        (row["polname"], row["polpermissive"], tuple(row["roles"]), row["polcmd"], row["qual"], row["with_check"])
        for row in policies
    }
    expression = "(tenant_id = (NULLIF(current_setting('app.tenant'::text, true), ''::text))::uuid)"
    assert texts == {("tenant_isolation", True, ("-",), b"*", expression, expression)}


async def test_every_key_index_and_foreign_key_of_a_tenants_table_is_led_by_the_tenant(migrated: Place) -> None:
    led = await fetch(
        migrated.migrator_dsn,
        f"""
        SELECT c.relname AS table, i.relname AS name, a.attname AS lead FROM pg_index x
        JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
        LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[0] WHERE {OURS}
        UNION ALL
        SELECT c.relname, k.conname, a.attname FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.conkey[1] WHERE k.contype = 'f' AND {OURS}
        UNION ALL
        SELECT c.relname, k.conname, a.attname FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
        JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = k.confkey[1] WHERE k.contype = 'f' AND {OURS}
        """,
    )
    strays = {row["name"] for row in led if row["table"] not in GLOBAL_TABLES and row["lead"] != "tenant_id"}
    assert strays == NOT_TENANT_LED
    keyed = await fetch(
        migrated.migrator_dsn,
        f"SELECT c.relname FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid WHERE contype = 'p' AND {OURS}",
    )
    assert {row["relname"] for row in keyed} == set(metadata.tables)


async def test_every_foreign_key_has_an_index_on_the_side_that_a_delete_looks_at(migrated: Place) -> None:
    rows = await fetch(
        migrated.migrator_dsn,
        f"""
        SELECT k.conname AS name, EXISTS (
            SELECT FROM pg_index x WHERE x.indrelid = k.conrelid AND x.indisvalid
                AND (x.indkey::int2[])[0:cardinality(k.conkey) - 1] @> k.conkey
        ) AS served
        FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid WHERE k.contype = 'f' AND {OURS}
        """,
    )
    assert {row["name"] for row in rows if not row["served"]} == NO_INDEX_FOR_THE_FOREIGN_KEY


async def test_a_delete_of_a_referenced_row_never_clears_the_tenant_of_a_referencing_one(migrated: Place) -> None:
    rows = await fetch(
        migrated.migrator_dsn,
        f"""
        SELECT k.conname AS name, (SELECT array_agg(a.attname) FROM pg_attribute a
            WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.confdelsetcols)) AS cleared
        FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid WHERE k.confdeltype = 'n' AND {OURS}
        """,
    )
    assert rows
    assert all(row["cleared"] and "tenant_id" not in row["cleared"] for row in rows), rows


async def test_the_app_role_reads_and_writes_every_table_and_owns_nothing(migrated: Place) -> None:
    rows = await fetch(
        migrated.migrator_dsn,
        """
        SELECT c.relname AS name, array_agg(g.privilege_type ORDER BY g.privilege_type) AS rights
        FROM pg_class c CROSS JOIN aclexplode(c.relacl) g
        WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND g.grantee = 'mnemic_app'::regrole
        GROUP BY c.relname
        """,
    )
    rights = {row["name"]: row["rights"] for row in rows}
    assert rights.pop("alembic_version") == ["SELECT"]
    assert set(rights) >= set(metadata.tables)
    assert rights.pop("installation") == ["SELECT"]
    assert rights.pop("audit_log") == ["INSERT", "SELECT"], "what is written there stays as it is"
    assert {tuple(right) for right in rights.values()} == {("DELETE", "INSERT", "SELECT", "UPDATE")}
    owned = await fetch(
        migrated.migrator_dsn,
        """SELECT objid FROM pg_shdepend WHERE refobjid = 'mnemic_app'::regrole AND deptype = 'o'
        AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())""",
    )
    assert owned == []
    assert not await may(migrated, "CREATE")


async def may(place: Place, right: str) -> bool:
    """Whether the app role has a right on the schema."""
    rows = await fetch(place.app_dsn, "SELECT has_schema_privilege('public', $1) AS may", right)
    return bool(rows[0]["may"])


# A revision that moves data gets its test here: build the revision before it with `migrate.upgrade(dsn, "<revision>")`,
# fill it as that revision's users did, upgrade to the next one, and compare the rows. There is one revision so far.
