"""Mixed load as long as one likes: errors, memory of each process, connections; then a thousand calls are given up.

`python -m benchmarks.load --minutes 10`. Each client sends its next call when the last one is answered: the rate is the
highest that this many clients get. What is appended, searched, put together and kept is in English and Chinese.
"""

import argparse
import asyncio
import itertools
import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import asyncpg
import httpx

from app.core.ports import free_port
from benchmarks.expiry import working
from benchmarks.instance import Instance, machine, result_file, temporary_instance
from benchmarks.processes import mnemic, served

USERS: Final = 50
SESSIONS: Final = 200
CANCELLED: Final = 1_000
STRETCHES: Final = 10
"""Parts of a run, after each of which the processes are looked at: minutes, where it takes ten of them."""

IDLE_SECONDS: Final = 30.0
TOPICS: Final = (
    "tea 茶",
    "trains 火车",
    "rent 房租",
    "birthday 生日",
    "Lisbon 里斯本",
    "insurance 保险",
    "garden 花园",
)


@dataclass
class Process:
    """A process under load, and where it tells its numbers."""

    metrics_url: str
    memory_megabytes: list[float] = field(default_factory=list)
    """At the end of each stretch of the run."""

    def number(self, name: str) -> float:
        """The value of a metric without labels."""
        text = httpx.get(self.metrics_url, trust_env=False, timeout=30).raise_for_status().text
        found = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)
        if found is None:
            raise LookupError(name)
        return float(found[1])

    def look(self) -> None:
        """Note its resident memory."""
        self.memory_megabytes.append(round(self.number("process_resident_memory_bytes") / 2**20, 1))


@dataclass
class Outcome:
    """What a run has shown."""

    seconds: float = 0.0
    calls: int = 0
    per_second: float = 0.0
    per_second_of_stretches: list[float] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)
    errors: int = 0
    cancelled: int = 0
    api_memory_megabytes: list[float] = field(default_factory=list)
    worker_memory_megabytes: list[float] = field(default_factory=list)
    pool_in_use_afterwards: float = 0.0
    backends: list[int] = field(default_factory=list)
    """Connections of the service to PostgreSQL: at the end of each stretch, and after the cancelled calls."""


