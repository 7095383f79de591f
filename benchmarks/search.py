"""Search at 1,000 to 1,000,000 memories: in one process, part by part, and over HTTP with many clients at once.

    .venv/bin/python benchmarks/search.py [--sizes 1000 10000 100000] [--messages 50000] [--concurrency 1 8 32]
    .venv/bin/python benchmarks/search.py --profile --sizes 10000

Each size has a database of its own with 1,000 owners, the largest with 5 % of all. Every question is embedded anew by
the bundled model. Beside the times: recall of the approximate path against the exact order, small owners among large.
"""

import argparse
import cProfile
import json
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from rich.console import Console

from app.core.ports import free_port
from benchmarks import exactness
from benchmarks.clients import Call, drive
from benchmarks.corpus import TEN, THOUSAND, Cache, Corpus, prepare
from benchmarks.inprocess import WARM_UP, Bench, opened, unread_logs
from benchmarks.instance import Instance, load, machine, result_file, run, temporary_instance
from benchmarks.loading import load_memories, load_messages, target_of
from benchmarks.processes import mnemic, served
from benchmarks.profiling import show_profile
from benchmarks.searchtables import show
from benchmarks.stopwatch import Spent, Stopwatch, summary
from examples.service import interruptible

EMPTY: Final = "empty route"
TALKER: Final = "user-messages"
RECALL_QUESTIONS: Final = 50
SMALL_QUESTIONS: Final = 20


@dataclass(frozen=True)
class Plan:
    """What is measured."""

    sizes: Sequence[int]
    messages: int
    concurrency: Sequence[int]
    requests: int
    rounds: int
    server_settings: Mapping[str, str]


@dataclass(frozen=True)
class Stores:
    """What an instance has been filled with."""

    memories: Corpus
    messages: Corpus | None

    def scenarios(self, count: int) -> dict[str, list[Call]]:
        """Requests of each kind."""
        of_users = {
            "users by size": self.memories.questions(count),
            "largest owner": self.memories.questions(count, [self.memories.stores[0][0]]),
            "small owner": self.memories.questions(count, [TEN]),
        }
        found = {EMPTY: [Call("GET", "/healthz")] * count}
        for name, asked in of_users.items():
            bodies = [{"query": question, "user_id": user_id} for user_id, question in asked]
            found[name] = [Call("POST", "/v1/memories/search", body) for body in bodies]
        if self.messages is not None:
            bodies = [{"query": question, "user_id": TALKER} for _, question in self.messages.questions(count)]
            found["messages"] = [Call("POST", "/v1/messages/search", body) for body in bodies]
        return found


async def fill(bench: Bench, instance: Instance, size: int, messages: int) -> tuple[Stores, dict[str, Any]]:
    """Load a corpus of each kind; how that went."""
    clauses = await prepare(bench.model, Cache().folder)
    target = await target_of(bench, instance)
    memories = Corpus.skewed(clauses, size)
    loaded = {"memories": (await load_memories(target, memories)).figures()}
    if not messages:
        return Stores(memories, None), loaded
    said = Corpus(clauses, [(TALKER, messages)], seed=memories.seed + 1)
    loaded["messages"] = (await load_messages(target, said)).figures()
    return Stores(memories, said), loaded


async def in_process(instance: Instance, size: int, plan: Plan) -> tuple[Stores, dict[str, Any]]:
    """Load, then measure apart what a request spends where; then how exact it is."""
    async with opened(instance) as bench:
        stores, loaded = await fill(bench, instance, size, plan.messages)
        found: dict[str, Any] = {"loading": loaded}
        found["in_process"] = await apart(bench, stores, plan)
        found["recall"] = await recall(bench, instance, stores)
        found["small_owners"] = await exactness.small_owners(bench, stores.memories, SMALL_QUESTIONS)
    return stores, found


