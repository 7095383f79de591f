"""Tenants and API keys: the tables that are read before the tenant is known."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping, case, func, literal, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.db.models import api_keys, tenants

# The dispatcher's own clock is the server's: both sides of the comparison are its doing.
_OLDEST_DUE = text(
    "SELECT coalesce(extract(epoch FROM clock_timestamp() - min(execute_after)), 0) "
    "FROM pgqueuer WHERE status = 'queued' AND execute_after < clock_timestamp()"
)


class AccessRepository:
    """Who may come in. Works in a transaction without a tenant."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def ping(self) -> None:
        """Ask the server for a sign of life."""
        await self._connection.execute(text("SELECT 1"))

    async def revision(self) -> str | None:
        """The migration that the database stands at; None where there is none at all."""
        known = await self._connection.execute(text("SELECT to_regclass('alembic_version') IS NOT NULL"))
        if not known.scalar_one():
            return None
        return (await self._connection.execute(text("SELECT version_num FROM alembic_version"))).scalar_one_or_none()

    async def oldest_due_seconds(self) -> float:
        """For how long the job that is longest due has waited for a worker; 0 where none waits."""
        return float((await self._connection.execute(_OLDEST_DUE)).scalar_one())

    async def key_by_hash(self, key_hash: bytes) -> RowMapping | None:
        """The key with this SHA-256, whatever its state, with its tenant's `tenant_settings` and `fence_key`."""
        statement = (
            select(api_keys, tenants.c.settings.label("tenant_settings"), tenants.c.fence_key)
            .join_from(api_keys, tenants, tenants.c.id == api_keys.c.tenant_id)
            .where(api_keys.c.key_hash == key_hash)
        )
        return (await self._connection.execute(statement)).mappings().first()

    async def key(self, key_id: UUID, tenant_id: UUID) -> RowMapping | None:
        """One key of a tenant, its row locked until the commit."""
        statement = select(api_keys).where(api_keys.c.id == key_id, api_keys.c.tenant_id == tenant_id)
        return (await self._connection.execute(statement.with_for_update())).mappings().first()

    async def set_key(self, key_id: UUID, values: dict[str, Any]) -> None:
        """Write columns of a key."""
        await self._connection.execute(update(api_keys).where(api_keys.c.id == key_id).values(values))

    async def used(self, key_id: UUID, at: datetime) -> None:
        """Note when a key was last used."""
        await self._connection.execute(update(api_keys).where(api_keys.c.id == key_id).values(last_used_at=at))

    async def add_key(self, row: dict[str, Any]) -> None:
        """Store a key's hash and rights."""
        await self._connection.execute(insert(api_keys).values(row))

    async def keys(self, tenant_id: UUID | None = None) -> Sequence[RowMapping]:
        """Keys, newest first, of one tenant or of all."""
        statement = select(api_keys).order_by(api_keys.c.id.desc())
        if tenant_id is not None:
            statement = statement.where(api_keys.c.tenant_id == tenant_id)
        return (await self._connection.execute(statement)).mappings().all()

    async def keys_page(self, tenant_id: UUID, before: UUID | None, limit: int) -> Sequence[RowMapping]:
        """A tenant's keys, newest first."""
        statement = select(api_keys).where(api_keys.c.tenant_id == tenant_id)
        if before is not None:
            statement = statement.where(api_keys.c.id < before)
        return (await self._connection.execute(statement.order_by(api_keys.c.id.desc()).limit(limit))).mappings().all()

    async def keys_count(self, tenant_id: UUID) -> int:
        """How many keys a tenant has."""
        statement = select(func.count()).select_from(api_keys).where(api_keys.c.tenant_id == tenant_id)
        return int((await self._connection.execute(statement)).scalar_one())

    async def tenants_count(self) -> int:
        """How many tenants there are."""
        return int((await self._connection.execute(select(func.count()).select_from(tenants))).scalar_one())

    async def tenants_page(self, after: UUID | None, limit: int) -> Sequence[RowMapping]:
        """Tenants, oldest first."""
        statement = select(tenants)
        if after is not None:
            statement = statement.where(tenants.c.id > after)
        return (await self._connection.execute(statement.order_by(tenants.c.id).limit(limit))).mappings().all()

    async def tenant(self, tenant_id: UUID) -> RowMapping | None:
        """One tenant."""
        return (await self._connection.execute(select(tenants).where(tenants.c.id == tenant_id))).mappings().first()

    async def tenant_for_update(self, tenant_id: UUID) -> RowMapping | None:
        """The same, its row locked until the commit."""
        statement = select(tenants).where(tenants.c.id == tenant_id).with_for_update()
        return (await self._connection.execute(statement)).mappings().first()

    async def set_settings(self, tenant_id: UUID, settings: dict[str, Any]) -> None:
        """Write a tenant's settings."""
        await self._connection.execute(update(tenants).where(tenants.c.id == tenant_id).values(settings=settings))

    async def merge_settings(self, tenant_id: UUID, named: Mapping[str, Any]) -> dict[str, Any]:
        """Set what is named among a tenant's settings, null taking one out; all of them as they are then."""
        row = await self.tenant_for_update(tenant_id)
        known: dict[str, Any] = {} if row is None else dict(row["settings"])
        settings = {name: value for name, value in (known | dict(named)).items() if value is not None}
        await self.set_settings(tenant_id, settings)
        return settings

    async def revoke_key(self, key_id: UUID, at: datetime, tenant_id: UUID | None = None) -> bool:
        """Close a key (of this tenant) for good; False where there is none that was open."""
        statement = update(api_keys).where(api_keys.c.id == key_id, api_keys.c.revoked_at.is_(None))
        if tenant_id is not None:
            statement = statement.where(api_keys.c.tenant_id == tenant_id)
        statement = statement.values(revoked_at=at)
        return (await self._connection.execute(statement)).rowcount > 0

    async def unbind(self, tenant_id: UUID, user_id: str, at: datetime) -> int:
        """Take a user out of the keys that are bound to it; a key that is left to nobody is closed."""
        left = func.array_remove(api_keys.c.user_ids, user_id)
        statement = (
            update(api_keys)
            .where(api_keys.c.tenant_id == tenant_id, literal(user_id) == func.any(api_keys.c.user_ids))
            .values(
                user_ids=left,
                revoked_at=case(
                    (func.cardinality(left) == 0, func.coalesce(api_keys.c.revoked_at, at)), else_=api_keys.c.revoked_at
                ),
            )
        )
        return (await self._connection.execute(statement)).rowcount

    async def tenant_ids(self) -> Sequence[UUID]:
        """Every tenant, oldest first."""
        return (await self._connection.execute(select(tenants.c.id).order_by(tenants.c.id))).scalars().all()

    async def tenant_by_name(self, name: str) -> RowMapping | None:
        """The tenant of this name."""
        return (await self._connection.execute(select(tenants).where(tenants.c.name == name))).mappings().first()

    async def ensure_tenant(self, tenant_id: UUID, name: str, at: datetime) -> UUID:
        """The id of the tenant of this name, created if it is new."""
        statement = insert(tenants).values(id=tenant_id, name=name, created_at=at).on_conflict_do_nothing()
        await self._connection.execute(statement)
        found: UUID = (await self._connection.execute(select(tenants.c.id).where(tenants.c.name == name))).scalar_one()
        return found
