"""`make bench`: append and search in one process, and where their time goes. Ratios count; the machine is noted."""

import argparse
import asyncio
import json
import os
import platform
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, redirect_stderr
from dataclasses import dataclass, field
from functools import wraps
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import asyncpg
import httpx
from asyncpg.prepared_stmt import PreparedStatement
from rich.console import Console
from rich.table import Table
from starlette.types import ASGIApp, Receive, Scope, Send

from app import bootstrap
from app.composition import Services, compose, database
from app.core import clock, logging
from app.db import embedded, migrate
from app.db.dsn import parse_dsn
from app.main import create_app
from app.providers.embeddings.base import Vector
from app.providers.embeddings.use import UseModel
from app.settings import Settings
from app.workers.runner import JobRunner
from examples.service import interruptible

RESULTS: Final = Path(__file__).parent / "results"
SEED: Final = 20
OWNERS: Final = 20
BATCH: Final = 100
WARM_UP: Final = 20
CONTROL: Final = ("BEGIN", "COMMIT", "ROLLBACK")


@dataclass
class Spent:
    """What one request spent, in seconds."""

    total: float = 0.0
    sql: float = 0.0
    embedding: float = 0.0
    statements: list[str] = field(default_factory=list)
    round_trips: int = 0

    @property
    def rest(self) -> float:
        """The server's own time: outside SQL and embedding."""
        return self.total - self.sql - self.embedding


