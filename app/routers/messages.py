"""/v1/sessions/{session_id}/messages"""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response

from app.routers.deps import (
    DEFAULT_PAGE,
    ClaimDep,
    CountQuery,
    CursorQuery,
    LimitQuery,
    PrincipalDep,
    ServicesDep,
    SessionId,
    reply,
)
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.lists import Page
from app.schemas.messages import AppendBody, AppendedMessage, AppendedMessages, Message

router = APIRouter(prefix="/sessions/{session_id}/messages", tags=["Messages"], route_class=StrictRoute)

MAX_SEQ = 2**63 - 1


@router.post("", status_code=201, responses=documented(403, 409, 412), operation_id="append_messages")
async def append_messages(
    session_id: SessionId,
    body: AppendBody,
    principal: PrincipalDep,
    services: ServicesDep,
    claim: ClaimDep,
    response: Response,
) -> AppendedMessage | AppendedMessages:
    """Append one message, or up to 1,000 with `{"messages": [...]}`: all are stored, or none.

    The session is made if it is absent. The answer is sent after the commit: what is acknowledged is kept, in this
    order, and can be searched by its words at once.
    """
    answer = await services.messages.append(principal, session_id, body, claim)
    reply(answer, response)
    if isinstance(answer.body, AppendedMessages):
        return answer.body
    return AppendedMessage.model_validate(answer.body)


@router.get("", responses=documented(403, 404), operation_id="list_messages")
async def list_messages(
    session_id: SessionId,
    principal: PrincipalDep,
    services: ServicesDep,
    from_seq: Annotated[int, Query(ge=0, le=MAX_SEQ, description="From this number on")] = 0,
    to_seq: Annotated[int | None, Query(ge=0, le=MAX_SEQ, description="Up to this number")] = None,
    order: Annotated[Literal["asc", "desc"], Query(description="asc: oldest first")] = "asc",
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
    count: CountQuery = False,
) -> Page[Message]:
    """A session's messages, by sequence number."""
    return await services.messages.page(
        principal,
        session_id,
        cursor,
        limit,
        newest_first=order == "desc",
        from_seq=from_seq,
        to_seq=to_seq,
        count=count,
    )


@router.get("/{seq}", responses=documented(403, 404), operation_id="get_message")
async def get_message(
    session_id: SessionId,
    seq: Annotated[int, Path(ge=1, le=MAX_SEQ, description="The message's number in its session")],
    principal: PrincipalDep,
    services: ServicesDep,
) -> Message:
    """One message."""
    return await services.messages.get(principal, session_id, seq)
