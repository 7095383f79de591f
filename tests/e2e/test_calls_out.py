"""No process of ours speaks to anybody but this machine: watched from inside every one of them."""

import ast
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from app.core.ports import free_port
from tests.e2e.conftest import Command, until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

WATCH = """
import os, sys

sys.modules["uvloop"] = None  # its connections are made in C, where no audit event is raised

def watch(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        with open(os.environ["WATCHED_CALLS"], "a") as file:
            file.write(repr((sys.argv, event, [a for a in arguments if not hasattr(a, "fileno")])) + "\\n")

sys.addaudithook(watch)
"""

HERE = {"127.0.0.1", "localhost", "::1"}


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="mnemic-test-", dir="/tmp"))
    yield made
    shutil.rmtree(made)


def test_no_process_of_up_calls_anybody_but_this_machine(folder: Path, mnemic: str) -> None:
    (folder / "hook").mkdir()
    (folder / "hook" / "sitecustomize.py").write_text(WATCH)
    calls = folder / "calls"
    port = free_port()
    environment = {"PYTHONPATH": str(folder / "hook"), "WATCHED_CALLS": str(calls)}
    arguments = [mnemic, "up", "--data-dir", str(folder / "data"), "--port", str(port)]
    command = Command(arguments, folder, environment)
    try:
        until(lambda: command.out.read_text().endswith("\n") or not command.alive, 180)
        key = (folder / "data" / "admin.key").read_text().strip()
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={"Authorization": f"Bearer {key}"},
            timeout=60,
            trust_env=False,
        ) as client:
            _use(client)
    finally:
        command.end()
    seen = [ast.literal_eval(line) for line in calls.read_text().splitlines()]
    roles = {word for arguments, *_ in seen for word in arguments if word in {"up", "serve", "worker"}}
    assert roles == {"up", "serve", "worker"}, "every process is watched"
    assert {_host(arguments) for _, _, arguments in seen} <= HERE


def _use(client: httpx.Client) -> None:
    """A bit of everything that works in the background or in the foreground."""
    message = {"role": "user", "content": "我搬到了 https://example.invalid/里斯本", "user_id": "ada"}
    assert client.post("/v1/sessions/s/messages", json=message).is_success
    assert client.post("/v1/memories", json={"text": "Likes tea", "user_id": "ada"}).is_success
    job = client.get("/v1/jobs", params={"subject": "s"}).json()["results"][0]
    assert client.get(f"/v1/jobs/{job['id']}", params={"wait": 60}).json()["state"] == "succeeded"
    query = {"query": "里斯本", "user_id": "ada", "include_messages": True}
    assert client.post("/v1/memories/search", json=query).json()["results"]
    for path in ("/docs", "/openapi.json", "/readyz", "/metrics"):
        assert client.get(path).is_success


def _host(arguments: list[object]) -> object:
    first = arguments[0]
    return first[0] if isinstance(first, tuple) else first
