"""The embedded server as the rest of Mnemic sees it: addresses that work, and a way to stop."""

import atexit
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.core.errors import ConfigurationError
from app.db.embedded import logs
from app.db.embedded.binaries import postgres_binaries
from app.db.embedded.bootstrap import APP, DATABASE, HOST, MIGRATOR, SUPERUSER, accepting, finished, lay_foundation
from app.db.embedded.credentials import Credentials, keep_credentials, read_credentials
from app.db.embedded.owner import owner_of
from app.db.embedded.place import ELSEWHERE, known_files, point, postgres_files, refuse_other_major
from app.db.embedded.postmaster import Postmaster


def _silent(_: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Addresses:
    """How to reach an embedded server; each DSN is `postgresql://role:password@127.0.0.1:port/mnemic`.

    Args:
        app_dsn: As the role that row-level security binds.
        migrator_dsn: As the owner of the database.
        superuser_dsn: As the superuser.
        port: Where it listens, on loopback.
    """

    app_dsn: str = field(repr=False)
    migrator_dsn: str = field(repr=False)
    superuser_dsn: str = field(repr=False)
    port: int


@dataclass(frozen=True)
class EmbeddedServer(Addresses):
    """A server that runs as a child of this process.

    Args:
        files: PostgreSQL's own folder.
        postmaster: Its process.
    """

    files: Path
    postmaster: Postmaster = field(repr=False)

    @property
    def alive(self) -> bool:
        """Whether the server process runs."""
        return self.postmaster.alive

    def restart(self) -> None:
        """Start it again after it died, on the same port. Raises `ConfigurationError` if that fails."""
        self.postmaster.start(self.port)

    def bound_log(self) -> None:
        """Keep the log folder within its size; to be called now and then."""
        logs.bound(self.files)

    def stop(self) -> None:
        """Shut it down cleanly and wait for its end; a second call does nothing."""
        self.postmaster.stop()
        atexit.unregister(self.stop)


def start(
    data_dir: Path,
    *,
    settings: Mapping[str, str] | None = None,
    announce: Callable[[str], None] = _silent,
) -> EmbeddedServer:
    """Start the server of a data folder, making its database first if there is none.

    The caller holds the folder's `DataDirLock`: a server found at work on the folder is taken for a leftover and
    stopped. The server ends with the thread that calls this, also when that is killed.

    Args:
        data_dir: The data folder; made if it is missing.
        settings: Server settings that replace ours, such as `{"fsync": "off"}` for tests.
        announce: Told what takes long and where files had to go.

    Raises `ConfigurationError` if the server cannot run here or on these files; the message says what to do.
    """
    data_dir = data_dir.resolve()
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    owner = owner_of(known_files(data_dir))
    files = postgres_files(data_dir, owner, announce)
    exists = (files / "pgdata").exists()
    if exists:
        refuse_other_major(files / "pgdata")
        if read_credentials(data_dir) is None:
            raise ConfigurationError(f"{data_dir}/credentials.json is missing; the database in {files} needs it.")
    binaries = postgres_binaries(owner, ELSEWHERE, announce)
    credentials = keep_credentials(data_dir)
    postmaster = Postmaster(binaries, owner, files, credentials.superuser, settings or {}, announce)
    if not exists:
        announce(f"Making the database in {files} (once, some seconds).")
        postmaster.create()
    point(data_dir, files)
    logs.bound(files)
    port = postmaster.start()
    try:
        finished(lay_foundation(port, credentials))
    except BaseException:
        postmaster.stop()
        raise
    server = EmbeddedServer(*_dsns(credentials, port), port, files, postmaster)
    atexit.register(server.stop)
    return server


def running(data_dir: Path) -> Addresses | None:
    """The server that another process, such as `mnemic up`, runs on a data folder; None if none answers."""
    data_dir = data_dir.resolve()
    credentials = read_credentials(data_dir)
    pgdata = known_files(data_dir) / "pgdata"
    try:
        port = int((pgdata / "postmaster.pid").read_text(encoding="utf-8").splitlines()[3])
    except (OSError, IndexError, ValueError):
        return None
    if credentials is None or not finished(
        accepting(port, credentials.superuser, pgdata, alive=lambda: True, seconds=1.0),
    ):
        return None
    return Addresses(*_dsns(credentials, port), port)


def _dsns(credentials: Credentials, port: int) -> tuple[str, str, str]:
    def dsn(role: str, password: str) -> str:
        return f"postgresql://{role}:{password}@{HOST}:{port}/{DATABASE}"

    return dsn(APP, credentials.app), dsn(MIGRATOR, credentials.migrator), dsn(SUPERUSER, credentials.superuser)
