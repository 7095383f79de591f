"""API, worker and PostgreSQL are killed while clients write: nothing is lost, and nothing is there twice."""

import os
import random
import signal
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from uuid import uuid4

import httpx
import pytest

from tests.e2e.conftest import House, until
from tests.e2e.test_under_fire import all_messages, rows

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]

RECOVERY_SECONDS = 60.0
SAID = ("message {} 我记得", "memory {} 记忆")


@dataclass
class Load:
    """Clients that write messages and memories, each again with its Idempotency-Key until it is acknowledged."""

    house: House
    name: str
    wanted: int
    acknowledged: dict[str, str] = field(default_factory=dict)
    """What was said, and the id that it got."""
    longest: float = 0.0
    """The longest that a call had to be repeated until it succeeded."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _next: int = 0

    def write(self) -> None:
        with self.house.client() as client:
            while (number := self._take()) is not None:
                text = SAID[number % 2].format(number)
                began = time.monotonic()
                answer = self._until_acknowledged(client, number, text)
                self.longest = max(self.longest, time.monotonic() - began)
                self.acknowledged[text] = answer.json()["id"]

    def _take(self) -> int | None:
        with self._lock:
            self._next += 1
            return self._next if self._next <= self.wanted else None

    def _until_acknowledged(self, client: httpx.Client, number: int, text: str) -> httpx.Response:
        path, body = f"/v1/sessions/{self.name}/messages", {"role": "user", "content": text}
        if number % 2:
            path, body = "/v1/memories", {"text": text, "user_id": self.name}
        key = {"Idempotency-Key": f"{self.name}-{number}"}
        deadline = time.monotonic() + RECOVERY_SECONDS
        while True:
            assert time.monotonic() < deadline, "the service did not recover"
            try:
                answer = client.post(path, json=body, headers=key)
            except httpx.TransportError:
                time.sleep(0.02)
                continue
            assert answer.status_code in {201, 503}, answer.text
            if answer.status_code == 201:
                return answer


PARTS = ("serve", "worker", "postgresql")


def test_writes_survive_kills_of_api_worker_and_database_at_random_moments(served: House, full_size: bool) -> None:
    seed = random.randrange(10**9)
    chance = random.Random(seed)
    # The small size kills all of them in a short while, so that they recover together.
    rounds = [[(part,)] * 5 for part in PARTS] if full_size else [[tuple(chance.sample(PARTS, 3))]]
    for blows in rounds:
        load = Load(served, f"killed-{uuid4()}", 1_000 if full_size else 100)
        moments = sorted(chance.sample(range(1, load.wanted - 1), len(blows)))
        with ThreadPoolExecutor(4) as pool:
            writing = [pool.submit(load.write) for _ in range(4)]
            for moment, victims in zip(moments, blows, strict=True):
                until(partial(_so_far, load, writing, moment), 90)
                _kill(served, victims, chance)
            for one in writing:
                one.result()
        assert len(load.acknowledged) == load.wanted, f"seed {seed}"
        _is_all_there_once(served, load)
        until(partial(_ready, served), RECOVERY_SECONDS)
        _is_folded_once(served, load)


def _so_far(load: Load, writing: "list[Future[None]]", moment: int) -> bool:
    return len(load.acknowledged) >= moment or any(one.done() for one in writing)


def _is_folded_once(house: House, load: Load) -> None:
    """The worker was killed between appends and folds: every message stands in one summary of the lowest level."""
    with house.client() as client:
        path = f"/v1/sessions/{load.name}/summary"
        answer = client.post(path, json={"keep_turns": 0})
        assert answer.status_code in {200, 409}, answer.text  # 409: the worker has folded all of it
        found = client.get(path).json()
        last = max(message["seq"] for message in all_messages(client, load.name))
    spans = sorted((node["from_seq"], node["to_seq"]) for node in found["tree"] if node["level"] == 0)
    assert (spans[0][0], spans[-1][1], found["to_seq"]) == (1, last, last)
    assert all(end + 1 == start for (_, end), (start, _) in pairwise(spans)), spans


def _ready(house: House) -> bool:
    with house.client() as client:
        return client.get("/readyz").is_success


def _kill(house: House, victims: Sequence[str], chance: random.Random) -> None:
    killed = {}
    for part in victims:
        time.sleep(chance.random() / 20)  # somewhere within a call
        killed[part] = _pid(house, part)
        os.kill(killed[part], signal.SIGKILL)
    for part, pid in killed.items():
        until(lambda part=part, pid=pid: _pid(house, part) not in {0, pid}, RECOVERY_SECONDS)


def _pid(house: House, part: str) -> int:
    """Of a part that runs; 0 where it does not at the moment."""
    try:
        return house.postmaster() if part == "postgresql" else house.children().get(part, 0)
    except (AssertionError, OSError, ValueError):
        return 0


def _is_all_there_once(house: House, load: Load) -> None:
    with house.client() as client:
        stored = {message["content"]: message["id"] for message in all_messages(client, load.name)}
        seqs = [message["seq"] for message in all_messages(client, load.name)]
    kept = rows(house, "SELECT id::text, text FROM memories WHERE user_id = $1", load.name)
    assert len(seqs) == len(stored), "a message is there twice"
    assert seqs == list(range(1, len(seqs) + 1)), "a number was lost or used twice"
    assert len(kept) == len({row["text"] for row in kept}), "a memory is there twice"
    stored |= {row["text"]: row["id"] for row in kept if row["text"] in load.acknowledged}
    assert {text: stored.get(text) for text in load.acknowledged} == load.acknowledged
