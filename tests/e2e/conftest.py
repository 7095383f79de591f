"""The real command in a process group of its own, on a folder that is made once per test process."""

import json
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from app.core.ports import free_port
from app.db import embedded
from app.db.embedded import leftovers, processes
from app.settings import child_environment
from tests.network import interruptible

VARIABLES = {
    "DATABASE_URL": "",
    "MIGRATION_DATABASE_URL": "",
    "JOB_HEARTBEAT_SECONDS": "2",
    "WORKER_POLL_SECONDS": "0.5",
    "SWEEP_SECONDS": "5",
}


def until(happened: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait for what is asked for again and again."""
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def belonging(data_dir: Path) -> list[int]:
    """Every process that belongs to this data folder, by what it is at work on or told to be."""
    marker = f"DATA_DIR={data_dir}".encode()
    servers = [process.pid for process in leftovers.servers_on(data_dir / "pg" / "pgdata")]
    return [*servers, *(pid for pid in processes.pids() if _has_variable(pid, marker))]


def _has_variable(pid: int, marker: bytes) -> bool:
    try:
        return processes.birth(pid) is not None and marker in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


@dataclass
class Command:
    """A running `mnemic ...`, its output in files."""

    arguments: list[str]
    folder: Path
    """Where it is started and where its output goes."""
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        number = len(list(self.folder.glob("*.out")))
        self.out, self.err = self.folder / f"{number}.out", self.folder / f"{number}.err"
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(
                self.arguments,
                cwd=self.folder,
                env=child_environment(VARIABLES | self.environment),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                preexec_fn=interruptible,  # noqa: PLW1509 - it only resets a signal
            )

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def ended(self, seconds: float = 60.0) -> tuple[int, str, list[str]]:
        """Exit code, stdout, and the lines of stderr."""
        code = self.process.wait(seconds)
        return code, self.out.read_text(), self.err.read_text().splitlines()

    def signal_group(self, number: signal.Signals) -> None:
        os.killpg(self.process.pid, number)

    def end(self) -> None:
        """Whatever state it is in."""
        if self.alive:
            self.process.terminate()
            try:
                self.process.wait(40)
            except subprocess.TimeoutExpired:
                self.signal_group(signal.SIGKILL)
                self.process.wait()


@dataclass(frozen=True)
class FirstStart:
    """What was seen of it."""

    seconds: float
    key_modes: frozenset[int]
    ready_without_key: bool
    command: Command


@dataclass
class House:
    """A data folder and the `mnemic up` on it, if one runs."""

    mnemic: str
    data_dir: Path
    scratch: Path
    port: int
    current: Command | None = None
    seconds_to_ready: float = 0.0
    first: FirstStart | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def command(self) -> Command:
        assert self.current is not None
        return self.current

    def begin(self) -> Command:
        """Start `up` and do not wait."""
        arguments = [self.mnemic, "up", "--data-dir", str(self.data_dir), "--port", str(self.port)]
        self.current = Command(arguments, self.scratch)
        return self.current

    def start(self) -> Command:
        """Start `up` and wait until it says that it is ready."""
        begun = time.monotonic()
        command = self.begin()
        until(lambda: command.out.read_text().endswith("\n") or not command.alive, 180)
        self.seconds_to_ready = time.monotonic() - begun
        assert command.alive, command.err.read_text()[-3000:]
        return command

    def start_for_the_first_time(self) -> None:
        """Start `up` on a folder that is not there yet, and look at the key until it serves."""
        begun = time.monotonic()
        command = self.begin()
        key = self.data_dir / "admin.key"
        modes: set[int] = set()
        early = False

        def ready() -> bool:
            nonlocal early
            assert command.alive, command.err.read_text()[-3000:]
            there = key.exists()
            if there:
                modes.add(stat.S_IMODE(key.stat().st_mode))
            try:
                answered = httpx.get(f"{self.url}/readyz", trust_env=False).status_code == httpx.codes.OK
            except httpx.TransportError:
                return False
            early |= answered and not there
            return answered

        until(ready, 180)
        until(lambda: command.out.read_text().endswith("\n"))
        self.first = FirstStart(time.monotonic() - begun, frozenset(modes), early, command)

    def run(self, *arguments: str, **environment: str) -> tuple[int, str, list[str]]:
        """One short command on this folder."""
        return Command([self.mnemic, *arguments], self.scratch, environment).ended()

    def client(self, key: str | None = None) -> httpx.Client:
        secret = key or (self.data_dir / "admin.key").read_text().strip()
        return httpx.Client(
            base_url=self.url, headers={"Authorization": f"Bearer {secret}"}, timeout=30, trust_env=False
        )

    def addresses(self) -> embedded.Addresses:
        found = embedded.running(self.data_dir)
        assert found is not None
        return found

    def children(self) -> dict[str, int]:
        return {entry["role"]: entry["pid"] for entry in json.loads((self.data_dir / "children.json").read_text())}

    def postmaster(self) -> int:
        pid = leftovers.recorded_pid(self.data_dir / "pg" / "pgdata")
        assert pid is not None
        return pid

    async def sql(self, statement: str, *arguments: object) -> list[asyncpg.Record]:
        """Rows, as the superuser sees them."""
        connection = await asyncpg.connect(self.addresses().superuser_dsn)
        try:
            return list(await connection.fetch(statement, *arguments))
        finally:
            await connection.close()


@pytest.fixture(scope="session")
def house(mnemic: str) -> Iterator[House]:
    """The folder, after the first start on it."""
    data_dir = Path(tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp"))
    scratch = Path(tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp"))
    made = House(mnemic, data_dir / "data", scratch, free_port())
    data_dir.chmod(0o755)
    try:
        made.start_for_the_first_time()
        yield made
    finally:
        made.command.end()
    assert belonging(made.data_dir) == []
    shutil.rmtree(data_dir)
    shutil.rmtree(scratch)


@pytest.fixture
def served(house: House) -> House:
    """The folder with a running `up`: the one that another test left, or a new one."""
    if not house.command.alive:
        house.start()
    return house


@pytest.fixture
def api(served: House) -> Iterator[httpx.Client]:
    with served.client() as client:
        yield client


def append(client: httpx.Client, session: str, text: str, **fields: Any) -> httpx.Response:
    return client.post(f"/v1/sessions/{session}/messages", json={"role": "user", "content": text, **fields})
