"""Administration: keys and settings of one's own tenant; tenants, for operators."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from app.core import clock, ids
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.domain.principal import ROLE_SCOPES, Principal
from app.repositories.base import Row, RowLike
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
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.services.access import AccessService, IssuedKey, key_row, new_secret
from app.services.embedding import Embedder
from app.services.writing import no_sealing
from app.uow import UnitOfWork


@dataclass(frozen=True, slots=True)
class AdminService:
    """The use cases of administration. Every one needs the scope `admin` and a key that is bound to nobody."""

    uow: UnitOfWork
    embedder: Embedder
    access: AccessService

    async def create_key(self, principal: Principal, tenant: str | None, request: KeyCreate) -> CreatedKey:
        """Make a key with no more rights than the maker has."""
        principal.require_administration()
        wanted = ROLE_SCOPES[request.role] if request.scopes is None else frozenset(request.scopes)
        beyond_role = sorted(wanted - ROLE_SCOPES[request.role])
        if beyond_role:
            raise Forbidden(f"The role {request.role} has no scope {', '.join(beyond_role)}.", code="beyond_role")
        _check_rights(principal, {"scopes": wanted, "role": request.role})
        _check_end(request.expires_at)
        tenant_id = await tenant_meant(self.uow, principal, tenant)
        issued = IssuedKey(ids.new_id(), new_secret())
        row = key_row(
            issued,
            tenant_id=tenant_id,
            name=request.name,
            role=request.role,
            user_ids=request.user_ids,
            expires_at=request.expires_at,
            rate_limit=request.rate_limit,
        ) | {"scopes": sorted(wanted)}
        async with self.uow.begin_global(tenant_id) as tx:
            await tx.access.add_key(row)
        blank = {"revoked_at": None, "last_used_at": None}
        return CreatedKey(**_key(row | blank).model_dump(), key=issued.secret)

    async def keys(
        self, principal: Principal, tenant: str | None, cursor: str | None, limit: int, *, count: bool
    ) -> Page[ApiKey]:
        """Keys, newest first."""
        principal.require_administration()
        before = decode_cursor(cursor, UUID)
        tenant_id = await tenant_meant(self.uow, principal, tenant)
        async with self.uow.begin_global() as tx:
            rows = await tx.access.keys_page(tenant_id, None if before is None else before[0], limit + 1)
            total = await tx.access.keys_count(tenant_id) if count else None
        more = len(rows) > limit
        return Page(
            results=[_key(row) for row in rows[:limit]],
            next_cursor=encode_cursor(rows[limit - 1]["id"]) if more else None,
            total=total,
        )

    async def revoke_key(self, principal: Principal, tenant: str | None, key_id: UUID) -> None:
        """Close a key for good. Raises `Forbidden` where it has rights that the caller has not."""
        principal.require_administration()
        tenant_id = await tenant_meant(self.uow, principal, tenant)
        async with self.uow.begin_global(tenant_id) as tx:
            _check_rights(principal, _open(await tx.access.key(key_id, tenant_id)))
        if not await self.access.revoke(key_id, tenant_id):
            raise NotFound("There is no such key that is open.", code="key_not_found")

    async def change_key(self, principal: Principal, tenant: str | None, key_id: UUID, request: KeyChange) -> ApiKey:
        """Name a key anew, or give it another limit or end. Raises `Forbidden` as `revoke_key` does."""
        principal.require_administration()
        _check_end(request.expires_at)
        tenant_id = await tenant_meant(self.uow, principal, tenant)
        async with self.uow.begin_global(tenant_id) as tx:
            row = _open(await tx.access.key(key_id, tenant_id))
            _check_rights(principal, row)
            values = request.model_dump(include=request.model_fields_set)
            await tx.access.set_key(key_id, values)
        self.access.forget()
        return _key({**row, **values})

    async def rotate_key(
        self, principal: Principal, tenant: str | None, key_id: UUID, request: KeyRotation
    ) -> CreatedKey:
        """A new key with the rights of an old one, which goes on working for a while.

        Raises:
            NotFound: There is no such key that is open.
            Forbidden: The key has rights that the caller has not.
        """
        principal.require_administration()
        tenant_id = await tenant_meant(self.uow, principal, tenant)
        issued, at = IssuedKey(ids.new_id(), new_secret()), clock.now()
        async with self.uow.begin_global(tenant_id) as tx:
            old = _open(await tx.access.key(key_id, tenant_id))
            _check_rights(principal, old)
            ends = at + timedelta(seconds=request.overlap_seconds)
            await tx.access.set_key(key_id, {"expires_at": min(ends, old["expires_at"] or ends)})
            kept = {name: old[name] for name in ("tenant_id", "name", "role", "user_ids", "expires_at", "rate_limit")}
            row = key_row(issued, **kept) | {"scopes": old["scopes"]}
            await tx.access.add_key(row)
        self.access.forget()
        blank = {"revoked_at": None, "last_used_at": None}
        return CreatedKey(**_key(row | blank).model_dump(), key=issued.secret)

    async def create_tenant(self, principal: Principal, request: TenantCreate) -> Tenant:
        """Make a tenant. Raises `Conflict` where the name is taken."""
        require_operator(principal)
        async with self.uow.begin_global() as tx:
            if await tx.access.tenant_by_name(request.name) is not None:
                raise Conflict("This name is taken.", code="id_taken")
            await tx.access.ensure_tenant(ids.new_id(), request.name, clock.now())
            return _tenant(_there(await tx.access.tenant_by_name(request.name)))

    async def tenants(self, principal: Principal, cursor: str | None, limit: int, *, count: bool) -> Page[Tenant]:
        """Tenants by age."""
        require_operator(principal)
        after = decode_cursor(cursor, UUID)
        async with self.uow.begin_global() as tx:
            rows = await tx.access.tenants_page(None if after is None else after[0], limit + 1)
            total = await tx.access.tenants_count() if count else None
        more = len(rows) > limit
        return Page(
            results=[_tenant(row) for row in rows[:limit]],
            next_cursor=encode_cursor(rows[limit - 1]["id"]) if more else None,
            total=total,
        )

    async def stats(self, principal: Principal) -> Stats:
        """How much the tenant has of what."""
        principal.require_administration()
        async with self.uow.begin_tenant(principal.tenant_id) as tx:
            counts = await tx.stats.counts()
            memories = await tx.stats.memories_by_status()
            jobs = await tx.stats.jobs_by_state()
        return Stats(**counts, memories=memories, jobs=jobs, embedding_model=self.embedder.serving)

    async def settings(self, principal: Principal) -> TenantSettings:
        """The tenant's settings."""
        principal.require_administration()
        async with self.uow.begin_global() as tx:
            return _settings(_there(await tx.access.tenant(principal.tenant_id))["settings"])

    async def change_settings(self, principal: Principal, request: TenantSettings) -> TenantSettings:
        """Set what the request names; other processes follow within seconds."""
        principal.require_administration()
        if (request.redaction == "seal" or request.sensitive_keys) and self.uow.ring.current is None:
            raise no_sealing()
        named: dict[str, Any] = request.model_dump(mode="json", exclude_unset=True)
        async with self.uow.begin_global() as tx:
            settings = await tx.access.merge_settings(principal.tenant_id, named)
        self.access.forget()
        return _settings(settings)


