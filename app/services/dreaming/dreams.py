"""The use cases of dreaming: proposed, edited, applied, rejected, and done as a job."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from app.core import clock, ids
from app.core.errors import Conflict, Invalid, NotFound
from app.domain.context.words import Tongue
from app.domain.dreaming.changes import Change, diff_of
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.repositories.base import Row
from app.schemas.dreams import Dream, DreamChange, Dreamed, DreamEdit, DreamRequest
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.services.answers import Answer, Write, write_once
from app.services.dreaming.applying import DreamApplier
from app.services.dreaming.planning import DreamPlanner, Planned
from app.services.embedding import Embedder
from app.services.profiles import MOST_FACTS
from app.services.redacting import Redacting
from app.services.sessions import check_version
from app.services.users import known_user, no_user
from app.services.vectorising import JobRun
from app.uow import Transaction, UnitOfWork

OWN_TEXT: Final = frozenset({"review", "merge", "shorten", "dates", "evolution"})
"""Steps whose text somebody may edit."""


@dataclass(frozen=True, slots=True)
class DreamService:
    """The use cases."""

    uow: UnitOfWork
    embedder: Embedder
    redacting: Redacting
    planner: DreamPlanner

    async def ask(self, write: Write, user_id: str, request: DreamRequest) -> Answer:
        """A proposal that is kept (`dry_run`), or a job that puts things in order."""
        principal, at = write.principal, clock.now()
        await self._check_user(principal, user_id)
        owner = Scope(user_id).owner
        if request.dry_run:
            planned = await self.planner.plan(principal.tenant_id, owner)

        async def work(tx: Transaction) -> Answer:
            if await tx.users.get(user_id) is None:
                raise no_user()
            if request.dry_run:
                row = await tx.dreams.add(_row(ids.new_id(), user_id, planned, at))
                return Answer(200, Dreamed(dry_run=True, dream=_dream(row), dream_id=str(row["id"])))
            job_id = await tx.jobs.enqueue("dream", owner, at, user_id=user_id)
            body = Dreamed(
                dry_run=False, job_id=str(job_id), undo_id=str(job_id), dream_id=str(job_id), status="queued"
            )
            return Answer(202, body)

        return await write_once(self.uow, write, Dreamed, work)

    async def get(self, principal: Principal, user_id: str, dream_id: UUID) -> Dream:
        """One dream."""
        principal.require("memories:read")
        async with self.uow.begin(principal) as tx:
            return _dream(await tx.dreams.get(user_id, dream_id))

    async def page(self, principal: Principal, user_id: str, cursor: str | None, limit: int) -> Page[Dream]:
        """A user's dreams, newest first."""
        principal.require("memories:read")
        before = decode_cursor(cursor, UUID)
        async with self.uow.begin(principal) as tx:
            await known_user(tx, user_id)
            rows = await tx.dreams.page(user_id, None if before is None else before[0], limit + 1)
        more = len(rows) > limit
        return Page(
            results=[_dream(row) for row in rows[:limit]],
            next_cursor=encode_cursor(rows[limit - 1]["id"]) if more else None,
        )

    async def edit(self, write: Write, user_id: str, dream_id: UUID, request: DreamEdit) -> Answer:
        """Change a proposal before it is applied. Raises `Conflict` where it is decided."""
        write.principal.require("memories:write")
        cleaned = await self.redacting.clean(write.principal, request)

        async def work(tx: Transaction) -> Answer:
            row = await _open(tx, write, user_id, dream_id)
            changes = _edited(_changes(row), cleaned.request)
            stored = row["changes"] | {"changes": [one.stored() for one in changes]}
            dream = _dream(await tx.dreams.change(dream_id, {"changes": stored}))
            return Answer(200, dream.model_copy(update={"redacted": cleaned.kinds()}))

        return await write_once(self.uow, write, Dream, work)

    async def apply(self, write: Write, user_id: str, dream_id: UUID) -> Answer:
        """Do what is accepted of a proposal, as a job. Raises `Conflict` where it is decided."""
        write.principal.require("memories:write")
        at = clock.now()

        async def work(tx: Transaction) -> Answer:
            await _open(tx, write, user_id, dream_id)
            payload = {"dream_id": str(dream_id), "user_id": user_id}
            job_id = await tx.jobs.enqueue("dream", f"dream:{dream_id}", at, user_id=user_id, payload=payload)
            await tx.dreams.change(dream_id, {"state": "applying", "job_id": job_id, "decided_at": at})
            named = {"job_id": str(job_id), "undo_id": str(job_id), "dream_id": str(dream_id)}
            return Answer(202, Dreamed(dry_run=False, status="queued", **named))

        return await write_once(self.uow, write, Dreamed, work)

    async def reject(self, write: Write, user_id: str, dream_id: UUID) -> Answer:
        """Drop a proposal: nothing of it is done. Raises `Conflict` where it is decided."""
        write.principal.require("memories:write")
        at = clock.now()

        async def work(tx: Transaction) -> Answer:
            await _open(tx, write, user_id, dream_id)
            return Answer(200, _dream(await tx.dreams.change(dream_id, {"state": "rejected", "decided_at": at})))

        return await write_once(self.uow, write, Dream, work)

    async def run(self, run: JobRun) -> None:
        """The job: the plan is kept first, then done; a run after a kill goes on with the plan that is there."""
        at = clock.now()
        named = run.payload.get("dream_id")
        user_id = run.payload.get("user_id") or Scope.of_owner(run.subject).user_id or ""
        owner, dream_id = Scope(user_id).owner, run.fence.job_id if named is None else UUID(named)
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            row = await tx.dreams.get(user_id, dream_id)
            gone = await tx.users.get(user_id) is None
        if row is None and named is None and not gone:
            planned = await self.planner.plan(run.tenant_id, owner)
            async with self.uow.begin_tenant(run.tenant_id) as tx:
                await run.check(tx)
                values = _row(dream_id, user_id, planned, at) | {"state": "applying", "job_id": run.fence.job_id}
                row = await tx.dreams.add(values)
        if row is not None:
            applier = DreamApplier(self.uow, self.embedder, self.planner.reviewer, run, owner, at)
            await applier.apply(_changes(row))
        await self._finish(run, user_id, dream_id, at, done=row is not None)

    async def _finish(self, run: JobRun, user_id: str, dream_id: UUID, at: datetime, *, done: bool) -> None:
        """What was done is counted in the history, so that a run that was resumed tells all of it."""
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            counts = Counter(event["action"] for event in await tx.history.events_of(job_id=run.fence.job_id))
            facts = await tx.profiles.facts(Scope(user_id).owner, at, MOST_FACTS)
            if done and await tx.dreams.get_for_update(user_id, dream_id) is not None:
                await tx.dreams.change(dream_id, {"state": "applied", "decided_at": at})
            result: dict[str, Any] = {
                "dream_id": str(dream_id) if done else None,
                "counts": dict(counts),
                "profile_facts": len(facts),
                "undo_id": str(run.fence.job_id),
            }
            await run.finish(tx, result)

    async def _check_user(self, principal: Principal, user_id: str) -> None:
        principal.require("memories:write")
        async with self.uow.begin(principal) as tx:
            await known_user(tx, user_id)


