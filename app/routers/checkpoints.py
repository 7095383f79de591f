"""/v1/checkpoints"""

from fastapi import APIRouter, Response

from app.routers.deps import PrincipalDep, ServicesDep, WriteDep, answer_as_json, as_json, reply
from app.routers.direct import DirectRoute
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.checkpoints import (
    CheckpointGet,
    CheckpointList,
    CheckpointPlace,
    CheckpointPut,
    CheckpointTuple,
    CheckpointWrites,
    CopiedCheckpoints,
    DeletedCheckpoints,
    DeletedThreads,
    FoundCheckpoint,
    RunsDelete,
    StoredWrites,
    ThreadCopy,
    ThreadDelete,
    ThreadsPrune,
)
from app.schemas.lists import Page

hot_router = APIRouter(prefix="/checkpoints", tags=["LangGraph"], route_class=DirectRoute)
"""What an agent calls at every step."""

router = APIRouter(prefix="/checkpoints", tags=["LangGraph"], route_class=StrictRoute)


@hot_router.put("", response_model=CheckpointPlace, responses=documented(403, 409), operation_id="put_checkpoint")
async def put_checkpoint(body: CheckpointPut, write: WriteDep, services: ServicesDep) -> Response:
    """Store a checkpoint of a thread, which is made if it is absent, with those of its values that are new.

    A value is kept once for each channel and version: a channel that has not changed is not sent again. The service
    never looks into documents and values; metadata is redacted like everything that clients write.
    """
    return answer_as_json(await services.checkpoints.put(write, body))


@hot_router.post("/writes", response_model=StoredWrites, responses=documented(403, 409), operation_id="put_writes")
async def put_writes(body: CheckpointWrites, write: WriteDep, services: ServicesDep) -> Response:
    """Store what a task has written, so that a run that is resumed does not compute it twice."""
    return answer_as_json(await services.checkpoints.put_writes(write, body))


@hot_router.post("/get", response_model=FoundCheckpoint, responses=documented(403), operation_id="get_checkpoint")
async def get_checkpoint(body: CheckpointGet, principal: PrincipalDep, services: ServicesDep) -> Response:
    """A checkpoint by its id, or the newest of a namespace, with its values and pending writes."""
    return as_json(await services.checkpoints.get(principal, body))


@router.post("/list", response_model=Page[CheckpointTuple], responses=documented(403), operation_id="list_checkpoints")
async def list_checkpoints(body: CheckpointList, principal: PrincipalDep, services: ServicesDep) -> Response:
    """Checkpoints, newest first: of a thread or of all, of a namespace or of all."""
    return as_json(await services.checkpoints.page(principal, body))


@router.post("/copy", responses=documented(403, 404, 409), operation_id="copy_thread")
async def copy_thread(
    body: ThreadCopy, write: WriteDep, services: ServicesDep, response: Response
) -> CopiedCheckpoints:
    """Copy a thread with everything in it under another id."""
    answer = await services.checkpoints.copy(write, body)
    reply(answer, response)
    return CopiedCheckpoints.model_validate(answer.body)


@router.post("/prune", responses=documented(403, 409), operation_id="prune_threads")
async def prune_threads(
    body: ThreadsPrune, write: WriteDep, services: ServicesDep, response: Response
) -> DeletedCheckpoints:
    """Keep the newest checkpoint of each namespace of some threads, or nothing. No value goes that is still named."""
    answer = await services.checkpoints.prune(write, body)
    reply(answer, response)
    return DeletedCheckpoints.model_validate(answer.body)


@router.post("/delete-runs", responses=documented(403, 409), operation_id="delete_runs")
async def delete_runs(
    body: RunsDelete, write: WriteDep, services: ServicesDep, response: Response
) -> DeletedCheckpoints:
    """Delete the checkpoints of some runs with their writes, and the values that nothing names any more."""
    answer = await services.checkpoints.delete_runs(write, body)
    reply(answer, response)
    return DeletedCheckpoints.model_validate(answer.body)


@router.post("/delete-thread", responses=documented(403, 409), operation_id="delete_thread")
async def delete_thread(
    body: ThreadDelete, write: WriteDep, services: ServicesDep, response: Response
) -> DeletedThreads:
    """Delete a thread: every namespace, every checkpoint, value and write. An absent one is gone already."""
    answer = await services.checkpoints.delete_thread(write, body)
    reply(answer, response)
    return DeletedThreads.model_validate(answer.body)
