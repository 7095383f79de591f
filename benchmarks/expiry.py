"""Searches while many expired memories are swept: the same as without, or not?

    .venv/bin/python -m benchmarks.expiry [--rows 100000] [--json out.json]

An API and a worker in processes of their own, on one database; the worker's statements may take five seconds. The
searches are of one owner with a thousand current memories, before the sweep and while it goes on.
"""

import argparse
import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

import asyncpg
import httpx
import numpy as np

from app.core import clock
from app.core.ports import free_port
from app.settings import child_environment
from benchmarks.instance import Instance, machine, temporary_instance
from benchmarks.processes import ROOT, mnemic, served

OWNERS: Final = 200
LIVE: Final = 1_000
QUIET: Final = 300
LOAD: Final = """
WITH chosen AS (SELECT id AS tenant_id FROM tenants WHERE name = 'default'), rows AS (
    INSERT INTO memories (tenant_id, id, owner, user_id, kind, text, category, source, confidence, importance, weight,
        use, status, created_at, updated_at, last_seen_at, expires_at, tokens, length, content_hash)
    SELECT tenant_id, gen_random_uuid(), 'u:old-' || n % {owners}, 'old-' || n % {owners}, 'episodic',
        'expired note number ' || n, 'other', 'user_stated', 0.9, 5, 1, 'everywhere', 'active', $1, $1, $1, $1, 8, 8,
        decode(md5(n::text), 'hex')
    FROM chosen, generate_series($2::int, $3::int) n
    RETURNING tenant_id, id, owner, content_hash
), words AS (
    INSERT INTO memory_postings (tenant_id, owner, token, memory_id, tf, len)
    SELECT tenant_id, owner, token, id, 1, 8 FROM rows, unnest(ARRAY['expired', 'note', 'number', 'old', 'swept']) token
)
INSERT INTO memory_vectors (tenant_id, memory_id, model_id, owner, text_hash, embedding)
SELECT tenant_id, id, $4, owner, content_hash,
    (SELECT array_agg(random() - 0.5 + 0 * length(content_hash) + 0 * i)
        FROM generate_series(1, $5::int) i)::vector::halfvec
FROM rows WHERE get_byte(content_hash, 0) < 26
"""
COUNT: Final = """
INSERT INTO owner_stats (tenant_id, owner, memory_count, memory_tokens)
SELECT tenant_id, owner, count(*), sum(length) FROM memories WHERE owner LIKE 'u:old-%' GROUP BY tenant_id, owner
"""
LEFT: Final = "SELECT count(*) FROM memories WHERE owner LIKE 'u:old-%' AND status = 'active'"
JOBS: Final = (
    "SELECT count(*) AS runs, max(attempts) AS attempts, count(error) AS errors FROM jobs WHERE kind = 'expire'"
)


@dataclass
class Swept:
    """What was measured; times in milliseconds.

    Args:
        rows: Expired memories.
        quiet_p50, quiet_p95: Of a search before the sweep.
        swept_p50, swept_p95: Of a search while it went on.
        searches: While it went on.
        seconds: That it took.
        jobs, attempts, errors: Its jobs, the most attempts of one, and how many had an error.
        seen: Expired memories that any search of their owners found; there must be none.
    """

    rows: int
    quiet_p50: float = 0.0
    quiet_p95: float = 0.0
    swept_p50: float = 0.0
    swept_p95: float = 0.0
    searches: int = 0
    seconds: float = 0.0
    jobs: int = 0
    attempts: int = 0
    errors: int = 0
    seen: int = 0


