"""The process tree of `mnemic up`: a real PostgreSQL and real processes, around a double of API and worker."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.core.ports import free_port
from app.db.embedded import leftovers, processes
from app.supervisor import ROLES
from tests.e2e.conftest import belonging, until
from tests.network import interruptible

pytestmark = pytest.mark.e2e

# Stands in for `python -m app.cli serve|worker`: notes each signal, answers /readyz, ends on SIGTERM.
SERVICE = """
import http.server, os, pathlib, signal, sys, threading
role, folder = sys.argv[-1], pathlib.Path(os.environ["DATA_DIR"])

def note(number, frame):
    with (folder / "signals").open("a") as file:
        file.write(f"{role} {signal.Signals(number).name}\\n")
    if number == signal.SIGTERM and not (folder / "stubborn").exists():
        os._exit(0)

for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, note)
(folder / f"{role}.listens").touch()
if (folder / "broken").exists():
    sys.exit("broken on purpose")

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        pass

if role == "serve":
    server = http.server.ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
while True:
    signal.pause()
"""

UP = """
import sys, types
from pathlib import Path
from app import supervisor
from app.core.errors import ConfigurationError
from app.db import embedded
from app.settings import Settings

def prepare(settings, *, migrator_dsn, app_dsn, admin_key_file):
    admin_key_file.touch(mode=0o600)

sys.modules["app.bootstrap"] = sys.modules["app"].bootstrap = types.SimpleNamespace(prepare=prepare)
sys.modules["app.db.migrate"] = sys.modules["app.db"].migrate = types.SimpleNamespace(upgrade=lambda dsn: None)
supervisor.COMMAND = (sys.executable, sys.argv[3], "-m", "double")
begin = embedded.start
embedded.start = lambda folder, announce: begin(folder, settings={"fsync": "off"}, announce=announce)
try:
    settings = Settings(_env_file=None, data_dir=sys.argv[1], port=int(sys.argv[2]), shutdown_seconds=1)
    sys.exit(supervisor.run_up(settings))
except ConfigurationError as error:
    sys.exit(str(error))
