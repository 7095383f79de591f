"""/v1/memories: many at once, and what is done with one that was read"""

from typing import Annotated

from fastapi import APIRouter, Body, Response

from app.routers.deps import MemoryId, PrincipalDep, ServicesDep, VersionedWriteDep, WaitQuery, WriteDep, reply, tag
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.curation import Feedback, Judgement, MemoriesDelete, MemoriesDeleted, MemoriesFound, MemoriesGet
from app.schemas.memories import Memory
from app.services.answers import Answer

JudgementBody = Annotated[Judgement, Body(default_factory=Judgement)]

router = APIRouter(prefix="/memories", tags=["Memories"], route_class=StrictRoute)


@router.post("/get", responses=documented(403), operation_id="get_memories")
async def get_memories(body: MemoriesGet, principal: PrincipalDep, services: ServicesDep) -> MemoriesFound:
    """Memories by their ids, in that order; `missing` are ids under which there is none."""
    return await services.bulk.get(principal, body)


@router.post(
    "/delete",
    responses=documented(403, 409) | {202: {"model": MemoriesDeleted, "description": "A job deletes them"}},
    operation_id="delete_memories",
)
async def delete_memories(
    body: MemoriesDelete, write: WriteDep, services: ServicesDep, response: Response, wait: WaitQuery = 0.0
) -> MemoriesDeleted:
    """Delete every memory that matches the scope fields and the filter.

    At least one of them is needed: this never deletes everything. `dry_run` says what would go. All go in one
    transaction; above 10,000 a job deletes them and the answer is a 202.
    """
    answer = await services.jobs.settled(write.principal, await services.bulk.delete(write, body), wait)
    reply(answer, response)
    return MemoriesDeleted.model_validate(answer.body)


@router.post("/{memory_id}/restore", responses=documented(403, 404, 409, 412), operation_id="restore_memory")
async def restore_memory(
    memory_id: MemoryId, write: VersionedWriteDep, services: ServicesDep, response: Response
) -> Memory:
    """Make a memory current again that was deleted, archived, superseded or has expired."""
    return _memory(await services.curation.restore(write, memory_id), response)


@router.post("/{memory_id}/confirm", responses=documented(403, 404, 409, 412), operation_id="confirm_memory")
async def confirm_memory(
    memory_id: MemoryId, body: JudgementBody, write: VersionedWriteDep, services: ServicesDep, response: Response
) -> Memory:
    """Vouch for a memory: an uncertain one is served as fact from now on."""
    return _memory(await services.curation.confirm(write, memory_id, body), response)


@router.post("/{memory_id}/reject", responses=documented(403, 404, 409, 412), operation_id="reject_memory")
async def reject_memory(
    memory_id: MemoryId, body: JudgementBody, write: VersionedWriteDep, services: ServicesDep, response: Response
) -> Memory:
    """Say that a memory is not so: it is deleted, and its history says that it was rejected."""
    return _memory(await services.curation.reject(write, memory_id, body), response)


@router.post("/{memory_id}/feedback", responses=documented(403, 404, 409, 412), operation_id="give_feedback")
async def give_feedback(
    memory_id: MemoryId, body: Feedback, write: VersionedWriteDep, services: ServicesDep, response: Response
) -> Memory:
    """Say how a memory served: used, ignored, or wrong, which halves its confidence."""
    return _memory(await services.curation.feedback(write, memory_id, body), response)


def _memory(answer: Answer, response: Response) -> Memory:
    reply(answer, response)
    memory = Memory.model_validate(answer.body)
    tag(response, memory.version)
    return memory
