"""Mnemic beside mem0 and LangGraph's PostgresStore: the same data, vectors, PostgreSQL, web server and run.

    .venv/bin/python benchmarks/peers.py [--sizes 1451 10000 100000] [--conversations FILE] [--environments DIR]

Each system has a database of its own on one server, 10 connections, one process of uvicorn, and vectors of memories and
questions that are looked up by text, so that no model is measured; none logs its requests. Rounds go from system to
system, so that the machine's load meets all alike; medians of rounds and of each round's ratio are shown. Up to 10,000
memories are added to the others by their own means; more are copied into their tables and indexed afterwards. Mnemic's
are always copied.
"""

import argparse
import json
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import asyncpg
from rich.console import Console

from app.core.ports import free_port
from app.db.dsn import parse_dsn
from app.settings import child_environment
from benchmarks.comparison import OURS, System, compared, hits_of, in_turns, show
from benchmarks.corpus import Cache, Corpus, Source, prepare
from benchmarks.environments import PEERS, environment_python
from benchmarks.inprocess import opened, unread_logs
from benchmarks.instance import Instance, load, machine, result_file, run, temporary_instance
from benchmarks.loading import load_memories, target_of
from benchmarks.peerdata import write
from benchmarks.processes import ROOT, served
from benchmarks.spoken import Spoken
from examples.service import interruptible

THREE: Final = (("user-a", 663), ("user-b", 419), ("user-c", 369))
"""1,451 memories, shared out as three conversations of LoCoMo share them."""

QUESTIONS: Final = 600
ROLE: Final = "peer"

VARIANTS: Final[Mapping[str, tuple[str, Sequence[str]]]] = {
    "mem0": ("mem0", ()),
    "langgraph": ("langgraph", ()),
    "langgraph async": ("langgraph", ("--async",)),
}
"""What is measured: whose environment and database, and what its program is told."""


@dataclass(frozen=True)
class Plan:
    """What is measured."""

    sizes: Sequence[int]
    conversations: Path | None
    environments: Path
    rounds: int
    requests: int


@dataclass(frozen=True)
class Peers:
    """Other systems' programs and databases beside an instance of Mnemic's."""

    pythons: Mapping[str, Path]
    dsns: Mapping[str, str]
    folder: Path

    def command(self, name: str, action: str, *more: str) -> list[str]:
        """A peer's program."""
        program = Path(__file__).with_name(f"peer_{name}.py")
        return [
            *(str(self.pythons[name]), "-P", str(program), action),
            *("--dsn", self.dsns[name], "--data", str(self.folder), *more),
        ]

    @property
    def environment(self) -> dict[str, str]:
        """No telemetry, no home folder, no way out but to this machine."""
        nowhere = "http://127.0.0.1:9"
        return {
            "PYTHONPATH": str(ROOT),
            "HOME": str(self.folder),
            "MEM0_DIR": str(self.folder / "mem0"),
            "MEM0_TELEMETRY": "False",
            "LANGSMITH_TRACING": "false",
            "HTTP_PROXY": nowhere,
            "HTTPS_PROXY": nowhere,
            "NO_PROXY": "127.0.0.1",
        }

    def load(self, name: str) -> float:
        """Let a peer store everything; seconds."""
        began = time.perf_counter()
        environment = child_environment(self.environment)
        done = subprocess.run(  # noqa: S603 - our own programs
            self.command(name, "load"), env=environment, cwd=self.folder, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"{name} did not load: {done.stderr[-3_000:]}")
        return time.perf_counter() - began