async def tenant_meant(uow: UnitOfWork, principal: Principal, name: str | None) -> UUID:
    """The tenant that is meant: one's own, or any by name for an operator."""
    if name is None:
        return principal.tenant_id
    require_operator(principal)
    async with uow.begin_global() as tx:
        found: UUID = _there(await tx.access.tenant_by_name(name))["id"]
        return found


def require_operator(principal: Principal) -> None:
    """Raise `Forbidden` for a key that does not reach beyond its own tenant."""
    principal.require_administration()
    if principal.role != "operator":
        raise Forbidden("Only an operator's key reaches beyond its own tenant.", code="operator_only")


def _settings(stored: Mapping[str, Any]) -> TenantSettings:
    """What a tenant sets itself; its quotas are an operator's."""
    return TenantSettings(**{name: value for name, value in stored.items() if name in TenantSettings.model_fields})


def _check_end(expires_at: datetime | None) -> None:
    """Raise `Invalid` for a key that would be over at once: to close one is another call."""
    if expires_at is not None and expires_at <= clock.now():
        raise Invalid("expires_at is in the past: to close a key at once, revoke it.", code="expires_in_past")


def _there(row: Row | None) -> Row:
    if row is None:
        raise NotFound("There is no such tenant.", code="tenant_not_found")
    return row


def _check_rights(principal: Principal, row: RowLike) -> None:
    """Nobody makes, changes or closes a key that may do more than their own."""
    beyond = not frozenset(row["scopes"]) <= principal.scopes
    if beyond or (row["role"] == "operator" and principal.role != "operator"):
        raise Forbidden("This key has more rights than yours.", code="beyond_own_rights")


def _open(row: Row | None) -> Row:
    ended = row is None or row["revoked_at"] is not None
    if row is None or ended or (row["expires_at"] is not None and row["expires_at"] <= clock.now()):
        raise NotFound("There is no such key that is open.", code="key_not_found")
    return row


def _key(row: Row | dict[str, Any]) -> ApiKey:
    plain = {name: row[name] for name in ApiKey.model_fields if name not in {"id", "tenant_id"}}
    return ApiKey(id=str(row["id"]), tenant_id=str(row["tenant_id"]), **plain)


def _tenant(row: Row) -> Tenant:
    return Tenant(id=str(row["id"]), name=row["name"], created_at=row["created_at"])
