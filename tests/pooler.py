"""A PgBouncer of a test's own, in transaction mode."""

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from app.core.ports import free_port
from app.db.embedded.owner import owner_of
from tests.network import wait_until

SERVER_CONNECTIONS = 4
"""Fewer than a pool's, so that transactions change servers all the time."""

CONFIGURATION = """
[databases]
mnemic = host={host} port={server_port} dbname=mnemic
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = {connections}
max_client_conn = 200
server_reset_query =
"""


@contextmanager
def pgbouncer(dsn: str) -> Iterator[str]:
    """Run one in front of the server of this DSN; the DSN through it, marked as pooled, is given.

    Skips the test where there is no PgBouncer.
    """
    program = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin:/usr/local/bin")
    if program is None:
        pytest.skip("PgBouncer is not installed: apt-get install pgbouncer")
    parts, port = urlsplit(dsn), free_port()
    folder = Path(tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp"))
    owner = owner_of(folder / "nothing")
    given = {"host": parts.hostname, "server_port": parts.port, "port": port, "folder": folder}
    (folder / "pgbouncer.ini").write_text(CONFIGURATION.format(connections=SERVER_CONNECTIONS, **given))
    (folder / "users").write_text(f'"{parts.username}" "{parts.password}"\n')
    folder.chmod(0o755)
    with (folder / "log").open("wb") as log:
        process = owner.spawn([program, str(folder / "pgbouncer.ini")], cwd=folder, output=log.fileno())
    try:
        wait_until(lambda: process.poll() is not None or _listens(port), 20, every=0.02)
        assert process.poll() is None, (folder / "log").read_text()
        yield parts._replace(
            netloc=f"{parts.username}:{parts.password}@127.0.0.1:{port}", query="pgbouncer=true"
        ).geturl()
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(folder)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
