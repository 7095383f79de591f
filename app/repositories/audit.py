"""The audit log: lines are written with the commit of what they tell of, and chained a moment later."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ARRAY, BigInteger, LargeBinary, RowMapping, Uuid, bindparam, func, select, update
from sqlalchemy.dialects.postgresql import insert

from app.db.models import audit_heads, audit_log
from app.domain.audit import GENESIS, Head
from app.repositories.base import Repository

_PLAIN: Final = re.compile(r"[A-Za-z0-9_.:,/\-]*")


@dataclass(frozen=True, slots=True)
class Line:
    """One line. Ids that a client chose are pseudonyms in it, and nothing in it is content."""

    id: UUID
    tenant_id: UUID
    actor: str
    action: str
    resource: str
    created_at: datetime
    resource_id: str | None = None
    subject: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def line_script(line: Line) -> str:
    """An INSERT with its values written out, to be sent with the COMMIT: it costs no round trip of its own.

    The tenant is set again, for a transaction that works on global tables has none.
    """
    values = (
        *(_quoted(str(value)) for value in (line.tenant_id, line.id)),
        *(_quoted(value) for value in (line.actor, line.action, line.resource)),
        *("NULL" if value is None else _quoted(value) for value in (line.resource_id, line.subject)),
        f"convert_from(decode('{json.dumps(line.details).encode().hex()}', 'hex'), 'UTF8')::jsonb",
        f"'{line.created_at.isoformat()}'",
    )
    names = "tenant_id, id, actor, action, resource, resource_id, subject, details, created_at"
    insert_line = f"INSERT INTO audit_log ({names}) VALUES ({', '.join(values)})"  # noqa: S608 - values are checked
    return f"SET LOCAL app.tenant = {values[0]}; {insert_line}"


def _quoted(value: str) -> str:
    if _PLAIN.fullmatch(value) is None:
        raise ValueError("a line of the audit log takes words, ids and pseudonyms")
    return f"'{value}'"


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which lines are asked for; pseudonyms, not ids."""

    subject: str | None = None
    resource_ids: Sequence[str] = ()
    action: str | None = None
    actor: str | None = None
    since: datetime | None = None
    until: datetime | None = None


class AuditRepository(Repository):
    """audit_log and the heads of its chains."""

    async def page(self, wanted: AuditFilter, before: UUID | None, limit: int) -> list[RowMapping]:
        """Lines, newest first."""
        statement = select(audit_log).where(audit_log.c.tenant_id == self._tenant_id)
        equal = {"subject": wanted.subject, "action": wanted.action, "actor": wanted.actor}
        for name, value in equal.items():
            if value is not None:
                statement = statement.where(audit_log.c[name] == value)
        if wanted.resource_ids:
            statement = statement.where(audit_log.c.resource_id.in_(list(wanted.resource_ids)))
        if wanted.since is not None:
            statement = statement.where(audit_log.c.created_at >= wanted.since)
        if wanted.until is not None:
            statement = statement.where(audit_log.c.created_at < wanted.until)
        if before is not None:
            statement = statement.where(audit_log.c.id < before)
        return await self._all(statement.order_by(audit_log.c.id.desc()).limit(limit))

    async def chain(self, after: int, limit: int) -> list[RowMapping]:
        """Chained lines in their order, behind a position."""
        statement = select(audit_log).where(
            audit_log.c.tenant_id == self._tenant_id, audit_log.c.position.is_not(None), audit_log.c.position > after
        )
        return await self._all(statement.order_by(audit_log.c.position).limit(limit))

    async def unsealed(self, limit: int) -> list[RowMapping]:
        """Lines that have no place in the chain yet, by age."""
        statement = select(audit_log).where(audit_log.c.tenant_id == self._tenant_id, audit_log.c.position.is_(None))
        return await self._all(statement.order_by(audit_log.c.id).limit(limit))

    async def has_unsealed(self) -> bool:
        """Whether there are any."""
        statement = select(audit_log.c.id).where(
            audit_log.c.tenant_id == self._tenant_id, audit_log.c.position.is_(None)
        )
        return await self._first(statement.limit(1)) is not None

    async def count_unsealed(self) -> int:
        """How many there are."""
        statement = select(audit_log.c.id).where(
            audit_log.c.tenant_id == self._tenant_id, audit_log.c.position.is_(None)
        )
        return await self._count(statement)

    async def head(self) -> Head:
        """Where the chain ends."""
        row = await self._first(select(audit_heads).where(audit_heads.c.tenant_id == self._tenant_id))
        return Head() if row is None else Head(row["position"], bytes(row["hash"]))

    async def lock_head(self) -> Head:
        """The same, held until the commit: one at a time makes the chain longer."""
        fresh = {"tenant_id": self._tenant_id, "position": 0, "hash": GENESIS}
        await self._run(insert(audit_heads).values(fresh).on_conflict_do_nothing(index_elements=["tenant_id"]))
        statement = select(audit_heads).where(audit_heads.c.tenant_id == self._tenant_id).with_for_update()
        row = await self._one_row(statement)
        return Head(row["position"], bytes(row["hash"]))

    async def seal(self, ids: Sequence[UUID], places: Sequence[tuple[int, bytes, bytes]]) -> None:
        """Give lines their places, and move the head to the last one. The head must be locked."""
        given = (
            func.unnest(
                bindparam(None, list(ids), type_=ARRAY(Uuid())),
                bindparam(None, [place[0] for place in places], type_=ARRAY(BigInteger())),
                bindparam(None, [place[1] for place in places], type_=ARRAY(LargeBinary())),
                bindparam(None, [place[2] for place in places], type_=ARRAY(LargeBinary())),
            )
            .table_valued("id", "position", "previous_hash", "hash")
            .render_derived()
        )
        statement = (
            update(audit_log)
            .where(
                audit_log.c.tenant_id == self._tenant_id,
                audit_log.c.id == given.c.id,
                audit_log.c.id == func.any(bindparam(None, list(ids), type_=ARRAY(Uuid()))),
            )
            .values(position=given.c.position, previous_hash=given.c.previous_hash, hash=given.c.hash)
        )
        await self._run(statement)
        position, _, digest = places[-1]
        moved = update(audit_heads).where(audit_heads.c.tenant_id == self._tenant_id)
        await self._run(moved.values(position=position, hash=digest))
