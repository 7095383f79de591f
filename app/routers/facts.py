"""/v1/users/{user_id}/facts and /v1/keys"""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from app.routers.deps import (
    DEFAULT_PAGE,
    CountQuery,
    CursorQuery,
    LimitQuery,
    PrincipalDep,
    ServicesDep,
    UserId,
    VersionedWriteDep,
    WriteDep,
    reply,
    tag,
    versioned,
)
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.facts import Fact, FactPut, FactVersion, KeyPut, MemoryKey
from app.schemas.fields import SegmentId
from app.schemas.lists import Page

router = APIRouter(prefix="/users/{user_id}/facts", tags=["Facts"], route_class=StrictRoute)
keys_router = APIRouter(prefix="/keys", tags=["Facts"], route_class=StrictRoute)

FactKey = Annotated[
    SegmentId, Path(description="A key or any alias of it: user.city, home.location, 居住地", examples=["user.city"])
]


@router.get("", responses=documented(403), operation_id="list_facts")
async def list_facts(
    user_id: UserId,
    principal: PrincipalDep,
    services: ServicesDep,
    prefix: Annotated[str, Query(max_length=255, description="Only keys that begin so, such as project.")] = "",
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
    count: CountQuery = False,
) -> Page[Fact]:
    """A user's facts by key."""
    return await services.facts.page(principal, user_id, prefix, cursor, limit, count=count)


@router.get("/{key}", responses=documented(403, 404), operation_id="get_fact")
async def get_fact(
    user_id: UserId, key: FactKey, principal: PrincipalDep, services: ServicesDep, response: Response
) -> Fact:
    """The current value under a key."""
    fact = await services.facts.get(principal, user_id, key)
    tag(response, fact.version)
    return fact


@router.get("/{key}/history", responses=documented(403, 404), operation_id="list_fact_versions")
async def list_fact_versions(
    user_id: UserId,
    key: FactKey,
    principal: PrincipalDep,
    services: ServicesDep,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
) -> Page[FactVersion]:
    """Every value that a key had, newest first, with the times for which each held."""
    return await services.facts.history(principal, user_id, key, cursor, limit)


@router.put(
    "/{key}",
    responses=documented(403, 409, 412) | {201: {"model": Fact, "description": "The key had no value before"}},
    operation_id="put_fact",
)
async def put_fact(
    user_id: UserId,
    key: FactKey,
    body: FactPut,
    write: VersionedWriteDep,
    services: ServicesDep,
    response: Response,
) -> Fact:
    """Set the value of a key. The one it had is superseded in the same moment and stays readable by history."""
    return versioned(await services.facts.put(write, user_id, key, body), response, Fact)


@router.delete("/{key}", status_code=204, responses=documented(403, 404, 409, 412), operation_id="delete_fact")
async def delete_fact(
    user_id: UserId, key: FactKey, write: VersionedWriteDep, services: ServicesDep, response: Response
) -> None:
    """Take a fact back."""
    reply(await services.facts.delete(write, user_id, key), response)


@keys_router.get("", responses=documented(403), operation_id="list_keys")
async def list_keys(
    principal: PrincipalDep,
    services: ServicesDep,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
    count: CountQuery = False,
) -> Page[MemoryKey]:
    """Canonical keys with their aliases: this tenant's own by name, then the built-in ones."""
    return await services.keys.page(principal, cursor, limit, count=count)


@keys_router.put("/{key}", responses=documented(403, 409), operation_id="put_key")
async def put_key(
    key: Annotated[SegmentId, Path(description="The canonical key")],
    body: KeyPut,
    write: WriteDep,
    services: ServicesDep,
    response: Response,
) -> MemoryKey:
    """Enter a canonical key of this tenant, or change it."""
    answer = await services.keys.put(write, key, body)
    reply(answer, response)
    return MemoryKey.model_validate(answer.body)


@keys_router.delete("/{key}", status_code=204, responses=documented(403, 404, 409), operation_id="delete_key")
async def delete_key(
    key: Annotated[SegmentId, Path(description="The canonical key")],
    write: WriteDep,
    services: ServicesDep,
    response: Response,
) -> None:
    """Forget a canonical key of this tenant; memories keep the key they have."""
    reply(await services.keys.delete(write, key), response)
