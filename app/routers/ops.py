"""/healthz and /readyz"""

from fastapi import APIRouter, Response

from app.routers.deps import ServicesDep
from app.schemas.health import Alive, Readiness

router = APIRouter(tags=["Operations"])


@router.get("/healthz", operation_id="is_alive")
async def is_alive() -> Alive:
    """The process answers. Says nothing about the database: for that, ask /readyz."""
    return Alive()


@router.get(
    "/readyz",
    responses={503: {"model": Readiness, "description": "Not ready; `checks` says why"}},
    operation_id="is_ready",
)
async def is_ready(services: ServicesDep, response: Response) -> Readiness:
    """Whether requests can be served: database, migrations, embedding model, queue."""
    readiness = await services.health.readiness()
    if readiness.status != "ready":
        response.status_code = 503
    return readiness
