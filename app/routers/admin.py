"""/v1/admin"""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query

from app.routers.deps import DEFAULT_PAGE, CountQuery, CursorQuery, LimitQuery, PrincipalDep, ServicesDep
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.access import (
    ApiKey,
    CreatedKey,
    KeyChange,
    KeyCreate,
    KeyRotation,
    Stats,
    Tenant,
    TenantCreate,
    TenantSettings,
)
from app.schemas.fields import Id
from app.schemas.lists import Page

router = APIRouter(prefix="/admin", tags=["Administration"], route_class=StrictRoute)

KeyId = Annotated[UUID, Path(description="The key's id")]
TenantQuery = Annotated[Id | None, Query(description="Another tenant's name; for operators")]


@router.post("/keys", status_code=201, responses=documented(403, 404), operation_id="create_api_key")
async def create_api_key(
    body: KeyCreate, principal: PrincipalDep, services: ServicesDep, tenant: TenantQuery = None
) -> CreatedKey:
    """Make an API key. Its secret is in the answer, once."""
    return await services.admin.create_key(principal, tenant, body)


@router.get("/keys", responses=documented(403, 404), operation_id="list_api_keys")
async def list_api_keys(
    principal: PrincipalDep,
    services: ServicesDep,
    tenant: TenantQuery = None,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
    count: CountQuery = False,
) -> Page[ApiKey]:
    """API keys, newest first, without their secrets."""
    return await services.admin.keys(principal, tenant, cursor, limit, count=count)


@router.patch("/keys/{key_id}", responses=documented(403, 404), operation_id="change_api_key")
async def change_api_key(
    key_id: KeyId, body: KeyChange, principal: PrincipalDep, services: ServicesDep, tenant: TenantQuery = None
) -> ApiKey:
    """Name an API key anew, or give it another limit or end. Every process follows within seconds."""
    return await services.admin.change_key(principal, tenant, key_id, body)


@router.post("/keys/{key_id}/rotate", status_code=201, responses=documented(403, 404), operation_id="rotate_api_key")
async def rotate_api_key(
    key_id: KeyId, body: KeyRotation, principal: PrincipalDep, services: ServicesDep, tenant: TenantQuery = None
) -> CreatedKey:
    """Make a new key with the rights of this one, which goes on working for a day, or as long as you say."""
    return await services.admin.rotate_key(principal, tenant, key_id, body)


@router.delete("/keys/{key_id}", status_code=204, responses=documented(403, 404), operation_id="revoke_api_key")
async def revoke_api_key(
    key_id: KeyId,
    principal: PrincipalDep,
    services: ServicesDep,
    tenant: TenantQuery = None,
) -> None:
    """Close an API key for good. Every process follows within seconds."""
    await services.admin.revoke_key(principal, tenant, key_id)


@router.post("/tenants", status_code=201, responses=documented(403, 409), operation_id="create_tenant")
async def create_tenant(body: TenantCreate, principal: PrincipalDep, services: ServicesDep) -> Tenant:
    """Make a tenant. For operators."""
    return await services.admin.create_tenant(principal, body)


@router.get("/tenants", responses=documented(403), operation_id="list_tenants")
async def list_tenants(
    principal: PrincipalDep,
    services: ServicesDep,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
    count: CountQuery = False,
) -> Page[Tenant]:
    """Tenants by age. For operators."""
    return await services.admin.tenants(principal, cursor, limit, count=count)


@router.get("/stats", responses=documented(403), operation_id="get_stats")
async def get_stats(principal: PrincipalDep, services: ServicesDep) -> Stats:
    """How much this tenant has of what."""
    return await services.admin.stats(principal)


@router.get("/settings", responses=documented(403), operation_id="get_tenant_settings")
async def get_tenant_settings(principal: PrincipalDep, services: ServicesDep) -> TenantSettings:
    """What is set for this tenant. These settings change while the service runs; all others need a restart."""
    return await services.admin.settings(principal)


@router.patch("/settings", responses=documented(403), operation_id="change_tenant_settings")
async def change_tenant_settings(
    body: TenantSettings, principal: PrincipalDep, services: ServicesDep
) -> TenantSettings:
    """Set what the body names; null goes back to the default. Every process follows within seconds."""
    return await services.admin.change_settings(principal, body)