async def make_databases(superuser_dsn: str, names: Sequence[str]) -> dict[str, str]:
    """A database for each peer, owned by an ordinary role: the superuser measures nothing."""
    where = parse_dsn(superuser_dsn)
    password, dsns = secrets.token_hex(16), {}
    connection = await asyncpg.connect(**where.asyncpg_arguments)
    try:
        await connection.execute(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{password}'")
        for name in names:
            await connection.execute(f"CREATE DATABASE {name} OWNER {ROLE}")
            inside = await asyncpg.connect(**{**where.asyncpg_arguments, "database": name})
            await inside.execute("CREATE EXTENSION vector")
            await inside.close()
            dsns[name] = f"postgresql://{ROLE}:{password}@{where.url.host}:{where.url.port}/{name}"
    finally:
        await connection.close()
    return dsns


async def fill_ours(instance: Instance, size: int, plan: Plan) -> tuple[Source, list[tuple[str, str]], float]:
    """Load Mnemic, and write the same for the others into the instance's folder."""
    async with opened(instance) as bench:
        corpus: Source
        if size == sum(count for _, count in THREE):
            corpus = Corpus(await prepare(bench.model, Cache().folder), THREE)
            if plan.conversations is not None:
                corpus = await Spoken.embedded(plan.conversations, len(THREE), bench.model)
        else:
            corpus = Corpus.skewed(await prepare(bench.model, Cache().folder), size)
        questions = corpus.questions(QUESTIONS)
        began = time.perf_counter()
        await load_memories(await target_of(bench, instance), corpus)
        seconds = time.perf_counter() - began
        await write(instance.folder, corpus, questions, bench.model)
    return corpus, questions, seconds


@contextmanager
def running(instance: Instance, peers: Peers) -> Iterator[dict[str, System]]:
    """Every system at once; those that are not asked do nothing."""
    with ExitStack() as stack:

        def url(command: Sequence[str], environment: Mapping[str, str]) -> str:
            port = free_port()
            return stack.enter_context(served([*command, "--port", str(port)], port, environment, instance.folder))

        lookup = str(Path(__file__).with_name("lookup.py"))
        quiet = {**instance.environment, "LOG_LEVEL": "warning"}
        ours = url([sys.executable, "-P", lookup, "--data", str(instance.folder)], quiet)
        systems = {OURS: System(OURS, ours, "/v1/memories/search", instance.headers, _texts_of_ours)}
        for name, (peer, more) in VARIANTS.items():
            address = url(peers.command(peer, "serve", *more), peers.environment)
            systems[name] = System(name, address, "/search", {}, _texts_of_peers, may_fail=True)
        yield systems


def _texts_of_ours(answer: Any) -> list[str]:  # noqa: ANN401 - JSON
    return [hit["text"] for hit in answer["results"]]


def _texts_of_peers(answer: Any) -> list[str]:  # noqa: ANN401 - JSON
    return [hit["text"] for hit in answer]


def texts_of(corpus: Source, users: set[str]) -> dict[str, set[str]]:
    """The texts of some users."""
    found: dict[str, set[str]] = {user_id: set() for user_id in users}
    for chunk in corpus.chunks():
        for user_id, text in zip(chunk.user_ids, chunk.texts, strict=True):
            if user_id in found:
                found[user_id].add(text)
    return found


def one_size(size: int, plan: Plan, pythons: Mapping[str, Path]) -> dict[str, Any]:
    """Load everywhere, then go round."""
    before = load()
    with temporary_instance() as instance:
        dsns = run(make_databases(instance.server.superuser_dsn, list(pythons)))
        with unread_logs():
            corpus, questions, seconds = run(fill_ours(instance, size, plan))
        peers = Peers(pythons, dsns, instance.folder)
        loading = {OURS: seconds} | {name: peers.load(name) for name in pythons}
        owners = texts_of(corpus, {user_id for user_id, _ in questions})
        with running(instance, peers) as systems:
            hits = {name: hits_of(system, questions, owners) for name, system in systems.items()}
            found = compared(in_turns(systems, questions, plan.rounds, plan.requests))
    loads = {"before": before, "after": load()}
    return {**found, "hits": hits, "memories": corpus.total, "loading_seconds": loading, "load_average": loads}


def planned() -> Plan:
    """The plan that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[1_451, 10_000, 100_000], help="memories, each size apart"
    )
    parser.add_argument("--conversations", type=Path, help="LoCoMo's file: its first three conversations are the 1,451")
    parser.add_argument("--environments", type=Path, default=Cache().folder, help="where the others are installed")
    parser.add_argument("--rounds", type=int, default=5, help="rounds from system to system")
    parser.add_argument(
        "--requests", type=int, default=200, help="requests of a round, one at a time; twice that at 32"
    )
    given = parser.parse_args()
    return Plan(given.sizes, given.conversations, given.environments.resolve(), given.rounds, given.requests)


def main() -> int:
    """Install, measure, print, write."""
    plan, console = planned(), Console(width=150)
    report: dict[str, Any] = {"machine": machine(), "packages": {name: list(wanted) for name, wanted in PEERS.items()}}
    report |= {"rounds": plan.rounds, "requests": plan.requests, "sizes": {}}
    path = result_file("peers")
    with interruptible():
        pythons = {name: environment_python(name, plan.environments) for name in PEERS}
        for size in plan.sizes:
            report["sizes"][f"{size:,}"] = one_size(size, plan, pythons)
            path.write_text(json.dumps(report, indent=1), "utf-8")
    show(report, console)
    print(f"Written to {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
