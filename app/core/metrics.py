"""What a process measures, for Prometheus. Labels name routes, kinds and states: never users, ids or contents."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, ProcessCollector, start_http_server
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.core import clock
from app.core.errors import ConfigurationError, Problem

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
PATIENCE_SECONDS: Final = 8.0
"""The longest that a scrape waits for the database: what the process itself knows is given without it."""

REFUSALS: Final = {401: "unauthenticated", 403: "forbidden"}
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
FAST: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)


@dataclass(frozen=True, slots=True)
class QueueTally:
    """What the database knows of jobs, over all tenants.

    Args:
        jobs: How many there are of a kind in a state; succeeded and cancelled ones are not counted.
        oldest_due_seconds: For how long the job that is longest due has waited for a worker.
        memories: What there is to count of memories, as last counted; empty before that.
    """

    jobs: Mapping[tuple[str, str], int] = field(default_factory=dict)
    oldest_due_seconds: float = 0.0
    memories: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class JobOutcome:
    """How a run of a job ended, in one word."""

    word: str = "done"


@dataclass(slots=True)
class LanguageModelCall:
    """How a call of the language model ended, and what it used, repetitions and repair included.

    Args:
        outcome: ok, repaired, nonsense, unavailable, left_alone (nothing was sent) or cancelled.
        prompt_tokens: Tokens read, as the host counts them.
        completion_tokens: Tokens written.
    """

    outcome: str = "ok"
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Metrics:
    """The values of one process, in a registry of its own."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        Info("mnemic", "The program", registry=registry).info({"version": version("mnemic")})
        route = ("method", "route")
        self.requests = Counter("mnemic_http_requests", "Requests answered", (*route, "status"), registry=registry)
        self.request_seconds = Histogram(
            "mnemic_http_request_seconds", "Time to answer a request", route, buckets=FAST, registry=registry
        )
        self.requests_in_flight = Gauge(
            "mnemic_http_requests_in_flight", "Requests that are being answered", registry=registry
        )
        self.auth_failures = Counter(
            "mnemic_auth_failures", "Requests refused for their key", ("reason",), registry=registry
        )
        self.embedding_calls = Counter(
            "mnemic_embedding_calls", "Calls of the embedding model", ("input", "outcome"), registry=registry
        )
        self.embedding_seconds = Histogram(
            "mnemic_embedding_seconds",
            "Time of one call of the embedding model",
            ("input",),
            buckets=FAST,
            registry=registry,
        )
        self.embedded_texts = Counter("mnemic_embedded_texts", "Texts embedded", ("input",), registry=registry)
        self.language_model_calls = Counter(
            "mnemic_llm_calls", "Calls of the language model", ("purpose", "outcome"), registry=registry
        )
        self.language_model_seconds = Histogram(
            "mnemic_llm_seconds",
            "Time of one call of the language model",
            ("purpose",),
            buckets=FAST,
            registry=registry,
        )
        self.language_model_tokens = Counter(
            "mnemic_llm_tokens", "Tokens, as the model's host counts them", ("purpose", "part"), registry=registry
        )
        self.secrets = Counter(
            "mnemic_secrets", "Secrets found in what clients sent", ("kind", "outcome"), registry=registry
        )
        self.extraction = Counter(
            "mnemic_extraction_candidates",
            "What was found in conversations, kept or refused",
            ("outcome",),
            registry=registry,
        )
        self.prefetches = Counter(
            "mnemic_context_prefetches",
            "Contexts by whether their memories were prepared: hit, stale (something had changed), miss",
            ("outcome",),
            registry=registry,
        )
        self.rerank_calls = Counter("mnemic_rerank_calls", "Calls of the reranker", ("outcome",), registry=registry)
        self.rerank_seconds = Histogram(
            "mnemic_rerank_seconds", "Time of one call of the reranker", buckets=FAST, registry=registry
        )
        self.job_runs = Counter(
            "mnemic_job_runs", "Runs of jobs by this worker", ("kind", "outcome"), registry=registry
        )
        self.job_seconds = Histogram(
            "mnemic_job_seconds", "Time of one run of a job", ("kind",), buckets=FAST, registry=registry
        )
        self._pool_size = Gauge("mnemic_database_pool_size", "Connections the pool may hold", registry=registry)
        self._pool_used = Gauge("mnemic_database_pool_in_use", "Connections that are lent out", registry=registry)
        self._routes: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self._queue = _Queue()
        registry.register(self._queue)

    def answered(self, *, method: str, route: str | None, status: int, seconds: float) -> None:
        """Count one request by its route's template; what no route took is one label, whatever was asked for."""
        labels = (method if method in METHODS else "other", route or "unmatched")
        known = self._routes.get((*labels, status))
        if known is None:  # finding the labelled values takes longer than counting
            known = self.requests.labels(*labels, str(status)), self.request_seconds.labels(*labels)
            self._routes[*labels, status] = known
        counter, histogram = known
        counter.inc()
        histogram.observe(seconds)
        if status in REFUSALS:
            self.auth_failures.labels(REFUSALS[status]).inc()

    @contextmanager
    def job_run(self, kind: str) -> Iterator[JobOutcome]:
        """Time one run of a job and count it by the outcome that the block leaves behind."""
        outcome, started = JobOutcome(), clock.monotonic()
        try:
            yield outcome
        finally:
            self.job_runs.labels(kind, outcome.word).inc()
            self.job_seconds.labels(kind).observe(clock.monotonic() - started)

    @contextmanager
    def language_model_call(self, purpose: str) -> Iterator[LanguageModelCall]:
        """Time one call of the language model and count it by the outcome that the block leaves behind."""
        call, started = LanguageModelCall(), clock.monotonic()
        try:
            yield call
        except asyncio.CancelledError:
            call.outcome = "cancelled"
            raise
        finally:
            self.language_model_calls.labels(purpose, call.outcome).inc()
            self.language_model_seconds.labels(purpose).observe(clock.monotonic() - started)
            self.language_model_tokens.labels(purpose, "prompt").inc(call.prompt_tokens)
            self.language_model_tokens.labels(purpose, "completion").inc(call.completion_tokens)

    @contextmanager
    def rerank_call(self) -> Iterator[None]:
        """Time one call of the reranker and count it by how it ends."""
        started, outcome = clock.monotonic(), "ok"
        try:
            yield
        except BaseException as error:
            outcome = type(error).__name__
            raise
        finally:
            self.rerank_calls.labels(outcome).inc()
            self.rerank_seconds.observe(clock.monotonic() - started)

    def watch_pool(self, size: Callable[[], int], used: Callable[[], int]) -> None:
        """Ask the pool at each scrape."""
        self._pool_size.set_function(size)
        self._pool_used.set_function(used)

    def watch_queue(self, tally: Callable[[], Awaitable[QueueTally]]) -> None:
        """Ask the database at each scrape."""
        self._queue.ask = tally

    async def rendered(self) -> bytes:
        """All values in Prometheus' text form, those of the database fresh."""
        self._queue.loop = asyncio.get_running_loop()
        return await asyncio.to_thread(generate_latest, self.registry)

    @asynccontextmanager
    async def served(self, host: str, port: int | None) -> AsyncIterator[None]:
        """Give the values on a port of their own, without a key, for as long as the block lasts; None: nowhere.

        Raises:
            ConfigurationError: The port cannot be used.
        """
        if port is None:
            yield
            return
        self._queue.loop = asyncio.get_running_loop()
        try:
            server, thread = start_http_server(port, addr=host, registry=self.registry)
        except OSError as error:
            raise ConfigurationError(
                f"The metrics port {port} on {host} cannot be used ({error.strerror}): choose another METRICS_PORT."
            ) from error
        try:
            yield
        finally:
            await asyncio.to_thread(server.shutdown)
            server.server_close()
            thread.join()


