"""Procedures: the rest of the memories that are their cards, with every version they had."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import RowMapping, Select, any_, literal, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from app.core import clock
from app.db.models import memories, procedure_versions, procedures
from app.domain.procedure import Outcome, ProcedureStatus
from app.domain.scope import SHARED_OWNER, Scope
from app.repositories.base import Repository

PUBLISHED = ("active", "disputed")
DRAFT = ("archived",)

_WHOSE = (memories.c[name] for name in ("user_id", "agent_id", "app_id"))
_BOTH = select(procedures, *_WHOSE, memories.c.status.label("card")).join_from(
    procedures,
    memories,
    (memories.c.tenant_id == procedures.c.tenant_id) & (memories.c.id == procedures.c.id),
)


class ProcedureRepository(Repository):
    """The procedures that the key may see: its users' and those of no user. `card` is the status of the memory."""

    async def get(self, procedure_id: UUID) -> RowMapping | None:
        """One procedure, a draft too; None where it is absent, deleted or another's."""
        return await self._first(self._seen().where(procedures.c.id == procedure_id))

    async def holds(self, memory_id: UUID) -> bool:
        """Whether a memory is a procedure's card."""
        statement = select(procedures.c.id).where(procedures.c.tenant_id == self._tenant_id)
        return await self._first(statement.where(procedures.c.id == memory_id)) is not None

    async def by_ids(self, ids: Sequence[UUID]) -> list[RowMapping]:
        """Those of the ids that are procedures."""
        return await self._all(self._seen().where(procedures.c.id.in_(list(ids))))

    async def by_path(self, scope: Scope, path: str) -> RowMapping | None:
        """The procedure of a scope that is kept in a file of this name."""
        return await self._first(self._exactly(scope).where(procedures.c.path == path))

    async def of_lesson(self, lesson_id: UUID) -> UUID | None:
        """The procedure that was drafted from a lesson, whatever has become of it."""
        statement = select(procedures.c.id).where(
            procedures.c.tenant_id == self._tenant_id, procedures.c.lesson_id == lesson_id
        )
        row = await self._first(statement.limit(1))
        return None if row is None else row["id"]

    async def page(
        self, scope: Scope, status: ProcedureStatus | None, tag: str | None, after: UUID | None, limit: int
    ) -> list[RowMapping]:
        """Procedures by age; an absent scope field does not restrict."""
        statement = self._listed(scope, status, tag)
        if after is not None:
            statement = statement.where(procedures.c.id > after, memories.c.id > after)
        return await self._all(statement.order_by(procedures.c.id).limit(limit))

    async def count(self, scope: Scope, status: ProcedureStatus | None, tag: str | None) -> int:
        """How many there are."""
        return await self._count(self._listed(scope, status, tag))

    async def of_scope(self, scope: Scope, after: UUID | None, limit: int) -> list[RowMapping]:
        """The procedures of exactly this scope, by age."""
        statement = self._exactly(scope)
        if after is not None:
            statement = statement.where(procedures.c.id > after, memories.c.id > after)
        return await self._all(statement.order_by(procedures.c.id).limit(limit))

    async def create(self, row: dict[str, Any]) -> None:
        """The rest of a memory that was stored in this transaction."""
        await self._run(insert(procedures).values(tenant_id=self._tenant_id, **row))

    async def change(self, procedure_id: UUID, values: dict[str, Any]) -> None:
        """Write columns of a procedure whose memory is locked."""
        await self._run(update(procedures).where(*self._one(procedure_id)).values(values))

    async def count_outcome(self, procedure_id: UUID, outcome: Outcome) -> None:
        """Count a use that went well or did not."""
        name = "successes" if outcome == "success" else "failures"
        await self._run(update(procedures).where(*self._one(procedure_id)).values({name: procedures.c[name] + 1}))

    async def note(self, procedure_id: UUID, version: int, document: dict[str, Any], actor: str, at: datetime) -> None:
        """Keep a version."""
        row = {"procedure_id": procedure_id, "version": version, "document": document, "actor": actor, "created_at": at}
        await self._run(insert(procedure_versions).values(tenant_id=self._tenant_id, **row))

    async def versions(self, procedure_id: UUID, before: int | None, limit: int) -> list[RowMapping]:
        """A procedure's versions, newest first."""
        statement = select(procedure_versions).where(
            procedure_versions.c.tenant_id == self._tenant_id, procedure_versions.c.procedure_id == procedure_id
        )
        if before is not None:
            statement = statement.where(procedure_versions.c.version < before)
        return await self._all(statement.order_by(procedure_versions.c.version.desc()).limit(limit))

    def _one(self, procedure_id: UUID) -> list[Any]:
        return [procedures.c.tenant_id == self._tenant_id, procedures.c.id == procedure_id]

    def _seen(self) -> Select[Any]:
        return _BOTH.where(
            procedures.c.tenant_id == self._tenant_id,
            memories.c.kind == "procedural",  # as all of them are: it tells the planner how few there are
            memories.c.status.in_((*PUBLISHED, *DRAFT)),
            or_(memories.c.expires_at.is_(None), memories.c.expires_at > clock.now()),
            *self._own_or_shared(memories.c.user_id, memories.c.session_id),
        )

    def _listed(self, scope: Scope, status: ProcedureStatus | None, tag: str | None) -> Select[Any]:
        statement = self._seen()
        if scope.user_id is not None:
            statement = statement.where(procedures.c.owner == Scope(scope.user_id).owner)
        if scope.agent_id is not None:
            statement = statement.where(memories.c.agent_id == scope.agent_id)
        if scope.app_id is not None:
            statement = statement.where(memories.c.app_id == scope.app_id)
        if status is not None:
            statement = statement.where(memories.c.status.in_(DRAFT if status == "draft" else PUBLISHED))
        if tag is not None:
            statement = statement.where(literal(tag) == any_(procedures.c.tags))
        return statement

    def _exactly(self, scope: Scope) -> Select[Any]:
        """Of a scope and of no narrower one."""
        owner = SHARED_OWNER if scope.empty else scope.owner
        return self._seen().where(
            procedures.c.owner == owner,
            memories.c.agent_id.is_not_distinct_from(scope.agent_id),
            memories.c.app_id.is_not_distinct_from(scope.app_id),
        )