"""


class Up:
    """One run of `up` in a process group of its own."""

    def __init__(self, data_dir: Path, port: int, service: Path) -> None:
        self.data_dir, self.port = data_dir, port
        self.process = subprocess.Popen(
            [sys.executable, "-c", UP, str(data_dir), str(port), str(service)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=interruptible,  # noqa: PLW1509 - it only resets a signal
        )

    def ready(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            pytest.fail(f"up ended without a word: {self.ended()}")
        # The line waits for the API alone; the worker may not yet be able to note signals.
        until((self.data_dir / "worker.listens").exists)
        return line

    def ended(self) -> tuple[int, str, str]:
        """Exit code, what else came on stdout, and stderr."""
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err

    def children(self) -> dict[str, int]:
        return {entry["role"]: entry["pid"] for entry in json.loads((self.data_dir / "children.json").read_text())}

    def servers(self) -> list[int]:
        return [process.pid for process in leftovers.servers_on(self.data_dir / "pg" / "pgdata")]

    def postmaster(self) -> int:
        pid = leftovers.recorded_pid(self.data_dir / "pg" / "pgdata")
        assert pid is not None
        return pid

    def postgres_port(self) -> str:
        return (self.data_dir / "pg" / "pgdata" / "postmaster.pid").read_text().splitlines()[3]

    def answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    def left(self) -> list[int]:
        return belonging(self.data_dir)


@pytest.fixture
def data_dir() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


Starter = Callable[..., Up]


@pytest.fixture
def up(data_dir: Path, tmp_path: Path) -> Iterator[Starter]:
    service = tmp_path / "service.py"
    service.write_text(SERVICE)
    runs: list[Up] = []
    port = free_port()

    def begin(*, port: int = port) -> Up:
        runs.append(Up(data_dir, port, service))
        return runs[-1]

    yield begin
    (data_dir / "stubborn").unlink(missing_ok=True)
    for run in runs:
        with run.process:
            run.process.terminate()
    assert not any(run.left() for run in runs)


def test_one_line_says_ready_and_sigterm_leaves_nothing_behind(up: Starter, data_dir: Path) -> None:
    one = up()
    key = data_dir / "admin.key"
    assert one.ready() == f"Mnemic is ready: http://127.0.0.1:{one.port} (docs: /docs, admin key: {key})\n"
    assert len(one.left()) > 2
    one.process.terminate()
    code, out, _ = one.ended()
    assert (code, out) == (0, "")
    assert not one.left()
    assert sorted((data_dir / "signals").read_text().splitlines()) == ["serve SIGTERM", "worker SIGTERM"]


def test_ctrl_c_reaches_the_children_once_as_sigterm(up: Starter, data_dir: Path) -> None:
    one = up()
    one.ready()
    os.killpg(one.process.pid, signal.SIGINT)
    code, _, err = one.ended()
    assert code == 0
    assert "Traceback" not in err
    assert sorted((data_dir / "signals").read_text().splitlines()) == ["serve SIGTERM", "worker SIGTERM"]


def test_each_child_is_in_the_process_group_of_up(up: Starter) -> None:
    one = up()
    one.ready()
    members = [one.postmaster(), *one.children().values()]
    assert {os.getpgid(pid) for pid in members} == {one.process.pid}


@pytest.mark.parametrize("role", ROLES)
def test_child_that_dies_is_started_again(up: Starter, role: str) -> None:
    one = up()
    one.ready()
    before = one.children()
    os.kill(before[role], signal.SIGKILL)
    until(lambda: one.children()[role] != before[role] and one.answers())
    one.process.terminate()
    code, _, err = one.ended()
    assert code == 0
    assert f"mnemic {role} ended (-9)" in err


def test_postgresql_that_dies_is_started_again_on_its_port(up: Starter) -> None:
    one = up()
    one.ready()
    port, pid = one.postgres_port(), one.postmaster()
    os.kill(pid, signal.SIGKILL)
    until(lambda: one.servers() and one.postmaster() != pid)
    until(lambda: one.postmaster() in one.servers())
    assert one.postgres_port() == port


def test_up_follows_a_kill_of_the_whole_group(up: Starter) -> None:
    one = up()
    one.ready()
    os.killpg(one.process.pid, signal.SIGKILL)
    one.process.communicate()
    assert up().ready().startswith("Mnemic is ready")


def test_nothing_survives_when_up_alone_is_killed(up: Starter) -> None:
    one = up()
    one.ready()
    one.process.kill()
    one.process.communicate()
    until(lambda: not one.left())


def test_children_left_by_a_killed_up_are_stopped_before_new_ones(up: Starter, data_dir: Path) -> None:
    one = up()
    one.ready()
    before = set(one.children().values())
    (data_dir / "stubborn").touch()
    one.process.kill()
    one.process.wait()
    assert before <= set(one.left())
    two = up()
    assert two.ready().startswith("Mnemic is ready")
    assert not before & set(two.left())


def test_recorded_pid_of_a_foreign_process_is_not_touched(up: Starter, data_dir: Path) -> None:
    with subprocess.Popen(["/bin/sleep", "600"]) as foreign:
        entry = {"role": "serve", "pid": foreign.pid, "birth": processes.birth(foreign.pid)}
        (data_dir / "children.json").write_text(json.dumps([entry]))
        up().ready()
        assert foreign.poll() is None
        foreign.kill()


def test_child_that_ignores_sigterm_is_killed_when_its_time_is_up(up: Starter, data_dir: Path) -> None:
    one = up()
    one.ready()
    (data_dir / "stubborn").touch()
    one.process.terminate()
    assert one.ended()[0] == 0
    assert not one.left()


def test_port_in_use_is_refused_before_anything_starts(up: Starter, data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, err = up(port=port).ended()
    assert code == 1
    assert f"Port {port} on 127.0.0.1" in err
    assert not (data_dir / "pg").exists()


def test_second_up_on_one_folder_is_refused_and_the_first_goes_on(up: Starter, data_dir: Path) -> None:
    one = up()
    one.ready()
    code, _, err = up(port=free_port()).ended()
    assert code == 1
    assert f"{data_dir} is in use by process {one.process.pid}" in err
    assert one.answers()


def test_service_that_never_starts_ends_up_with_a_reason(up: Starter, data_dir: Path) -> None:
    (data_dir / "broken").touch()
    one = up()
    code, out, err = one.ended()
    assert (code, out) == (1, "")
    assert "broken on purpose" in err
    assert "does not start" in err
