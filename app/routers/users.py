"""/v1/users and /v1/me"""

from fastapi import APIRouter, Response

from app.routers.deps import (
    DEFAULT_PAGE,
    CountQuery,
    CursorQuery,
    LimitQuery,
    PrincipalDep,
    ServicesDep,
    UserId,
    WriteDep,
    reply,
)
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.access import Me
from app.schemas.lists import Page
from app.schemas.users import MergedUser, User, UserChange, UserMerge

router = APIRouter(prefix="/users", tags=["Users"], route_class=StrictRoute)
me_router = APIRouter(prefix="/me", tags=["Users"], route_class=StrictRoute)


@router.get("", responses=documented(403), operation_id="list_users")
async def list_users(
    principal: PrincipalDep,
    services: ServicesDep,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
    count: CountQuery = False,
) -> Page[User]:
    """Users by id. A user is entered when a session, message or memory first names one."""
    return await services.users.page(principal, cursor, limit, count=count)


@router.get("/{user_id}", responses=documented(403, 404), operation_id="get_user")
async def get_user(user_id: UserId, principal: PrincipalDep, services: ServicesDep) -> User:
    """One user."""
    return await services.users.get(principal, user_id)


@router.patch("/{user_id}", responses=documented(403, 404, 409), operation_id="change_user")
async def change_user(
    user_id: UserId, body: UserChange, write: WriteDep, services: ServicesDep, response: Response
) -> User:
    """Set a user's time zone or metadata."""
    answer = await services.users.change(write, user_id, body)
    reply(answer, response)
    return User.model_validate(answer.body)


@router.post("/{user_id}/merge", responses=documented(403, 404, 409), operation_id="merge_users")
async def merge_users(
    user_id: UserId, body: UserMerge, write: WriteDep, services: ServicesDep, response: Response
) -> MergedUser:
    """Two ids, one person: everything of `from_user_id` becomes this user's."""
    answer = await services.users.merge(write, user_id, body)
    reply(answer, response)
    return MergedUser.model_validate(answer.body)


@me_router.get("", operation_id="get_me")
async def get_me(principal: PrincipalDep) -> Me:
    """Whose key this is, and what it may do."""
    return Me(
        tenant_id=str(principal.tenant_id),
        key_id=str(principal.key_id),
        name=principal.name,
        role=principal.role,
        scopes=sorted(principal.scopes),
        user_ids=None if principal.user_ids is None else sorted(principal.user_ids),
    )
