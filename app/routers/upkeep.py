"""/v1/users/{user_id}: forgetting and consolidation, asked for by hand; how well memories serve"""

from fastapi import APIRouter, Response

from app.routers.deps import PrincipalDep, ServicesDep, UserId, WaitQuery, WriteDep, reply
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.forgetting import Consolidated, ConsolidateRequest, Maintained, MaintainRequest, MemoryHealth

router = APIRouter(prefix="/users", tags=["Users"], route_class=StrictRoute)
admin_router = APIRouter(prefix="/admin", tags=["Administration"], route_class=StrictRoute)


@router.post(
    "/{user_id}/maintain",
    responses=documented(403, 404, 409) | {202: {"model": Maintained, "description": "A job does it"}},
    operation_id="maintain_user",
)
async def maintain_user(
    user_id: UserId,
    body: MaintainRequest,
    write: WriteDep,
    services: ServicesDep,
    response: Response,
    wait: WaitQuery = 0.0,
) -> Maintained:
    """Apply the tenant's rules of forgetting to a user's memories now, which a job does every day otherwise.

    What nobody uses is archived, old episodes about one thing after they were condensed to a digest; what is past its
    time expires; important facts that were not mentioned for long are marked to be confirmed. Pinned memories,
    constraints and facts under a key never fade. `dry_run` says what would happen. `undo_id` undoes all of it.
    """
    answer = await services.jobs.settled(write.principal, await services.maintenance.ask(write, user_id, body), wait)
    reply(answer, response)
    return Maintained.model_validate(answer.body)


@router.post(
    "/{user_id}/consolidate",
    responses=documented(403, 404, 409) | {202: {"model": Consolidated, "description": "A job does it"}},
    operation_id="consolidate_user",
)
async def consolidate_user(
    user_id: UserId,
    body: ConsolidateRequest,
    write: WriteDep,
    services: ServicesDep,
    response: Response,
    wait: WaitQuery = 0.0,
) -> Consolidated:
    """Make one memory of those that say the same: the newest wording stays, with all sources and counts of the others.

    Contradictions that are met go to conflict resolution; long memories are shortened where there is a language model,
    and every number and name stays. `dry_run` says what would happen. `undo_id` undoes all of it.
    """
    answer = await services.jobs.settled(write.principal, await services.consolidation.ask(write, user_id, body), wait)
    reply(answer, response)
    return Consolidated.model_validate(answer.body)


@router.get("/{user_id}/health", responses=documented(403, 404), operation_id="get_user_memory_health")
async def get_user_memory_health(user_id: UserId, principal: PrincipalDep, services: ServicesDep) -> MemoryHealth:
    """How well a user's memories serve: junk, noise, contradictions, duplicates, and what was never used."""
    return await services.memory_health.of_user(principal, user_id)


@admin_router.get("/memory-health", responses=documented(403), operation_id="get_memory_health")
async def get_memory_health(principal: PrincipalDep, services: ServicesDep) -> MemoryHealth:
    """The same for all memories of this tenant. It reads all of them: ask now and then."""
    return await services.memory_health.of_tenant(principal)