class Stopwatch:
    """Times requests one after another: the application, the driver's calls, the model."""

    def __init__(self) -> None:
        self.current = Spent()

    def application(self, app: ASGIApp) -> ASGIApp:
        """The application, timed from the first byte to the last."""

        async def timed(scope: Scope, receive: Receive, send: Send) -> None:
            began = time.perf_counter()
            try:
                await app(scope, receive, send)
            finally:
                self.current.total += time.perf_counter() - began

        return timed

    @contextmanager
    def embedding(self) -> Iterator[None]:
        """The block is the model's time."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.current.embedding += time.perf_counter() - began

    @contextmanager
    def driver(self) -> Iterator[None]:
        """While the block runs, every wait for PostgreSQL is counted, those beneath SQLAlchemy too."""
        kept = [
            (asyncpg.Connection, "execute"),
            (asyncpg.Connection, "fetch"),
            (asyncpg.Connection, "fetchrow"),
            (asyncpg.Connection, "fetchval"),
            (asyncpg.Connection, "prepare"),
            (PreparedStatement, "fetch"),
        ]
        before = [(owner, name, getattr(owner, name)) for owner, name in kept]
        for owner, name, method in before:
            setattr(owner, name, self._timed(method))
        try:
            yield
        finally:
            for owner, name, method in before:
                setattr(owner, name, method)

    def _timed(self, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        prepares = method.__name__ == "prepare"

        @wraps(method)
        async def timed(target: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - any of the driver's methods
            began = time.perf_counter()
            try:
                return await method(target, *args, **kwargs)
            finally:
                self.current.sql += time.perf_counter() - began
                query = target.get_query() if isinstance(target, PreparedStatement) else args[0]
                self.current.round_trips += not prepares
                if not prepares and not query.startswith(CONTROL):
                    self.current.statements.append(query)

        return timed


class TimedModel(UseModel):
    """The bundled model, timed; no cache, so that every question is embedded."""

    def __init__(self, watch: Stopwatch) -> None:
        super().__init__(threads=1)
        self._watch = watch

    async def embed_query(self, text: str) -> Vector:
        with self._watch.embedding():
            return await super().embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        with self._watch.embedding():
            return await super().embed_passages(texts)


@dataclass(frozen=True)
class Bench:
    """The service under the stopwatch."""

    watch: Stopwatch
    services: Services
    client: httpx.AsyncClient

    async def measure(self, count: int, request: Callable[[int], tuple[str, str, Any]]) -> list[Spent]:
        """Send so many requests one after another, after a warm-up that is not counted."""
        spent: list[Spent] = []
        for number in range(-WARM_UP, count):
            method, path, body = request(number + WARM_UP)
            self.watch.current = Spent()
            response = await self.client.request(method, path, json=body)
            response.raise_for_status()
            if number >= 0:
                spent.append(self.watch.current)
        return spent

    async def work(self) -> None:
        """Run the jobs that wait."""
        tenant_id = await self.services.access.tenant("default")
        runner = JobRunner(self.services)
        while True:
            async with self.services.uow.begin_tenant(tenant_id) as tx:
                waiting = await tx.jobs.page({"state": "queued"}, None, 100)
            if not waiting:
                return
            for job in waiting:
                await runner.run(tenant_id, job["id"])


@asynccontextmanager
async def opened(server: embedded.EmbeddedServer, folder: Path) -> AsyncIterator[Bench]:
    """The application in this process, on a migrated server."""
    settings = Settings(
        _env_file=None,
        database_url=server.app_dsn,
        migration_database_url=server.migrator_dsn,
        embed_debounce_seconds=0,
    )
    watch = Stopwatch()
    store = database(settings, parse_dsn(server.app_dsn))
    model = TimedModel(watch)
    await model.warm()
    services = compose(settings, store, model)
    app = create_app(settings)
    app.state.services = services
    key = (folder / "admin.key").read_text("utf-8").strip()
    transport = httpx.ASGITransport(watch.application(app))
    headers = {"Authorization": f"Bearer {key}"}
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://bench", headers=headers) as client:
            with watch.driver():
                yield Bench(watch, services, client)
    finally:
        await model.close()
        await store.engine.dispose()


class Texts:
    """Seeded memories and questions in both languages, owners of very different size."""

    people: Final = ["Ada", "Bruno", "Chen", "Dora", "Emil", "Fatima", "Goran", "Hanna", "小林", "周叔", "阿梅", "老何"]
    english: Final = {
        "likes": ["green tea", "black coffee", "oat milk", "rye bread", "goat cheese", "miso soup", "plum jam"],
        "lives in": ["Lisbon", "Oslo", "Riga", "Porto", "Ghent", "Lima", "Perth", "Cairo", "Braga", "Tallinn"],
        "works on": ["ocean currents", "tram timetables", "seed banks", "bridge sensors", "tax forms", "wind maps"],
        "is learning": ["the cello", "Portuguese", "welding", "calligraphy", "sailing", "Rust", "bookbinding"],
    }
    chinese: Final = {
        "喜欢": ["绿茶", "黑咖啡", "燕麦奶", "黑麦面包", "山羊奶酪", "味噌汤", "梅子酱"],
        "住在": ["里斯本", "成都", "杭州", "西安", "南京", "广州", "武汉", "青岛", "大连", "昆明"],
        "负责": ["洋流数据", "电车时刻表", "种子库", "桥梁传感器", "报税表格", "风力地图"],
        "正在学": ["大提琴", "葡萄牙语", "焊接", "书法", "帆船", "编程", "装订"],
    }
    scenes: Final = ["since the spring", "after the move", "with a neighbour", "on weekdays", "for the third year"]
    times: Final = ["从春天开始", "搬家以后", "和邻居一起", "工作日的时候", "已经第三年了"]

    def __init__(self) -> None:
        self._random = random.Random(SEED)
        self._weights = list(accumulate(1 / rank for rank in range(1, OWNERS + 1)))

    def owner(self) -> str:
        """A user; the first has 28 % of everything, the last 1 %."""
        return self._random.choices([f"user-{number:02d}" for number in range(OWNERS)], cum_weights=self._weights)[0]

    def memory(self, number: int) -> str:
        """A sentence that no other number gives."""
        pick = self._random.choice
        if number % 2:
            verb, things = pick(list(self.chinese.items()))
            return f"{pick(self.people)}{verb}{pick(things)},{pick(self.times)},第{number}条记录。"
        verb, things = pick(list(self.english.items()))
        return f"{pick(self.people)} {verb} {pick(things)} {pick(self.scenes)}, note {number}."

    def question(self, number: int) -> str:
        """A question that was not asked before."""
        pick = self._random.choice
        if number % 2:
            verb, _ = pick(list(self.chinese.items()))
            return f"{pick(self.people)}{pick(self.times)}{verb}什么?第{number}问"
        verb, _ = pick(list(self.english.items()))
        return f"What is it that {pick(self.people)} {verb} {pick(self.scenes)}? {number}"


async def fill(bench: Bench, texts: Texts, start: int, end: int) -> None:
    """Add memories `start` to `end`."""
    for first in range(start, end, BATCH):
        batch = [{"text": texts.memory(number), "user_id": texts.owner()} for number in range(first, first + BATCH)]
        (await bench.client.post("/v1/memories", json={"memories": batch}, timeout=120)).raise_for_status()


async def measured(bench: Bench, texts: Texts, size: int, count: int) -> dict[str, dict[str, Any]]:
    """Every operation at one size."""

    def append(number: int) -> tuple[str, str, Any]:
        owner = texts.owner()
        body = {"user_id": owner, "role": "user", "content": texts.memory(size + number)}
        return "POST", f"/v1/sessions/{owner}-{size}/messages", body

    def add(number: int) -> tuple[str, str, Any]:
        return "POST", "/v1/memories", {"user_id": texts.owner(), "text": texts.memory(10 * size + number)}

    def search(number: int) -> tuple[str, str, Any]:
        return "POST", "/v1/memories/search", {"query": texts.question(number), "user_id": texts.owner()}

    def search_all(number: int) -> tuple[str, str, Any]:
        body = {"query": texts.question(number), "user_id": texts.owner(), "include_messages": True}
        return "POST", "/v1/memories/search", body

    found = {"append": summary(await bench.measure(count, append))}
    await bench.work()
    found["search"] = summary(await bench.measure(count, search))
    found["search + messages"] = summary(await bench.measure(count, search_all))
    found["add"] = summary(await bench.measure(count, add))
    return found


def summary(spent: Sequence[Spent]) -> dict[str, Any]:
    """Milliseconds and counts of one operation."""

    def p(values: Sequence[float], percent: int) -> float:
        return round(statistics.quantiles(values, n=100, method="inclusive")[percent - 1] * 1000, 2)

    return {
        "p50_ms": p([one.total for one in spent], 50),
        "p95_ms": p([one.total for one in spent], 95),
        "sql_p50_ms": p([one.sql for one in spent], 50),
        "embedding_p50_ms": p([one.embedding for one in spent], 50),
        "own_p50_ms": p([one.rest for one in spent], 50),
        "own_p95_ms": p([one.rest for one in spent], 95),
        "statements": max(len(one.statements) for one in spent),
        "round_trips": max(one.round_trips for one in spent),
    }


def machine() -> dict[str, Any]:
    """Where and under which load this runs."""
    return {
        "at": clock.now().isoformat(timespec="seconds"),
        "cores": os.cpu_count(),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "python": platform.python_version(),
        "machine": platform.machine(),
    }


async def run(server: embedded.EmbeddedServer, folder: Path, sizes: Sequence[int], count: int) -> dict[str, Any]:
    """All sizes; the empty route is the yardstick of the same run."""
    texts, found = Texts(), {}
    async with opened(server, folder) as bench:
        yardstick = summary(await bench.measure(count, lambda _: ("GET", "/healthz", None)))
        filled = 0
        for size in sizes:
            await fill(bench, texts, filled, size)
            filled = size
            found[size] = await measured(bench, texts, size, count)
    return {"machine": machine(), "requests": count, "empty_route": yardstick, "sizes": found}


def show(report: dict[str, Any], console: Console) -> None:
    """The table."""
    table = Table(title="Milliseconds in the server; {cores} cores, load {load_average}".format_map(report["machine"]))
    for name in ("memories", "operation", "p50", "p95", "SQL", "embedding", "own", "own p95", "own / empty route"):
        table.add_column(name, justify="right")
    table.add_column("statements + BEGIN, COMMIT", justify="right")
    empty = report["empty_route"]["p50_ms"]
    table.add_row("", "empty route", f"{empty:.2f}", f"{report['empty_route']['p95_ms']:.2f}")
    for size, operations in report["sizes"].items():
        for name, row in operations.items():
            figures = [
                row[key] for key in ("p50_ms", "p95_ms", "sql_p50_ms", "embedding_p50_ms", "own_p50_ms", "own_p95_ms")
            ]
            shown = [f"{figure:.2f}" for figure in figures]
            ratio = f"{row['own_p50_ms'] / empty:.1f}"
            table.add_row(f"{size:,}", name, *shown, ratio, f"{row['statements']} ({row['round_trips']} trips)")
    console.print(table)


def measure(sizes: Sequence[int], count: int) -> dict[str, Any]:
    """A server of its own for the time of the run."""
    folder = Path(tempfile.mkdtemp(prefix="mnemic-bench-"))
    try:
        server = embedded.start(folder)
        try:
            migrate.upgrade(server.migrator_dsn)
            settings = Settings(_env_file=None, database_url=server.app_dsn)
            key_file = folder / "admin.key"
            bootstrap.prepare(
                settings, migrator_dsn=server.migrator_dsn, app_dsn=server.app_dsn, admin_key_file=key_file
            )
            with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
                with redirect_stderr(nowhere):
                    logging.configure("info", as_json=True)  # a log line a request is part of the work
                return asyncio.run(run(server, folder, sizes, count))
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    """Start a server, measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000], help="memories, ascending")
    parser.add_argument("--requests", type=int, default=200, help="requests of each operation at each size")
    arguments = parser.parse_args()
    with interruptible():
        report = measure(arguments.sizes, arguments.requests)
    show(report, Console(width=140))
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"slice-{clock.now():%Y%m%d-%H%M%S}.json"
    path.write_text(json.dumps(report, indent=1), "utf-8")
    print(f"Written to {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
