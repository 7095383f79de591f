"""A year of many lives with forgetting and without it: what is kept, what is lost, what noise is served.

    .venv/bin/python -m benchmarks.forgetting [--full-size] [--json out.json]

Small: a month of ten people, half-lives shortened as the time is. Full size: a year of a hundred people.
"""

import argparse
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import httpx

from app.main import create_app
from benchmarks.inprocess import opened, unread_logs
from benchmarks.instance import Instance, machine, run, temporary_instance
from benchmarks.years import YEAR, Life, Outcome, Plan


async def lived(instance: Instance, plan: Plan) -> Outcome:
    """One life of everybody, on a fresh database."""
    async with opened(instance) as bench:
        app = create_app(instance.settings)
        app.state.services = bench.services
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://bench", headers=instance.headers, timeout=600
        ) as client:
            return await Life(client, bench.work, bench.services.accesses.flush, plan).run()


def outcomes(plan: Plan) -> dict[str, Outcome]:
    """With forgetting, and without: the same lives."""
    arms = {"with": plan, "without": replace(plan, settings={"decay": "off"})}
    found = {}
    for name, arm in arms.items():
        with temporary_instance() as instance:
            quiet = replace(
                instance,
                settings=instance.settings.model_copy(
                    update={"extractor": "off", "summariser": "off", "prefetch": "off", "key_cache_seconds": 0}
                ),
            )
            found[name] = run(lived(quiet, arm))
    return found


def table(found: dict[str, Outcome]) -> str:
    """One line a measure."""
    rows = {name: asdict(one) for name, one in found.items()}
    names = list(rows["with"])
    lines = ["| measure | with forgetting | without |", "|---|---|---|"]
    lines += [f"| {name} | {_shown(rows['with'][name])} | {_shown(rows['without'][name])} |" for name in names]
    return "\n".join(lines)


def _shown(value: Any) -> str:  # noqa: ANN401 - a number
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full-size", action="store_true")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with unread_logs():
        found = outcomes(YEAR if asked.full_size else Plan())
    sys.stdout.write(table(found) + "\n")
    if asked.json is not None:
        content = {"machine": machine(), **{name: asdict(one) for name, one in found.items()}}
        asked.json.write_text(json.dumps(content, indent=2), "utf-8")


if __name__ == "__main__":
    main()