async def _open(tx: Transaction, write: Write, user_id: str, dream_id: UUID) -> Row:
    """A proposal, locked, that nobody has decided about."""
    row = await tx.dreams.get_for_update(user_id, dream_id)
    if row is None:
        raise no_dream()
    check_version(row["version"], write.if_match)
    if row["state"] != "proposed":
        raise Conflict(f"This dream is {row['state']}: dream anew.", code="dream_decided")
    return row


def no_dream() -> NotFound:
    """An absent or a foreign dream: the answer is the same."""
    return NotFound("There is no such dream.", code="dream_not_found")


def _row(dream_id: UUID, user_id: str, planned: Planned, at: datetime) -> dict[str, Any]:
    content = {
        "changes": [one.stored() for one in planned.changes],
        "tongue": planned.tongue,
        "degraded": planned.degraded,
    }
    return {"id": dream_id, "user_id": user_id, "state": "proposed", "changes": content, "created_at": at}


def _changes(row: Row) -> list[Change]:
    return [Change.read(one) for one in row["changes"]["changes"]]


def _edited(changes: Sequence[Change], request: DreamEdit) -> list[Change]:
    known = {one.id: one for one in changes}
    for edit in request.changes:
        change = known.get(edit.id)
        if change is None:
            raise Invalid(f"The dream has no change {edit.id}.", code="unknown_change")
        if edit.after is not None and change.step not in OWN_TEXT:
            raise Invalid("A conflict has no text: accept it or not.", code="not_editable")
        accepted = change.accepted if edit.accepted is None else edit.accepted
        known[edit.id] = replace(change, accepted=accepted, after=edit.after or change.after)
    return list(known.values())


def _dream(row: Row | None) -> Dream:
    if row is None:
        raise no_dream()
    changes = _changes(row)
    tongue: Tongue = row["changes"]["tongue"]
    shown = ("id", "step", "before", "after", "session_id", "accepted")
    return Dream(
        id=str(row["id"]),
        user_id=row["user_id"],
        state=row["state"],
        version=row["version"],
        changes=[
            DreamChange(memory_ids=list(one.memory_ids), **{name: getattr(one, name) for name in shown})
            for one in changes
        ],
        diff=diff_of(changes, tongue),
        degraded=row["changes"]["degraded"],
        created_at=row["created_at"],
        decided_at=row["decided_at"],
        job_id=None if row["job_id"] is None else str(row["job_id"]),
    )
