"""Everything is put together here, once per process, from settings."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from app.core.errors import ConfigurationError
from app.core.metrics import Metrics
from app.db import embedded
from app.db.base import APP_ROLE
from app.db.dsn import Dsn, parse_dsn
from app.db.engine import create_engine
from app.db.migrate import head
from app.db.scoped import Database, TransactionLimits
from app.providers.embeddings.base import EmbeddingModel
from app.providers.embeddings.cache import CachedQueries
from app.providers.embeddings.choice import configured_model
from app.providers.embeddings.measured import MeasuredModel
from app.providers.llm.base import LanguageModel
from app.providers.llm.choice import configured_language_model
from app.providers.rerank.base import Reranker
from app.providers.rerank.choice import configured_reranker
from app.repositories.sessions import Lagging
from app.services.access import AccessService
from app.services.accesses import AccessLog
from app.services.admin import AdminService
from app.services.blocks import BlockService
from app.services.bulk import BulkService
from app.services.checkpoints import CheckpointService
from app.services.clearing import ClearingService
from app.services.conflicts import ConflictService
from app.services.curation import CurationService
from app.services.embedding import Embedder
from app.services.explaining import Explainer
from app.services.extracting_now import ExtractNowService
from app.services.extraction import ExtractionService
from app.services.extractors.rules import RulesExtractor
from app.services.facts import FactService
from app.services.health import HealthService
from app.services.jobs import JobService
from app.services.keys import KeyService
from app.services.lifecycle import LifecycleService
from app.services.memories import MemoryService
from app.services.messages import MessageService
from app.services.metering import Metering
from app.services.recall import RecallService
from app.services.redacting import Redacting
from app.services.remembering import Remembering
from app.services.replay import ReplayService
from app.services.retrieval import RetrievalService
from app.services.rewriting import QueryRewriter
from app.services.sessions import SessionService
from app.services.snapshots import SnapshotService
from app.services.states import StateService
from app.services.steps import StepService
from app.services.store import StoreService
from app.services.sweeping import Sweeping
from app.services.users import UserService
from app.services.vectorising import Vectorising
from app.settings import Settings
from app.uow import UnitOfWork


@dataclass(frozen=True, slots=True)
class Services:
    """The use cases, ready to be called."""

    settings: Settings
    metrics: Metrics
    uow: UnitOfWork
    embedder: Embedder
    access: AccessService
    accesses: AccessLog
    admin: AdminService
    blocks: BlockService
    bulk: BulkService
    checkpoints: CheckpointService
    clearing: ClearingService
    conflicts: ConflictService
    curation: CurationService
    extract_now: ExtractNowService
    extraction: ExtractionService
    facts: FactService
    health: HealthService
    jobs: JobService
    keys: KeyService
    lifecycle: LifecycleService
    memories: MemoryService
    messages: MessageService
    recall: RecallService
    replay: ReplayService
    retrieval: RetrievalService
    sessions: SessionService
    snapshots: SnapshotService
    states: StateService
    steps: StepService
    store: StoreService
    sweeping: Sweeping
    users: UserService
    vectorising: Vectorising


def app_dsn(settings: Settings) -> Dsn:
    """Where the API and the worker connect: DATABASE_URL, or the embedded server that runs on DATA_DIR.

    Raises:
        ConfigurationError: Neither is there.
    """
    if settings.database_url is not None:
        return parse_dsn(settings.database_url.get_secret_value())
    running = embedded.running(settings.data_dir.resolve())
    if running is None:
        raise ConfigurationError(
            f"DATABASE_URL is not set, and no 'mnemic up' is running on {settings.data_dir}: start it, or set the DSN."
        )
    return parse_dsn(running.app_dsn)


def acting_role(settings: Settings, dsn: Dsn) -> str | None:
    """The role to act under: where one login serves migrations and service alike, it steps down to the app role."""
    if settings.database_url is None:
        return None
    migrator = settings.migration_database_url
    same = migrator is None or parse_dsn(migrator.get_secret_value()).identity == dsn.identity
    return APP_ROLE if same and dsn.url.username != APP_ROLE else None


def embedding_model(settings: Settings, metrics: Metrics | None = None) -> EmbeddingModel:
    """The model that the settings name; its weights load at first use. `metrics` counts what it computes."""
    model = configured_model(settings)
    measured = model if metrics is None else MeasuredModel(model, metrics)
    return CachedQueries(measured, settings.embedding_cache_size)


def language_model(settings: Settings, metrics: Metrics) -> LanguageModel | None:
    """The language model that the settings name, or none; its host is asked at first use."""
    return configured_language_model(settings, metrics)


def reranker(settings: Settings, metrics: Metrics) -> Reranker | None:
    """The reranker that the settings name, under its deadline, or none."""
    return configured_reranker(settings, metrics)


def database(settings: Settings, dsn: Dsn) -> Database:
    """The pool, with the role and the limits of its transactions."""
    pool = create_engine(
        dsn,
        pool_size=settings.pool_size,
        pool_timeout=settings.pool_timeout_seconds,
        connect_timeout=settings.connect_timeout_seconds,
    )
    limits = TransactionLimits(settings.statement_timeout_seconds, settings.lock_timeout_seconds)
    return Database(pool, acting_role(settings, dsn), limits)


def compose(
    settings: Settings,
    store: Database,
    model: EmbeddingModel,
    metrics: Metrics | None = None,
    *,
    language: LanguageModel | None = None,
    ranking: Reranker | None = None,
) -> Services:
    """Wire the use cases; without a language model or a reranker they go on by rule."""
    uow = UnitOfWork(store)
    measured = metrics or Metrics()
    measured.watch_pool(store.pool_size, store.connections_in_use)
    measured.watch_queue(Metering(uow).tally)
    embedder = Embedder(model, uow)
    access = AccessService(uow, settings.key_cache_seconds)
    accesses = AccessLog(uow, settings.access_flush_seconds)
    explainer = Explainer(uow, model.name)
    redacting, extractor = Redacting(measured), RulesExtractor()
    after = work_after(settings)
    patience = timedelta(seconds=max(2 * settings.job_heartbeat_seconds, settings.sweep_seconds))
    return Services(
        settings=settings,
        metrics=measured,
        uow=uow,
        embedder=embedder,
        access=access,
        accesses=accesses,
        admin=AdminService(uow, embedder, access),
        blocks=BlockService(uow, redacting),
        bulk=BulkService(uow),
        checkpoints=CheckpointService(uow, redacting, settings.checkpoint_max_value_bytes),
        clearing=ClearingService(uow),
        conflicts=ConflictService(uow),
        curation=CurationService(uow, redacting),
        extraction=ExtractionService(uow, embedder, extractor, measured),
        extract_now=ExtractNowService(uow, embedder, extractor, redacting),
        facts=FactService(uow, embedder, redacting),
        health=HealthService(uow, embedder, head()),
        jobs=JobService(uow),
        keys=KeyService(uow, redacting),
        lifecycle=LifecycleService(uow, redacting),
        memories=MemoryService(uow, embedder, redacting),
        messages=MessageService(uow, after, redacting, Remembering(uow, embedder)),
        recall=RecallService(uow, embedder, redacting),
        replay=ReplayService(uow, explainer),
        retrieval=RetrievalService(
            uow,
            embedder,
            QueryRewriter(language, settings.llm_rewrite_timeout_seconds),
            ranking,
            settings.rerank_candidates,
            accesses,
            explainer,
            redacting,
        ),
        sessions=SessionService(uow, redacting),
        snapshots=SnapshotService(uow, redacting),
        states=StateService(uow, redacting),
        steps=StepService(uow, redacting),
        store=StoreService(uow, embedder, redacting),
        sweeping=Sweeping(uow, patience, tuple(after)),
        users=UserService(uow, redacting),
        vectorising=Vectorising(uow, embedder),
    )


def work_after(settings: Settings) -> dict[Lagging, timedelta]:
    """What is done with appended messages, and how long they gather before it."""
    delays: dict[Lagging, timedelta] = {"embed_messages": timedelta(seconds=settings.embed_debounce_seconds)}
    if settings.extractor != "off":
        delays["extract"] = timedelta(seconds=settings.extract_debounce_seconds)
    return delays


@asynccontextmanager
async def services(settings: Settings, model: EmbeddingModel | None = None) -> AsyncIterator[Services]:
    """The use cases for the life of a process; `model` replaces the configured one in tests."""
    async with AsyncExitStack() as closing:
        store = database(settings, app_dsn(settings))
        closing.push_async_callback(store.engine.dispose)
        metrics = Metrics()
        embedding = model or embedding_model(settings, metrics)
        closing.push_async_callback(embedding.close)
        language, ranking = language_model(settings, metrics), reranker(settings, metrics)
        for optional in (language, ranking):
            if optional is not None:
                closing.push_async_callback(optional.close)
        if ranking is not None:  # meanwhile, so that no start waits for it and no search meets unread weights
            preparing = asyncio.create_task(ranking.prepare())
            closing.callback(preparing.cancel)
        yield compose(settings, store, embedding, metrics, language=language, ranking=ranking)
