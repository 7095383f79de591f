"""The job `maintain`: what the rules of forgetting do to one owner's memories, once a day or when it is asked for."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, assert_never
from uuid import UUID

from app.core import clock
from app.domain.lifecycle.policies import POLICIES, ActionName, PolicyName
from app.domain.lifecycle.policy import ForgettingPolicy
from app.domain.memory import EventAction
from app.domain.scope import Scope
from app.repositories.base import Row
from app.repositories.vectors import Vector
from app.schemas.forgetting import Maintained, MaintainRequest, PlannedChange, PlannedDigest
from app.services.answers import Answer, Write, write_once
from app.services.forgetting.digesting import Digest, Digester, write_digest
from app.services.forgetting.marking import Marker, locked
from app.services.forgetting.planning import Intended, Planner
from app.services.presenting import shown_status
from app.services.tenancy import tenant_defaults
from app.services.users import no_user
from app.services.vectorising import JobRun
from app.uow import Transaction, UnitOfWork

AT_ONCE: Final = 200
"""Memories of one transaction, by each rule."""

MOST_CHANGED: Final = 5_000
"""Memories that one job changes: one undo brings all of them back. What is left waits for the next day."""

MOST_SHOWN: Final = 200
"""Changes that a dry run shows of each rule."""


@dataclass(frozen=True, slots=True)
class _Look:
    """What is to be done in one step, and what stands for the episodes among it."""

    intended: list[Intended]
    digests: list[Digest]


@dataclass(frozen=True, slots=True)
class MaintenanceService:
    """The use cases of the job, of asking for it, and of asking what it would do."""

    uow: UnitOfWork
    digester: Digester

    async def ask(self, write: Write, user_id: str, request: MaintainRequest) -> Answer:
        """What would happen (`dry_run`), or a job that does it."""
        principal = write.principal
        principal.require("memories:write")
        if not principal.may_see_user(user_id):
            raise no_user()
        owner, at = Scope(user_id).owner, clock.now()
        if request.dry_run:
            return Answer(200, await self._rehearsed(write, owner, request.policies, at))

        async def work(tx: Transaction) -> Answer:
            if await tx.users.get(user_id) is None:
                raise no_user()
            payload = {"policies": request.policies}
            job_id = await tx.jobs.enqueue("maintain", owner, at, user_id=user_id, payload=payload)
            body = Maintained(dry_run=False, job_id=str(job_id), undo_id=str(job_id), status="queued")
            return Answer(202, body)

        return await write_once(self.uow, write, Maintained, work)

    async def run(self, run: JobRun) -> None:
        """Step by step, each a transaction. Killed anywhere, the next run finds what is left, and nothing twice."""
        policies: Collection[PolicyName] = run.payload.get("policies") or POLICIES
        at, done, digests, passed = clock.now(), Counter[str](), 0, set[UUID]()
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            policy = (await tenant_defaults(tx)).forgetting
        while sum(done.values()) < MOST_CHANGED:
            look = await self._look(run.tenant_id, run.subject, policy, policies, at, AT_ONCE)
            fresh = [one for one in look.intended if one.row["id"] not in passed]
            if not fresh:
                break
            changed, made = await self._do(run, _Look(fresh, look.digests), at)
            passed |= {one.row["id"] for one in fresh}
            done.update(changed)
            digests += made
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            result = {**done, "changed": sum(done.values()), "digests": digests, "undo_id": str(run.fence.job_id)}
            await run.finish(tx, result)

    async def _rehearsed(self, write: Write, owner: str, policies: Collection[PolicyName], at: datetime) -> Maintained:
        principal = write.principal
        async with self.uow.begin(principal) as tx:
            if await tx.users.get(Scope.of_owner(owner).user_id or "") is None:
                raise no_user()
        look = await self._look(principal.tenant_id, owner, principal.defaults.forgetting, policies, at, MOST_SHOWN)
        return Maintained(
            dry_run=True,
            changed=len(look.intended),
            changes=[_shown(one, at) for one in look.intended],
            digests=[
                PlannedDigest(text=one.text, memory_ids=[str(each) for each in one.members]) for one in look.digests
            ],
        )

    async def _look(
        self,
        tenant_id: UUID,
        owner: str,
        policy: ForgettingPolicy,
        policies: Collection[PolicyName],
        at: datetime,
        limit: int,
    ) -> _Look:
        """What is to be done; digests are made with no connection held."""
        model = await self.digester.embedder.record()
        async with self.uow.begin_tenant(tenant_id) as tx:
            intended = await Planner(tx, owner, policy, at).plan(policies, limit)
            leaving = [one.row for one in intended if one.action == "archive"]
            vectors: dict[UUID, Vector] = {}
            if leaving:
                vectors = await tx.vectors.of_memories(model.id, [row["id"] for row in leaving])
        return _Look(intended, await self.digester.digests(leaving, vectors) if leaving else [])

    async def _do(self, run: JobRun, look: _Look, at: datetime) -> tuple[Counter[str], int]:
        """One step: what has changed since it was looked at is left alone."""
        model = await self.digester.embedder.record()
        seen = {one.row["id"]: one for one in look.intended}
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            await run.check(tx)
            rows = {row["id"]: row for row in await locked(tx, run.subject, list(seen))}
            same = {name: row for name, row in rows.items() if _same(row, seen[name].row)}
            whole = [one for one in look.digests if all(name in same for name in one.members)]
            torn = {name for one in look.digests if one not in whole for name in one.members}
            marker = Marker.of(tx, run, at)
            for digest in whole:
                await write_digest(marker, digest, [same[name] for name in digest.members], model.id)
            done: Counter[str] = Counter()
            for action in DONE:
                mine = [one for name, one in seen.items() if one.action == action and name in same and name not in torn]
                await _mark(marker, action, mine, same)
                done[DONE[action]] += len(mine)
        return done, len(whole)


DONE: Final[dict[ActionName, str]] = {
    "expire": "expired",
    "archive": "archived",
    "delete": "deleted",
    "ask": "to_confirm",
    "settle": "settled",
}
"""Under which names a job's result counts what it did."""


