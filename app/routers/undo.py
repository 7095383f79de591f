"""/v1/undo"""

from fastapi import APIRouter, Response

from app.routers.deps import ServicesDep, WriteDep, reply
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.undoing import Undo, Undone

router = APIRouter(prefix="/undo", tags=["Memories"], route_class=StrictRoute)


@router.post("", responses=documented(403, 404, 409), operation_id="undo")
async def undo(body: Undo, write: WriteDep, services: ServicesDep, response: Response) -> Undone:
    """Undo what a job, one change, or a bulk deletion did to memories.

    Every column is what it was, but for `version` and `updated_at`; what was added is deleted, and can be restored.
    History keeps all of it, with a line more. What was archived and found again since stays
    current (`left_ids`). It is a 409 where somebody has changed one of the memories since: nothing
    is undone then.
    """
    answer = await services.undoing.undo(write, body)
    reply(answer, response)
    return Undone.model_validate(answer.body)