def calls(seed: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Calls without end: of ten four append, three search, two make a context, one keeps a checkpoint."""
    chance = random.Random(seed)
    for number in itertools.count():
        session, topic = chance.randrange(SESSIONS), chance.choice(TOPICS)
        user = f"user-{session % USERS}"
        place = f"/v1/sessions/load-{session}"
        kind = chance.choices(("append", "search", "context", "checkpoint"), (4, 3, 2, 1))[0]
        if kind == "append" or number == 0:
            said = f"No. {seed}-{number}: I talked about {topic} today. 今天聊了{topic}。"
            yield kind, f"{place}/messages", {"role": "user", "content": said, "user_id": user}
        elif kind == "search":
            query = {"query": f"what about {topic}", "user_id": user, "include_messages": True}
            yield kind, "/v1/memories/search", query
        elif kind == "context":
            yield kind, f"{place}/context", {"query": topic, "token_budget": 2_000}
        else:
            yield kind, f"{place}/checkpoints", {"state": {"step": number, "topic": topic}}


async def run(instance: Instance, url: str, seeds: range, seconds: float) -> Counter[str]:
    """Drive the mix for so long, a client for each seed; how often each status came."""
    answered: Counter[str] = Counter()
    until = time.monotonic() + seconds

    async def client(seed: int) -> None:
        async with httpx.AsyncClient(base_url=url, headers=instance.headers, timeout=60, trust_env=False) as http:
            for kind, path, body in calls(seed):
                if time.monotonic() > until:
                    return
                answered[f"{kind} {_outcome(await http.post(path, json=body))}"] += 1

    await asyncio.gather(*(client(seed) for seed in seeds))
    return answered


def _outcome(response: httpx.Response) -> str:
    """The status, and what was wrong."""
    if response.is_success:
        return str(response.status_code)
    problem = response.json()
    return f"{response.status_code} {problem.get('code', '')} {problem.get('detail', '')}"


async def open_sessions(instance: Instance, url: str) -> None:
    """Make what the calls are about."""
    async with httpx.AsyncClient(base_url=url, headers=instance.headers, timeout=60, trust_env=False) as http:
        for number in range(SESSIONS):
            body = {"role": "user", "content": "Hello. 你好。", "user_id": f"user-{number % USERS}"}
            (await http.post(f"/v1/sessions/load-{number}/messages", json=body)).raise_for_status()


async def give_up(instance: Instance, url: str, count: int) -> int:
    """Begin so many calls and hang up in the middle of each; how many were cut off."""
    chance, cut = random.Random(0), 0
    places = asyncio.Semaphore(20)

    async def one(call: tuple[str, str, dict[str, Any]]) -> None:
        nonlocal cut
        async with places, httpx.AsyncClient(base_url=url, headers=instance.headers, trust_env=False) as http:
            try:
                await asyncio.wait_for(http.post(call[1], json=call[2]), chance.random() / 50)
            except (TimeoutError, httpx.TransportError):
                cut += 1

    await asyncio.gather(*(one(call) for call in itertools.islice(calls(-1), count)))
    return cut


async def backends(instance: Instance) -> int:
    """Connections of the service, as the server counts them."""
    connection = await asyncpg.connect(instance.server.superuser_dsn)
    try:
        asked = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'mnemic_app'"
        return int(await connection.fetchval(asked))
    finally:
        await connection.close()


def measure(seconds: float, clients: int = 8, cancelled: int = CANCELLED) -> Outcome:
    """Start the service, load it, look at it."""
    outcome = Outcome()
    with temporary_instance() as instance:
        port, ports = free_port(), (free_port(), free_port())
        shared = {**instance.environment, "PORT": str(port), "LOG_LEVEL": "error"}
        api, worker = (Process(f"http://127.0.0.1:{one}/metrics") for one in ports)
        serving = served(mnemic("serve"), port, {**shared, "METRICS_PORT": str(ports[0])}, instance.folder)
        with serving as url, working({**shared, "METRICS_PORT": str(ports[1])}):
            asyncio.run(_load(instance, url, outcome, (api, worker), seconds, clients))
            outcome.cancelled = asyncio.run(give_up(instance, url, cancelled))
            outcome.pool_in_use_afterwards = _settled(api)
            outcome.backends.append(asyncio.run(backends(instance)))
    outcome.api_memory_megabytes, outcome.worker_memory_megabytes = api.memory_megabytes, worker.memory_megabytes
    return outcome


async def _load(
    instance: Instance, url: str, outcome: Outcome, looked_at: tuple[Process, Process], seconds: float, clients: int
) -> None:
    await open_sessions(instance, url)
    began, answered = time.monotonic(), Counter[str]()
    for part in range(STRETCHES):
        seeds = range(part * clients, (part + 1) * clients)
        at, done = time.monotonic(), await run(instance, url, seeds, seconds / STRETCHES)
        outcome.per_second_of_stretches.append(round(done.total() / (time.monotonic() - at), 1))
        answered += done
        for process in looked_at:
            await asyncio.to_thread(process.look)
        outcome.backends.append(await backends(instance))
    outcome.seconds = round(time.monotonic() - began, 1)
    outcome.statuses = dict(sorted(answered.items()))
    outcome.calls = answered.total()
    outcome.per_second = round(outcome.calls / outcome.seconds, 1)
    outcome.errors = sum(count for name, count in answered.items() if not name.split()[1].startswith("2"))


def _settled(api: Process) -> float:
    """Connections that are lent out once everything has come to its end; the asking itself may be one."""
    deadline = time.monotonic() + IDLE_SECONDS
    while (lent := api.number("mnemic_database_pool_in_use")) > 1 and time.monotonic() < deadline:
        time.sleep(0.1)
    return lent


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=8)
    given = parser.parse_args()
    report = {"machine": machine(), **asdict(measure(given.minutes * 60, given.clients))}
    written = json.dumps(report, indent=1)
    print(written)
    path = result_file("load")
    path.write_text(written, "utf-8")
    print(f"Written to {path}")


if __name__ == "__main__":
    main()
