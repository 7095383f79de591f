"""Backup and restore of the embedded database, on real servers."""

import asyncio
import json
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import asyncpg
import pytest

from app import bootstrap
from app.core.errors import ConfigurationError
from app.db import embedded, migrate
from app.db.embedded import archive
from app.settings import Settings

FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
TENANT = "0190f3c2-0000-7000-8000-000000000001"
SEED = f"""
INSERT INTO tenants (id, name, created_at) VALUES ('{TENANT}', '槟榔屿', now());
SET app.tenant = '{TENANT}';
INSERT INTO users (tenant_id, id, first_seen_at, updated_at)
    SELECT '{TENANT}', 'user ' || n || ' 用户', now(), now() FROM generate_series(1, 500) AS n;
"""

pytestmark = pytest.mark.timeout(180)


def silent(_: str) -> None:
    """Tell nobody."""


def query(dsn: str, *statements: str) -> object:
    """The value of the last statement."""

    async def ask() -> object:
        connection = await asyncpg.connect(dsn)
        try:
            for statement in statements[:-1]:
                await connection.execute(statement)
            return await connection.fetchval(statements[-1])
        finally:
            await connection.close()

    with_loop = asyncio.new_event_loop()
    try:
        return with_loop.run_until_complete(ask())
    finally:
        with_loop.close()


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    # pytest's own folders lie under one that only root may enter, where the server's account cannot follow.
    folder = Path(tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def source(home: Path) -> Path:
    """A data folder with a tenant and 500 users, at rest."""
    folder = home / "source"
    server = embedded.start(folder, settings=FAST)
    try:
        migrate.upgrade(server.migrator_dsn)
        chosen = Settings(_env_file=None)
        key_file = folder / "admin.key"
        bootstrap.prepare(chosen, migrator_dsn=server.migrator_dsn, app_dsn=server.app_dsn, admin_key_file=key_file)
        query(server.superuser_dsn, SEED, "SELECT 1")
    finally:
        server.stop()
    return folder


@pytest.fixture(scope="module")
def backup(source: Path, home: Path) -> Path:
    """A backup of the source, made while its server runs."""
    file = home / "today.backup"
    server = embedded.start(source, settings=FAST)
    try:
        archive.back_up(source, file, silent)
    finally:
        server.stop()
    return file


@pytest.fixture
def copy(source: Path, home: Path) -> Iterator[Path]:
    """A copy of the source's folder, to be changed."""
    folder = home / "copy"
    subprocess.run(["/bin/cp", "-a", str(source), str(folder)], check=True)
    yield folder
    shutil.rmtree(folder)


def altered(backup: Path, to: Path, **changes: object) -> Path:
    """The same backup with another manifest."""
    with ZipFile(backup) as old, ZipFile(to, "w", ZIP_STORED) as new:
        manifest = json.loads(old.read(archive.MANIFEST))
        new.writestr(archive.DUMP, old.read(archive.DUMP))
        new.writestr(archive.MANIFEST, json.dumps({**manifest, **changes}))
    return to


def users(folder: Path) -> tuple[object, object]:
    """How many users the app role sees with the tenant, and how many without."""
    server = embedded.start(folder, settings=FAST)
    try:
        return (
            query(server.app_dsn, f"SET app.tenant = '{TENANT}'", "SELECT count(*) FROM users"),
            query(server.app_dsn, "SELECT count(*) FROM users"),
        )
    finally:
        server.stop()


def test_backup_is_its_owners_alone_and_leaves_no_half_file(backup: Path) -> None:
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert not list(backup.parent.glob(".*.part"))
    manifest = archive.read_manifest(backup)
    assert manifest.rows["users"] == 500
    assert manifest.revision == migrate.head()


def test_restored_folder_has_every_row_behind_the_same_policies(backup: Path, home: Path) -> None:
    folder = home / "fresh"
    archive.restore(folder, backup, replace=False, announce=silent)
    assert users(folder) == (500, 0)
    shutil.rmtree(folder)


def test_restored_folder_is_served_and_old_keys_stay_valid(backup: Path, source: Path, home: Path) -> None:
    folder = home / "served"
    archive.restore(folder, backup, replace=False, announce=silent)
    server = embedded.start(folder, settings=FAST)
    try:
        migrate.upgrade(server.migrator_dsn)
        chosen, key_file = Settings(_env_file=None), folder / "admin.key"
        bootstrap.prepare(chosen, migrator_dsn=server.migrator_dsn, app_dsn=server.app_dsn, admin_key_file=key_file)
        assert query(server.app_dsn, "SELECT count(*) FROM api_keys WHERE revoked_at IS NULL") == 2
        assert key_file.read_text() != (source / "admin.key").read_text()
        invalid = "SELECT count(*) FROM pg_index WHERE NOT indisvalid"
        assert query(server.app_dsn, invalid) == 0
    finally:
        server.stop()
        shutil.rmtree(folder)


def test_backup_never_overwrites(backup: Path, source: Path) -> None:
    before = backup.read_bytes()
    with pytest.raises(ConfigurationError, match="never overwrites"):
        archive.back_up(source, backup, silent)
    assert backup.read_bytes() == before


def test_folder_without_a_database_has_nothing_to_back_up(home: Path) -> None:
    with pytest.raises(ConfigurationError, match="no embedded database"):
        archive.back_up(home / "nowhere", home / "nothing.backup", silent)
    assert not (home / "nothing.backup").exists()
    assert not (home / "nowhere").exists()


def test_database_that_is_there_gives_way_only_when_told(backup: Path, copy: Path) -> None:
    server = embedded.start(copy, settings=FAST)
    query(server.superuser_dsn, "DELETE FROM users", "SELECT 1")
    server.stop()
    with pytest.raises(ConfigurationError, match="--replace"):
        archive.restore(copy, backup, replace=False, announce=silent)
    assert users(copy) == (0, 0)
    archive.restore(copy, backup, replace=True, announce=silent)
    assert users(copy) == (500, 0)


def test_restore_that_does_not_add_up_changes_nothing(backup: Path, copy: Path, home: Path) -> None:
    server = embedded.start(copy, settings=FAST)
    query(server.superuser_dsn, "DELETE FROM users WHERE id LIKE 'user 1%'", "SELECT 1")
    server.stop()
    before = users(copy)
    rows = {**archive.read_manifest(backup).rows, "users": 501}
    with pytest.raises(ConfigurationError, match="restored tables users"):
        archive.restore(copy, altered(backup, home / "short.backup", rows=rows), replace=True, announce=silent)
    assert users(copy) == before


def test_dump_that_postgresql_cannot_read_changes_nothing(backup: Path, copy: Path, home: Path) -> None:
    before = users(copy)
    broken = home / "broken.backup"
    with ZipFile(backup) as old, ZipFile(broken, "w") as new:
        new.writestr(archive.DUMP, old.read(archive.DUMP)[:-3000])
        new.writestr(archive.MANIFEST, old.read(archive.MANIFEST))
    with pytest.raises(ConfigurationError, match="pg_restore failed"):
        archive.restore(copy, broken, replace=True, announce=silent)
    assert users(copy) == before


def test_damaged_file_is_refused_before_anything_starts(backup: Path, home: Path) -> None:
    damaged = home / "damaged.backup"
    content = bytearray(backup.read_bytes())
    content[len(content) // 2] ^= 0xFF
    damaged.write_bytes(content)
    with pytest.raises(ConfigurationError, match="damaged"):
        archive.restore(home / "unused", damaged, replace=False, announce=silent)
    damaged.write_bytes(b"not a backup")
    with pytest.raises(ConfigurationError, match="not a backup"):
        archive.restore(home / "unused", damaged, replace=False, announce=silent)
    assert not (home / "unused").exists()


@pytest.mark.parametrize("change", [{"revision": "9999"}, {"format": 2}])
def test_backup_of_a_newer_mnemic_is_refused(backup: Path, home: Path, change: dict[str, object]) -> None:
    newer = altered(backup, home / "newer.backup", **change)
    with pytest.raises(ConfigurationError, match="newer than this one"):
        archive.restore(home / "unused", newer, replace=False, announce=silent)


def test_folder_in_use_is_not_restored_into(backup: Path, source: Path) -> None:
    with embedded.DataDirLock(source), pytest.raises(ConfigurationError, match="in use"):
        archive.restore(source, backup, replace=True, announce=silent)


def test_password_is_on_no_command_line(backup: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[list[str]] = []
    begin = subprocess.Popen.__init__

    def noting(self: object, args: list[str], **rest: object) -> None:
        lines.append(args)
        begin(self, args, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(subprocess.Popen, "__init__", noting)
    folder = home / "quiet"
    archive.restore(folder, backup, replace=False, announce=silent)
    archive.back_up(folder, home / "quiet.backup", silent)
    secrets = json.loads((folder / "credentials.json").read_text()).values()
    programs = {Path(line[0]).name for line in lines}
    assert {"pg_dump", "pg_restore"} <= programs
    assert not [line for line in lines for secret in secrets if secret in " ".join(line)]
    shutil.rmtree(folder)
