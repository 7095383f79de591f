"""/v1/sessions/{session_id}/messages"""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response

from app.routers.deps import (
    DEFAULT_PAGE,
    CountQuery,
    CursorQuery,
    LimitQuery,
    PrincipalDep,
    ServicesDep,
    SessionId,
    WriteDep,
    answer_as_json,
    as_json,
    reply,
)
from app.routers.direct import DirectRoute
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.lifecycle import ClearedMessages, PoppedMessage
from app.schemas.lists import Page
from app.schemas.messages import AppendBody, AppendedMessage, AppendedMessages, Message
from app.schemas.recall import RecallRequest, RecallResult

hot_router = APIRouter(prefix="/sessions/{session_id}/messages", tags=["Messages"], route_class=DirectRoute)
"""What an agent calls at every turn."""

router = APIRouter(prefix="/sessions/{session_id}/messages", tags=["Messages"], route_class=StrictRoute)

recall_router = APIRouter(prefix="/messages", tags=["Messages"], route_class=DirectRoute)

MAX_SEQ = 2**63 - 1


@hot_router.post(
    "",
    status_code=201,
    response_model=AppendedMessage | AppendedMessages,
    responses=documented(403, 409, 412),
    operation_id="append_messages",
)
async def append_messages(session_id: SessionId, body: AppendBody, write: WriteDep, services: ServicesDep) -> Response:
    """Append one message, or up to 1,000 with `{"messages": [...]}`: all are stored, or none.

    The session is made if it is absent. The answer is sent after the commit: what is acknowledged is kept, in this
    order, and can be searched by its words at once.
    """
    return answer_as_json(await services.messages.append(write.principal, session_id, body, write.claim))


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


@router.delete("/{seq}", status_code=204, responses=documented(403, 404, 409), operation_id="redact_message")
async def redact_message(
    session_id: SessionId,
    seq: Annotated[int, Path(ge=1, le=MAX_SEQ, description="The message's number in its session")],
    write: WriteDep,
    services: ServicesDep,
    response: Response,
) -> None:
    """Take a message's content away for good. Its place in the session stays, empty."""
    reply(await services.clearing.redact(write, session_id, seq), response)


@router.post("/pop", responses=documented(403, 404, 409), operation_id="pop_message")
async def pop_message(
    session_id: SessionId, write: WriteDep, services: ServicesDep, response: Response
) -> PoppedMessage:
    """Remove the last message and return it; of two callers at once each gets another one."""
    answer = await services.clearing.pop(write, session_id)
    reply(answer, response)
    return PoppedMessage.model_validate(answer.body)


@router.delete("", responses=documented(403, 404, 409), operation_id="clear_messages")
async def clear_messages(
    session_id: SessionId, write: WriteDep, services: ServicesDep, response: Response
) -> ClearedMessages:
    """Remove every message of a session. Numbers go on from where they were."""
    answer = await services.clearing.clear(write, session_id)
    reply(answer, response)
    return ClearedMessages.model_validate(answer.body)


@recall_router.post("/search", response_model=RecallResult, responses=documented(403), operation_id="search_messages")
async def search_messages(body: RecallRequest, principal: PrincipalDep, services: ServicesDep) -> Response:
    """Find what was said: by words, by meaning, by time and by who said it, in a session or in all of a user's."""
    return as_json(await services.recall.search(principal, body))
