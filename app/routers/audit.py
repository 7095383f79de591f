"""/v1/admin/audit"""

from collections.abc import AsyncIterator
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from app.composition import Services
from app.domain.principal import Principal
from app.routers.deps import DEFAULT_PAGE, CursorQuery, LimitQuery, PrincipalDep, ServicesDep
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.audit import AuditLine, AuditVerdict
from app.schemas.fields import Id, Instant
from app.schemas.lists import Page
from app.services.auditing import Asked

router = APIRouter(prefix="/admin/audit", tags=["Administration"], route_class=StrictRoute)

NDJSON = "application/x-ndjson"
PositionQuery = Annotated[int, Query(ge=0, le=2**62, description="Only lines behind this place in the chain")]


@router.get("", responses=documented(403), operation_id="list_audit_lines")
async def list_audit_lines(
    principal: PrincipalDep,
    services: ServicesDep,
    user_id: Annotated[Id | None, Query(description="Only what is about this user")] = None,
    session_id: Annotated[Id | None, Query(description="Only what was done to this session")] = None,
    memory_id: Annotated[UUID | None, Query(description="Only what was done to this memory")] = None,
    action: Annotated[Id | None, Query(description="Only this operation", examples=["delete_memory"])] = None,
    actor: Annotated[Id | None, Query(description="Only this one's doings, such as key:<id>")] = None,
    since: Annotated[Instant | None, Query(description="Not before this time")] = None,
    until: Annotated[Instant | None, Query(description="Before this time")] = None,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
) -> Page[AuditLine]:
    """Who changed what, and which administrator read what, newest first. No line has content in it."""
    asked = Asked(user_id, session_id, memory_id, action, actor, since, until)
    return await services.audit.page(principal, asked, cursor, limit)


@router.get(
    "/export",
    responses=documented(403) | {200: {"content": {NDJSON: {}}, "description": "One line of JSON for each line"}},
    response_class=StreamingResponse,
    operation_id="export_audit_log",
)
async def export_audit_log(
    principal: PrincipalDep, services: ServicesDep, after_position: PositionQuery = 0
) -> StreamingResponse:
    """The chained lines in their order, as NDJSON. Go on later behind the last `position` that you have."""
    await services.audit.opened(principal)
    return StreamingResponse(_written(services, principal, after_position), media_type=NDJSON)


@router.get("/verify", responses=documented(403), operation_id="verify_audit_log")
async def verify_audit_log(
    principal: PrincipalDep,
    services: ServicesDep,
    position: Annotated[int | None, Query(ge=1, le=2**62, description="A place whose hash you kept")] = None,
    hash_: Annotated[
        str | None, Query(alias="hash", pattern="^[0-9a-fA-F]{64}$", description="The hash that stood there")
    ] = None,
) -> AuditVerdict:
    """Compute every hash anew. A line that was changed, removed or moved is found.

    Keep the head of an answer elsewhere and give it here later: then a log that was written anew as a whole is found.
    """
    principal.require_administration()
    anchor = None if position is None or hash_ is None else (position, hash_)
    return await services.audit.verify(principal.tenant_id, anchor)


async def _written(services: Services, principal: Principal, after: int) -> AsyncIterator[str]:
    async for line in services.audit.lines(principal.tenant_id, after):
        yield f"{line.model_dump_json()}\n"
