"""`/context`: prepared and not, what strategies cost, what appending costs as a session grows, how often prefetch hits.

    python -m benchmarks.context [--messages 100 2000] [--requests 100] [--replay FILE]

FILE holds conversations in LoCoMo's format, or `[{"user_id", "messages": [{"role", "content"}]}]`.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from app.core.text.tokens import tokens
from app.domain.smalltalk import worth_retrieving
from benchmarks.clients import Call
from benchmarks.inprocess import Bench, opened, unread_logs
from benchmarks.instance import Instance, machine, result_file, run, temporary_instance
from benchmarks.stopwatch import milliseconds, summary
from examples.demo import read
from examples.service import interruptible

STRATEGIES: Final = ("full", "window", "summary", "hierarchical", "selective")
LANGUAGES: Final = ("en", "zh")
APPENDS: Final = 30
BATCH: Final = 20
RECENT: Final = 5
"""Questions of the user's own that a prediction may repeat."""

TEXTS: Final = {
    "en": ("The parcel {n} goes to {place} on day {day}.", "Where does the parcel {n} go?", "Noted: {n}."),
    "zh": ("包裹{n}第{day}天寄到{place}。", "包裹{n}寄到哪里?", "记下了:{n}。"),
}
PLACES: Final = {"en": ("Lisbon", "Riga", "Ghent", "Oslo", "Perth"), "zh": ("里斯本", "南京", "成都", "大连", "西安")}


def said(language: str, number: int) -> str:
    """What the user says."""
    return TEXTS[language][0].format(n=1000 + number, place=PLACES[language][number % 5], day=number % 28 + 1)


def asked(language: str, number: int) -> str:
    """What is asked later."""
    return TEXTS[language][1].format(n=1000 + number)


async def append(bench: Bench, session: str, language: str, number: int) -> None:
    """One turn, a message at a time."""
    for role, content in (("user", said(language, number)), ("assistant", TEXTS[language][2].format(n=1000 + number))):
        await bench.post(f"/v1/sessions/{session}/messages", {"user_id": session, "role": role, "content": content})


