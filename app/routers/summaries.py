"""/v1/sessions/{session_id}/summary and what a session is taken up again with"""

from typing import Annotated

from fastapi import APIRouter, Body, Response

from app.routers.deps import PrincipalDep, ServicesDep, SessionId, WriteDep, reply
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.summaries import Summary, SummaryFold

router = APIRouter(prefix="/sessions/{session_id}/summary", tags=["Summaries"], route_class=StrictRoute)


@router.get("", responses=documented(403, 404), operation_id="get_summary")
async def get_summary(session_id: SessionId, principal: PrincipalDep, services: ServicesDep) -> Summary:
    """The session's rolling summary, each sentence with the messages that it comes from, and the tree behind it.

    Messages of the last turns are not in it: they are still served as they were said.
    """
    return await services.summaries.get(principal, session_id)


@router.post("", responses=documented(403, 404, 409), operation_id="fold_summary")
async def fold_summary(
    session_id: SessionId,
    write: WriteDep,
    services: ServicesDep,
    response: Response,
    body: Annotated[SummaryFold, Body(default_factory=SummaryFold)],
) -> Summary:
    """Fold now what lies before the last turns. It happens by itself in the background; 409 if there is nothing."""
    answer = await services.folding.fold_now(write, session_id, body)
    reply(answer, response)
    return Summary.model_validate(answer.body)
