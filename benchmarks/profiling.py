"""A CPU profile of the application's own frames, in milliseconds of the event loop's thread a request."""

import cProfile
import pstats
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

ROWS: Final = 25


def show_profile(profile: cProfile.Profile, requests: int, console: Console) -> list[dict[str, Any]]:
    """Print the functions with the most time of their own, and those with the most in all; give every one of them."""
    stats: dict[tuple[str, int, str], Any] = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    rows = [
        {
            "function": _named(*where),
            "calls": round(calls / requests, 1),
            "own_ms": round(own * 1000 / requests, 3),
            "cumulative_ms": round(cumulative * 1000 / requests, 3),
        }
        for where, (_, calls, own, cumulative, _) in stats.items()
    ]
    for order, title in (("own_ms", "time of its own"), ("cumulative_ms", "time in all")):
        table = Table(title=f"CPU of a request by {title}, under the profiler (some times slower)")
        table.add_column("function", overflow="fold")
        for name in ("calls", "own ms", "in all ms"):
            table.add_column(name, justify="right")
        for row in sorted(rows, key=lambda one: -one[order])[:ROWS]:
            table.add_row(row["function"], f"{row['calls']:g}", f"{row['own_ms']:.3f}", f"{row['cumulative_ms']:.3f}")
        console.print(table)
    return sorted(rows, key=lambda one: -one["own_ms"])


def _named(file: str, line: int, name: str) -> str:
    """The function with its file from the package on."""
    if file == "~":
        return name
    path = Path(file)
    for root in ("site-packages", "app", "lib"):
        if root in path.parts:
            last = len(path.parts) - 1 - path.parts[::-1].index(root)
            parts = path.parts[last:] if root == "app" else path.parts[last + 1 :]
            return f"{'/'.join(parts)}:{line} {name}"
    return f"{path.name}:{line} {name}"
