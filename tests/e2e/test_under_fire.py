"""What is acknowledged stays, whoever is killed in the middle of it."""

import asyncio
import itertools
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.e2e.conftest import House, append, until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]


def all_messages(client: httpx.Client, session: str) -> list[dict[str, Any]]:
    """A session from its beginning, page by page."""
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        parameters = {"limit": 100} | ({} if cursor is None else {"cursor": cursor})
        page = client.get(f"/v1/sessions/{session}/messages", params=parameters).raise_for_status().json()
        found += page["results"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


class Writers:
    """Clients that append to one session and keep what was acknowledged; `stop` when the service goes away."""

    def __init__(self, house: House, session: str, wanted: int) -> None:
        self.house, self.session, self.wanted = house, session, wanted
        self.acknowledged: list[dict[str, Any]] = []
        self._numbers = itertools.count()

    def write(self) -> None:
        with self.house.client() as client:
            while len(self.acknowledged) < self.wanted:
                text = f"message {next(self._numbers)}"
                try:
                    answer = append(client, self.session, text)
                except httpx.TransportError:
                    return
                assert answer.status_code in {201, 503}, answer.text
                if answer.status_code == 201:
                    self.acknowledged.append({"text": text, **answer.json()})

    @contextmanager
    def at_work(self, count: int = 2) -> Iterator[None]:
        with ThreadPoolExecutor(count) as pool:
            running = [pool.submit(self.write) for _ in range(count)]
            yield
            for one in running:
                one.result()


def test_acknowledged_messages_survive_kills_of_the_whole_group(served: House, full_size: bool) -> None:
    if not full_size:
        pytest.skip("two starts of the whole service: make soak; kills of each part under load are tried always")
    session = f"killed-{uuid4()}"
    writers = Writers(served, session, 200)
    for kill in range(1, 6):
        with writers.at_work():
            until(lambda at=kill: len(writers.acknowledged) >= 30 * at, 60)
            served.command.signal_group(signal.SIGKILL)
            served.command.process.wait()
        assert len(writers.acknowledged) < 200
        served.start()
    with writers.at_work():
        until(lambda: len(writers.acknowledged) >= 200, 60)
    with served.client() as client:
        stored = all_messages(client, session)
    seqs = [message["seq"] for message in stored]
    assert seqs == sorted(set(seqs))
    assert seqs[-1] == len(seqs), "a number was lost or used twice"
    by_seq = {message["seq"]: message for message in stored}
    for told in writers.acknowledged:
        assert (by_seq[told["seq"]]["id"], by_seq[told["seq"]]["content"]) == (told["id"], told["text"])
    texts = [message["content"] for message in stored]
    assert len(texts) == len(set(texts))


def test_every_message_is_embedded_once_however_often_the_worker_is_killed(
    served: House, api: httpx.Client, full_size: bool
) -> None:
    name = f"ingest-{uuid4()}"
    kills, sessions, each = (20, 10, 30) if full_size else (2, 6, 20)
    count = sessions * each

    def ingest() -> None:
        for session, number in itertools.product(range(sessions), range(each // 10)):
            texts = [f"{number} {text} 我记得这件事。 " * 12 for text in range(10)]
            body = {"messages": [{"role": "user", "content": text} for text in texts]}
            api.post(f"/v1/sessions/{name}-{session}/messages", json=body).raise_for_status()

    writing = threading.Thread(target=ingest)
    writing.start()
    killed: set[int] = set()
    while len(killed) < kills:
        until(lambda: served.children().get("worker", 0) not in {0, *killed}, 60)
        pid = served.children()["worker"]
        # Let it come to its work: a job of this test that runs, or none left to run.
        until(lambda: at_it(served, name, count) or not writing.is_alive(), 90)
        os.kill(pid, signal.SIGKILL)
        killed.add(pid)
    writing.join(60)
    until(lambda: ended(served, name) and vectors(served, name) == (count, count), 150)
    states = rows(served, "SELECT DISTINCT state FROM jobs WHERE subject LIKE $1", f"{name}-%")
    assert {row["state"] for row in states} <= {"succeeded", "failed"}


def test_every_message_is_folded_once_however_often_the_worker_is_killed(
    served: House, api: httpx.Client, full_size: bool
) -> None:
    session = f"folded-{uuid4()}"
    kills, batches = (12, 30) if full_size else (1, 6)

    def talk() -> None:
        for batch in range(batches):
            said = [f"Parcel {batch * 10 + n} weighs {n} grams. 包裹{n}已寄出。" for n in range(10)]
            body = {"messages": [{"role": "user", "content": text} for text in said]}
            api.post(f"/v1/sessions/{session}/messages", json=body).raise_for_status()

    talking = threading.Thread(target=talk)
    talking.start()
    killed: set[int] = set()
    while len(killed) < kills:
        until(lambda: served.children().get("worker", 0) not in {0, *killed}, 60)
        pid = served.children()["worker"]
        # Let it come to its work: a fold of this session that runs, or none left to run.
        until(lambda: folds(served, session) or not talking.is_alive(), 90)
        os.kill(pid, signal.SIGKILL)
        killed.add(pid)
    talking.join(60)
    until(lambda: ended(served, session) and folded(served, session)[-1:] == [batches * 10], 150)
    found = rows(
        served, "SELECT from_seq, to_seq FROM summaries WHERE session_id = $1 AND level = 0 ORDER BY from_seq", session
    )
    assert found[0]["from_seq"] == 1
    assert all(one["to_seq"] + 1 == other["from_seq"] for one, other in itertools.pairwise(found))


def folds(house: House, session: str) -> list[Any]:
    return rows(house, "SELECT 1 FROM jobs WHERE subject = $1 AND kind = 'summarise' AND state = 'running'", session)


def folded(house: House, session: str) -> list[int]:
    """Up to where a session was folded, and where that is to be: ten turns before its end at most."""
    (row,) = rows(house, "SELECT summarized_seq, last_seq FROM sessions WHERE id = $1", session)
    done = row["last_seq"] - row["summarized_seq"] < 10 + 4
    return [row["last_seq"]] if done else []


def rows(house: House, statement: str, *arguments: object) -> list[Any]:
    return asyncio.run(house.sql(statement, *arguments))


def at_it(house: House, name: str, count: int) -> bool:
    found = rows(house, "SELECT 1 FROM jobs WHERE subject LIKE $1 AND state = 'running'", f"{name}-%")
    return bool(found) or vectors(house, name)[0] == count


def ended(house: House, name: str) -> bool:
    return not rows(house, "SELECT 1 FROM jobs WHERE subject LIKE $1 AND finished_at IS NULL", f"{name}-%")


def vectors(house: House, name: str) -> tuple[int, int]:
    """How many there are, and of how many messages."""
    (row,) = rows(
        house,
        "SELECT count(*) AS all, count(DISTINCT v.message_id) AS messages FROM message_vectors v "
        "JOIN messages m ON m.tenant_id = v.tenant_id AND m.id = v.message_id AND m.content_hash = v.text_hash "
        "WHERE m.session_id LIKE $1",
        f"{name}-%",
    )
    return row["all"], row["messages"]


def test_requests_get_a_problem_while_the_database_is_away_and_then_succeed_again(
    served: House, api: httpx.Client
) -> None:
    session = f"away-{uuid4()}"
    assert append(api, session, "before").status_code == 201
    os.kill(served.postmaster(), signal.SIGKILL)
    refused: list[httpx.Response] = []
    deadline = time.monotonic() + 60
    while True:
        answer = append(api, session, "meanwhile")
        assert time.monotonic() < deadline, "it did not recover"
        if answer.status_code == 201 and refused:
            break
        if answer.status_code != 201:
            refused.append(answer)
        assert api.get("/healthz").status_code == 200
    for answer in refused:
        assert (answer.status_code, answer.headers["content-type"]) == (503, "application/problem+json"), answer.text
        assert answer.json()["code"] == "database_unavailable"
        assert answer.headers["retry-after"]
    assert append(api, session, "after").status_code == 201
    until(lambda: embedded_up_to_date(served, session), 60)
    said = served.command.err.read_text()
    assert "PostgreSQL ended; it is started again." in said
    assert "Traceback" not in said
    assert "pgqueuer" not in said, "the library's own errors, several a second"


def embedded_up_to_date(house: House, session: str) -> bool:
    return bool(rows(house, "SELECT 1 FROM sessions WHERE id = $1 AND embedded_seq = last_seq", session))
