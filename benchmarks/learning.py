"""Messages at a steady rate while the worker learns from them: how long an append takes, and how far learning lags.

    python benchmarks/learning.py --rate 50 --seconds 60

Starts `mnemic up` on a temporary folder, all at its defaults. Arrivals are open: an append that is late does not hold
up the next one, so waiting is part of the time. Half of the messages are Chinese; a third say something worth keeping.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from typing import Any, Final

import httpx
from rich.console import Console
from rich.table import Table

from benchmarks.instance import machine, result_file
from benchmarks.slice import Texts
from examples.service import RunningService, temporary_service

SEED: Final = 7
WARM_UP_SECONDS: Final = 5.0
PATIENCE_SECONDS: Final = 300.0

FACTS: Final = (
    ("I live in {}.", ("Lisbon", "Oslo", "Riga", "Porto", "Ghent", "Lima", "Perth", "Cairo")),
    ("I moved to {} last week.", ("Braga", "Tallinn", "Kyoto", "Denver", "Turin", "Leeds")),
    ("My favourite drink is {}.", ("green tea", "black coffee", "oat milk", "miso soup")),
    ("我住在{}。", ("杭州", "成都", "西安", "南京", "广州", "武汉")),
    ("我搬到了{}。", ("青岛", "大连", "昆明", "厦门", "长沙")),
    ("我最喜欢的编程语言是{}。", ("Python", "Go", "Rust", "Kotlin")),
)
CHAT: Final = (
    "Thanks, that helps.",
    "Can you explain how photosynthesis works?",
    "谢谢,明白了。",
    "帮我写一封感谢信。",
    "哈哈",
)


def message(dice: random.Random, texts: Texts, number: int) -> str:
    """One of three: a fact about the speaker, a longer story, or nothing to keep."""
    match number % 3:
        case 0:
            frame, values = dice.choice(FACTS)
            return frame.format(dice.choice(values))
        case 1:
            return texts.memory(number)
        case _:
            return dice.choice(CHAT)


async def appended(client: httpx.AsyncClient, session: str, user: str, content: str) -> float:
    """Seconds of one append."""
    begun = time.perf_counter()
    body = {"role": "user", "content": content, "user_id": user}
    answer = await client.post(f"/v1/sessions/{session}/messages", json=body)
    if not answer.is_success:
        raise SystemExit(f"an append failed: {answer.text}")
    return time.perf_counter() - begun


async def drive(service: RunningService, rate: float, seconds: float, users: int) -> dict[str, Any]:
    """Append at the rate, then wait until all is learnt."""
    dice, texts = random.Random(SEED), Texts()
    headers = {"Authorization": f"Bearer {service.key}"}
    limits = httpx.Limits(max_connections=200, max_keepalive_connections=200)
    async with httpx.AsyncClient(
        base_url=service.url, headers=headers, timeout=60, limits=limits, trust_env=False
    ) as client:
        running: list[asyncio.Task[float]] = []
        begun, count = time.perf_counter(), int(rate * (WARM_UP_SECONDS + seconds))
        for number in range(count):
            await asyncio.sleep(max(0.0, begun + number / rate - time.perf_counter()))
            person = number % users
            content = message(dice, texts, number)
            running.append(asyncio.create_task(appended(client, f"s-{person}", f"user-{person}", content)))
        times = await asyncio.gather(*running)
        ended = time.perf_counter()
        while (await client.get("/v1/jobs", params={"state": "queued", "limit": 1})).json()["results"]:
            if time.perf_counter() - ended > PATIENCE_SECONDS:
                raise SystemExit("the worker did not catch up")
            await asyncio.sleep(0.2)
        lag = time.perf_counter() - ended
        kept = (await client.get("/v1/memories", params={"limit": 1, "count": True})).json()["total"]
    measured = times[int(rate * WARM_UP_SECONDS) :]
    cuts = statistics.quantiles([1_000 * one for one in measured], n=100)
    return {
        "rate": rate,
        "users": users,
        "messages": len(measured),
        "append_ms": {f"p{share}": round(cuts[share - 1], 1) for share in (50, 95, 99)},
        "caught_up_after_s": round(lag, 1),
        "memories": kept,
    }


def main(arguments: list[str]) -> None:
    """Print the figures and write them down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=50.0, help="messages a second")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--users", type=int, default=200, help="who speak in turns, each in a session of their own")
    given = parser.parse_args(arguments)
    with temporary_service() as service:
        found = asyncio.run(drive(service, given.rate, given.seconds, given.users))
    load = machine()["load_average"]
    title = f"Appends at {given.rate:g} a second of {given.users} users while the worker learns, load {load}"
    table = Table(title=title)
    for column in ("messages", "p50 ms", "p95 ms", "p99 ms", "caught up after s", "memories"):
        table.add_column(column, justify="right")
    times = found["append_ms"]
    row = (found["messages"], times["p50"], times["p95"], times["p99"], found["caught_up_after_s"], found["memories"])
    table.add_row(*(f"{cell:.1f}" if isinstance(cell, float) else str(cell) for cell in row))
    Console().print(table)
    result_file("learning").write_text(json.dumps({"machine": machine(), **found}, indent=1), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