async def apart(bench: Bench, stores: Stores, plan: Plan) -> dict[str, Any]:
    """What a request of each kind spends where; kinds take turns, so that the machine's load meets all alike."""
    spent: dict[str, list[Spent]] = {}
    share = max(2, plan.requests // plan.rounds)
    for number in range(plan.rounds):
        for name, calls in stores.scenarios(plan.rounds * share + WARM_UP).items():
            spent.setdefault(name, []).extend(await bench.measure(share, calls[number * share :]))
    return {name: summary(requests) for name, requests in spent.items()}


async def recall(bench: Bench, instance: Instance, stores: Stores) -> dict[str, Any]:
    """Recall @10 against the exact order, among the rows of few and of many."""
    known = dict(stores.memories.stores)
    users = {"everybody": None, "largest owner": stores.memories.stores[0][0]}
    users |= {"1,000 memories": THOUSAND} if THOUSAND in known else {}
    found = {}
    async with exactness.exact(bench, instance.server.app_dsn) as truth:
        for name, user_id in users.items():
            found[name] = await exactness.of_memories(bench, truth, stores.memories, user_id, RECALL_QUESTIONS)
        if stores.messages is not None:
            found["messages"] = await exactness.of_messages(bench, truth, stores.messages, TALKER, RECALL_QUESTIONS)
    return found


def over_http(instance: Instance, stores: Stores, plan: Plan) -> dict[str, dict[str, Any]]:
    """A process of the API, clients in another; the medians of some rounds, in which scenarios take turns."""
    port = free_port()
    rounds: dict[tuple[str, int], list[dict[str, float]]] = {}
    with served(mnemic("serve", "--port", str(port)), port, instance.environment, instance.folder) as url:
        for _ in range(plan.rounds):
            for concurrency in plan.concurrency:
                warm_up = max(WARM_UP, 2 * concurrency)
                for name, calls in stores.scenarios(plan.requests + warm_up).items():
                    timings = drive(url, calls, concurrency, warm_up=warm_up, headers=instance.headers)
                    rounds.setdefault((name, concurrency), []).append(timings.figures())
    found: dict[str, dict[str, Any]] = {}
    for (name, concurrency), figures in rounds.items():
        medians = {key: statistics.median(one[key] for one in figures) for key in figures[0]}
        found.setdefault(name, {})[str(concurrency)] = medians
    return found


def measure(plan: Plan, console: Console) -> dict[str, Any]:
    """All sizes; what is there is written after each."""
    report: dict[str, Any] = {"machine": machine(), "plan": asdict(plan), "sizes": {}}
    path = result_file("search")
    for size in plan.sizes:
        began, before = time.perf_counter(), load()
        with temporary_instance(plan.server_settings) as instance:
            with unread_logs():
                stores, found = run(in_process(instance, size, plan))
            found["http"] = over_http(instance, stores, plan)
        found |= {"load_average": {"before": before, "after": load()}, "seconds": round(time.perf_counter() - began)}
        report["sizes"][str(size)] = found
        path.write_text(json.dumps(report, indent=1), "utf-8")
        console.print(f"{size:,} memories: {found['seconds']} s, written to {path}")
    return report


def profile(plan: Plan, console: Console) -> None:
    """Searches of users by size, one after another, under the profiler."""
    collected = cProfile.Profile(time.thread_time)  # waits cost nothing, also where greenlets confuse the stack

    async def work(instance: Instance) -> None:
        watch = Stopwatch()
        async with opened(instance, watch) as bench:
            stores, _ = await fill(bench, instance, plan.sizes[0], 0)
            calls = stores.scenarios(plan.requests + WARM_UP)["users by size"]
            await bench.measure(plan.requests, calls)
            watch.profile = collected
            await bench.measure(plan.requests, calls)

    with temporary_instance(plan.server_settings) as instance, unread_logs():
        run(work(instance))
    path = result_file("profile")
    path.write_text(json.dumps(show_profile(collected, plan.requests + WARM_UP, console), indent=1), "utf-8")
    console.print(f"Written to {path}")


def planned() -> tuple[Plan, bool]:
    """The plan that the command line asks for, and whether it is to be profiled."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000], help="memories, each size apart"
    )
    parser.add_argument("--messages", type=int, default=0, help="messages of one more owner, beside each size")
    parser.add_argument("--concurrency", type=int, nargs="+", default=[1, 8, 32], help="clients at once")
    parser.add_argument("--requests", type=int, default=300, help="requests of each kind")
    parser.add_argument("--rounds", type=int, default=3, help="rounds over HTTP, whose medians are shown")
    parser.add_argument("--profile", action="store_true", help="only profile the first size, one request at a time")
    parser.add_argument(
        "--server", nargs="+", default=[], metavar="NAME=VALUE", help="settings of PostgreSQL that replace Mnemic's own"
    )
    given = parser.parse_args()
    settings = dict(one.split("=", 1) for one in given.server)
    plan = Plan(given.sizes, given.messages, given.concurrency, given.requests, given.rounds, settings)
    return plan, given.profile


def main() -> int:
    """Measure, print, write."""
    plan, only_profile = planned()
    console = Console(width=150)
    with interruptible():
        if only_profile:
            profile(plan, console)
        else:
            show(measure(plan, console), console)
    return 0


if __name__ == "__main__":
    sys.exit(main())
