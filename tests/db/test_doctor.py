"""Each finding of the doctor, on databases that have the fault."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from app import doctor
from app.cli import app
from app.core import clock, ids
from app.db import embedded, migrate
from app.doctor import Finding, examine, graveness
from app.settings import Settings
from tests.conftest import Tenant
from tests.databases import Place, create_database, drop_database, run_sql
from tests.doubles.embeddings import HashedModel


@pytest.fixture(autouse=True)
def light_model(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """The bundled model's name and length without its weights, unless a test says otherwise."""
    monkeypatch.setattr(doctor, "embedding_model", lambda _: HashedModel(512, "use-multilingual-v3-6bit"))


@pytest.fixture
async def place(server: embedded.EmbeddedServer, settings: Settings) -> AsyncIterator[Place]:
    """An empty database on the same server."""
    made = await create_database(server)
    yield made
    await drop_database(server, made)


def leading_to(place: Place, **given: object) -> Settings:
    chosen = {"database_url": place.app_dsn, "migration_database_url": place.migrator_dsn, **given}
    return Settings(_env_file=None, **chosen)  # type: ignore[arg-type]


async def found(settings: Settings, check: str) -> Finding:
    return next(finding for finding in await examine(settings) if finding.check == check)


async def test_sound_service_has_nothing_to_complain_of(settings: Settings) -> None:
    findings = await examine(settings)
    faulty = [finding for finding in findings if finding.verdict == "fail"]
    assert not faulty
    assert {finding.check for finding in findings} == {
        *("time zones", "disk", "database", "clock", "pgvector", "migrations", "app role", "migrator role"),
        *("embedding model", "vector indexes", "queue", "dead letters"),
    }


async def test_every_fault_comes_with_advice(place: Place) -> None:
    await run_sql(place.superuser_dsn, "DROP EXTENSION vector")
    findings = await examine(leading_to(place))
    assert graveness(findings) == "fail"
    assert not [finding for finding in findings if finding.verdict != "ok" and not finding.advice]


async def test_missing_extension_is_told_with_the_command_for_an_admin(place: Place) -> None:
    await run_sql(place.superuser_dsn, "DROP EXTENSION vector")
    fault = await found(leading_to(place), "pgvector")
    assert fault.verdict == "fail"
    assert f"psql -d {place.name} -c 'CREATE EXTENSION vector'" in fault.advice


async def test_database_without_tables_wants_migrations(place: Place) -> None:
    assert await found(leading_to(place), "migrations") == Finding(
        "migrations", "fail", "no tables yet", "Run 'mnemic migrate' with MIGRATION_DATABASE_URL."
    )


async def test_database_of_a_newer_mnemic_wants_a_newer_mnemic(place: Place) -> None:
    await run_sql(
        place.migrator_dsn,
        "CREATE TABLE alembic_version (version_num text); GRANT SELECT ON alembic_version TO mnemic_app",
    )
    await run_sql(place.migrator_dsn, "INSERT INTO alembic_version VALUES ('9999')")
    assert "newer" in (await found(leading_to(place), "migrations")).advice


@pytest.mark.parametrize("dsn", ["superuser_dsn", "migrator_dsn"])
async def test_login_that_row_level_security_does_not_bind_is_grave(
    server: embedded.EmbeddedServer, settings: Settings, dsn: str
) -> None:
    chosen = settings.model_copy(
        update={
            "database_url": Settings(_env_file=None, database_url=getattr(server, dsn)).database_url,
            "migration_database_url": Settings(_env_file=None, database_url=server.app_dsn).database_url,
        }
    )
    findings = await examine(chosen)
    assert next(item for item in findings if item.check == "app role").verdict == "fail"
    owner = next(item for item in findings if item.check == "migrator role")
    assert owner.verdict == "fail"
    assert "does not own" in owner.found


async def test_one_login_for_everything_steps_down(server: embedded.EmbeddedServer, settings: Settings) -> None:
    one = Settings(_env_file=None, database_url=server.migrator_dsn)
    assert "steps down to mnemic_app" in (await found(one, "app role")).found
    assert (await found(one, "migrator role")).verdict == "ok"


async def test_owner_without_bypassrls_is_grave(server: embedded.EmbeddedServer, settings: Settings) -> None:
    await run_sql(server.superuser_dsn, "ALTER ROLE mnemic_migrator NOBYPASSRLS")
    try:
        fault = await found(settings, "migrator role")
    finally:
        await run_sql(server.superuser_dsn, "ALTER ROLE mnemic_migrator BYPASSRLS")
    assert fault.verdict == "fail"
    assert "ALTER ROLE mnemic_migrator BYPASSRLS" in fault.advice


async def test_missing_and_invalid_indexes_are_told(place: Place) -> None:
    await asyncio.to_thread(migrate.upgrade, place.migrator_dsn)
    model = "INSERT INTO embedding_models (name, dimension, metric, status, created_at) VALUES "
    await run_sql(place.migrator_dsn, f"{model} ('use-multilingual-v3-6bit', 512, 'cosine', 'active', now())")
    fault = await found(leading_to(place), "vector indexes")
    assert (fault.verdict, fault.found) == ("fail", "missing: hnsw_memory_vectors_1, hnsw_message_vectors_1")
    await run_sql(place.migrator_dsn, "CREATE INDEX hnsw_memory_vectors_1 ON memory_vectors (model_id)")
    await run_sql(
        place.superuser_dsn,
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'hnsw_memory_vectors_1'::regclass",
    )
    assert (await found(leading_to(place), "vector indexes")).found == "invalid: hnsw_memory_vectors_1"


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (HashedModel(64, "use-multilingual-v3-6bit"), "stored with 512"),
        (HashedModel(64, "other"), "6bit serves"),
    ],
)
async def test_model_that_the_database_does_not_know_is_grave(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, model: HashedModel, words: str
) -> None:
    monkeypatch.setattr(doctor, "embedding_model", lambda _: model)
    fault = await found(settings, "embedding model")
    assert fault.verdict == "fail"
    assert words in fault.found


