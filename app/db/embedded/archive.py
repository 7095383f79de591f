"""Backups of the embedded server: PostgreSQL's own dump in a zip, with a manifest of what must be in it.

A dump does not depend on the server's version: it is also the way from one major version of PostgreSQL to the next.
"""

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any, Final
from zipfile import BadZipFile, ZipFile

import asyncpg

from app.core import clock
from app.core.errors import ConfigurationError
from app.db import migrate
from app.db.embedded import server
from app.db.embedded.binaries import postgres_binaries
from app.db.embedded.bootstrap import DATABASE, HOST, MIGRATOR, connected, finished, make_database
from app.db.embedded.credentials import Credentials, read_credentials
from app.db.embedded.lock import DataDirLock
from app.db.embedded.owner import ENVIRONMENT, owner_of
from app.db.embedded.place import ELSEWHERE, known_files

FORMAT: Final = 1
DUMP, MANIFEST = "database.dump", "manifest.json"
RESTORING, REPLACED = f"{DATABASE}_restoring", f"{DATABASE}_replaced"
CHUNK: Final = 1024 * 1024

KEPT_TABLES = """
SELECT c.relname FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relpersistence = 'p'
ORDER BY c.relname
"""


@dataclass(frozen=True)
class Manifest:
    """What a backup holds.

    Args:
        format: Of the file itself.
        mnemic: The version that made it.
        postgresql: The server's version.
        revision: The migration that the database stood at.
        made_at: When, in UTC.
        rows: How many rows each table has.
    """

    format: int
    mnemic: str
    postgresql: str
    revision: str
    made_at: str
    rows: Mapping[str, int]


def back_up(data_dir: Path, file: Path, announce: Callable[[str], None]) -> Manifest:
    """Write everything of the embedded database into a new file, complete or not at all, that only its owner reads.

    Works beside a running `mnemic up`, and starts the server itself where none runs.

    Raises `ConfigurationError` if the file exists, or if there is no database.
    """
    data_dir, file = data_dir.resolve(), file.absolute()
    if file.exists():
        raise ConfigurationError(f"{file} exists, and a backup never overwrites one: choose another name.")
    if not file.parent.is_dir():
        raise ConfigurationError(f"There is no folder {file.parent} to write the backup to.")
    if not (known_files(data_dir) / "pgdata").exists():
        raise ConfigurationError(f"There is no embedded database in {data_dir}: choose its folder with --data-dir.")
    descriptor, name = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".part", dir=file.parent)
    part = Path(name)
    try:
        with os.fdopen(descriptor, "w+b") as output:
            with _serving(data_dir, announce) as port:
                manifest = finished(_dumped(_Programs.of(data_dir, port, announce), output))
            output.flush()
            os.fsync(descriptor)
        _publish(part, file)
    finally:
        part.unlink(missing_ok=True)
    return manifest


def restore(data_dir: Path, file: Path, *, replace: bool, announce: Callable[[str], None]) -> Manifest:
    """Bring a backup into a data folder, whose database changes at once or not at all.

    Args:
        data_dir: The data folder; nothing may run on it.
        file: What `back_up` wrote.
        replace: Whether a database that is there already gives way.
        announce: Told what takes long.

    Raises `ConfigurationError` if the file is no whole backup or comes from a newer Mnemic, if the folder is in use, or
    if it has a database and `replace` was not said.
    """
    data_dir = data_dir.resolve()
    manifest = read_manifest(file)
    with DataDirLock(data_dir):
        running = server.start(data_dir, announce=announce)
        try:
            programs = _Programs.of(data_dir, running.port, announce)
            finished(_restored(programs, file, manifest, replace=replace))
        finally:
            running.stop()
    return manifest


