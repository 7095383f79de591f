"""A streaming replica of an embedded server, made as an operator makes one: by pg_basebackup."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from app.core.ports import free_port
from app.db.embedded.postmaster import Postmaster
from app.db.embedded.server import EmbeddedServer
from tests.conftest import FAST
from tests.databases import fetch


@dataclass
class Standby:
    """A running replica."""

    app_dsn: str
    superuser_dsn: str
    postmaster: Postmaster
    port: int

    def stop(self) -> None:
        self.postmaster.stop()

    def start(self) -> None:
        self.postmaster.start(self.port)

    async def pause(self) -> None:
        """Apply nothing more for now."""
        await fetch(self.superuser_dsn, "SELECT pg_wal_replay_pause()")

    async def resume(self) -> None:
        await fetch(self.superuser_dsn, "SELECT pg_wal_replay_resume()")


@contextmanager
def standby_of(server: EmbeddedServer) -> Iterator[Standby]:
    """Run a replica of a server."""
    port, files = free_port(), Path(tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp"))
    model = server.postmaster
    shutil.chown(files, model.owner.uid, model.owner.gid)
    where = urlsplit(server.superuser_dsn)._replace(path="").geturl()
    command = [str(model.binaries / "pg_basebackup"), "-D", str(files / "pgdata"), "-d", where]
    command += ["--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync"]
    with (files / "basebackup.log").open("wb") as log:
        code = model.owner.spawn(command, cwd=files, output=log.fileno()).wait(60)
    assert code == 0, (files / "basebackup.log").read_text()
    postmaster = Postmaster(model.binaries, model.owner, files, model.password, FAST, lambda _: None)
    postmaster.start(port)

    def here(dsn: str) -> str:
        return dsn.replace(f":{server.port}/", f":{port}/")

    try:
        yield Standby(here(server.app_dsn), here(server.superuser_dsn), postmaster, port)
    finally:
        postmaster.stop()
        shutil.rmtree(files, ignore_errors=True)
