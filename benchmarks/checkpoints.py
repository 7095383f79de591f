"""LangGraph's checkpoints over HTTP beside langgraph-checkpoint-postgres on the database itself.

    .venv/bin/python benchmarks/checkpoints.py [--threads 1 8 32] [--calls 150] [--rounds 3] [--large 10000]

One PostgreSQL, a database for each, the same client program with one saver or the other, both in LangGraph's own
environment. Rounds alternate, so that the machine's load meets both alike; medians of rounds and of their ratios are
shown. Then one thread with a state of 1 MB, of which 1 % changes from step to step: how put and latest go on, and how
much room it takes.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import asyncpg
from rich.console import Console
from rich.table import Table

from app.core.ports import free_port
from app.db.dsn import parse_dsn
from app.settings import child_environment
from benchmarks.environments import environment_python
from benchmarks.instance import Instance, load, machine, result_file, run, temporary_instance
from benchmarks.peers import make_databases
from benchmarks.processes import ROOT, mnemic, served

OURS: Final = "mnemic"
PEER: Final = "postgres"
TABLES: Final = ("checkpoints", "checkpoint_blobs", "checkpoint_writes")
MEGABYTE: Final = 1024 * 1024


@dataclass(frozen=True)
class Driver:
    """Runs the client program with one saver or the other."""

    python: Path
    targets: dict[str, list[str]]

    def measure(self, name: str, *arguments: str) -> dict[str, Any]:
        """What it measured."""
        program = [str(self.python), "-P", str(Path(__file__).with_name("checkpoint_client.py"))]
        command = [*program, "--saver", name, *self.targets[name], *arguments]
        environment = {"PYTHONPATH": str(ROOT / "sdk" / "python"), "LANGSMITH_TRACING": "false"}
        done = subprocess.run(  # noqa: S603 - our own program
            command, env=child_environment(environment), capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"{name}: {done.stderr[-3_000:]}")
        measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return measured


async def room(dsn: str) -> float:
    """Megabytes that the tables of checkpoints take with their indexes."""
    connection = await asyncpg.connect(**parse_dsn(dsn).asyncpg_arguments)
    try:
        sizes = [await connection.fetchval(f"SELECT pg_total_relation_size('{table}')") for table in TABLES]
    finally:
        await connection.close()
    return float(sum(sizes)) / MEGABYTE


def rates(driver: Driver, threads: Sequence[int], calls: int, rounds: int) -> list[dict[str, Any]]:
    """Puts and gets a second, by number of threads."""
    rows = []
    for number in threads:
        each: dict[str, list[dict[str, Any]]] = {OURS: [], PEER: []}
        for turn in range(rounds):
            for name in (OURS, PEER) if turn % 2 else (PEER, OURS):
                tag = f"{number}-{turn}"
                more = ("--threads", str(number), "--calls", str(calls), "--tag", tag)
                each[name].append(driver.measure(name, *more))
        for action in ("put", "get"):
            per_second = {name: [one[action]["per_second"] for one in each[name]] for name in each}
            ratios = [ours / peer for ours, peer in zip(per_second[OURS], per_second[PEER], strict=True)]
            rows.append(
                {
                    "threads": number,
                    "action": action,
                    "ratio": statistics.median(ratios),
                    "ratios": [round(ratio, 3) for ratio in ratios],
                    **{name: statistics.median(values) for name, values in per_second.items()},
                    **{
                        f"{name}_p50_ms": statistics.median(one[action]["p50_ms"] for one in each[name])
                        for name in each
                    },
                }
            )
    return rows


def grown(driver: Driver, steps: int, dsns: dict[str, str]) -> dict[str, dict[str, Any]]:
    """The long thread, with the room that it takes."""
    found = {}
    for name in (PEER, OURS):
        before = run(room(dsns[name]))
        measured = driver.measure(name, "--large", str(steps), "--tag", f"large-{steps}")
        taken = run(room(dsns[name])) - before
        found[name] = measured | {"megabytes": taken, "kilobytes_a_step": 1024 * taken / steps}
    return found


def show(out: Console, rows: Sequence[dict[str, Any]], long: dict[str, dict[str, Any]]) -> None:
    table = Table("threads", "", "Mnemic /s", "direct /s", "ratio", "Mnemic p50 ms", "direct p50 ms")
    for row in rows:
        numbers = (row[OURS], row[PEER], row["ratio"], row[f"{OURS}_p50_ms"], row[f"{PEER}_p50_ms"])
        shapes = ("{:.0f}", "{:.0f}", "{:.2f}", "{:.2f}", "{:.2f}")
        cells = [shape.format(number) for shape, number in zip(shapes, numbers, strict=True)]
        table.add_row(str(row["threads"]), row["action"], *cells)
    out.print(table)
    if long:
        names = list(long[OURS])
        growth = Table("1 MB of state, 1 % changes", *names)
        for name, measured in long.items():
            growth.add_row(name, *(f"{measured[one]:.2f}" for one in names))
        out.print(growth)


def measured(given: argparse.Namespace, instance: Instance) -> dict[str, Any]:
    """Everything, and where it was measured."""
    dsns = run(make_databases(instance.server.superuser_dsn, ["direct"]))
    port = free_port()
    command = [*mnemic("serve"), "--port", str(port)]
    environment = instance.environment | {"LOG_LEVEL": "warning"}
    with served(command, port, environment, instance.folder) as url:
        targets = {OURS: ["--target", url, "--key", instance.key], PEER: ["--target", dsns["direct"]]}
        driver = Driver(environment_python("langgraph", given.environments), targets)
        rows = rates(driver, given.threads, given.calls, given.rounds)
        places = {OURS: instance.server.migrator_dsn, PEER: dsns["direct"]}
        long = grown(driver, given.large, places) if given.large else {}
    return {"machine": machine(), "rates": rows, "large": long}


def main() -> None:
    parser = argparse.ArgumentParser(description="Checkpoints over HTTP beside checkpoints on the database itself")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--calls", type=int, default=150, help="puts, and gets, of each thread in a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", type=int, default=10_000, help="steps of the long thread; 0: none")
    cache = Path.home() / ".cache" / "mnemic-benchmarks"
    parser.add_argument("--environments", type=Path, default=cache, help="where LangGraph's environment is kept")
    given = parser.parse_args()
    out = Console()
    out.print(f"Load average {load()}")
    with temporary_instance() as instance:
        found = measured(given, instance)
    show(out, found["rates"], found["large"])
    place = result_file("checkpoints")
    place.write_text(json.dumps(found, indent=2), "utf-8")
    out.print(f"Written to {place}")


if __name__ == "__main__":
    sys.exit(main())