async def grow(bench: Bench, session: str, language: str, start: int, messages: int) -> None:
    """Turns `start` to `messages` / 2, folded as they come."""
    for first in range(start, messages // 2, BATCH):
        turns = range(first, min(first + BATCH, messages // 2))
        body = [
            one
            for number in turns
            for one in (
                {"role": "user", "content": said(language, number)},
                {"role": "assistant", "content": TEXTS[language][2].format(n=1000 + number)},
            )
        ]
        await bench.post(f"/v1/sessions/{session}/messages", {"user_id": session, "messages": body})
        await bench.work()


async def appending(bench: Bench, session: str, language: str, size: int) -> dict[str, Any]:
    """What one turn costs at a size: the answers' time, and the background work that follows."""
    bench.watch.finished.clear()
    background = []
    for number in range(APPENDS):
        await append(bench, session, language, size + number)
        began = time.perf_counter()
        await bench.work()
        background.append(time.perf_counter() - began)
    found = summary([one for one in bench.watch.finished if one.total])
    tree = (await bench.client.get(f"/v1/sessions/{session}/summary")).json()
    return {
        "append_p50_ms": found["p50_ms"],
        "append_p95_ms": found["p95_ms"],
        "background_p50_ms": milliseconds(background, 50),
        "background_mean_ms": round(sum(background) / len(background) * 1000, 2),
        "current_summaries": sum(node["current"] for node in tree["tree"]),
        "summary_tokens": tree["tokens"],
    }


async def contexts(bench: Bench, session: str, language: str, size: int, count: int) -> dict[str, Any]:
    """Every strategy, prepared and not: milliseconds, tokens, statements."""
    path, found = f"/v1/sessions/{session}/context", dict[str, Any]()
    question = {"user_id": session, "role": "user", "content": asked(language, size // 4)}
    await bench.post(path, {})  # for a tenant that asks for contexts the next one is prepared
    await bench.post(f"/v1/sessions/{session}/messages", question)
    await bench.work()
    for strategy in STRATEGIES:
        body = {"strategy": strategy, "token_budget": 4_000}
        answer = await bench.post(path, body)
        if not answer["prefetched"]:
            raise RuntimeError("The context was to be prepared.")
        ready = summary(await bench.measure(count, [Call("POST", path, body)] * (count + 20)))
        numbers = range(size // 4 + 1, size // 4 + count + 21)
        other = [Call("POST", path, body | {"query": asked(language, number)}) for number in numbers]
        cold = summary(await bench.measure(count, other))
        found[strategy] = {
            "taken": answer["strategy"],
            "tokens": answer["tokens"],
            "prefetched_p50_ms": ready["p50_ms"],
            "prefetched_p95_ms": ready["p95_ms"],
            "prefetched_sql_p50_ms": ready["sql_p50_ms"],
            "prefetched_statements": ready["statements"],
            "p50_ms": cold["p50_ms"],
            "p95_ms": cold["p95_ms"],
            "embedding_p50_ms": cold["embedding_p50_ms"],
            "statements": cold["statements"],
        }
    await bench.client.post(f"/v1/sessions/{session}/messages/pop")
    return found


def conversations(file: Path) -> list[tuple[str, list[dict[str, str]]]]:
    """The replay's sessions: whose, and the messages."""
    given = json.loads(file.read_text("utf-8"))
    if isinstance(given, list) and given and "messages" in given[0]:
        return [(one["user_id"], one["messages"]) for one in given]
    return [
        (conversation.user_id, messages) for conversation in read(file) for messages in conversation.sessions.values()
    ]


async def replay(bench: Bench, sessions: Sequence[tuple[str, Sequence[dict[str, Any]]]], most: int) -> dict[str, Any]:
    """Sessions message by message, a context asked for after each of a user's turns: how often it was prepared.

    A turn is asked for right after what was typed of it, and after the job has run. What the user's own last questions
    would have predicted is counted by the same rule.
    """
    counts = dict.fromkeys(("turns", "small_talk", "typed", "after_the_job", "recent_queries"), 0)
    for place, (user, messages) in enumerate(sessions):
        session, before = f"replay-{place}", list[str]()
        for message in messages:
            if counts["turns"] >= most:
                return counts
            path = f"/v1/sessions/{session}"
            body = {"user_id": user, "role": message["role"], "content": message["content"]}
            if message["role"] != "user":
                await bench.post(f"{path}/messages", body)
                await bench.work()
                continue
            counts["turns"] += 1
            if not worth_retrieving(message["content"][:2_000]):
                counts["small_talk"] += 1
            words = set(tokens(message["content"]))
            counts["recent_queries"] += any(words == set(tokens(one)) for one in before[-RECENT:])
            before.append(message["content"])
            if before[1:]:
                typed = message["content"].rstrip("?？.。!！ ") or "-"
                await bench.post(f"{path}/context/prefetch", {"partial_input": typed})
            await bench.post(f"{path}/messages", body)
            counts["typed"] += (await bench.post(f"{path}/context", {}))["prefetched"]
            await bench.work()
            counts["after_the_job"] += (await bench.post(f"{path}/context", {}))["prefetched"]
    return counts


async def measure(instance: Instance, sizes: Sequence[int], count: int, file: Path | None, most: int) -> dict[str, Any]:
    """Everything, in one process."""
    report: dict[str, Any] = {"machine": machine(), "requests": count, "sizes": {}}
    async with opened(instance) as bench:
        for language in LANGUAGES:
            filled = 0
            for size in sizes:
                await grow(bench, language, language, filled, size)
                filled = size // 2
                report["sizes"][f"{language} {size}"] = {
                    "append": await appending(bench, language, language, size),
                    "contexts": await contexts(bench, language, language, size, count),
                }
        if file is not None:
            report["replay"] = await replay(bench, conversations(file), most)
    return report


def show(report: dict[str, Any], console: Console) -> None:
    """The tables."""
    title = "Milliseconds in the server; {cores} cores, load {load_average}".format_map(report["machine"])
    table = Table(title=title)
    prepared, fresh = ("prefetched p50", "p95", "SQL"), ("not prefetched p50", "p95", "embedding")
    for name in ("session", "strategy", "tokens", *prepared, *fresh):
        table.add_column(name, justify="right")
    for size, found in report["sizes"].items():
        for strategy, row in found["contexts"].items():
            taken = strategy if row["taken"] == strategy else f"{strategy} ({row['taken']})"
            names = [f"prefetched_{name}" for name in ("p50_ms", "p95_ms", "sql_p50_ms")]
            names += ["p50_ms", "p95_ms", "embedding_p50_ms"]
            table.add_row(size, taken, str(row["tokens"]), *(f"{row[name]:.2f}" for name in names))
    console.print(table)
    cost = Table(title="What one turn (two messages) costs as a session grows")
    for name in ("session", "append p50", "p95", "background p50", "mean", "current summaries", "summary tokens"):
        cost.add_column(name, justify="right")
    for size, found in report["sizes"].items():
        row = found["append"]
        names = ("append_p50_ms", "append_p95_ms", "background_p50_ms", "background_mean_ms")
        times = (f"{row[name]:.2f}" for name in names)
        cost.add_row(size, *times, str(row["current_summaries"]), str(row["summary_tokens"]))
    console.print(cost)
    if "replay" in report:
        console.print("Replay:", report["replay"])


def main() -> int:
    """Start a server, measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, nargs="+", default=[100, 2_000], help="lengths of a session, ascending")
    parser.add_argument("--requests", type=int, default=100, help="requests of each kind")
    parser.add_argument("--replay", type=Path, help="a file of conversations")
    parser.add_argument("--turns", type=int, default=300, help="turns of the replay at most")
    given = parser.parse_args()
    with interruptible(), temporary_instance() as instance, unread_logs():
        report = run(measure(instance, given.messages, given.requests, given.replay, given.turns))
    show(report, Console(width=150))
    path = result_file("context")
    path.write_text(json.dumps(report, indent=1), "utf-8")
    print(f"Written to {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
