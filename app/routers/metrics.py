"""/metrics"""

from fastapi import APIRouter, Response

from app.core.metrics import CONTENT_TYPE
from app.routers.deps import PrincipalDep, ServicesDep
from app.routers.problems import documented

router = APIRouter(tags=["Operations"], responses=documented(401, 403))


@router.get(
    "/metrics",
    operation_id="get_metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Prometheus text"}},
)
async def get_metrics(principal: PrincipalDep, services: ServicesDep) -> Response:
    """Counters and gauges for Prometheus: requests, jobs, embedding, database pool.

    Takes a key with scope `admin` that is bound to no user. They are about the whole process, whatever the key's
    tenant, and name no user. With METRICS_PORT set they are given there, without a key, and this path does not exist.
    """
    principal.require_administration()
    return Response(await services.metrics.rendered(), media_type=CONTENT_TYPE)
