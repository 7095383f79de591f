"""/v1/store"""

from fastapi import APIRouter, Response

from app.routers.deps import ServicesDep, WriteDep, reply
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.store import StoreBatch, StoreResults

router = APIRouter(prefix="/store", tags=["LangGraph"], route_class=StrictRoute)


@router.post("/batch", responses=documented(403, 409), operation_id="batch_store")
async def batch_store(body: StoreBatch, write: WriteDep, services: ServicesDep, response: Response) -> StoreResults:
    """Read, write, search and list a key-value store: one result for each operation, in their order.

    Operations are done one after the other, so that a `get` sees the `put` before it, and all of them or none. Items
    are searched by meaning and by words at once; `score` means the same as in every other search. A key that is bound
    to a user sees that user's items and no others.
    """
    answer = await services.store.batch(write, body)
    reply(answer, response)
    return StoreResults.model_validate(answer.body)
