"""Export and import: /v1/users/{user_id}/export and /import, /v1/admin/export and /import"""

from typing import Any, Final

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from app.routers.deps import PrincipalDep, ServicesDep, UserId
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.transfer import Imported
from app.services.importing import split_lines

router = APIRouter(route_class=StrictRoute)

NDJSON: Final = "application/x-ndjson"
_STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {NDJSON: {}}, "description": "One row a line, after a header"}
}
_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            NDJSON: {
                "schema": {"type": "string"},
                "example": '{"text": "Ada prefers tea.", "occurred_at": "2026-01-31T12:00:00Z"}\n',
            }
        },
    }
}


@router.get(
    "/users/{user_id}/export",
    tags=["Users"],
    responses=documented(403, 404) | _STREAM,
    response_class=StreamingResponse,
    operation_id="export_user",
)
async def export_user(user_id: UserId, principal: PrincipalDep, services: ServicesDep) -> StreamingResponse:
    """Everything of a user as NDJSON, with ids, sources, times and history.

    Needs an unbound key with the scopes `admin`, `memories:read` and `sessions:read`: governing is not reading.
    Sealed memories are in clear if the key has the scope `sensitive`. Vectors are computed anew where it is imported.
    """
    unsealed = await services.exports.allowed(principal, user_id)
    lines = services.exports.user(principal.tenant_id, user_id, unsealed=unsealed)
    return StreamingResponse(lines, media_type=NDJSON)


@router.post(
    "/users/{user_id}/import",
    tags=["Users"],
    responses=documented(403, 409),
    operation_id="import_user",
    openapi_extra=_BODY,
)
async def import_user(user_id: UserId, request: Request, principal: PrincipalDep, services: ServicesDep) -> Imported:
    """Store a user's export, or another system's memories: a line `{"text": ...}` each, kept with source `imported`.

    Rows that are there already stay: after a failure send the whole again. Needs an unbound key
    with the scopes `admin`, `memories:write` and `sessions:write`.
    """
    return await services.imports.run(principal, user_id, split_lines(request.stream()))


@router.get(
    "/admin/export",
    tags=["Administration"],
    responses=documented(403) | _STREAM,
    response_class=StreamingResponse,
    operation_id="export_tenant",
)
async def export_tenant(principal: PrincipalDep, services: ServicesDep) -> StreamingResponse:
    """Everything of the tenant as NDJSON, but keys, settings, jobs and the audit log; scopes as for a user's."""
    unsealed = await services.exports.allowed(principal, None)
    return StreamingResponse(services.exports.tenant(principal.tenant_id, unsealed=unsealed), media_type=NDJSON)


@router.post(
    "/admin/import",
    tags=["Administration"],
    responses=documented(403, 409),
    operation_id="import_tenant",
    openapi_extra=_BODY,
)
async def import_tenant(request: Request, principal: PrincipalDep, services: ServicesDep) -> Imported:
    """Store a tenant's export. Rows that are there already stay: after a failure send the whole again."""
    return await services.imports.run(principal, None, split_lines(request.stream()))
