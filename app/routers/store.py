"""/v1/store"""

from fastapi import APIRouter, Response

from app.routers.deps import ServicesDep, WriteDep, answer_as_json
from app.routers.direct import DirectRoute
from app.routers.problems import documented
from app.schemas.store import StoreBatch, StoreResults

router = APIRouter(prefix="/store", tags=["LangGraph"], route_class=DirectRoute)


@router.post("/batch", response_model=StoreResults, responses=documented(403, 409), operation_id="batch_store")
async def batch_store(body: StoreBatch, write: WriteDep, services: ServicesDep) -> Response:
    """Read, write, search and list a key-value store: one result for each operation, in their order.

    Operations are done one after the other, so that a `get` sees the `put` before it, and all of them or none. Items
    are searched by meaning and by words at once; `score` means the same as in every other search. A key that is bound
    to a user sees that user's items and no others.
    """
    return answer_as_json(await services.store.batch(write, body))