async def _mark(marker: Marker, action: ActionName, intended: Sequence[Intended], rows: dict[UUID, Row]) -> None:
    if not intended:
        return
    locked_rows = [rows[one.row["id"]] for one in intended]
    reasons = {one.row["id"]: _why(one) for one in intended}
    event, values = _change(action, marker.at)
    await marker.mark(locked_rows, event, values, reasons)


def _change(action: ActionName, at: datetime) -> tuple[EventAction, dict[str, Any]]:
    match action:
        case "expire":
            return "expired", {"status": "expired"}
        case "archive":
            return "archived", {"status": "archived", "archived_at": at}
        case "delete":
            return "deleted", {"status": "deleted", "deleted_at": at}
        case "ask":
            return "doubted", {"needs_confirmation": True}
        case "settle":
            return "doubted", {"needs_confirmation": False}
        case _:
            assert_never(action)


def _same(row: Row, seen: Row) -> bool:
    """Whether nobody has changed or used a memory since it was looked at."""
    return all(row[name] == seen[name] for name in ("version", "last_accessed_at", "last_seen_at", "status"))


def _why(one: Intended) -> str:
    return one.reason if one.strength is None else f"{one.reason}: strength {one.strength:g}"


def _shown(one: Intended, at: datetime) -> PlannedChange:
    _, values = _change(one.action, at)
    names = [name for name in ("status", "needs_confirmation") if name in values]
    before = {name: shown_status(one.row, at) if name == "status" else one.row[name] for name in names}
    if one.action == "expire":
        before["status"] = one.row["status"]
    return PlannedChange(
        memory_id=str(one.row["id"]),
        text=one.row["text"],
        policy=one.policy,
        action=one.action,
        reason=one.reason,
        strength=one.strength,
        before=before,
        after={name: values[name] for name in names},
    )
