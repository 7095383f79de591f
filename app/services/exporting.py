"""Export: everything of a user or of a tenant as NDJSON, row by row, in an order in which it can be stored again."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from app.core.sealing import Unsealable
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.repositories.base import RowLike
from app.repositories.transfer import (
    BLOCKS,
    CHILDREN,
    ITEMS,
    KEYS,
    LESSONS,
    MEMORIES,
    PROCEDURES,
    SESSIONS,
    THREADS,
    Kept,
)
from app.services.transfer_rows import LINKS, header, line_of, row_out
from app.services.users import no_user
from app.uow import Transaction, UnitOfWork

AT_ONCE: Final = 200


@dataclass(frozen=True, slots=True)
class ExportService:
    """The use cases of exporting."""

    uow: UnitOfWork

    async def allowed(self, principal: Principal, user_id: str | None) -> bool:
        """Look whether a key may export; its asking is told in the audit log. Whether it gets sealed contents, too.

        Raises:
            Forbidden: It is no administrator's.
            NotFound: There is no such user.
        """
        principal.require_administration()
        principal.require("memories:read")
        principal.require("sessions:read")
        async with self.uow.begin(principal) as tx:
            if user_id is not None and await tx.users.get(user_id) is None:
                raise no_user()
        return "sensitive" in principal.scopes

    async def user(self, tenant_id: UUID, user_id: str, *, unsealed: bool) -> AsyncIterator[str]:
        """The lines of one user."""
        yield header("user")
        out = _Out(self.uow, tenant_id, unsealed)
        async with self.uow.begin_tenant(tenant_id) as tx:
            known = await tx.users.get(user_id)
        if known is not None:
            yield line_of("users", row_out("users", known))
        async for line in out.of_owners([Scope(user_id).owner]):
            yield line
        async for line in out.of_user(user_id):
            yield line

    async def tenant(self, tenant_id: UUID, *, unsealed: bool) -> AsyncIterator[str]:
        """The lines of a whole tenant."""
        yield header("tenant")
        out = _Out(self.uow, tenant_id, unsealed)
        async for line in out.listed(KEYS, None):
            yield line
        named: list[str] = []
        while True:
            async with self.uow.begin_tenant(tenant_id) as tx:
                rows = await tx.transfer.users(named[-1] if named else "", AT_ONCE)
            for row in rows:
                yield line_of("users", row_out("users", row))
            named += [row["id"] for row in rows]
            if len(rows) < AT_ONCE:
                break
        async for line in out.of_owners(await self._owners(tenant_id)):
            yield line
        for user_id in (*named, None):
            async for line in out.of_user(user_id):
                yield line

    async def _owners(self, tenant_id: UUID) -> list[str]:
        owners: list[str] = []
        while True:
            async with self.uow.begin_tenant(tenant_id) as tx:
                more = await tx.transfer.owners(owners[-1] if owners else "", AT_ONCE)
            owners += more
            if len(more) < AT_ONCE:
                return owners


@dataclass(frozen=True, slots=True)
class _Out:
    """Writes lines; each page is a transaction of its own, so that none is held while somebody reads slowly."""

    uow: UnitOfWork
    tenant_id: UUID
    unsealed: bool

    async def of_owners(self, owners: Sequence[str]) -> AsyncIterator[str]:
        """Sessions of all of them before memories of any: sources name sessions."""
        for owner in owners:
            async for line in self.listed(SESSIONS, owner):
                yield line
        for owner in owners:
            async for line in self._memories(owner):
                yield line
            for kept in (PROCEDURES, LESSONS):
                async for line in self.listed(kept, owner):
                    yield line

    async def of_user(self, user_id: str | None) -> AsyncIterator[str]:
        """What names a user, or nobody."""
        for kept in (BLOCKS, THREADS, ITEMS):
            async for line in self.listed(kept, user_id):
                yield line

    async def listed(self, kept: Kept, of: str | None) -> AsyncIterator[str]:
        """Rows with what goes along with them."""
        after: Sequence[Any] | None = None
        while True:
            async with self.uow.begin_tenant(self.tenant_id) as tx:
                rows = await tx.transfer.page(kept, of, after, AT_ONCE)
                lines = [line_of(kept.table.name, row_out(kept.table.name, row)) for row in rows]
                lines += await _along(tx, kept.table.name, rows)
            for line in lines:
                yield line
            if kept is SESSIONS:
                for row in rows:
                    async for line in self._messages(row["id"]):
                        yield line
            if len(rows) < AT_ONCE:
                return
            after = [rows[-1][name] for name in kept.order]

    async def _messages(self, session_id: str) -> AsyncIterator[str]:
        after = 0
        while True:
            async with self.uow.begin_tenant(self.tenant_id) as tx:
                rows = await tx.transfer.messages(session_id, after, AT_ONCE)
            for row in rows:
                yield line_of("messages", row_out("messages", row))
            if len(rows) < AT_ONCE:
                return
            after = rows[-1]["seq"]

    async def _memories(self, owner: str) -> AsyncIterator[str]:
        """Memories, their sources and history; then what refers from one to another."""
        after: Sequence[Any] | None = None
        links: list[str] = []
        while True:
            async with self.uow.begin_tenant(self.tenant_id) as tx:
                rows = await tx.transfer.page(MEMORIES, owner, after, AT_ONCE)
                lines = [line_of("memories", self._contents(tx, row)) for row in rows]
                lines += await _along(tx, "memories", rows)
                conflicts = await tx.transfer.conflicts([row["id"] for row in rows])
            links += [
                line_of(LINKS, {"id": str(row["id"]), "superseded_by": str(row["superseded_by"])})
                for row in rows
                if row["superseded_by"] is not None
            ]
            links += [line_of("memory_conflicts", row_out("memory_conflicts", row)) for row in conflicts]
            for line in lines:
                yield line
            if len(rows) < AT_ONCE:
                break
            after = [rows[-1]["id"]]
        for line in links:
            yield line

    def _contents(self, tx: Transaction, row: RowLike) -> dict[str, Any]:
        """A memory; a sealed one in clear for whom it may concern, else with a placeholder and marked so."""
        if row["sealed"] is None:
            return row_out("memories", row)
        if self.unsealed:
            try:
                return row_out("memories", tx.opened(row))
            except Unsealable:
                pass
        return row_out("memories", row) | {"sealed": True}


async def _along(tx: Transaction, table: str, rows: Sequence[RowLike]) -> list[str]:
    key = {"checkpoint_threads": "thread_id", "memory_keys": "key"}.get(table, "id")
    ids = [row[key] for row in rows]
    return [
        line_of(child.name, row_out(child.name, row))
        for child, column in CHILDREN.get(table, ())
        for row in (await tx.transfer.children(child, column, ids) if ids else [])
    ]