@contextmanager
def working(environment: dict[str, str]) -> Iterator[None]:
    """A worker process, for as long as the block lasts."""
    process = subprocess.Popen(  # noqa: S603 - our own command
        mnemic("worker"),
        cwd=ROOT,
        env=child_environment(environment),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


async def load(dsn: str, rows: int) -> None:
    """Memories that expired an hour ago, with words; one in ten with a vector: an index takes its time over each."""
    connection = await asyncpg.connect(dsn)
    try:
        model = await connection.fetchrow("SELECT id, dimension FROM embedding_models WHERE status = 'active'")
        assert model is not None  # noqa: S101 - registered before
        late, statement = clock.now() - timedelta(hours=1), LOAD.format(owners=OWNERS)
        for start in range(0, rows, 5_000):
            until = min(start + 5_000, rows)
            await connection.execute(statement, late, start + 1, until, model["id"], model["dimension"], timeout=600)
        await connection.execute(COUNT)
        for table in ("memories", "memory_postings", "memory_vectors", "owner_stats"):
            await connection.execute(f"ANALYZE {table}", timeout=600)
    finally:
        await connection.close()


async def fetched(dsn: str, statement: str) -> "asyncpg.Record":
    """The one row of a statement, over the migrator's connection: it sees every tenant."""
    connection = await asyncpg.connect(dsn)
    try:
        row = await connection.fetchrow(statement)
        assert row is not None  # noqa: S101 - a count
        return row
    finally:
        await connection.close()


def search(client: httpx.Client, number: int) -> float:
    """One search, in milliseconds."""
    body = {"query": f"note about thing {number}", "user_id": "live"}
    began = time.perf_counter()
    client.post("/v1/memories/search", json=body).raise_for_status()
    return (time.perf_counter() - began) * 1_000


def measured(instance: Instance, rows: int) -> Swept:
    """Load, search quietly, search while the worker sweeps."""
    found, dsn, port = Swept(rows), instance.server.migrator_dsn, free_port()
    asyncio.run(load(dsn, rows))
    environment = instance.environment | {"PORT": str(port), "LOG_LEVEL": "error", "EXTRACTOR": "off"}
    worker = environment | {"STATEMENT_TIMEOUT_SECONDS": "5", "SWEEP_SECONDS": "1", "WORKER_POLL_SECONDS": "0.2"}
    with (
        served(mnemic("serve"), port, environment, ROOT) as url,
        httpx.Client(base_url=url, headers=instance.headers, timeout=60) as client,
    ):
        for start in range(0, LIVE, 100):
            items = [{"text": f"Live note about thing {n}", "user_id": "live"} for n in range(start, start + 100)]
            client.post("/v1/memories", json={"memories": items}).raise_for_status()
        for number in range(50):
            search(client, number)
        quiet = [search(client, number) for number in range(QUIET)]
        with working(worker):
            _swept(client, dsn, found)
    found.quiet_p50, found.quiet_p95 = _percentiles(quiet)
    told = asyncio.run(fetched(dsn, JOBS))
    found.jobs, found.attempts, found.errors = told["runs"], told["attempts"], told["errors"]
    return found


def _swept(client: httpx.Client, dsn: str, found: Swept) -> None:
    """Search from the first swept row to the last."""
    while asyncio.run(fetched(dsn, LEFT))["count"] == found.rows:
        time.sleep(0.02)
    began, times = time.perf_counter(), []
    while asyncio.run(fetched(dsn, LEFT))["count"]:
        times += [search(client, number) for number in range(20)]
        body = {"query": "expired note", "user_id": f"old-{len(times) % OWNERS}"}
        found.seen += len(client.post("/v1/memories/search", json=body).json()["results"])
    found.seconds, found.searches = round(time.perf_counter() - began, 1), len(times)
    found.swept_p50, found.swept_p95 = _percentiles(times)


def _percentiles(times: Sequence[float]) -> tuple[float, float]:
    p50, p95 = (round(float(np.percentile(times, part)), 1) for part in (50, 95))
    return p50, p95


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    with temporary_instance() as instance:
        found = measured(instance, asked.rows)
    for name, value in asdict(found).items():
        sys.stdout.write(f"{name:>10}  {value}\n")
    if asked.json is not None:
        asked.json.write_text(json.dumps({"machine": machine(), **asdict(found)}, indent=2), "utf-8")


if __name__ == "__main__":
    main()
