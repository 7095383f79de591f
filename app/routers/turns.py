"""/v1/sessions/{session_id}/turns and /resume"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.routers.deps import PrincipalDep, ServicesDep, SessionId, WriteDep, reply
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.turns import Resumed, Turn, TurnCreate

router = APIRouter(prefix="/sessions/{session_id}", tags=["State"], route_class=StrictRoute)


@router.post("/turns", status_code=201, responses=documented(403, 404, 409, 412), operation_id="write_turn")
async def write_turn(
    session_id: SessionId, body: TurnCreate, write: WriteDep, services: ServicesDep, response: Response
) -> Turn:
    """Append a turn's messages, write the state after it and take a checkpoint, all or nothing.

    One transaction: whoever is killed in the middle finds all of it or nothing. `expected_seq`, `state.version` and the
    checkpoint's `compare_and_set` compare before anything stays. The session is made if it is absent and there are
    messages.
    """
    answer = await services.turns.write(write, session_id, body)
    reply(answer, response)
    return Turn.model_validate(answer.body)


@router.get("/resume", responses=documented(403, 404), operation_id="resume_session")
async def resume_session(
    session_id: SessionId,
    principal: PrincipalDep,
    services: ServicesDep,
    messages: Annotated[int, Query(ge=0, le=200, description="How many of the last messages to show")] = 10,
) -> Resumed:
    """Where was I: the task with its next step, the state, the last summary and messages, calls without an answer."""
    return await services.turns.resume(principal, session_id, messages)
