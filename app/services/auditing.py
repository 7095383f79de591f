"""The audit log: read, exported, chained, verified."""

from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

import structlog

from app.core.errors import Invalid, Problem
from app.domain.audit import Break, Head, chained, ended, examined
from app.domain.principal import Principal
from app.repositories.audit import AuditFilter
from app.repositories.base import Row, RowLike
from app.schemas.audit import AuditLine, AuditVerdict, ChainBreak, ChainEnd
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.uow import UnitOfWork

log = structlog.get_logger()

AT_ONCE: Final = 1_000
TENANTS_OF_A_TICK: Final = 64
"""So many tenants are looked at every second: those first that had lines the last time."""

SHOWN_BREAKS: Final = 100


@dataclass(frozen=True, slots=True)
class Asked:
    """Which lines are asked for."""

    user_id: str | None = None
    session_id: str | None = None
    memory_id: UUID | None = None
    action: str | None = None
    actor: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(slots=True)
class AuditService:
    """The use cases of the audit log."""

    uow: UnitOfWork
    _rounds: OrderedDict[UUID, None] = field(default_factory=OrderedDict)

    async def page(self, principal: Principal, asked: Asked, cursor: str | None, limit: int) -> Page[AuditLine]:
        """Lines, newest first."""
        principal.require_administration()
        before = decode_cursor(cursor, UUID)
        async with self.uow.begin(principal) as tx:
            resources = [] if asked.memory_id is None else [str(asked.memory_id)]
            if asked.session_id is not None:
                resources.append(await tx.pseudonym("session_id", asked.session_id))
            if len(resources) > 1:
                raise Invalid("Ask for a session or for a memory, not for both.", code="one_resource")
            subject = None if asked.user_id is None else await tx.pseudonym("user_id", asked.user_id)
            wanted = AuditFilter(subject, resources, asked.action, asked.actor, asked.since, asked.until)
            rows = await tx.audit.page(wanted, None if before is None else before[0], limit + 1)
        more = len(rows) > limit
        return Page(
            results=[_line(row) for row in rows[:limit]],
            next_cursor=encode_cursor(rows[limit - 1]["id"]) if more else None,
        )

    async def opened(self, principal: Principal) -> None:
        """Look whether a key may have the whole log; its asking is told."""
        principal.require_administration()
        async with self.uow.begin(principal) as tx:
            await tx.audit.head()

    async def lines(self, tenant_id: UUID, after: int) -> AsyncIterator[AuditLine]:
        """Chained lines in their order, behind a position."""
        while True:
            async with self.uow.begin_tenant(tenant_id) as tx:
                rows = await tx.audit.chain(after, AT_ONCE)
            for row in rows:
                yield _line(row)
            if len(rows) < AT_ONCE:
                return
            after = rows[-1]["position"]

    async def verify(self, tenant_id: UUID, anchor: tuple[int, str] | None = None) -> AuditVerdict:
        """Compute every hash anew.

        Args:
            tenant_id: Whose chain.
            anchor: A position and the hash that stood there once, from an export or a receipt.
        """
        head, checked, breaks = Head(), 0, list[Break]()
        known = None if anchor is None else anchor[0]
        async with self.uow.begin_tenant(tenant_id) as tx:
            recorded, waiting = await tx.audit.head(), await tx.audit.count_unsealed()
        while head.position < recorded.position:
            async with self.uow.begin_tenant(tenant_id) as tx:
                found_rows = await tx.audit.chain(head.position, AT_ONCE)
            rows = [dict(row) for row in found_rows if row["position"] <= recorded.position]
            if not rows:
                break
            head, found = examined(head, rows)
            breaks += found
            checked += len(rows)
            if anchor is not None and _differs(rows, anchor):
                breaks.append(Break(anchor[0], "changed"))
        breaks += ended(head, recorded)
        if known is not None and known > recorded.position:
            breaks.append(Break(recorded.position + 1, "cut_off"))
        return AuditVerdict(
            intact=not breaks,
            checked=checked,
            waiting=waiting,
            head=_end(recorded),
            breaks=[ChainBreak(position=one.position, fault=one.fault) for one in breaks[:SHOWN_BREAKS]],
        )

    async def seal(self, tenant_id: UUID) -> Head:
        """Give every line of a tenant its place in the chain; the chain's end."""
        while True:
            async with self.uow.begin_tenant(tenant_id) as tx:
                head = await tx.audit.lock_head()
                rows = await tx.audit.unsealed(AT_ONCE)
                if not rows:
                    return head
                places = chained(head, [dict(row) for row in rows])
                await tx.audit.seal([row["id"] for row in rows], places)

    async def tick(self) -> int:
        """Seal what tenants have written since the last time; how many had something."""
        sealed = 0
        async with self.uow.begin_global() as tx:
            tenants = await tx.access.tenant_ids()
        for tenant_id in self._next(tenants):
            try:
                async with self.uow.begin_tenant(tenant_id) as one:
                    waits = await one.audit.has_unsealed()
                if waits:
                    await self.seal(tenant_id)
                    sealed += 1
                    self._rounds.move_to_end(tenant_id, last=False)
            except Problem as problem:
                log.warning("audit_not_sealed", tenant=str(tenant_id), reason=problem.code)
                break
        return sealed

    def _next(self, tenants: Sequence[UUID]) -> list[UUID]:
        """Whose turn it is; who had nothing goes to the end of the line."""
        for tenant_id in tenants:
            self._rounds.setdefault(tenant_id, None)
        for gone in set(self._rounds) - set(tenants):
            del self._rounds[gone]
        turn = list(self._rounds)[:TENANTS_OF_A_TICK]
        for tenant_id in turn:
            self._rounds.move_to_end(tenant_id)
        return turn


def _differs(rows: Sequence[RowLike], anchor: tuple[int, str]) -> bool:
    return any(row["position"] == anchor[0] and bytes(row["hash"]).hex() != anchor[1].lower() for row in rows)


def _end(head: Head) -> ChainEnd:
    return ChainEnd(position=head.position, hash=head.hash.hex())


def _line(row: Row) -> AuditLine:
    plain = {name: row[name] for name in AuditLine.model_fields if name not in {"id", "hash", "previous_hash"}}
    hashes = {name: None if row[name] is None else bytes(row[name]).hex() for name in ("hash", "previous_hash")}
    return AuditLine(id=str(row["id"]), **hashes, **plain)
