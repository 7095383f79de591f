"""The application in this process, under the stopwatch: what a request spends where, one request at a time."""

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx

from app.composition import Services, compose, database
from app.core import logging
from app.db.dsn import parse_dsn
from app.main import create_app
from app.workers.runner import JobRunner
from benchmarks.clients import Call
from benchmarks.instance import Instance
from benchmarks.stopwatch import Spent, Stopwatch, TimedModel

WARM_UP: Final = 20


@dataclass(frozen=True)
class Bench:
    """The service under the stopwatch."""

    watch: Stopwatch
    services: Services
    client: httpx.AsyncClient
    model: TimedModel

    async def measure(self, count: int, calls: Sequence[Call]) -> list[Spent]:
        """Send so many requests one after another, after a warm-up that is not counted."""
        for number, call in enumerate(calls[: count + WARM_UP]):
            if number == WARM_UP:
                self.watch.finished.clear()
            response = await self.client.request(call.method, call.path, json=call.body)
            response.raise_for_status()
        return list(self.watch.finished)

    async def post(self, path: str, body: Any) -> Any:  # noqa: ANN401 - JSON
        """The answer to one request."""
        response = await self.client.post(path, json=body)
        response.raise_for_status()
        return response.json()

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
async def opened(instance: Instance, watch: Stopwatch | None = None) -> AsyncIterator[Bench]:
    """The application in this process, on an instance's database."""
    watch = watch or Stopwatch()
    store = database(instance.settings, parse_dsn(instance.server.app_dsn))
    model = TimedModel(watch)
    await model.warm()
    services = compose(instance.settings, store, model)
    app = create_app(instance.settings)
    app.state.services = services
    transport = httpx.ASGITransport(watch.application(app))
    try:
        async with httpx.AsyncClient(
            transport=transport, base_url="http://bench", headers=instance.headers, timeout=600
        ) as client:
            with watch.driver():
                yield Bench(watch, services, client, model)
    finally:
        await model.close()
        await store.engine.dispose()


@contextmanager
def unread_logs() -> Iterator[None]:
    """A log line a request is part of the work, and nobody reads it."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stderr(nowhere):
        logging.configure("info", as_json=True)
        yield
