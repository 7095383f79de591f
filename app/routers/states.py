"""/v1/sessions/{session_id}/state"""

from fastapi import APIRouter, Response

from app.routers.deps import (
    DEFAULT_PAGE,
    CountQuery,
    CursorQuery,
    LimitQuery,
    PrincipalDep,
    ServicesDep,
    SessionId,
    VersionedWriteDep,
    tag,
    versioned,
)
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.lists import Page
from app.schemas.states import State, StatePatch, StatePut, StateRestore

router = APIRouter(prefix="/sessions/{session_id}/state", tags=["State"], route_class=StrictRoute)


@router.get("", responses=documented(403, 404), operation_id="get_state")
async def get_state(session_id: SessionId, principal: PrincipalDep, services: ServicesDep, response: Response) -> State:
    """The session's current state: task, artifacts, environment and free fields. Version 0: none was written yet."""
    state = await services.states.get(principal, session_id)
    tag(response, state.version)
    return state


@router.put("", responses=documented(403, 404, 409, 412), operation_id="put_state")
async def put_state(
    session_id: SessionId,
    body: StatePut,
    write: VersionedWriteDep,
    services: ServicesDep,
    response: Response,
) -> State:
    """Replace the state. With If-Match or `version` only if nobody was faster."""
    return versioned(await services.states.put(write, session_id, body), response, State)


@router.patch("", responses=documented(403, 404, 409, 412), operation_id="patch_state")
async def patch_state(
    session_id: SessionId,
    body: StatePatch,
    write: VersionedWriteDep,
    services: ServicesDep,
    response: Response,
) -> State:
    """Change the state by JSON Merge Patch: objects are merged, null removes a field."""
    return versioned(await services.states.patch(write, session_id, body), response, State)


@router.get("/history", responses=documented(403, 404), operation_id="list_state_versions")
async def list_state_versions(
    session_id: SessionId,
    principal: PrincipalDep,
    services: ServicesDep,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
    count: CountQuery = False,
) -> Page[State]:
    """Every version of the state, newest first."""
    return await services.states.history(principal, session_id, cursor, limit, count=count)


@router.post("/restore", responses=documented(403, 404, 409, 412), operation_id="restore_state")
async def restore_state(
    session_id: SessionId,
    body: StateRestore,
    write: VersionedWriteDep,
    services: ServicesDep,
    response: Response,
) -> State:
    """Make an older version the newest again."""
    return versioned(await services.states.restore(write, session_id, body), response, State)
