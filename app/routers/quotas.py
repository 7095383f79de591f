"""/v1/admin/quotas"""

from fastapi import APIRouter

from app.routers.admin import TenantQuery
from app.routers.deps import PrincipalDep, ServicesDep
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.quotas import QuotaChange, Quotas

router = APIRouter(prefix="/admin/quotas", tags=["Administration"], route_class=StrictRoute)


@router.get("", responses=documented(403, 404), operation_id="get_quotas")
async def get_quotas(principal: PrincipalDep, services: ServicesDep, tenant: TenantQuery = None) -> Quotas:
    """How much this tenant may have, and how much it has. Without a limit it is counted row by row for the answer."""
    return await services.quotas.get(principal, tenant)


@router.patch("", responses=documented(403, 404), operation_id="change_quotas")
async def change_quotas(
    body: QuotaChange, principal: PrincipalDep, services: ServicesDep, tenant: TenantQuery = None
) -> Quotas:
    """Set the limits that the body names; null lifts one. For operators; it holds from the next write on.

    A write that would go beyond a limit answers 403 `quota_exceeded` with `quota`, `limit` and `used`, and leaves
    nothing behind; deleting frees room at once. Above the limit on tokens, sessions are learnt from by rules if those
    stand in (`EXTRACTOR_FALLBACK`), else next month: no message is refused or lost for it.
    """
    return await services.quotas.change(principal, tenant, body)
