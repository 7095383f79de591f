"""Whoever is killed in the middle of a turn has written all of it or nothing; who starts again knows where it was."""

import itertools
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.core.ports import free_port
from app.settings import Settings, child_environment
from tests.conftest import Tenant
from tests.e2e.conftest import House, until
from tests.e2e.test_under_fire import all_messages

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]

TASKS = {
    "zh": {"goal": "预订里斯本之行", "done_steps": ["订机票"], "pending_steps": ["订酒店", "买保险"]},
    "en": {"goal": "Book the trip to Lisbon", "done_steps": ["flight"], "pending_steps": ["hotel", "insurance"]},
}


def test_after_everything_was_stopped_resume_gives_the_task_as_it_was_left(served: House) -> None:
    with served.client() as client:
        for language, task in TASKS.items():
            body = {"messages": [{"role": "user", "content": task["goal"]}], "state": {"patch": {"task": task}}}
            client.post(f"/v1/sessions/left-{language}/turns", json=body).raise_for_status()
    before = served.children()
    served.command.end()
    served.start()
    assert not set(before.values()) & set(served.children().values())
    with served.client() as client:
        for language, task in TASKS.items():
            resumed = client.get(f"/v1/sessions/left-{language}/resume").raise_for_status().json()
            assert (resumed["task"], resumed["next_step"]) == (task, task["pending_steps"][0])
            assert [one["content"] for one in resumed["messages"]] == [task["goal"]]


@dataclass
class Forked:
    """An API whose process can be killed; another one stands in its place at once."""

    url: str
    pids: list[int] = field(default_factory=list)

    def kill(self) -> None:
        pid = self.pids[-1]
        os.kill(pid, signal.SIGKILL)
        until(lambda: self.pids[-1] != pid)


@pytest.fixture
async def key(tenant: Tenant) -> str:
    return await tenant.key()


@pytest.fixture
def forked(settings: Settings) -> Iterator[Forked]:
    port = free_port()
    assert settings.database_url is not None
    assert settings.migration_database_url is not None
    environment = child_environment(
        {
            "DATABASE_URL": settings.database_url.get_secret_value(),
            "MIGRATION_DATABASE_URL": settings.migration_database_url.get_secret_value(),
            "PORT": str(port),
            "LOG_LEVEL": "error",
            "EXTRACTOR": "off",
        }
    )
    program = [sys.executable, "-P", "-m", "tests.e2e.forking"]
    with subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, text=True, cwd=Path.cwd()) as process:
        made = Forked(f"http://127.0.0.1:{port}")
        assert process.stdout is not None
        reading = threading.Thread(target=_read, args=(process.stdout, made.pids))
        reading.start()
        try:
            until(lambda: made.pids, 60)
            yield made
        finally:
            process.terminate()
            process.wait(30)
            reading.join(30)


def _read(lines: Iterator[str], pids: list[int]) -> None:
    for line in lines:
        pids.append(int(line))  # noqa: PERF401 - each is to be seen at once


class Writer:
    """A client that writes turn after turn into a session of its own, whatever happens to the service."""

    def __init__(self, forked: Forked, key: str, session: str) -> None:
        self.forked, self.key, self.session = forked, key, session
        self.acknowledged: list[int] = []
        self.cut_off = 0
        self.stopped = threading.Event()

    def write(self) -> None:
        headers = {"Authorization": f"Bearer {self.key}"}
        with httpx.Client(base_url=self.forked.url, headers=headers, timeout=30, trust_env=False) as client:
            for number in itertools.count(1):
                if self.stopped.is_set():
                    return
                said = [{"role": role, "content": f"{number} {role}"} for role in ("user", "assistant")]
                body = {"messages": said, "state": {"patch": {"n": number}}}
                try:
                    answer = client.post(f"/v1/sessions/{self.session}/turns", json=body)
                except httpx.ConnectError:
                    self.stopped.wait(0.02)
                except httpx.TransportError:
                    self.cut_off += 1
                else:
                    assert answer.status_code == 201, answer.text
                    self.acknowledged.append(number)


@contextmanager
def at_work(writers: list[Writer]) -> Iterator[None]:
    with ThreadPoolExecutor(len(writers)) as pool:
        running = [pool.submit(one.write) for one in writers]
        try:
            yield
        finally:
            for one in writers:
                one.stopped.set()
        for future in running:
            future.result()


def wait_for_all(writers: list[Writer]) -> None:
    """Each has written one turn more."""
    told = {one.session: len(one.acknowledged) for one in writers}
    until(lambda: all(len(one.acknowledged) > told[one.session] for one in writers), 60)


def test_a_turn_whose_service_is_killed_is_written_whole_or_not_at_all(
    forked: Forked, key: str, full_size: bool
) -> None:
    writers = [Writer(forked, key, f"killed-{name}") for name in "ab"]
    chance = random.Random(50)
    with at_work(writers):
        for _ in range(50 if full_size else 5):
            wait_for_all(writers)
            threading.Event().wait(chance.uniform(0, 0.05))  # anywhere in a call
            forked.kill()
        wait_for_all(writers)
    assert sum(one.cut_off for one in writers) >= (50 if full_size else 5), "some calls were cut off in the middle"
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=forked.url, headers=headers, timeout=30, trust_env=False) as client:
        for writer in writers:
            _is_whole(client, writer)


def _is_whole(client: httpx.Client, writer: Writer) -> None:
    """Each number has both its messages and its state, or none of them; what was acknowledged has all."""
    said = all_messages(client, writer.session)
    numbers = [int(message["content"].split()[0]) for message in said[::2]]
    assert [message["content"] for message in said] == [
        f"{n} {role}" for n in numbers for role in ("user", "assistant")
    ]
    assert [message["seq"] for message in said] == list(range(1, len(said) + 1))
    states = _states(client, writer.session)
    assert [(state["state"]["n"], state["at_seq"]) for state in states] == [
        (number, 2 * place) for place, number in enumerate(numbers, 1)
    ]
    assert set(writer.acknowledged) <= set(numbers)
    assert numbers == sorted(set(numbers))


def _states(client: httpx.Client, session: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        parameters = {"limit": "200"} | ({} if cursor is None else {"cursor": cursor})
        page = client.get(f"/v1/sessions/{session}/state/history", params=parameters).raise_for_status().json()
        found += page["results"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found[::-1]
