"""Server processes that an earlier run left on a database folder, found by what they do and not by what a file says."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

from app.core.errors import ConfigurationError
from app.db.embedded import processes
from app.db.embedded.processes import Process

LEAVING_SECONDS = 15.0


def servers_on(pgdata: Path) -> list[Process]:
    """Each live process that is a PostgreSQL working in this folder: every server process has it as its directory."""
    try:
        folder = pgdata.stat()
    except FileNotFoundError:
        return []
    found = []
    for pid in processes.pids():
        process = Process.of(pid)
        try:
            here = Path(f"/proc/{pid}/cwd").stat()
            program = Path(f"/proc/{pid}/exe").readlink().name
        except OSError:  # it is gone, or another user's
            continue
        if process is not None and os.path.samestat(here, folder) and program.removesuffix(" (deleted)") == "postgres":
            found.append(process)
    return found


def recorded_pid(pgdata: Path) -> int | None:
    """What `postmaster.pid` says, which may be long past."""
    try:
        return int((pgdata / "postmaster.pid").read_text(encoding="utf-8").splitlines()[0])
    except (FileNotFoundError, IndexError, ValueError):
        return None


def settle(pgdata: Path, announce: Callable[[str], None]) -> None:
    """Leave nobody at work on the folder: a postmaster is asked to stop, its children end by themselves.

    Raises `ConfigurationError` if a process stays even so.
    """
    pid = recorded_pid(pgdata)
    left = servers_on(pgdata)
    postmasters = [process for process in left if process.pid == pid]
    if postmasters:
        announce(f"Stopping a PostgreSQL that an earlier run left behind (process {pid}).")
        processes.stop(postmasters, [(signal.SIGINT, LEAVING_SECONDS), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0)])
    if not processes.gone(left, LEAVING_SECONDS):
        processes.stop(servers_on(pgdata), [(signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0)])
    if rest := servers_on(pgdata):
        raise ConfigurationError(f"PostgreSQL processes {[process.pid for process in rest]} on {pgdata} do not end.")
    if pid is not None and Path(f"/proc/{pid}").exists():
        # Not a server of ours, as was just seen; PostgreSQL itself would believe the number and not start.
        (pgdata / "postmaster.pid").unlink(missing_ok=True)
