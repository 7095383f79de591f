"""/v1/users/{user_id}/reflect and /dream: insights, and memories put in order"""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Response

from app.routers.deps import (
    DEFAULT_PAGE,
    CursorQuery,
    LimitQuery,
    PrincipalDep,
    ServicesDep,
    UserId,
    VersionedWriteDep,
    WaitQuery,
    WriteDep,
    reply,
    tag,
)
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.dreams import Dream, Dreamed, DreamEdit, DreamRequest
from app.schemas.insights import Reflected, ReflectRequest
from app.schemas.lists import Page

router = APIRouter(prefix="/users", tags=["Users"], route_class=StrictRoute)

DreamId = Annotated[UUID, Path(description="The dream's id")]


@router.post(
    "/{user_id}/reflect",
    responses=documented(403, 404, 409) | {202: {"model": Reflected, "description": "A job does it"}},
    operation_id="reflect_on_user",
)
async def reflect_on_user(
    user_id: UserId,
    body: ReflectRequest,
    write: WriteDep,
    services: ServicesDep,
    response: Response,
    wait: WaitQuery = 0.0,
) -> Reflected:
    """Conclude what a user's new memories say together: three insights, each with the memories that bear it.

    A language model draws them and is checked; without one, patterns are counted, and the insight says so. Insights are
    memories with source `derived`, never facts and never evidence. Where less has come together than the tenant's
    settings ask, nothing is concluded, unless `force` is set. `undo_id` undoes all of it.
    """
    answer = await services.jobs.settled(write.principal, await services.reflection.ask(write, user_id, body), wait)
    reply(answer, response)
    return Reflected.model_validate(answer.body)


@router.post(
    "/{user_id}/dream",
    responses=documented(403, 404, 409) | {202: {"model": Dreamed, "description": "A job does it"}},
    operation_id="dream_of_user",
)
async def dream_of_user(
    user_id: UserId,
    body: DreamRequest,
    write: WriteDep,
    services: ServicesDep,
    response: Response,
    wait: WaitQuery = 0.0,
) -> Dreamed:
    """Put a user's memories in order: look again at past messages, merge what says the same, make dates absolute.

    Contradictions go to conflict resolution, and facts that have replaced others get a note of how it came about. All
    of it is one job, which `undo_id` undoes. `dry_run` changes nothing and keeps a proposal with a readable diff, to be
    edited, applied or rejected.
    """
    answer = await services.jobs.settled(write.principal, await services.dreams.ask(write, user_id, body), wait)
    reply(answer, response)
    return Dreamed.model_validate(answer.body)


@router.get("/{user_id}/dreams", responses=documented(403, 404), operation_id="list_dreams")
async def list_dreams(
    user_id: UserId,
    principal: PrincipalDep,
    services: ServicesDep,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
) -> Page[Dream]:
    """A user's dreams of the last 30 days, newest first: proposed, applied and rejected ones."""
    return await services.dreams.page(principal, user_id, cursor, limit)


@router.get("/{user_id}/dreams/{dream_id}", responses=documented(403, 404), operation_id="get_dream")
async def get_dream(
    user_id: UserId, dream_id: DreamId, principal: PrincipalDep, services: ServicesDep, response: Response
) -> Dream:
    """One dream with its changes and the diff of those that are accepted."""
    dream = await services.dreams.get(principal, user_id, dream_id)
    tag(response, dream.version)
    return dream


@router.patch("/{user_id}/dreams/{dream_id}", responses=documented(403, 404, 409, 412), operation_id="edit_dream")
async def edit_dream(
    user_id: UserId,
    dream_id: DreamId,
    body: DreamEdit,
    write: VersionedWriteDep,
    services: ServicesDep,
    response: Response,
) -> Dream:
    """Edit a proposal: refuse single changes, or give them another text."""
    answer = await services.dreams.edit(write, user_id, dream_id, body)
    reply(answer, response)
    dream = Dream.model_validate(answer.body)
    tag(response, dream.version)
    return dream


@router.post(
    "/{user_id}/dreams/{dream_id}/apply",
    responses=documented(403, 404, 409, 412) | {202: {"model": Dreamed, "description": "A job does it"}},
    operation_id="apply_dream",
)
async def apply_dream(
    user_id: UserId,
    dream_id: DreamId,
    write: VersionedWriteDep,
    services: ServicesDep,
    response: Response,
    wait: WaitQuery = 0.0,
) -> Dreamed:
    """Do what is accepted of a proposal. What somebody has changed since stays as it is."""
    answer = await services.dreams.apply(write, user_id, dream_id)
    answer = await services.jobs.settled(write.principal, answer, wait)
    reply(answer, response)
    return Dreamed.model_validate(answer.body)


@router.post(
    "/{user_id}/dreams/{dream_id}/reject", responses=documented(403, 404, 409, 412), operation_id="reject_dream"
)
async def reject_dream(
    user_id: UserId, dream_id: DreamId, write: VersionedWriteDep, services: ServicesDep, response: Response
) -> Dream:
    """Drop a proposal: nothing of it is done."""
    answer = await services.dreams.reject(write, user_id, dream_id)
    reply(answer, response)
    return Dream.model_validate(answer.body)
