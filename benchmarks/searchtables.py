"""The tables of `benchmarks/search.py`."""

from typing import Any

from rich.console import Console
from rich.table import Table

EMPTY = "empty route"


def show(report: dict[str, Any], console: Console) -> None:
    """Everything that was measured."""
    about = report["machine"]
    console.print(f"{about['cores']} cores, {about['processor'] or about['machine']}, load {about['load_average']}")
    console.print(_apart(report))
    console.print(_over_http(report))
    console.print(_recall(report))
    console.print(_loading(report))


def _apart(report: dict[str, Any]) -> Table:
    table = _table(
        "In one process, one request at a time: milliseconds (p50 where nothing is said)",
        ["memories", "search", "p50", "p95", "p99", "SQL", "SQL p95", "model", "own", "own p95"],
        ["own / empty", "all / SQL", "without model / SQL", "statements"],
    )
    for size, found in report["sizes"].items():
        empty = found["in_process"][EMPTY]["p50_ms"]
        for name, row in found["in_process"].items():
            keys = ("p50_ms", "p95_ms", "p99_ms", "sql_p50_ms", "sql_p95_ms", "embedding_p50_ms", "own_p50_ms")
            shown = [f"{row[key]:.2f}" for key in (*keys, "own_p95_ms")]
            to_sql = row["to_sql"] or {"with_embedding": None, "without_embedding": None}
            ratios = [_times(row["own_p50_ms"] / empty), *(_times(ratio) for ratio in to_sql.values())]
            table.add_row(f"{int(size):,}", name, *shown, *ratios, f"{row['statements']} ({row['round_trips']} trips)")
        table.add_section()
    return table


def _over_http(report: dict[str, Any]) -> Table:
    table = _table(
        "Over HTTP, clients in a process of their own on the same machine: milliseconds",
        ["memories", "search", "at once", "p50", "p95", "p99", "a second", "p50 / empty"],
    )
    for size, found in report["sizes"].items():
        for name, at_once in found["http"].items():
            for concurrency, row in at_once.items():
                empty = found["http"][EMPTY][concurrency]["p50_ms"]
                shown = [f"{row[key]:.2f}" for key in ("p50_ms", "p95_ms", "p99_ms")]
                ratio = _times(row["p50_ms"] / empty)
                table.add_row(f"{int(size):,}", name, concurrency, *shown, f"{row['per_second']:.0f}", ratio)
        table.add_section()
    return table


def _recall(report: dict[str, Any]) -> Table:
    table = _table(
        "By meaning alone, against the exact order",
        ["memories", "among", "path", "recall @10", "least", "all ten found", "SQL p50", "fewest hits"],
    )
    for size, found in report["sizes"].items():
        for name, row in found["recall"].items():
            whole = f"{row['all_found']} of {row['questions']}"
            shown = (
                row["path"] or "",
                f"{row['recall']:.3f}",
                f"{row['least']:.2f}",
                whole,
                f"{row['sql_p50_ms']:.1f}",
            )
            table.add_row(f"{int(size):,}", name, *shown, "")
        for name, row in found["small_owners"].items():
            fewest = f"{row['fewest_hits_of_10']} of 10, {row['foreign_hits']} foreign"
            table.add_row(f"{int(size):,}", name, *[""] * 5, fewest)
        table.add_section()
    return table


def _loading(report: dict[str, Any]) -> Table:
    table = _table(
        "Loading by COPY",
        ["memories", "corpus", "rows", "COPY s", "other indexes s", "HNSW s", "HNSW MB", "load before", "after"],
    )
    for size, found in report["sizes"].items():
        for name, row in found["loading"].items():
            seconds = [f"{row[key]:.1f}" for key in ("copy_seconds", "other_indexes_seconds", "hnsw_seconds")]
            loads = [f"{found['load_average'][when][0]:.1f}" for when in ("before", "after")]
            table.add_row(
                f"{int(size):,}", name, f"{row['rows']:,}", *seconds, f"{row['hnsw_bytes'] / 1e6:.1f}", *loads
            )
    return table


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}x"


def _table(title: str, *columns: list[str]) -> Table:
    table = Table(title=title)
    for name in (name for group in columns for name in group):
        table.add_column(name, justify="left" if name in {"search", "among", "corpus"} else "right")
    return table