def read_manifest(file: Path) -> Manifest:
    """What a backup says of itself, after every byte of it was read and found whole. Raises `ConfigurationError`."""
    try:
        with ZipFile(file) as archive:
            broken = archive.testzip()
            manifest = Manifest(**json.loads(archive.read(MANIFEST)))
    except OSError as error:
        raise ConfigurationError(f"The backup {file} cannot be read: {error.strerror}.") from error
    except (BadZipFile, KeyError, TypeError, ValueError, EOFError) as error:
        raise ConfigurationError(f"{file} is not a backup of Mnemic, or it is damaged.") from error
    if broken is not None:
        raise ConfigurationError(f"{file} is damaged: its part {broken} is not what was written.")
    if manifest.format != FORMAT or not migrate.knows(manifest.revision):
        raise ConfigurationError(
            f"{file} was made by Mnemic {manifest.mnemic} (revision {manifest.revision}), which is newer than this one "
            f"({version('mnemic')}): restore it with that version or a later one."
        )
    return manifest


@dataclass(frozen=True)
class _Programs:
    """PostgreSQL's client programs, and how they log in."""

    folder: Path
    port: int
    credentials: Credentials

    @classmethod
    def of(cls, data_dir: Path, port: int, announce: Callable[[str], None]) -> "_Programs":
        credentials = read_credentials(data_dir)
        if credentials is None:
            raise ConfigurationError(f"{data_dir}/credentials.json is missing; the database needs it.")
        return cls(postgres_binaries(owner_of(known_files(data_dir)), ELSEWHERE, announce), port, credentials)

    def begin(self, name: str, *arguments: str, **streams: Any) -> subprocess.Popen[bytes]:  # noqa: ANN401
        """Start one as the migrator. The password stands in its environment alone: every user may read arguments."""
        login = ("--host", HOST, "--port", str(self.port), "--username", MIGRATOR, "--no-password")
        environment = {**ENVIRONMENT, "PGPASSWORD": self.credentials.migrator, "PGSSLMODE": "disable"}
        return subprocess.Popen([str(self.folder / name), *login, *arguments], env=environment, **streams)  # noqa: S603

    @contextlib.asynccontextmanager
    async def migrator(self, database: str) -> AsyncIterator["asyncpg.Connection[Any]"]:
        """A connection as the owner of the tables, whom row-level security lets see all of them."""
        connection = await asyncpg.connect(
            host=HOST, port=self.port, user=MIGRATOR, password=self.credentials.migrator, database=database, ssl=False
        )
        try:
            yield connection
        finally:
            await connection.close()


@contextlib.contextmanager
def _serving(data_dir: Path, announce: Callable[[str], None]) -> Iterator[int]:
    """The port of the server that runs on a data folder; of one that we start where none does."""
    found = server.running(data_dir)
    if found is not None:
        yield found.port
        return
    with DataDirLock(data_dir):
        ours = server.start(data_dir, announce=announce)
        try:
            yield ours.port
        finally:
            ours.stop()


async def _dumped(programs: _Programs, output: IO[bytes]) -> Manifest:
    """Dump and count in one snapshot: what is written meanwhile is in neither."""
    async with programs.migrator(DATABASE) as connection, connection.transaction(isolation="repeatable_read"):
        if await connection.fetchval("SELECT to_regclass('alembic_version') IS NULL"):
            raise ConfigurationError("This database has no tables yet: there is nothing to back up.")
        snapshot = await connection.fetchval("SELECT pg_export_snapshot()")
        manifest = Manifest(
            format=FORMAT,
            mnemic=version("mnemic"),
            postgresql=await connection.fetchval("SHOW server_version"),
            revision=await connection.fetchval("SELECT version_num FROM alembic_version"),
            made_at=clock.now().isoformat(timespec="seconds"),
            rows=await _counted(connection),
        )
        await asyncio.to_thread(_dump, programs, snapshot, output, manifest)
    return manifest


