"""Drives a LangGraph checkpointer from threads and prints what it measured as JSON. Runs in LangGraph's environment.

python benchmarks/checkpoint_client.py --saver postgres --target DSN --threads 8 --calls 200
python benchmarks/checkpoint_client.py --saver mnemic --target URL --key KEY --large 1000
"""

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.base.id import uuid6

CHANNELS: Final = 100
CHANNEL_BYTES: Final = 10_000
WORDS: Final = ("the", "agent", "state", "里斯本", "train", "kept", "forked", "计划", "tool", "answer", "step", "user")


def text(seed: int, size: int) -> str:
    """Prose-like text: it compresses as what agents say does."""
    choose = random.Random(seed)
    words = [choose.choice(WORDS) + str(choose.randrange(1000)) for _ in range(size // 8)]
    return " ".join(words)[:size]


class Thread:
    """One conversation: a state, of which a channel changes from step to step."""

    def __init__(self, saver: BaseCheckpointSaver[Any], name: str, channels: int, size: int) -> None:
        self._saver, self._name, self._size = saver, name, size
        self._values: dict[str, Any] = {f"c{n}": [text(n, size)] for n in range(channels)}
        self._versions: dict[str, Any] = {}
        self._parent: dict[str, Any] = {"configurable": {"thread_id": name, "checkpoint_ns": ""}}
        self._step = 0

    def put(self) -> None:
        """The next step: everything at first, then one channel."""
        changed = list(self._values) if self._step == 0 else [f"c{self._step % len(self._values)}"]
        for channel in changed:
            if self._step:
                self._values[channel] = [text(self._step * 1009, self._size)]
            self._versions[channel] = self._saver.get_next_version(self._versions.get(channel), None)
        checkpoint: Any = {
            "v": 4,
            "id": str(uuid6()),
            "ts": "2026-06-01T00:00:00+00:00",
            "channel_values": dict(self._values),
            "channel_versions": dict(self._versions),
            "versions_seen": {"node": dict(self._versions)},
            "updated_channels": changed,
        }
        new = {channel: self._versions[channel] for channel in changed}
        metadata: Any = {"source": "loop", "step": self._step, "parents": {}}
        self._parent = dict(self._saver.put(self._parent, checkpoint, metadata, new))
        self._step += 1

    def latest(self) -> None:
        """The newest checkpoint, whole."""
        found = self._saver.get_tuple({"configurable": {"thread_id": self._name, "checkpoint_ns": ""}})
        if found is None or len(found.checkpoint["channel_values"]) != len(self._values):
            raise RuntimeError("The newest checkpoint is not whole.")


@contextmanager
def opened(given: argparse.Namespace) -> Iterator[BaseCheckpointSaver[Any]]:
    """The saver under measurement, with as many connections as threads."""
    if given.saver == "mnemic":
        from mnemic_client.langgraph import MnemicSaver  # noqa: PLC0415 - one of two

        with MnemicSaver(given.target, given.key) as saver:
            yield saver
        return
    from langgraph.checkpoint.postgres import PostgresSaver  # noqa: PLC0415 - the other environment's
    from psycopg.rows import dict_row  # noqa: PLC0415 - likewise
    from psycopg_pool import ConnectionPool  # noqa: PLC0415 - likewise

    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    size = max(1, given.threads)
    with ConnectionPool(given.target, min_size=size, max_size=size, kwargs=options) as pool:
        saver = PostgresSaver(pool)
        saver.setup()
        yield saver


def rate(work: Callable[[Thread], None], threads: list[Thread], calls: int) -> dict[str, float]:
    """Calls a second over all threads, and the median and the 95th percentile of one, in ms."""
    took: list[float] = []

    def worker(thread: Thread) -> None:
        for _ in range(calls):
            began = time.perf_counter()
            work(thread)
            took.append(time.perf_counter() - began)

    began = time.perf_counter()
    with ThreadPoolExecutor(len(threads)) as pool:
        list(pool.map(worker, threads))
    whole = time.perf_counter() - began
    ordered = sorted(took)
    return {
        "per_second": len(took) / whole,
        "p50_ms": 1000 * statistics.median(ordered),
        "p95_ms": 1000 * ordered[int(0.95 * (len(ordered) - 1))],
    }


def small(saver: BaseCheckpointSaver[Any], threads: int, calls: int, tag: str) -> dict[str, Any]:
    """Rates with five channels of 400 bytes."""
    conversations = [Thread(saver, f"{tag}-{number}", 5, 400) for number in range(threads)]
    rate(Thread.put, conversations, 5)
    rate(Thread.latest, conversations, 2)
    return {"put": rate(Thread.put, conversations, calls), "get": rate(Thread.latest, conversations, calls)}


def large(saver: BaseCheckpointSaver[Any], steps: int, tag: str) -> dict[str, Any]:
    """One thread with 1 MB of state of which 1 % changes: are put and latest as fast at the end as at the beginning?"""
    thread = Thread(saver, tag, CHANNELS, CHANNEL_BYTES)
    thread.put()
    part = max(1, steps // 10)
    puts: list[float] = []
    gets: list[list[float]] = [[], []]
    for step in range(steps):
        began = time.perf_counter()
        thread.put()
        puts.append(time.perf_counter() - began)
        if (step < part or step >= steps - part) and step % max(1, part // 20) == 0:
            began = time.perf_counter()
            thread.latest()
            gets[step >= steps - part].append(time.perf_counter() - began)
    return {
        "steps": steps,
        "put_first_ms": 1000 * statistics.median(puts[:part]),
        "put_last_ms": 1000 * statistics.median(puts[-part:]),
        "latest_first_ms": 1000 * statistics.median(gets[0]),
        "latest_last_ms": 1000 * statistics.median(gets[1]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="A checkpointer under load")
    parser.add_argument("--saver", choices=["mnemic", "postgres"], required=True)
    parser.add_argument("--target", required=True, help="a URL or a DSN")
    parser.add_argument("--key")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--large", type=int, default=0)
    parser.add_argument("--tag", default="bench")
    given = parser.parse_args()
    with opened(given) as saver:
        measured = (
            large(saver, given.large, given.tag) if given.large else small(saver, given.threads, given.calls, given.tag)
        )
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
