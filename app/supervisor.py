"""What `mnemic up` does: database, migrations, first key, API and worker in one foreground process tree."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self

import httpx

from app.core import clock
from app.core.errors import ConfigurationError
from app.core.sealing import SEALING_FILE, make_file
from app.db import embedded
from app.db.embedded import processes
from app.db.embedded.processes import Process, bound_to_parent
from app.settings import Settings, child_environment

ROLES = ("serve", "worker")
COMMAND = (sys.executable, "-P", "-m", "app.cli")  # -P: an `app` in the current folder is not ours
RECORD = "children.json"
READY_SECONDS = 180.0
LARGEST_PID = 2**31 - 1
STEADY_SECONDS = 60.0
LONGEST_PAUSE = 30.0
FAILURES_BEFORE_READY = 3
LEFTOVER_SECONDS = 5.0
# The children bound their own shutdown by the same setting; this is for what they do after it.
AFTERMATH_SECONDS = 2.0
LOG_CHECK_SECONDS = 60.0


def run_up(settings: Settings) -> int:
    """Run the whole service in the foreground until SIGTERM or Ctrl-C; the exit code is returned.

    Raises `ConfigurationError` if the data folder or the port is in use, or if a part cannot start. Nothing is left
    running in either case.
    """
    data_dir = settings.data_dir.absolute()
    with embedded.DataDirLock(data_dir), Signals() as signals:
        _stop_leftovers(data_dir / RECORD)
        _refuse_taken_port(settings.host, settings.port)
        try:
            with _database(settings, data_dir, signals) as (server, environment):
                if not signals.stopping:
                    Supervisor(settings, data_dir, server, environment, signals).run()
        except Exception:
            if not signals.stopping:  # Ctrl-C reaches PostgreSQL too, and what needs it then fails
                raise
    return 0


class Signals:
    """Signals turned into a flag and a wake-up call: nothing is interrupted half-way."""

    def __init__(self) -> None:
        self.asked = 0
        self._reader, self._writer = os.pipe()
        self._before: dict[signal.Signals, Callable[[int, FrameType | None], object] | int | None] = {}
        self._wakeup = -1

    @property
    def stopping(self) -> bool:
        """Whether someone asked for the end."""
        return self.asked > 0

    def wait(self, seconds: float) -> None:
        """Wait for a signal, SIGCHLD included, at most `seconds`."""
        if select.select([self._reader], [], [], max(0.0, seconds))[0]:
            os.read(self._reader, 4096)

    def __enter__(self) -> Self:
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        self._wakeup = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # nohup stays nohup
                self._before[number] = signal.signal(number, self._ask)
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._reader)
        os.close(self._writer)

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self.asked += 1


class Child:
    """One process of the service.

    Args:
        role: Its subcommand.
        environment: Variables that differ from our own.
    """

    def __init__(self, role: str, environment: dict[str, str]) -> None:
        self.role = role
        self.failures = 0
        self.due = 0.0
        self.process: subprocess.Popen[bytes] | None = None
        self._environment = environment
        self._born = 0.0

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self.process is not None and self.process.poll() is None

    def tend(self) -> bool:
        """Notice that it died, start it when it is time; whether it was started."""
        now = clock.monotonic()
        if self.process is not None and not self.alive:
            self.failures = 1 if now - self._born > STEADY_SECONDS else self.failures + 1
            pause = _pause(self.failures)
            _say(f"mnemic {self.role} ended ({self.process.returncode}); it is started again in {pause:.1f} s.")
            self.process, self.due = None, now + pause
        if self.process is not None or now < self.due:
            return False
        self._born = now
        self.process = subprocess.Popen(  # noqa: S603 - our own command
            [*COMMAND, self.role],
            stdin=subprocess.DEVNULL,
            env=child_environment(self._environment),
            # Ctrl-C and a closed terminal reach the whole process group; we pass them on as SIGTERM, in order.
            preexec_fn=bound_to_parent(signal.SIGTERM, block=(signal.SIGINT, signal.SIGHUP)),  # noqa: PLW1509
        )
        return True


class Supervisor:
    """Keeps API, worker and the embedded server alive.

    Args:
        settings: The service's settings.
        data_dir: The data folder, absolute.
        server: The embedded server; None with a database of the operator's own.
        environment: What the children get on top of our environment.
        signals: Where the request to stop comes from.
    """

    def __init__(
        self,
        settings: Settings,
        data_dir: Path,
        server: embedded.EmbeddedServer | None,
        environment: dict[str, str],
        signals: Signals,
    ) -> None:
        self._settings = settings
        self._data_dir = data_dir
        self._server = server
        self._server_due = 0.0
        self._server_failures = 0
        self._signals = signals
        self._children = [Child(role, {**environment, **_metrics_port(settings, role)}) for role in ROLES]

    def run(self) -> None:
        """Start the children, say when the service is ready, and watch until the end is asked for."""
        try:
            if self._become_ready():
                self._say_ready()
                self._watch()
        finally:
            self._end()

    def _become_ready(self) -> bool:
        """Wait for `/readyz` to answer 200; False if the end was asked for before."""
        deadline = clock.monotonic() + READY_SECONDS
        with httpx.Client(trust_env=False, timeout=5.0) as client:
            while not self._signals.stopping:
                self._tend()
                for child in self._children:
                    if child.failures >= FAILURES_BEFORE_READY:
                        raise ConfigurationError(f"mnemic {child.role} does not start; its reason is printed above.")
                with contextlib.suppress(httpx.TransportError):
                    if client.get(f"{self._url}/readyz").status_code == httpx.codes.OK:
                        return True
                if clock.monotonic() > deadline:
                    raise ConfigurationError(f"{self._url}/readyz did not answer 200 within {READY_SECONDS:.0f} s.")
                self._signals.wait(0.1)
        return False

    @property
    def _url(self) -> str:
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._settings.host, self._settings.host)  # noqa: S104
        return f"http://[{host}]:{self._settings.port}" if ":" in host else f"http://{host}:{self._settings.port}"

    def _say_ready(self) -> None:
        key = self._data_dir / "admin.key"
        where = f", admin key: {key}" if key.exists() else ""
        sys.stdout.write(f"Mnemic is ready: {self._url} (docs: /docs{where})\n")
        sys.stdout.flush()

    def _watch(self) -> None:
        while not self._signals.stopping:
            self._tend()
            if self._server is not None:
                self._server.bound_log()
            waiting = [child.due for child in self._children if child.process is None]
            if self._server is not None and not self._server.alive:
                waiting.append(self._server_due)
            self._signals.wait(min([LOG_CHECK_SECONDS, *(due - clock.monotonic() for due in waiting)]))

    def _tend(self) -> None:
        self._tend_server()
        if any([child.tend() for child in self._children]):  # noqa: C419 - each is tended, not the first only
            self._record()

    def _tend_server(self) -> None:
        if self._server is None or self._server.alive or clock.monotonic() < self._server_due:
            return
        if self._signals.stopping:
            return
        _say("PostgreSQL ended; it is started again.")
        try:
            self._server.restart()
        except ConfigurationError as error:
            self._server_failures += 1
            self._server_due = clock.monotonic() + _pause(self._server_failures)
            _say(str(error))
        else:
            self._server_failures = 0

    def _record(self) -> None:
        """Write down who runs, so that the next `up` finds them if we are killed."""
        alive = [(child.role, child.process.pid) for child in self._children if child.process is not None]
        entries = [{"role": role, "pid": pid, "birth": processes.birth(pid)} for role, pid in alive]
        half = self._data_dir / f"{RECORD}.new"
        half.write_text(json.dumps(entries), encoding="utf-8")
        half.replace(self._data_dir / RECORD)

    def _end(self) -> None:
        """SIGTERM, then patience, then SIGKILL; a second signal to us ends the patience."""
        started = [child.process for child in self._children if child.process is not None]
        for process in started:
            process.terminate()
        deadline = clock.monotonic() + self._settings.shutdown_seconds + AFTERMATH_SECONDS
        while any(process.poll() is None for process in started) and self._signals.asked <= 1:
            if clock.monotonic() > deadline:
                break
            self._signals.wait(deadline - clock.monotonic())
        for process in started:
            process.kill()
            process.wait()
        (self._data_dir / RECORD).unlink(missing_ok=True)


@contextlib.contextmanager
def _database(
    settings: Settings,
    data_dir: Path,
    signals: Signals,
) -> Iterator[tuple[embedded.EmbeddedServer | None, dict[str, str]]]:
    """The database, migrated and with a first key, and the environment that leads the children to it."""
    from app import bootstrap  # noqa: PLC0415 - heavy, and not needed to refuse a taken port
    from app.db import migrate  # noqa: PLC0415

    with contextlib.ExitStack() as stack:
        server = None
        if settings.database_url is None:
            server = embedded.start(data_dir, announce=_say)
            stack.callback(server.stop)
            app_dsn, migrator_dsn = server.app_dsn, server.migrator_dsn
        else:
            app_dsn = settings.database_url.get_secret_value()
            migrator = settings.migration_database_url
            migrator_dsn = app_dsn if migrator is None else migrator.get_secret_value()
        if not signals.stopping:
            migrate.upgrade(migrator_dsn)
            key_file = data_dir / "admin.key"
            sealing = {}
            if settings.sealing_keys is None and settings.sealing_key_file is None:
                make_file(data_dir / SEALING_FILE)
                sealing["SEALING_KEY_FILE"] = str((data_dir / SEALING_FILE).resolve())
            bootstrap.prepare(settings, migrator_dsn=migrator_dsn, app_dsn=app_dsn, admin_key_file=key_file)
        yield (
            server,
            {
                **sealing,
                "DATABASE_URL": app_dsn,
                "MIGRATION_DATABASE_URL": migrator_dsn,
                "DATA_DIR": str(data_dir),
                "HOST": settings.host,
                "PORT": str(settings.port),
            },
        )


def _metrics_port(settings: Settings, role: str) -> dict[str, str]:
    """API and worker share a machine here: the worker takes the port after the API's."""
    if settings.metrics_port is None:
        return {}
    return {"METRICS_PORT": str(settings.metrics_port + ROLES.index(role))}