async def test_model_that_does_not_answer_is_grave(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = HashedModel(512)
    broken.broken = True
    monkeypatch.setattr(doctor, "embedding_model", lambda _: broken)
    assert (await found(settings, "embedding model")).verdict == "fail"


async def test_dead_letters_of_every_tenant_are_counted(tenant: Tenant, settings: Settings) -> None:
    before = await found(settings, "dead letters")
    at = clock.now()
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        job_id = await tx.jobs.enqueue("embed_messages", f"dead-{ids.new_id()}", at)
    await run_sql(
        settings.migration_database_url.get_secret_value(),  # type: ignore[union-attr]
        f"UPDATE jobs SET state = 'dead', finished_at = now() WHERE id = '{job_id}'",
    )
    after = await found(settings, "dead letters")
    assert after.verdict == "warn"
    count = 0 if before.found == "none" else int(before.found.split()[0])
    assert after.found == f"{count + 1} jobs"


async def test_queue_that_nobody_works_on_is_told(settings: Settings) -> None:
    dsn = settings.migration_database_url.get_secret_value()  # type: ignore[union-attr]
    due = "(now() - interval '10 minutes', 'queued', 'nobody', 0)"
    await run_sql(dsn, f"INSERT INTO pgqueuer (execute_after, status, entrypoint, priority) VALUES {due}")
    try:
        fault = await found(settings, "queue")
    finally:
        await run_sql(dsn, "DELETE FROM pgqueuer WHERE entrypoint = 'nobody'")
    assert fault.verdict == "warn"
    assert "mnemic worker" in fault.advice


@pytest.mark.parametrize(("seconds", "verdict"), [(10, "warn"), (-600, "fail")])
async def test_clocks_that_disagree_are_told(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, seconds: int, verdict: str
) -> None:
    right = clock.now
    monkeypatch.setattr(doctor.clock, "now", lambda: right() + timedelta(seconds=seconds))
    assert (await found(settings, "clock")).verdict == verdict


@pytest.mark.parametrize(("free", "verdict"), [(10**8, "fail"), (10**9, "warn"), (10**10, "ok")])
async def test_disk_that_fills_up_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object, free: int, verdict: str
) -> None:
    monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    assert (await found(Settings(_env_file=None, data_dir=tmp_path), "disk")).verdict == verdict  # type: ignore[arg-type]


async def test_missing_time_zones_are_told(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "ZONES", ("UTC", "Nowhere/Land"))
    assert (await found(settings, "time zones")).found == "no data for Nowhere/Land"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("mnemic_app:", "mnemic_app:wrong"), "role and password"),
        (("/mnemic", "/nowhere"), "Create the database"),
    ],
)
async def test_server_that_refuses_is_told_without_the_password(
    settings: Settings, change: tuple[str, str], words: str
) -> None:
    dsn = settings.database_url.get_secret_value()  # type: ignore[union-attr]
    head, _, tail = dsn.rpartition("/") if change[0] == "/mnemic" else ("", "", "")
    wrong = f"{head}{change[1]}" if tail else dsn.replace(*change)
    findings = await examine(Settings(_env_file=None, database_url=wrong))
    fault = next(finding for finding in findings if finding.check == "database")
    assert fault.verdict == "fail"
    assert words in fault.advice
    assert dsn.split(":")[2].split("@")[0] not in str(findings)


async def test_server_that_is_away_is_told() -> None:
    findings = await examine(Settings(_env_file=None, database_url="postgresql://a:planted@127.0.0.1:1/x"))
    fault = next(finding for finding in findings if finding.check == "database")
    assert "Start PostgreSQL" in fault.advice
    assert "planted" not in str(findings)
    assert [finding.check for finding in findings][-1] == "embedding model"


async def test_embedded_mode_that_does_not_run_is_told(tmp_path: object) -> None:
    fault = await found(Settings(_env_file=None, data_dir=tmp_path), "database")  # type: ignore[arg-type]
    assert fault.verdict == "fail"
    assert "mnemic up" in fault.advice


def test_exit_code_and_json_are_for_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ill(_: Settings) -> list[Finding]:
        return [Finding("disk", "ok", "much"), Finding("database", "fail", "gone 没有", "start it")]

    async def well(_: Settings) -> list[Finding]:
        return [Finding("disk", "ok", "much"), Finding("queue", "warn", "late", "add a worker")]

    monkeypatch.setattr("app.cli.logging.configure", lambda *_, **__: None)
    monkeypatch.setattr(doctor, "examine", ill)
    told = CliRunner().invoke(app, ["doctor", "--json"])
    assert told.exit_code == 1
    assert json.loads(told.stdout)[1] == {
        "check": "database",
        "verdict": "fail",
        "found": "gone 没有",
        "advice": "start it",
    }
    monkeypatch.setattr(doctor, "examine", well)
    told = CliRunner().invoke(app, ["doctor"])
    assert told.exit_code == 0
    assert "add a worker" in told.stdout
