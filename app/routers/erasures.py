"""Erasing: DELETE /v1/users/{user_id} and /v1/erasures"""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Response

from app.routers.deps import PrincipalDep, ServicesDep, UserId, WaitQuery, WriteDep, reply
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.audit import AcceptedErasure, Erasure

router = APIRouter(tags=["Users"], route_class=StrictRoute)


@router.delete(
    "/users/{user_id}",
    status_code=202,
    responses=documented(403, 404, 409) | {200: {"model": AcceptedErasure, "description": "Waited, and finished"}},
    operation_id="erase_user",
)
async def erase_user(
    user_id: UserId, write: WriteDep, services: ServicesDep, response: Response, wait: WaitQuery = 0.0
) -> AcceptedErasure:
    """Erase everything of a user for good; export it before, if it is still needed.

    Sessions, messages, memories, vectors, words, summaries, blocks, checkpoints, stored items, cached answers and jobs
    go; so does what other levels learnt from this user's sessions alone. Keys that are bound to this user alone are
    closed. Calls that began before cannot bring the user back (409 `user_erased`). The receipt has counts by table.
    """
    answer = await services.erasures.erase(write, user_id, wait)
    reply(answer, response)
    return AcceptedErasure.model_validate(answer.body)


@router.get("/erasures/{erasure_id}", responses=documented(403, 404), operation_id="get_erasure")
async def get_erasure(
    erasure_id: Annotated[UUID, Path(description="The erasure's id")], principal: PrincipalDep, services: ServicesDep
) -> Erasure:
    """The receipt of an erasure: what was removed, and where the audit log stood when it was finished."""
    return await services.erasures.get(principal, erasure_id)