class _Queue(Collector):
    """Asks for a tally at each scrape: scrapes run in threads, the database lives in the loop."""

    def __init__(self) -> None:
        self.ask: Callable[[], Awaitable[QueueTally]] | None = None
        self.loop: asyncio.AbstractEventLoop | None = None

    def describe(self) -> Iterable[Metric]:
        """Nothing is known before the first scrape."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """The tally as gauges, or that the database did not answer."""
        if self.ask is None or self.loop is None or self.loop.is_closed():
            return
        tally = asyncio.run_coroutine_threadsafe(_in_time(self.ask), self.loop).result()
        yield GaugeMetricFamily(
            "mnemic_database_up", "Whether the database answered this scrape", value=0 if tally is None else 1
        )
        if tally is None:
            return
        jobs = GaugeMetricFamily("mnemic_jobs", "Jobs in the database, all tenants", labels=("kind", "state"))
        for (kind, state), count in sorted(tally.jobs.items()):
            jobs.add_metric((kind, state), count)
        yield jobs
        yield GaugeMetricFamily(
            "mnemic_jobs_oldest_due_seconds",
            "How long the job that is longest due has waited for a worker",
            value=tally.oldest_due_seconds,
        )
        if tally.memories:
            yield from _of_memories(tally.memories)


COUNTED: Final = ("written", "current", "archived", "junk", "junk_now", "never_used", "served", "to_confirm")


def _of_memories(counts: Mapping[str, int]) -> Iterable[Metric]:
    """How well memories serve, over all tenants."""
    memories = GaugeMetricFamily("mnemic_memories", "Memories by what became of them", labels=("state",))
    for state in COUNTED:
        memories.add_metric((state,), counts[state])
    yield memories
    judged = GaugeMetricFamily(
        "mnemic_memories_judged", "Served memories by what was said of them", labels=("verdict",)
    )
    for verdict in ("used", "ignored", "wrong"):
        judged.add_metric((verdict,), counts[verdict])
    yield judged
    yield GaugeMetricFamily("mnemic_memory_hits", "How often memories were served", value=counts["hits"])
    yield GaugeMetricFamily(
        "mnemic_memory_contradictions", "Open pairs that cannot both be true", value=counts["contradictions"]
    )
    yield GaugeMetricFamily(
        "mnemic_memory_duplicates",
        "Current memories whose very text another one of the same owner has",
        value=counts["current"] - counts["texts"],
    )
    said = counts["used"] + counts["ignored"] + counts["wrong"]
    for name, help_text, part, whole in (
        ("pollution", "Share of written memories that were not worth it", counts["junk"], counts["written"]),
        ("noise", "Share of judged servings that were ignored", counts["ignored"], said),
        ("junk", "Share of current memories that look like junk", counts["junk_now"], counts["current"]),
    ):
        yield GaugeMetricFamily(f"mnemic_memory_{name}_ratio", help_text, value=part / whole if whole else 0.0)


async def _in_time(ask: Callable[[], Awaitable[QueueTally]]) -> QueueTally | None:
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await ask()
    except (Problem, ConfigurationError, TimeoutError):
        return None
