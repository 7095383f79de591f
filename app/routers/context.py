"""/v1/sessions/{session_id}/context"""

from typing import Annotated

from fastapi import APIRouter, Body, Response

from app.routers.deps import PrincipalDep, ServicesDep, SessionId, as_json
from app.routers.direct import DirectRoute
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.context import Context, ContextRequest, ContextWarm, Prepared

hot_router = APIRouter(prefix="/sessions/{session_id}/context", tags=["Context"], route_class=DirectRoute)
"""What an agent calls at every turn."""

router = APIRouter(prefix="/sessions/{session_id}/context", tags=["Context"], route_class=StrictRoute)


@hot_router.post("", responses=documented(403, 404), response_model=Context, operation_id="make_context")
async def make_context(
    session_id: SessionId,
    principal: PrincipalDep,
    services: ServicesDep,
    body: Annotated[ContextRequest, Body(default_factory=ContextRequest)],
) -> Response:
    """What the next call of a model should see: append the user's message, ask for this, send `messages` to the model.

    Core memory, a summary of what was said long ago, memories with their source and date, constraints, where the task
    stands, and the last messages as they were said: in an order that suits models and prompt caches, never above the
    token budget. What comes from memory is fenced as data.
    """
    return as_json(await services.contexts.make(principal, session_id, body))


@router.post("/prefetch", responses=documented(403, 404), operation_id="prefetch_context")
async def prefetch_context(
    session_id: SessionId,
    principal: PrincipalDep,
    services: ServicesDep,
    body: Annotated[ContextWarm, Body(default_factory=ContextWarm)],
) -> Prepared:
    """Look up the memories of the next context now, while somebody is still typing.

    The context asked for then uses them (`prefetched: true`) if the question has the same words and nothing has
    changed. After each message of a user this happens by itself.
    """
    return await services.prefetch.warm(principal, session_id, body)
