"""The API as an ASGI application."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from importlib.metadata import version

from fastapi import APIRouter, Depends, FastAPI
from fastapi.telemetry import TelemetryConfig
from fastapi_offline import FastAPIOffline
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from app.composition import Services, services
from app.core.errors import ConfigurationError, Problem
from app.routers import (
    admin,
    audit,
    blocks,
    checkpoints,
    conflicts,
    context,
    curation,
    dreams,
    embedding_models,
    erasures,
    facts,
    jobs,
    lessons,
    memories,
    messages,
    metrics,
    ops,
    problems,
    procedures,
    profiles,
    quotas,
    sessions,
    snapshots,
    states,
    store,
    summaries,
    tools,
    transfer,
    turns,
    undo,
    upkeep,
    users,
)
from app.routers.deps import allow_lag, get_principal
from app.routers.direct import DirectMiddleware
from app.routers.middleware import BodyLimitMiddleware, RequestMiddleware
from app.routers.requests import known_parameters
from app.routers.segments import SegmentMiddleware
from app.settings import Settings, get_settings

DESCRIPTION = """
Memory for AI agents: sessions keep what was said, memories keep what is worth knowing, and a search finds the right one
again, in Chinese and in English.

Press **Authorize** and enter an API key. `mnemic up` writes a first one to `admin.key` in its data folder.
"""

TAGS = [
    {"name": "Sessions", "description": "Conversations: who speaks, when, in which zone."},
    {"name": "Messages", "description": "What was said in a session, in order."},
    {"name": "Context", "description": "What the next call of a model should see, within a token budget."},
    {"name": "Summaries", "description": "What a long session has said, in few sentences that lead back to it."},
    {"name": "Memories", "description": "What is worth knowing: find, read, correct and delete it."},
    {"name": "Facts", "description": "Exact values under canonical keys, such as user.city, and the registry of keys."},
    {"name": "Core memory", "description": "Short labelled texts that an agent always has in its context."},
    {"name": "State", "description": "Where a session's task stands: every version is kept and can be restored."},
    {"name": "Tools", "description": "What an agent's own model may do with its memory: definitions and calls."},
    {
        "name": "Procedures",
        "description": "How things are done, and what attempts have taught: looked for before a task.",
    },
    {
        "name": "Checkpoints",
        "description": "An agent's state, kept to go back to: compared, restored, forked, replayed.",
    },
    {
        "name": "LangGraph",
        "description": "The server side of the Python client's checkpointer and store for LangGraph.",
    },
    {"name": "Users", "description": "The people whom agents speak with, and whose key this is."},
    {"name": "Jobs", "description": "Work that goes on in the background."},
    {
        "name": "Administration",
        "description": "Keys, tenants, statistics and settings. Needs an unbound key with the scope admin.",
    },
    {"name": "Operations", "description": "Whether the service is well."},
]

HOT = (
    *(checkpoints.hot_router, memories.hot_router, messages.hot_router, messages.recall_router, context.hot_router),
    store.router,
)
"""In the path of every turn of an agent."""

SILENT: TelemetryConfig = {
    "tracing": False,
    "metrics": False,
    "logs": False,
    "operation_spans": False,
    "auto_configure": False,
}
"""The framework's own telemetry stays off, whatever the environment says."""

Opening = Callable[[Settings], AbstractAsyncContextManager[Services]]


def create_app(
    settings: Settings | None = None, opening: Opening = services, settled: Callable[[], None] | None = None
) -> FastAPI:
    """The application; `opening` gives its use cases for as long as it runs, `settled` is called when it stands."""
    chosen = settings or get_settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with opening(chosen) as running:
            app.state.services = running
            await _look_at_role(running)
            await running.embedder.look()
            async with running.metrics.served(chosen.metrics_host, chosen.metrics_port), running.accesses.kept():
                if settled is not None:
                    settled()
                yield

    app = FastAPIOffline(
        title="Mnemic",
        version=version("mnemic"),
        summary="Self-hosted memory for AI agents",
        description=DESCRIPTION,
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        openapi_tags=TAGS,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
        telemetry=SILENT,
        swagger_ui_parameters={"persistAuthorization": True, "displayRequestDuration": True, "tryItOutEnabled": True},
        middleware=_middleware(chosen),
    )
    problems.install(app)
    app.include_router(ops.router)
    if chosen.metrics_port is None:
        app.include_router(metrics.router)
    app.router.routes.extend(_version_one())
    return app


def _middleware(settings: Settings) -> list[Middleware]:
    """From the outside in: what a proxy says of the caller, pages of other origins, then the request's own frame."""
    layers = [
        Middleware(ProxyHeadersMiddleware, trusted_hosts=settings.forwarded_allow_ips),
        Middleware(RequestMiddleware),
        Middleware(BodyLimitMiddleware, limit=settings.max_body_bytes),
        Middleware(SegmentMiddleware, root_path=settings.root_path),
        Middleware(DirectMiddleware, routers=HOT),
    ]
    if settings.cors_origins:
        cors = Middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=[
                "Authorization",
                "X-API-Key",
                "Content-Type",
                "Idempotency-Key",
                "If-Match",
                "X-Consistency",
                "X-Request-ID",
            ],
            expose_headers=["ETag", "Idempotent-Replayed", "Location", "Retry-After", "X-Request-ID"],
        )
        layers.insert(1, cors)
    return layers


@cache
def _version_one() -> list[BaseRoute]:
    """Everything under /v1: with a key, strictly read, its problems documented. Applications share it: no route has a
    state of its own, and each takes milliseconds to make.
    """
    router = APIRouter(
        prefix="/v1",
        dependencies=[Depends(get_principal), Depends(known_parameters), Depends(allow_lag)],
        responses=problems.documented(400, 401, 409, 413, 415, 422, 429, 503),
        strict_content_type=False,
    )
    # Routes are tried in this order: those in the path of every turn of an agent come first.
    for part in (
        *HOT,
        *(memories.router, messages.router, curation.router),
        checkpoints.router,
        snapshots.router,
        *(sessions.router, turns.router, context.router, summaries.router, states.router),
        *(facts.router, facts.keys_router),
        *(tools.router, procedures.router, lessons.experiences_router, lessons.router),
        *(
            conflicts.router,
            undo.router,
            blocks.router,
            users.router,
            users.me_router,
            erasures.router,
            transfer.router,
        ),
        *(jobs.router, audit.router, admin.router, quotas.router, embedding_models.router),
        *(upkeep.router, upkeep.admin_router, profiles.router, dreams.router),
    ):
        router.include_router(part)
    return router.routes


async def _look_at_role(running: Services) -> None:
    """Refuse to start where tenants would not be isolated; a database that is down is waited for by the requests."""
    try:
        async with running.uow.begin_global() as tx:
            await tx.access.ping()
    except ConfigurationError:
        raise
    except Problem:
        return
