"""Everything is put together here, once per process, from settings."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from app.core.errors import ConfigurationError
from app.core.metrics import Metrics
from app.core.sealing import SEALING_FILE, KeyRing, SealingKey
from app.db import embedded
from app.db.base import APP_ROLE
from app.db.dsn import Dsn, parse_dsn
from app.db.engine import PLANNER, create_engine
from app.db.migrate import head
from app.db.replica import Replica
from app.db.scoped import Database, TransactionLimits
from app.providers.counting import configured_counter
from app.providers.embeddings.base import EmbeddingModel
from app.providers.embeddings.choice import configured_model, kept_model, other_models
from app.providers.llm.base import LanguageModel
from app.providers.llm.choice import configured_language_model
from app.providers.rerank.base import Reranker
from app.providers.rerank.choice import configured_reranker
from app.repositories.vector_indexes import VectorIndexes
from app.services.access import AccessService
from app.services.accesses import AccessLog
from app.services.admin import AdminService
from app.services.auditing import AuditService
from app.services.blocks import BlockService
from app.services.bulk import BulkService
from app.services.checkpoints import CheckpointService
from app.services.clearing import ClearingService
from app.services.comparing import ComparisonService
from app.services.conflicts import ConflictService
from app.services.context.choosing import Chooser
from app.services.context.contexts import ContextService
from app.services.context.prefetching import PrefetchService
from app.services.context.retrieving import Retrieving
from app.services.curation import CurationService
from app.services.dreaming.dreams import DreamService
from app.services.dreaming.planning import DreamPlanner
from app.services.dreaming.reviewing import Reviewer
from app.services.embedding import Embedder
from app.services.embedding_models import EmbeddingModelService
from app.services.erasing import ErasureService
from app.services.explaining import Explainer
from app.services.exporting import ExportService
from app.services.extracting_now import ExtractNowService
from app.services.extraction import ExtractionService
from app.services.extractors.choice import readers
from app.services.extractors.judging import JudgeModel
from app.services.facts import FactService
from app.services.following import lagging, last_work, work_after
from app.services.forgetting.consolidating import ConsolidationService
from app.services.forgetting.digesting import Digester
from app.services.forgetting.expiring import ExpiryService
from app.services.forgetting.health import MemoryHealthService
from app.services.forgetting.maintaining import MaintenanceService
from app.services.forgetting.reviving import RevivalService
from app.services.forgetting.shortening import Shortener
from app.services.health import HealthService
from app.services.importing import ImportService
from app.services.insights.finding import InsightFinder
from app.services.insights.reflection import ReflectionService
from app.services.insights.turns import ReflectionTurns
from app.services.jobs import JobService
from app.services.judging import Judging
from app.services.keys import KeyService
from app.services.lessons import LessonService
from app.services.lifecycle import LifecycleService
from app.services.matching import Matching
from app.services.memories import MemoryService
from app.services.memory_file import MemoryFileService
from app.services.messages import MessageService
from app.services.metering import Metering
from app.services.procedure_files import ProcedureFiles
from app.services.procedures import ProcedureService
from app.services.profiles import ProfileService
from app.services.quotas import QuotaService
from app.services.recall import RecallService
from app.services.redacting import Redacting
from app.services.reembedding import Reembedding
from app.services.reflecting import Reflecting
from app.services.remembering import Remembering
from app.services.replay import ReplayService
from app.services.retiring import Retiring
from app.services.retrieval import RetrievalService
from app.services.reviewing import ReviewService
from app.services.rewriting import QueryRewriter
from app.services.sealing import SealingService
from app.services.sessions import SessionService
from app.services.snapshots import SnapshotService
from app.services.states import StateService
from app.services.steps import StepService
from app.services.store import StoreService
from app.services.summaries.folding import FoldingService
from app.services.summaries.reading import SummaryService
from app.services.summaries.summarisers import LanguageModelSummariser, RulesSummariser, Summariser
from app.services.sweeping import Sweeping
from app.services.timeline import TimelineService
from app.services.tokens import TokenService
from app.services.tool_calls import ToolCalls
from app.services.tools import ToolService
from app.services.turns import TurnService
from app.services.undoing import UndoService
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
    embedding_models: EmbeddingModelService
    comparison: ComparisonService
    reembedding: Reembedding
    retiring: Retiring
    access: AccessService
    accesses: AccessLog
    admin: AdminService
    audit: AuditService
    blocks: BlockService
    bulk: BulkService
    checkpoints: CheckpointService
    clearing: ClearingService
    conflicts: ConflictService
    contexts: ContextService
    dreams: DreamService
    erasures: ErasureService
    prefetch: PrefetchService
    curation: CurationService
    consolidation: ConsolidationService
    expiry: ExpiryService
    exports: ExportService
    imports: ImportService
    extract_now: ExtractNowService
    extraction: ExtractionService
    facts: FactService
    health: HealthService
    jobs: JobService
    keys: KeyService
    lessons: LessonService
    lifecycle: LifecycleService
    maintenance: MaintenanceService
    memories: MemoryService
    memory_file: MemoryFileService
    memory_health: MemoryHealthService
    messages: MessageService
    procedure_files: ProcedureFiles
    procedures: ProcedureService
    profiles: ProfileService
    quotas: QuotaService
    recall: RecallService
    reflection: ReflectionService
    reflection_turns: ReflectionTurns
    replay: ReplayService
    retrieval: RetrievalService
    revival: RevivalService
    reviewing: ReviewService
    sealing: SealingService
    sessions: SessionService
    snapshots: SnapshotService
    states: StateService
    summaries: SummaryService
    folding: FoldingService
    steps: StepService
    store: StoreService
    sweeping: Sweeping
    timeline: TimelineService
    undoing: UndoService
    tools: ToolService
    turns: TurnService
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
    return kept_model(configured_model(settings), settings, metrics)


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
    return Database(pool, acting_role(settings, dsn), limits, further=PLANNER if dsn.pooled else {})


def read_replica(settings: Settings, primary: Database) -> Replica | None:
    """The replica that the settings name, or none."""
    if settings.replica_database_url is None:
        return None
    return Replica(database(settings, parse_dsn(settings.replica_database_url.get_secret_value())), primary)


def compose(
    settings: Settings,
    store: Database,
    model: EmbeddingModel,
    metrics: Metrics | None = None,
    *,
    language: LanguageModel | None = None,
    ranking: Reranker | None = None,
    also: Sequence[EmbeddingModel] = (),
    replica: Replica | None = None,
) -> Services:
    """Wire the use cases; without a language model or a reranker they go on by rule."""
    uow = UnitOfWork(store, ring=key_ring(settings), replica=replica)
    measured = metrics or Metrics()
    measured.watch_pool(store.pool_size, store.connections_in_use)
    measured.watch_queue(Metering(uow, MemoryHealthService(uow)).tally)
    embedder = Embedder(model, uow, also, settings.embedding_follow_seconds)
    tokens = TokenService.configured(settings, uow)
    access = AccessService(uow, settings.key_cache_seconds, settings.wrong_keys_per_minute, tokens)
    accesses = AccessLog(uow, settings.access_flush_seconds)
    explainer = Explainer(uow)
    redacting = Redacting(measured)
    reading = readers(settings, language)
    judge = JudgeModel(reading.model)
    judging = Judging(uow, embedder, judge)
    revival = RevivalService(uow)
    rewriter = QueryRewriter(language, settings.llm_rewrite_timeout_seconds)
    retrieving = Retrieving(uow, embedder, rewriter)
    prefetch = PrefetchService(uow, retrieving, redacting, measured)
    after, summarising = work_after(settings), summariser(settings, language)
    messages = MessageService(uow, after, redacting, Remembering(uow, embedder), prefetch.demand)
    most = settings.rerank_candidates
    retrieval = RetrievalService(uow, embedder, rewriter, ranking, most, accesses, explainer, redacting, revival)
    blocks, counter = BlockService(uow, redacting), configured_counter(settings.token_counter_file)
    audit, jobs, indexes = AuditService(uow), JobService(uow), VectorIndexes.configured(settings)
    consolidation = ConsolidationService(uow, embedder, judge, Shortener(language))
    reviewer = Reviewer(uow, embedder, None if settings.extractor == "off" else reading.jobs)
    memories = MemoryService(uow, embedder, redacting, settings.extractor != "off")
    recall = RecallService(uow, embedder, redacting)
    patience = timedelta(seconds=max(2 * settings.job_heartbeat_seconds, settings.sweep_seconds))
    return Services(
        settings=settings,
        metrics=measured,
        uow=uow,
        embedder=embedder,
        embedding_models=EmbeddingModelService(uow, embedder),
        comparison=ComparisonService(uow, embedder, retrieval),
        reembedding=Reembedding(uow, embedder, settings.reembed_texts_per_second, indexes),
        retiring=Retiring(uow, embedder, indexes),
        access=access,
        accesses=accesses,
        admin=AdminService(uow, embedder, access),
        audit=audit,
        blocks=blocks,
        bulk=BulkService(uow),
        checkpoints=CheckpointService(uow, redacting, settings.checkpoint_max_value_bytes),
        clearing=ClearingService(uow),
        conflicts=ConflictService(uow),
        contexts=ContextService(uow, retrieving, prefetch, redacting, accesses, counter, chooser(settings, language)),
        dreams=DreamService(uow, embedder, redacting, DreamPlanner(uow, reviewer, consolidation)),
        erasures=ErasureService(uow, access, audit, jobs),
        exports=ExportService(uow),
        imports=ImportService(uow, memories, redacting),
        prefetch=prefetch,
        consolidation=consolidation,
        curation=CurationService(uow, redacting),
        expiry=ExpiryService(uow),
        extraction=ExtractionService(uow, embedder, reading.jobs, judging, reading.instead, measured),
        extract_now=ExtractNowService(uow, embedder, reading.requests, judging, redacting),
        facts=FactService(uow, embedder, redacting),
        health=HealthService(uow, embedder, head()),
        jobs=jobs,
        keys=KeyService(uow, redacting),
        lessons=LessonService(uow, embedder, redacting, Reflecting(language)),
        lifecycle=LifecycleService(uow, redacting, last_work(settings)),
        maintenance=MaintenanceService(uow, Digester(embedder, summarising)),
        memories=memories,
        memory_file=MemoryFileService(uow, embedder, redacting),
        memory_health=MemoryHealthService(uow),
        messages=messages,
        procedure_files=ProcedureFiles(uow, embedder, redacting),
        procedures=ProcedureService(uow, embedder, redacting, Matching(uow, retrieval)),
        profiles=ProfileService(uow),
        quotas=QuotaService(uow, access),
        recall=recall,
        reflection=ReflectionService(uow, embedder, InsightFinder(language)),
        reflection_turns=ReflectionTurns(uow),
        replay=ReplayService(uow, explainer),
        retrieval=retrieval,
        revival=revival,
        reviewing=ReviewService(uow, embedder, judging),
        sealing=SealingService(uow),
        sessions=SessionService(uow, redacting),
        snapshots=SnapshotService(uow, redacting),
        states=StateService(uow, redacting),
        steps=StepService(uow, redacting),
        store=StoreService(uow, embedder, redacting),
        summaries=SummaryService(uow),
        folding=FoldingService(uow, summarising),
        sweeping=Sweeping(uow, patience, lagging(after)),
        timeline=TimelineService(uow),
        tools=ToolService(ToolCalls(uow, blocks, memories, retrieval, recall), redacting),
        turns=TurnService(uow, redacting, messages),
        undoing=UndoService(uow),
        users=UserService(uow, redacting),
        vectorising=Vectorising(uow, embedder),
    )


def key_ring(settings: Settings) -> KeyRing:
    """The keys that seal: of the environment, or of a file, which the embedded mode makes at its first start."""
    given = "" if settings.sealing_keys is None else settings.sealing_keys.get_secret_value()
    keys = [SealingKey.read(text) for text in given.split(",") if text.strip()]
    file = settings.sealing_key_file
    if file is None and settings.embedded and not keys:
        file = settings.data_dir / SEALING_FILE
    return KeyRing(keys, file)


def summariser(settings: Settings, language: LanguageModel | None) -> Summariser:
    """What puts stretches of conversation into few sentences."""
    if settings.summariser == "auto" and language is not None:
        return LanguageModelSummariser(language)
    return RulesSummariser()


def chooser(settings: Settings, language: LanguageModel | None) -> Chooser | None:
    """What chooses earlier messages beside the search; None where the search alone does."""
    if settings.selection == "rules" or language is None:
        return None
    return Chooser(language, settings.llm_rewrite_timeout_seconds)


@asynccontextmanager
async def services(settings: Settings, model: EmbeddingModel | None = None) -> AsyncIterator[Services]:
    """The use cases for the life of a process; `model` replaces the configured one in tests."""
    async with AsyncExitStack() as closing:
        store = database(settings, app_dsn(settings))
        closing.push_async_callback(store.engine.dispose)
        replica = read_replica(settings, store)
        if replica is not None:
            closing.push_async_callback(replica.database.engine.dispose)
        metrics = Metrics()
        embedding = model or embedding_model(settings, metrics)
        also = other_models(settings, metrics)
        for one in (embedding, *also):
            closing.push_async_callback(one.close)
        language, ranking = language_model(settings, metrics), reranker(settings, metrics)
        for optional in (language, ranking):
            if optional is not None:
                closing.push_async_callback(optional.close)
        if ranking is not None:  # meanwhile, so that no start waits for it and no search meets unread weights
            preparing = asyncio.create_task(ranking.prepare())
            closing.callback(preparing.cancel)
        yield compose(
            settings, store, embedding, metrics, language=language, ranking=ranking, also=also, replica=replica
        )
