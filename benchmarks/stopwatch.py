"""Where the time of a request goes: waits for the driver, the model, the rest. Safe with many requests at once."""

import asyncio
import cProfile
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Final

import asyncpg
from asyncpg.prepared_stmt import PreparedStatement
from starlette.types import ASGIApp, Receive, Scope, Send

from app.providers.embeddings.base import Vector
from app.providers.embeddings.use import UseModel

CONTROL: Final = ("BEGIN", "COMMIT", "ROLLBACK")
DRIVER_CALLS: Final = (
    *((asyncpg.Connection, name) for name in ("execute", "executemany", "fetch", "fetchrow", "fetchval", "prepare")),
    *((PreparedStatement, name) for name in ("executemany", "fetch", "fetchrow", "fetchval")),
)


@dataclass
class Waits:
    """Waits that may overlap: seconds in which at least one of them goes on."""

    seconds: float = 0.0
    _going_on: int = 0
    _since: float = 0.0

    def begin(self) -> None:
        if self._going_on == 0:
            self._since = time.perf_counter()
        self._going_on += 1

    def end(self) -> None:
        self._going_on -= 1
        if self._going_on == 0:
            self.seconds += time.perf_counter() - self._since


@dataclass
class Spent:
    """What one request spent, in seconds."""

    total: float = 0.0
    sql: Waits = field(default_factory=Waits)
    embedding: Waits = field(default_factory=Waits)
    either: Waits = field(default_factory=Waits)
    statements: list[str] = field(default_factory=list)
    round_trips: int = 0

    @property
    def rest(self) -> float:
        """The server's own time: outside SQL and embedding."""
        return self.total - self.either.seconds

    @contextmanager
    def waiting(self, waits: Waits) -> Iterator[None]:
        """The block is one wait."""
        waits.begin()
        self.either.begin()
        try:
            yield
        finally:
            self.either.end()
            waits.end()


_CURRENT: ContextVar[Spent | None] = ContextVar("spent", default=None)
"""Of the request that this task, or one that it began, works for."""


class Stopwatch:
    """Times requests: the application, the driver's calls, the model.

    Args:
        profile: Collects the application's own frames meanwhile; only with one request at a time.
    """

    def __init__(self, profile: cProfile.Profile | None = None) -> None:
        self.finished: list[Spent] = []
        self.profile = profile

    def application(self, app: ASGIApp) -> ASGIApp:
        """The application, timed from the first byte to the last."""

        async def timed(scope: Scope, receive: Receive, send: Send) -> None:
            spent = Spent()
            mark = _CURRENT.set(spent)
            began = time.perf_counter()
            try:
                if self.profile is None:
                    await app(scope, receive, send)
                else:
                    await _profiled(self.profile, app, scope, receive, send)
            finally:
                spent.total = time.perf_counter() - began
                _CURRENT.reset(mark)
                self.finished.append(spent)

        return timed

    @contextmanager
    def embedding(self) -> Iterator[None]:
        """The block is the model's time."""
        spent = _CURRENT.get()
        if spent is None:
            yield
            return
        with spent.waiting(spent.embedding):
            yield

    @contextmanager
    def driver(self) -> Iterator[None]:
        """While the block runs, every wait for PostgreSQL is counted, those beneath SQLAlchemy too."""
        before = [(owner, name, getattr(owner, name)) for owner, name in DRIVER_CALLS]
        for owner, name, method in before:
            setattr(owner, name, _timed(method))
        try:
            yield
        finally:
            for owner, name, method in before:
                setattr(owner, name, method)


async def _profiled(profile: cProfile.Profile, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """In a task of its own, so that the client's frames are not beneath the application's."""
    task = asyncio.ensure_future(app(scope, receive, send))  # type: ignore[arg-type]
    profile.enable()
    try:
        await task
    finally:
        profile.disable()


def _timed(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    prepares = method.__name__ == "prepare"

    @wraps(method)
    async def timed(target: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - any of the driver's methods
        spent = _CURRENT.get()
        if spent is None:
            return await method(target, *args, **kwargs)
        with spent.waiting(spent.sql):
            found = await method(target, *args, **kwargs)
        query = target.get_query() if isinstance(target, PreparedStatement) else args[0]
        spent.round_trips += not prepares
        if not prepares and not query.startswith(CONTROL):
            spent.statements.append(query)
        return found

    return timed


class TimedModel(UseModel):
    """The bundled model, timed; no cache, so that every question is embedded."""

    def __init__(self, watch: Stopwatch, threads: int = 1) -> None:
        super().__init__(threads)
        self._watch = watch

    async def embed_query(self, text: str) -> Vector:
        with self._watch.embedding():
            return await super().embed_query(text)

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        with self._watch.embedding():
            return await super().embed_passages(texts)


def milliseconds(seconds: Sequence[float], percent: int) -> float:
    """A percentile."""
    return round(statistics.quantiles(seconds, n=100, method="inclusive")[percent - 1] * 1000, 2)


def summary(spent: Sequence[Spent]) -> dict[str, Any]:
    """Milliseconds and counts of one operation."""
    totals, own = [one.total for one in spent], [one.rest for one in spent]
    return {
        "p50_ms": milliseconds(totals, 50),
        "p95_ms": milliseconds(totals, 95),
        "p99_ms": milliseconds(totals, 99),
        "sql_p50_ms": milliseconds([one.sql.seconds for one in spent], 50),
        "sql_p95_ms": milliseconds([one.sql.seconds for one in spent], 95),
        "embedding_p50_ms": milliseconds([one.embedding.seconds for one in spent], 50),
        "own_p50_ms": milliseconds(own, 50),
        "own_p95_ms": milliseconds(own, 95),
        "to_sql": _times_its_sql(spent),
        "statements": max(len(one.statements) for one in spent),
        "round_trips": max(one.round_trips for one in spent),
    }


def _times_its_sql(spent: Sequence[Spent]) -> dict[str, float] | None:
    """How many times its own SQL a request takes, with and without the model; medians of each request's ratio."""
    asking = [one for one in spent if one.sql.seconds > 0]
    if len(asking) < len(spent):
        return None
    return {
        "with_embedding": round(statistics.median(one.total / one.sql.seconds for one in asking), 2),
        "without_embedding": round(
            statistics.median((one.sql.seconds + one.rest) / one.sql.seconds for one in asking), 2
        ),
    }
