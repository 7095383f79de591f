"""/v1/conflicts"""

from fastapi import APIRouter, Response

from app.routers.deps import (
    DEFAULT_PAGE,
    ConflictId,
    CountQuery,
    CursorQuery,
    LimitQuery,
    PrincipalDep,
    ServicesDep,
    WriteDep,
    reply,
)
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.conflicts import Conflict, ConflictResolution
from app.schemas.lists import Page

router = APIRouter(prefix="/conflicts", tags=["Memories"], route_class=StrictRoute)


@router.get("", responses=documented(403), operation_id="list_conflicts")
async def list_conflicts(
    principal: PrincipalDep,
    services: ServicesDep,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
    count: CountQuery = False,
) -> Page[Conflict]:
    """Pairs of memories that cannot both be true and wait for a decision, newest first."""
    return await services.conflicts.page(principal, cursor, limit, count=count)


@router.post("/{conflict_id}/resolve", responses=documented(403, 404, 409), operation_id="resolve_conflict")
async def resolve_conflict(
    conflict_id: ConflictId, body: ConflictResolution, write: WriteDep, services: ServicesDep, response: Response
) -> Conflict:
    """Decide which of the two holds. The other becomes history; what is kept is served as before."""
    answer = await services.conflicts.resolve(write, conflict_id, body)
    reply(answer, response)
    return Conflict.model_validate(answer.body)