def _stop_leftovers(record: Path) -> None:
    """Stop API and worker processes of an earlier `up` that was killed, if they are still what was written down."""
    try:
        known = _recorded(record.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except ValueError:  # a power cut in the middle of writing; they did not survive it either
        _say(f"{record} cannot be read and is left aside: processes of an earlier run, if any, are not stopped.")
        known = []
    left = [process for role, process in known if process.alive and _is_ours(process.pid, role)]
    if left:
        _say(f"Stopping processes that an earlier run left behind: {', '.join(str(process.pid) for process in left)}.")
    if not processes.stop(left, [(signal.SIGTERM, LEFTOVER_SECONDS), (signal.SIGKILL, LEFTOVER_SECONDS)]) and left:
        raise ConfigurationError(f"Processes of an earlier run do not end: {[process.pid for process in left]}.")
    record.unlink(missing_ok=True)


def _recorded(text: str) -> list[tuple[str, Process]]:
    """The processes of a record with their roles. Raises `ValueError` for what no `up` wrote."""
    try:
        entries = json.loads(text)
    except RecursionError as error:
        raise ValueError("not a record") from error
    if not isinstance(entries, list):
        raise ValueError("not a record")  # noqa: TRY004 - one error for all that is wrong
    known = []
    for entry in entries:
        match entry:
            case {"role": str(role), "pid": int(pid), "birth": str(birth)} if 1 < pid <= LARGEST_PID:
                known.append((role, Process(pid, birth)))
            case {"role": str(), "pid": int(), "birth": None}:  # it had ended already when the record was written
                continue
            case _:
                raise ValueError("not a record")
    return known


def _is_ours(pid: int, role: str) -> bool:
    arguments: Sequence[str] = processes.command_line(pid)
    return role in ROLES and arguments[-3:] == ["-m", COMMAND[-1], role]


def _refuse_taken_port(host: str, port: int) -> None:
    """Raise `ConfigurationError` unless the API will be able to listen there."""
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in places:
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.bind(address)
    except OSError as error:
        raise ConfigurationError(
            f"Port {port} on {host} cannot be used ({error.strerror}): "
            "stop what listens there, or choose another with PORT or --port.",
        ) from error


def _pause(failures: int) -> float:
    """Seconds before the next start after so many failures in a row."""
    return float(min(LONGEST_PAUSE, 0.25 * 2**failures))


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
