"""One PostgreSQL server process: made once, started, restarted, stopped."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from typing import IO

from app.core import clock
from app.core.errors import ConfigurationError
from app.core.ports import free_port
from app.db.embedded import logs
from app.db.embedded.binaries import unrunnable
from app.db.embedded.bootstrap import HOST, SUPERUSER, accepting, finished
from app.db.embedded.credentials import write_secret
from app.db.embedded.leftovers import settle
from app.db.embedded.owner import Owner, account_name
from app.db.embedded.processes import bound_to_parent

SETTINGS: Mapping[str, str] = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "password_encryption": "scram-sha-256",
    "max_connections": "60",
    "shared_buffers": "128MB",
    "maintenance_work_mem": "256MB",
    "max_wal_size": "1GB",
    "fsync": "on",
    "synchronous_commit": "on",
    "jit": "off",
    "timezone": "UTC",
    **logs.SETTINGS,
}
LOCALE = ("--locale=C.UTF-8",)
BUILT_IN_LOCALE = ("--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8")
PASSING = ("lock file", "shared memory block is still in use", "could not bind", "could not create any TCP/IP sockets")
RETRY_SECONDS = 15.0
RECOVERY_SECONDS = 600.0
STOP_STEPS = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0))


@dataclass
class Postmaster:
    """The server of one database folder.

    Args:
        binaries: The folder of PostgreSQL's programs.
        owner: Who runs them.
        files: PostgreSQL's own folder; the database is in `pgdata` and the log in `log`.
        password: The superuser's.
        settings: Server settings that replace ours.
        announce: Told what takes long and what was put right.
    """

    binaries: Path
    owner: Owner
    files: Path
    password: str = field(repr=False)
    settings: Mapping[str, str]
    announce: Callable[[str], None]
    process: subprocess.Popen[bytes] | None = None

    @property
    def pgdata(self) -> Path:
        """The database folder."""
        return self.files / "pgdata"

    @property
    def alive(self) -> bool:
        """Whether the server process runs."""
        return self.process is not None and self.process.poll() is None

    def create(self) -> None:
        """Make the database beside its place and move it there when it is complete.

        Raises `ConfigurationError` if initdb cannot do it.
        """
        if account_name(self.owner.uid) is None:
            raise ConfigurationError(
                f"User id {self.owner.uid} has no name in /etc/passwd, and PostgreSQL's initdb wants one: "
                "add an entry, run as a user that has one, or set DATABASE_URL.",
            )
        half, secret = self.files / "pgdata.new", self.files / "initdb.password"
        settle(half, self.announce)
        secret.unlink(missing_ok=True)
        write_secret(secret, self.password, uid=self.owner.uid, gid=self.owner.gid)
        try:
            code, words = self._initdb(half, secret, LOCALE)
            if code != 0 and "invalid locale" in words:
                self.announce("This system has no locale C.UTF-8: PostgreSQL's own C.UTF-8 is used.")
                code, words = self._initdb(half, secret, BUILT_IN_LOCALE)
        finally:
            secret.unlink(missing_ok=True)
        if code == -signal.SIGILL or "signal 4" in words:
            raise unrunnable("this processor lacks instructions it needs (AVX2)")
        if code != 0:
            raise ConfigurationError(f"PostgreSQL's initdb failed in {self.files}: {words[-1000:]}")
        half.rename(self.pgdata)
        descriptor = os.open(self.files, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(descriptor)
        os.close(descriptor)

    def _initdb(self, folder: Path, secret: Path, locale: tuple[str, ...]) -> tuple[int, str]:
        if folder.exists():
            rmtree(folder)
        command = [str(self.binaries / "initdb"), "-D", str(folder), "-U", SUPERUSER, "-E", "UTF8", *locale]
        command += ["--auth=scram-sha-256", f"--pwfile={secret}", "--no-instructions"]
        if self.settings.get("fsync") == "off":
            command.append("--no-sync")
        with tempfile.TemporaryFile() as output:
            process = self.owner.spawn(command, cwd=self.files, output=output, before=bound_to_parent(signal.SIGKILL))
            try:
                return process.wait(), _text(output)
            finally:
                process.kill()

    def start(self, port: int | None = None) -> int:
        """Start the server on `port`, or on a free one, and wait until it accepts connections; the port is returned.

        What passes by itself after a crash is tried again for 15 seconds. Raises `ConfigurationError` otherwise.
        """
        deadline = clock.monotonic() + RETRY_SECONDS
        while True:
            settle(self.pgdata, self.announce)
            chosen = port or free_port()
            words = self._launch(chosen)
            if words is None:
                return chosen
            if not any(sign in words for sign in PASSING) or clock.monotonic() > deadline:
                raise ConfigurationError(
                    f"PostgreSQL does not start on {self.pgdata}. Its log is in {logs.folder(self.files)}; "
                    f"it said: {words[-1500:]}",
                )
            time.sleep(0.3)

    def _launch(self, port: int) -> str | None:
        """Start it once: None when it accepts connections, else its last words."""
        arguments = {**SETTINGS, "log_directory": str(logs.folder(self.files)), **self.settings, "port": str(port)}
        command = [str(self.binaries / "postgres"), "-D", str(self.pgdata)]
        command += [word for name, value in arguments.items() for word in ("-c", f"{name}={value}")]
        with tempfile.TemporaryFile() as output:
            self.process = self.owner.spawn(
                command,
                cwd=self.files,
                output=output,
                before=bound_to_parent(signal.SIGINT),  # a fast shutdown, as when we stop it ourselves
            )
            try:
                if finished(
                    accepting(
                        port,
                        self.password,
                        self.pgdata,
                        alive=lambda: self.alive,
                        seconds=RECOVERY_SECONDS,
                    ),
                ):
                    return None
            except BaseException:
                self.stop()
                raise
            self.stop()
            return f"{_text(output)}\n{logs.tail(self.files)}".strip()

    def stop(self) -> None:
        """End the server: sessions are cut and everything is written; harder if it takes too long."""
        if self.process is None:
            return
        for number, seconds in STOP_STEPS:
            if self.process.poll() is not None:
                break
            self.process.send_signal(number)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.announce(f"PostgreSQL does not stop within {seconds:.0f} s of {number.name}.")


def _text(output: IO[bytes]) -> str:
    output.seek(0)
    return output.read().decode(errors="replace").strip()
