"""The API as an ASGI application."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import version

from fastapi import APIRouter, Depends, FastAPI
from fastapi_offline import FastAPIOffline
from starlette.middleware import Middleware

from app.composition import Services, services
from app.core.errors import ConfigurationError, Problem
from app.routers import jobs, memories, messages, ops, problems, sessions
from app.routers.deps import get_principal
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
    {"name": "Memories", "description": "What is worth knowing: find, read, correct and delete it."},
    {"name": "Jobs", "description": "Work that goes on in the background."},
    {"name": "Operations", "description": "Whether the service is well."},
]

Opening = Callable[[Settings], AbstractAsyncContextManager[Services]]


def create_app(settings: Settings | None = None, opening: Opening = services) -> FastAPI:
    """The application; `opening` gives its use cases for as long as it runs."""
    chosen = settings or get_settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with opening(chosen) as running:
            app.state.services = running
            await _look_at_role(running)
            await running.embedder.look()
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
        root_path=chosen.root_path,
        redirect_slashes=False,
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False, "auto_configure": False},
        strict_content_type=False,
        swagger_ui_parameters={"persistAuthorization": True, "displayRequestDuration": True, "tryItOutEnabled": True},
        middleware=[
            Middleware(RequestMiddleware),
            Middleware(BodyLimitMiddleware, limit=chosen.max_body_bytes),
            Middleware(SegmentMiddleware),
        ],
    )
    problems.install(app)
    app.include_router(ops.router)
    app.include_router(_version_one())
    return app


def _version_one() -> APIRouter:
    """Everything under /v1: with a key, strictly read, its problems documented."""
    router = APIRouter(
        prefix="/v1",
        dependencies=[Depends(get_principal), Depends(known_parameters)],
        responses=problems.documented(400, 401, 413, 422, 503),
    )
    for part in (sessions, messages, memories, jobs):
        router.include_router(part.router)
    return router


async def _look_at_role(running: Services) -> None:
    """Refuse to start where tenants would not be isolated; a database that is down is waited for by the requests."""
    try:
        async with running.uow.begin_global() as tx:
            await tx.access.ping()
    except ConfigurationError:
        raise
    except Problem:
        return
