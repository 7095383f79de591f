"""Procedures: written by people, found by the task, loaded when one is needed; every version is kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from app.core import clock
from app.core.errors import NotFound
from app.domain.principal import Principal
from app.domain.procedure import ProcedureStatus
from app.domain.scope import Scope
from app.repositories.base import RowLike
from app.repositories.vectors import Embedded
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.schemas.procedures import (
    Matches,
    MatchRequest,
    OutcomeReport,
    Procedure,
    ProcedureCard,
    ProcedureChange,
    ProcedureCreate,
    ProcedureVersion,
)
from app.services.answers import Answer, Write, write_once
from app.services.closing import remove
from app.services.embedding import Embedder
from app.services.matching import Matching
from app.services.presenting_procedures import card_of, procedure_of, version_of
from app.services.proceduring import CONTENT, ProcedureWriter, card_text, embedded, fresh_of
from app.services.redacting import Redacting
from app.services.sessions import check_version
from app.services.writing import locked_memory
from app.uow import Transaction, UnitOfWork


@dataclass(frozen=True, slots=True)
class ProcedureService:
    """The use cases of procedures."""

    uow: UnitOfWork
    embedder: Embedder
    redacting: Redacting
    finder: Matching

    async def create(self, write: Write, request: ProcedureCreate) -> Answer:
        """Keep a new procedure. Raises `Conflict` where its scope has one of this title and use."""
        principal = write.principal
        principal.require("memories:write")
        cleaned = await self.redacting.clean(principal, request)
        at = clock.now()
        content = cleaned.request.model_dump(include=set(CONTENT))
        (fresh,) = await fresh_of(principal, request, [content], at)
        vectors = await embedded(self.embedder, {fresh.card.row["id"]: fresh.card.row["text"]})
        model_id = (await self.embedder.record()).id

        async def work(tx: Transaction) -> Answer:
            writer = ProcedureWriter(tx, principal.actor, at, model_id, vectors)
            row = await writer.create(fresh, cleaned.request.status)
            return Answer(201, procedure_of(row).model_copy(update={"redacted": cleaned.kinds()}))

        return await write_once(self.uow, write, Procedure, work)

    async def get(self, principal: Principal, procedure_id: UUID) -> Procedure:
        """A whole procedure."""
        principal.require("memories:read")
        async with self.uow.begin(principal, reading=True) as tx:
            return procedure_of(there(await tx.procedures.get(procedure_id)))

    async def page(
        self,
        principal: Principal,
        scope: Scope,
        status: ProcedureStatus | None,
        tag: str | None,
        cursor: str | None,
        limit: int,
        *,
        count: bool,
    ) -> Page[ProcedureCard]:
        """Titles and uses, oldest first."""
        principal.require("memories:read")
        after = decode_cursor(cursor, UUID)
        async with self.uow.begin(principal, reading=True) as tx:
            rows = await tx.procedures.page(scope, status, tag, None if after is None else after[0], limit + 1)
            total = await tx.procedures.count(scope, status, tag) if count else None
        more = len(rows) > limit
        return Page(
            results=[card_of(row) for row in rows[:limit]],
            next_cursor=encode_cursor(rows[limit - 1]["id"]) if more else None,
            total=total,
        )

    async def change(self, write: Write, procedure_id: UUID, request: ProcedureChange) -> Answer:
        """Write the named fields as a further version; a draft becomes findable when it is published."""
        principal = write.principal
        principal.require("memories:write")
        cleaned = await self.redacting.clean(principal, request)
        request = cleaned.request
        values = request.model_dump(exclude_unset=True, exclude={"version", "status"})
        at = clock.now()
        vectors = await self._vectors(principal, procedure_id, values)
        model_id = (await self.embedder.record()).id

        async def work(tx: Transaction) -> Answer:
            there(await tx.procedures.get(procedure_id))
            card = await locked_memory(tx, principal, procedure_id)
            before = there(await tx.procedures.get(procedure_id))
            check_version(before["version"], write.expected(request.version))
            writer = ProcedureWriter(tx, principal.actor, at, model_id, vectors)
            fields = {name: before[name] for name in CONTENT} | values
            row = await writer.change(before, card, fields, {"file": None}, request.status)
            return Answer(200, procedure_of(row).model_copy(update={"redacted": cleaned.kinds()}))

        return await write_once(self.uow, write, Procedure, work)

    async def delete(self, write: Write, procedure_id: UUID) -> Answer:
        """Delete a procedure: nobody finds it any more; its memory can be restored for a while."""
        principal = write.principal
        principal.require("memories:write")
        at = clock.now()

        async def work(tx: Transaction) -> Answer:
            there(await tx.procedures.get(procedure_id))
            card = await locked_memory(tx, principal, procedure_id)
            check_version(there(await tx.procedures.get(procedure_id))["version"], write.if_match)
            await remove(tx, card, principal.actor, at)
            return Answer(204, None)

        return await write_once(self.uow, write, None, work)

    async def versions(
        self, principal: Principal, procedure_id: UUID, cursor: str | None, limit: int, *, count: bool
    ) -> Page[ProcedureVersion]:
        """What a procedure said, newest first."""
        principal.require("memories:read")
        before = decode_cursor(cursor, int)
        async with self.uow.begin(principal, reading=True) as tx:
            current = there(await tx.procedures.get(procedure_id))
            rows = await tx.procedures.versions(procedure_id, None if before is None else before[0], limit + 1)
        more = len(rows) > limit
        return Page(
            results=[version_of(row) for row in rows[:limit]],
            next_cursor=encode_cursor(rows[limit - 1]["version"]) if more else None,
            total=current["version"] if count else None,
        )

    async def outcome(self, write: Write, procedure_id: UUID, request: OutcomeReport) -> Answer:
        """Count a use that went well or did not; it moves where the procedure stands among others that fit."""
        principal = write.principal
        principal.require("memories:write")
        request = (await self.redacting.clean(principal, request)).request
        at = clock.now()

        async def work(tx: Transaction) -> Answer:
            there(await tx.procedures.get(procedure_id))
            card = await locked_memory(tx, principal, procedure_id)
            await ProcedureWriter(tx, principal.actor, at, 0).count(card, request.outcome, request.note)
            return Answer(200, procedure_of(there(await tx.procedures.get(procedure_id))))

        return await write_once(self.uow, write, Procedure, work)

    async def match(self, principal: Principal, request: MatchRequest) -> Matches:
        """Procedures and lessons that fit a task."""
        user_id = request.user_id if request.user_id is None else principal.own_user(request.user_id)
        request = (await self.redacting.clean(principal, request)).request
        return await self.matching(
            principal, Scope(user_id, request.agent_id, request.app_id), request.task, request.limit
        )

    async def matching(self, principal: Principal, scope: Scope, task: str, limit: int) -> Matches:
        """The same for other use cases: at most `limit` of each. No connection is held while the task is embedded."""
        principal.require("memories:read")
        return await self.finder.find(principal, scope, task, limit)

    async def _vectors(self, principal: Principal, procedure_id: UUID, values: Mapping[str, Any]) -> list[Embedded]:
        """The vector of the card as it will be, made before the transaction."""
        async with self.uow.begin(principal) as tx:
            before = there(await tx.procedures.get(procedure_id))
        return await embedded(self.embedder, {procedure_id: card_text({**before, **values})})


def there(row: RowLike | None) -> RowLike:
    """A procedure that is there for this caller; raises `NotFound`."""
    if row is None:
        raise NotFound("There is no such procedure.", code="procedure_not_found")
    return row
