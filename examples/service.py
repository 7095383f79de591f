"""A service of one's own for a while: `mnemic up` on a temporary folder, gone without trace afterwards."""

import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Any, Final

import httpx

from app.settings import child_environment

MNEMIC: Final = Path(sys.executable).with_name("mnemic")
STOP_SECONDS: Final = 40
ANSWER_SECONDS: Final = 60.0
LOG_TAIL: Final = 2_000


class ServiceFailed(Exception):  # noqa: N818 - says what happened
    """The service did not start, or a job of it can never end well."""


@dataclass(frozen=True, slots=True)
class RunningService:
    """A service that answers.

    Args:
        url: Where.
        key: An admin key of its default tenant.
        data_dir: Its folder; None where the service is someone else's.
    """

    url: str
    key: str
    data_dir: Path | None = None

    def client(self) -> httpx.Client:
        """A client that carries the key and turns every failure into an error."""
        return httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {self.key}"},
            timeout=ANSWER_SECONDS,
            event_hooks={"response": [_raise_for_status]},
        )


@contextmanager
def temporary_service() -> Iterator[RunningService]:
    """Start `mnemic up` on an empty folder; stop it and remove the folder when the block ends, however it ends.

    Ctrl-C, SIGTERM and a closed terminal end the block as `KeyboardInterrupt`. Must run in the main thread.

    Raises:
        ServiceFailed: It did not get ready; the message has the end of its log.
    """
    with interruptible(), tempfile.TemporaryFile("w+", encoding="utf-8") as log:
        folder = Path(tempfile.mkdtemp(prefix="mnemic-"))
        try:
            process = _start(folder, log)
            try:
                yield _ready(process, folder, log)
            finally:
                _stop(process)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def wait_until_embedded(client: httpx.Client, tick: Callable[[int], object] = lambda _: None) -> None:
    """Wait until no embedding job is queued or running; `tick` is told how many are left, now and then.

    Raises:
        ServiceFailed: A job is dead.
    """
    # A job may go back from running to queued while the second question is asked: the third sees it.
    while left := sum(_jobs(client, state) for state in ("queued", "running", "queued")):
        tick(left)
        time.sleep(0.05)
    if dead := _jobs(client, "dead"):
        raise ServiceFailed(f"{dead} embedding jobs are dead: see /v1/jobs?state=dead.")


def _jobs(client: httpx.Client, state: str) -> int:
    total = 0
    for kind in ("embed_messages", "embed_memories"):
        page = client.get("/v1/jobs", params={"kind": kind, "state": state, "limit": 1, "count": True})
        total += page.json()["total"]
    return total


def _start(folder: Path, log: IO[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(  # noqa: S603 - our own command
        [MNEMIC, "up", "--host", "127.0.0.1", "--port", str(_free_port()), "--data-dir", folder],
        cwd=folder,  # away from a .env of the caller's
        env=child_environment({"DATABASE_URL": "", "MIGRATION_DATABASE_URL": ""}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        start_new_session=True,  # Ctrl-C is ours to pass on, once
    )


def _ready(process: "subprocess.Popen[str]", folder: Path, log: IO[str]) -> RunningService:
    line = process.stdout.readline() if process.stdout is not None else ""
    if not line:
        log.seek(0)
        raise ServiceFailed(f"The service did not start: {log.read()[-LOG_TAIL:].strip()}")
    url = next(word for word in line.split() if word.startswith("http"))
    return RunningService(url, (folder / "admin.key").read_text("utf-8").strip(), folder)


def _stop(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    try:
        process.communicate(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.terminate()  # the second one ends its patience
        process.communicate()


@contextmanager
def interruptible() -> Iterator[None]:
    """SIGTERM and SIGHUP end the block as Ctrl-C does, so that nothing is left running."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before: dict[int, Any] = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _raise_for_status(response: httpx.Response) -> None:
    if response.is_error:
        response.read()
        raise ServiceFailed(f"{response.request.method} {response.request.url}: {response.status_code} {response.text}")
