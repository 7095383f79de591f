"""What is learnt from conversations is the same, whoever is killed while it is learnt."""

import os
import signal
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.e2e.conftest import House, until
from tests.e2e.test_under_fire import rows

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(1800)]

CITIES = ("Lisbon", "Oslo", "Riga", "Porto", "Lima")
TOWNS = ("杭州", "成都", "西安", "南京", "武汉")


def said_by(person: int) -> list[str]:
    """What somebody says in fifty messages: facts, changes, repetitions, and nothing; every other one in Chinese."""
    if person % 2:
        facts = [
            f"我住在{TOWNS[person % 5]}。",
            "我对花生过敏。",
            f"我在第{person}号工厂上班。",
            "以后请用中文回答我。",
        ]
        changes = [
            f"我搬到了{TOWNS[(person + 2) % 5]}。",
            "我对花生过敏。",
            f"我搬到了{TOWNS[(person + 3) % 5]}。",
        ]
        nothing = ["好的,谢谢!", "今天天气怎么样?", "哈哈哈"]
    else:
        facts = [f"I live in {CITIES[person % 5]}.", "I'm allergic to peanuts.", f"I work at Plant {person}."]
        changes = [f"I moved to {CITIES[(person + 2) % 5]}.", "I'm allergic to peanuts.", "Never deploy on Fridays."]
        nothing = ["Thanks, that helps!", "What is the capital of Peru?", "haha"]
    fill = [nothing[number % len(nothing)] for number in range(50)]
    texts = [*facts, *fill[:20], *changes, *fill[20:]]
    return texts[:50]


def ingest(client: httpx.Client, name: str, people: int) -> None:
    for person in range(people):
        messages = [{"role": "user", "content": text} for text in said_by(person)]
        body = {"user_id": f"{name}-{person}", "messages": messages}
        client.post(f"/v1/sessions/{name}-{person}/messages", json=body).raise_for_status()


def learnt(house: House, name: str) -> bool:
    waiting = rows(
        house,
        "SELECT 1 FROM sessions WHERE id LIKE $1 AND extracted_seq < last_seq UNION ALL "
        "SELECT 1 FROM jobs WHERE kind = 'extract' AND subject LIKE $1 AND finished_at IS NULL",
        f"{name}-%",
    )
    return not waiting


def memories(house: House, name: str) -> list[tuple[Any, ...]]:
    """Every memory of a run's people with what was counted for it and where it came from; people by their numbers."""
    found = rows(
        house,
        "SELECT m.user_id, m.text, m.status, m.key, m.value, m.seen_count, m.uncertain, "
        "(SELECT array_agg(s.seqs ORDER BY s.seqs) FROM memory_sources s "
        " WHERE s.tenant_id = m.tenant_id AND s.memory_id = m.id) AS seqs "
        "FROM memories m WHERE m.user_id LIKE $1",
        f"{name}-%",
    )
    return sorted((row["user_id"].removeprefix(f"{name}-"), *map(str, list(row.values())[1:])) for row in found)


def test_kills_of_the_worker_change_nothing_of_what_is_learnt(
    served: House, api: httpx.Client, full_size: bool
) -> None:
    kills, people = (20, 10) if full_size else (1, 2)
    calm, shot = f"calm-{uuid4()}", f"shot-{uuid4()}"
    ingest(api, calm, people)
    until(lambda: learnt(served, calm), 120)
    ingest(api, shot, people)
    killed: set[int] = set()
    while len(killed) < kills:
        until(lambda: served.children().get("worker", 0) not in {0, *killed}, 60)
        pid = served.children()["worker"]
        until(lambda: at_it(served, shot) or learnt(served, shot), 90)
        os.kill(pid, signal.SIGKILL)
        killed.add(pid)
        if learnt(served, shot):  # too fast to be met in the middle: something more to learn, in both
            for name in (calm, shot):
                api.post(
                    f"/v1/sessions/{name}-0/messages",
                    json={"role": "user", "content": f"I live in Town {len(killed)}."},
                ).raise_for_status()
    until(lambda: learnt(served, shot) and learnt(served, calm), 150)
    expected = memories(served, calm)
    assert len(expected) >= 3 * people
    assert memories(served, shot) == expected


def at_it(house: House, name: str) -> bool:
    return bool(
        rows(house, "SELECT 1 FROM jobs WHERE kind = 'extract' AND subject LIKE $1 AND state = 'running'", f"{name}-%")
    )