def _dump(programs: _Programs, snapshot: str, output: IO[bytes], manifest: Manifest) -> None:
    options = ("--format=custom", "--no-unlogged-table-data", f"--snapshot={snapshot}", f"--dbname={DATABASE}")
    with ZipFile(output, "w") as archive:
        with (
            tempfile.TemporaryFile() as words,
            archive.open(DUMP, "w", force_zip64=True) as entry,
            programs.begin("pg_dump", *options, stdout=subprocess.PIPE, stderr=words) as process,
        ):
            if process.stdout is not None:
                shutil.copyfileobj(process.stdout, entry, CHUNK)
            _ended_well("pg_dump", process, words)
        archive.writestr(MANIFEST, json.dumps(asdict(manifest), indent=2))


async def _restored(programs: _Programs, file: Path, manifest: Manifest, *, replace: bool) -> None:
    """Restore beside the database that is there, compare, and only then change their names."""
    password, port = programs.credentials.superuser, programs.port
    async with connected(port, password, DATABASE) as connection:
        if not replace and await connection.fetch(KEPT_TABLES):
            raise ConfigurationError(
                "This data folder has a database already. Restore into a new folder (--data-dir), or say --replace."
            )
    async with connected(port, password, "postgres") as connection:
        await _drop(connection, RESTORING, REPLACED)
        await make_database(connection, RESTORING)
    try:
        async with connected(port, password, RESTORING) as connection:
            await connection.execute("CREATE EXTENSION vector")
        await asyncio.to_thread(_fill, programs, file)
        await _compare(programs, manifest)
    except BaseException:
        async with connected(port, password, "postgres") as connection:
            await _drop(connection, RESTORING)
        raise
    async with connected(port, password, "postgres") as connection:
        async with connection.transaction():
            await connection.execute(f"ALTER DATABASE {DATABASE} RENAME TO {REPLACED}")
            await connection.execute(f"ALTER DATABASE {RESTORING} RENAME TO {DATABASE}")
        await _drop(connection, REPLACED)


def _fill(programs: _Programs, file: Path) -> None:
    """As the migrator, not as the superuser: what stands in a file decides nothing beyond this database."""
    options = ("--exit-on-error", "--no-owner", "--no-comments", f"--dbname={RESTORING}")
    with (
        ZipFile(file) as archive,
        archive.open(DUMP) as entry,
        tempfile.TemporaryFile() as words,
        programs.begin("pg_restore", *options, stdin=subprocess.PIPE, stdout=words, stderr=words) as process,
    ):
        if process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                shutil.copyfileobj(entry, process.stdin, CHUNK)
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
        _ended_well("pg_restore", process, words)


async def _compare(programs: _Programs, manifest: Manifest) -> None:
    async with programs.migrator(RESTORING) as connection:
        found = await _counted(connection)
        await connection.execute("ANALYZE")
    wrong = sorted(name for name in {*found, *manifest.rows} if found.get(name) != manifest.rows.get(name))
    if wrong:
        raise ConfigurationError(
            f"The restored tables {', '.join(wrong)} have other numbers of rows than the backup says. Nothing was "
            "changed: the database is what it was."
        )


async def _counted(connection: "asyncpg.Connection[Any]") -> dict[str, int]:
    tables = [row["relname"] for row in await connection.fetch(KEPT_TABLES)]
    return {name: await connection.fetchval(f'SELECT count(*) FROM "{name}"') for name in tables}  # noqa: S608


async def _drop(connection: "asyncpg.Connection[Any]", *databases: str) -> None:
    for database in databases:
        await connection.execute(f"DROP DATABASE IF EXISTS {database} WITH (FORCE)")


def _ended_well(name: str, process: subprocess.Popen[bytes], words: IO[bytes]) -> None:
    if process.wait() != 0:
        words.seek(0)
        said = words.read(2000).decode(errors="replace").strip()
        raise ConfigurationError(f"{name} failed, and nothing was changed. It said: {said}")


def _publish(part: Path, file: Path) -> None:
    """Give the file its name, unless someone else took it meanwhile."""
    try:
        os.link(part, file)
    except FileExistsError as error:
        raise ConfigurationError(f"{file} exists, and a backup never overwrites one: choose another name.") from error
    except OSError:  # a file system without hard links
        part.rename(file)
    descriptor = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
