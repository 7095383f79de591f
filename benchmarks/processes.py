"""Processes under measurement: HTTP servers that are started, waited for and stopped."""

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import httpx

from app.settings import child_environment

ROOT: Final = Path(__file__).resolve().parent.parent
READY_SECONDS: Final = 120.0
STOP_SECONDS: Final = 40.0
LOG_TAIL: Final = 3_000


@contextmanager
def served(command: Sequence[str], port: int, environment: Mapping[str, str], folder: Path) -> Iterator[str]:
    """Run a server in a folder until the block ends; gives its URL once `GET /healthz` succeeds.

    Raises:
        RuntimeError: It did not get ready; the message has the end of what it wrote.
    """
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
        process = subprocess.Popen(  # noqa: S603 - our own commands
            command,
            cwd=folder,
            env=child_environment(environment),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C is ours to pass on, once
        )
        try:
            _wait(process, url, log)
            yield url
        except BaseException as error:
            error.add_note(f"{url} wrote: {_tail(log)}")
            raise
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def mnemic(*arguments: str) -> list[str]:
    """The command `mnemic` of this checkout."""
    return [sys.executable, "-P", "-m", "app.cli", *arguments]


def _wait(process: "subprocess.Popen[bytes]", url: str, log: IO[str]) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            if httpx.get(f"{url}/healthz", timeout=5).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    raise RuntimeError(f"The server did not start: {_tail(log)}")


def _tail(log: IO[str]) -> str:
    log.seek(0)
    return log.read()[-LOG_TAIL:].strip()
