"""Systems that answer the same questions over HTTP, measured in turns, and the tables of that."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx
from rich.console import Console
from rich.table import Table

from benchmarks.clients import Call, drive

TOP_K: Final = 10
MANY: Final = 32
WARM_UP: Final = 40
CHECKED: Final = 100
OURS: Final = "mnemic"


@dataclass(frozen=True)
class System:
    """A system that runs.

    Args:
        name: Which.
        url: Where.
        path: Its route of a search.
        headers: What a request carries.
        texts: The texts of an answer's hits.
        may_fail: Its errors are counted; else they end the run.
    """

    name: str
    url: str
    path: str
    headers: Mapping[str, str]
    texts: Callable[[Any], list[str]]
    may_fail: bool = False

    def calls(self, questions: Sequence[tuple[str, str]]) -> list[Call]:
        """A search for each question."""
        return [
            Call("POST", self.path, {"query": text, "user_id": user_id, "top_k": TOP_K}) for user_id, text in questions
        ]


def in_turns(
    systems: Mapping[str, System], questions: Sequence[tuple[str, str]], rounds: int, requests: int
) -> dict[str, dict[str, list[float]]]:
    """Figures of every round: one request at a time, then 32 at once, system by system, each round in another order."""
    found: dict[str, dict[str, list[float]]] = {}
    names = list(systems)
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            system = systems[name]
            one = _driven(system, questions, requests, 1)
            many = _driven(system, questions, 2 * requests, MANY)
            figures = {"p50_ms": one["p50_ms"], "p95_ms": one["p95_ms"]}
            figures |= {"p50_ms_at_32": many["p50_ms"], "per_second_at_32": many["per_second"]}
            for key, figure in figures.items():
                found.setdefault(name, {}).setdefault(key, []).append(figure)
            if failed := one["failed"] + many["failed"]:
                print(f"{name}: {failed:.0f} of {3 * requests} requests of a round were answered with an error.")
    return found


def _driven(system: System, questions: Sequence[tuple[str, str]], requests: int, concurrency: int) -> dict[str, float]:
    repeated = [questions[number % len(questions)] for number in range(requests + WARM_UP)]
    calls = system.calls(repeated)
    try:
        timings = drive(
            system.url, calls, concurrency, warm_up=WARM_UP, headers=system.headers, may_fail=system.may_fail
        )
    except RuntimeError as error:
        error.add_note(f"{system.name} was asked, {concurrency} at once.")
        raise
    return timings.figures()


def hits_of(system: System, questions: Sequence[tuple[str, str]], owners: Mapping[str, set[str]]) -> dict[str, Any]:
    """Whether each question gets the ten hits that its user has, and nobody else's.

    Args:
        system: Who is asked.
        questions: User ids and questions.
        owners: The texts of each of those users.
    """
    due = got = foreign = short = 0
    with httpx.Client(base_url=system.url, headers=dict(system.headers), timeout=120) as client:
        for call in system.calls(questions[:CHECKED]):
            response = client.request(call.method, call.path, json=call.body)
            response.raise_for_status()
            texts = system.texts(response.json())
            own = owners[call.body["user_id"]]
            expected = min(TOP_K, len(own))
            due, got, short = due + expected, got + len(texts), short + (len(texts) < expected)
            foreign += sum(text not in own for text in texts)
    return {"hits_due": due, "hits": got, "questions_with_too_few": short, "foreign": foreign}


def compared(found: Mapping[str, Mapping[str, Sequence[float]]]) -> dict[str, Any]:
    """Medians, and the medians of our ratios to each other system within a round."""
    ours = found[OURS]
    ratios = {
        name: {
            key: round(statistics.median(mine / other for mine, other in zip(ours[key], figures[key], strict=True)), 3)
            for key in figures
        }
        for name, figures in found.items()
        if name != OURS
    }
    medians = {
        name: {key: round(statistics.median(values), 2) for key, values in figures.items()}
        for name, figures in found.items()
    }
    return {"ratios": ratios, "medians": medians, "rounds": found}


def show(report: Mapping[str, Any], console: Console) -> None:
    """Ratios first."""
    about = report["machine"]
    console.print(f"{about['cores']} cores, {about['processor'] or about['machine']}, load {about['load_average']}")
    table = Table(title="Mnemic as a multiple of the other: times below 1 and throughput above 1 are better")
    for name in ("memories", "against", "p50", "p95", "p50 at 32", "throughput at 32"):
        table.add_column(name, justify="left" if name == "against" else "right")
    for size, found in report["sizes"].items():
        for name, row in found["ratios"].items():
            table.add_row(size, name, *(f"{ratio:.2f}x" for ratio in row.values()))
        table.add_section()
    console.print(table)
    table = Table(title="Medians of rounds, milliseconds and searches a second")
    for name in (
        "memories",
        "system",
        "p50",
        "p95",
        "p50 at 32",
        "a second at 32",
        "hits of those due",
        "too few",
        "loading s",
    ):
        table.add_column(name, justify="left" if name == "system" else "right")
    for size, found in report["sizes"].items():
        for name, row in found["medians"].items():
            hits, loading = found["hits"][name], found["loading_seconds"].get(name)
            shown = [f"{figure:.2f}" for figure in row.values()]
            shown += [f"{hits['hits']} of {hits['hits_due']}", str(hits["questions_with_too_few"])]
            table.add_row(size, name, *shown, "" if loading is None else f"{loading:.1f}")
        table.add_section()
    console.print(table)
