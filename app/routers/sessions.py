"""/v1/sessions"""

from typing import Annotated

from fastapi import APIRouter, Body, Query, Response

from app.domain.session import SessionStatus
from app.routers.deps import (
    DEFAULT_PAGE,
    ClaimDep,
    CountQuery,
    CursorQuery,
    IfMatchDep,
    LimitQuery,
    PrincipalDep,
    ServicesDep,
    SessionId,
    WaitQuery,
    WriteDep,
    reply,
    tag,
)
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.fields import Id
from app.schemas.lifecycle import SessionFork
from app.schemas.lists import Page
from app.schemas.sessions import ClosedSession, Session, SessionChange, SessionCreate

router = APIRouter(prefix="/sessions", tags=["Sessions"], route_class=StrictRoute)

UserQuery = Annotated[Id | None, Query(description="Only this user's")]
AgentQuery = Annotated[Id | None, Query(description="Only this agent's")]
AppQuery = Annotated[Id | None, Query(description="Only this app's")]


@router.post("", status_code=201, responses=documented(403, 409), operation_id="create_session")
async def create_session(
    body: SessionCreate, principal: PrincipalDep, services: ServicesDep, claim: ClaimDep, response: Response
) -> Session:
    """Open a session.

    Not needed before appending messages: that opens one by itself.
    """
    answer = await services.sessions.create(principal, body, claim)
    reply(answer, response)
    session = Session.model_validate(answer.body)
    tag(response, session.version)
    return session


@router.get("", responses=documented(403), operation_id="list_sessions")
async def list_sessions(
    principal: PrincipalDep,
    services: ServicesDep,
    user_id: UserQuery = None,
    agent_id: AgentQuery = None,
    app_id: AppQuery = None,
    status: Annotated[SessionStatus | None, Query(description="Only open or only closed ones")] = None,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
    count: CountQuery = False,
) -> Page[Session]:
    """Sessions, newest first."""
    named = {"user_id": user_id, "agent_id": agent_id, "app_id": app_id, "status": status}
    filters = {name: value for name, value in named.items() if value is not None}
    return await services.sessions.page(principal, filters, cursor, limit, count=count)


@router.get("/{session_id}", responses=documented(403, 404), operation_id="get_session")
async def get_session(
    session_id: SessionId, principal: PrincipalDep, services: ServicesDep, response: Response
) -> Session:
    """One session."""
    session = await services.sessions.get(principal, session_id)
    tag(response, session.version)
    return session


@router.patch("/{session_id}", responses=documented(403, 404, 409, 412), operation_id="change_session")
async def change_session(
    session_id: SessionId,
    body: SessionChange,
    principal: PrincipalDep,
    services: ServicesDep,
    if_match: IfMatchDep,
    claim: ClaimDep,
    response: Response,
) -> Session:
    """Change a session's title, zone, metadata, memory mode or expiry."""
    answer = await services.sessions.change(principal, session_id, body, if_match, claim)
    reply(answer, response)
    session = Session.model_validate(answer.body)
    tag(response, session.version)
    return session


@router.post("/{session_id}/close", responses=documented(403, 404, 409), operation_id="close_session")
async def close_session(
    session_id: SessionId, write: WriteDep, services: ServicesDep, response: Response, wait: WaitQuery = 0.0
) -> ClosedSession:
    """Close a session: it takes no more messages until it is reopened.

    Jobs learn from what nobody has learnt from yet and make its last summary, of all of it; `wait` waits for them.
    """
    answer = await services.jobs.closed(write.principal, await services.lifecycle.close(write, session_id), wait)
    reply(answer, response)
    return ClosedSession.model_validate(answer.body)


@router.post("/{session_id}/reopen", responses=documented(403, 404, 409), operation_id="reopen_session")
async def reopen_session(session_id: SessionId, write: WriteDep, services: ServicesDep, response: Response) -> Session:
    """Open a closed session again."""
    answer = await services.lifecycle.reopen(write, session_id)
    reply(answer, response)
    return Session.model_validate(answer.body)


@router.post("/{session_id}/fork", status_code=201, responses=documented(403, 404, 409), operation_id="fork_session")
async def fork_session(
    session_id: SessionId,
    body: Annotated[SessionFork, Body(default_factory=SessionFork)],
    write: WriteDep,
    services: ServicesDep,
    response: Response,
) -> Session:
    """Copy a session with its messages up to a number, and its state and summaries as they were then.

    Memories stay where they are, with whom they belong to.
    """
    answer = await services.lifecycle.fork(write, session_id, body)
    reply(answer, response)
    return Session.model_validate(answer.body)


@router.delete("/{session_id}", status_code=204, responses=documented(403, 404, 409), operation_id="delete_session")
async def delete_session(
    session_id: SessionId,
    principal: PrincipalDep,
    services: ServicesDep,
    claim: ClaimDep,
    response: Response,
    memories: Annotated[bool, Query(description="Delete the memories too that come from this session alone")] = False,
) -> None:
    """Delete a session with its messages.

    Memories that were drawn from it stay, with their quotes; memories scoped to it go with it.
    """
    reply(await services.sessions.delete(principal, session_id, claim, memories=memories), response)
