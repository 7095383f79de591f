"""Erasing a user: everything, everywhere, with a receipt, and nobody brings it back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from app.core import clock, ids
from app.core.errors import NotFound
from app.domain.calls import serving
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.repositories.base import Row
from app.repositories.owners import OwnerChange
from app.schemas.audit import AcceptedErasure, ChainEnd, Erasure
from app.services.access import AccessService
from app.services.answers import Answer, Write, write_once
from app.services.auditing import AuditService
from app.services.closing import uncount
from app.services.jobs import JobService
from app.services.users import no_user
from app.services.vectorising import JobRun
from app.uow import Transaction, UnitOfWork

SESSIONS_AT_ONCE: Final = 20
MEMORIES_AT_ONCE: Final = 500
THREADS_AT_ONCE: Final = 20
DONE: Final = 200
_NOTHING: Final = OwnerChange()


@dataclass(frozen=True, slots=True)
class ErasureService:
    """The use cases of erasing."""

    uow: UnitOfWork
    access: AccessService
    audit: AuditService
    jobs: JobService

    async def erase(self, write: Write, user_id: str, wait: float) -> Answer:
        """Begin to erase a user: from now on no call that is under way can enter it again. A job does the rest.

        Where it is going on already, that erasure is answered.
        """
        principal = write.principal
        principal.require("memories:write")
        principal.require("sessions:write")
        if not principal.may_see_user(user_id):
            raise no_user()
        at = clock.now()

        async def work(tx: Transaction) -> Answer:
            subject = await tx.pseudonym("user_id", user_id)
            await tx.users.lock([user_id])
            row = await tx.erasures.running(subject)
            if row is None:
                row = await tx.erasures.add(ids.new_id(), subject, principal.actor, at)
                await tx.users.delete(user_id)
            job_id = await tx.jobs.enqueue("erase", str(row["id"]), at, payload={"user_id": user_id})
            body = AcceptedErasure(**_receipt(row).model_dump(), job_id=str(job_id), status="queued")
            return Answer(202, body)

        answer = await write_once(self.uow, write, AcceptedErasure, work)
        answer = await self.jobs.settled(principal, answer, wait)
        if answer.status != DONE or answer.body is None:
            return answer
        accepted = AcceptedErasure.model_validate(answer.body)
        async with self.uow.begin_tenant(principal.tenant_id) as tx:
            now = _receipt(_there(await tx.erasures.get(UUID(accepted.id))))
        return Answer(DONE, accepted.model_copy(update=dict(now)), answer.replayed)

    async def get(self, principal: Principal, erasure_id: UUID) -> Erasure:
        """A receipt. A key that is bound to users reads those of its own."""
        principal.require("memories:read")
        async with self.uow.begin(principal) as tx:
            row = _there(await tx.erasures.get(erasure_id))
            if principal.user_ids is not None:
                own = {await tx.pseudonym("user_id", user_id) for user_id in principal.user_ids}
                if row["subject"] not in own:
                    raise _no_erasure()
        return _receipt(row)

    async def run(self, run: JobRun) -> None:
        """The job `erase`: part by part, each in a transaction of its own; killed anywhere, it goes on from there."""
        user_id, erasure_id = run.payload["user_id"], UUID(run.subject)
        if (call := serving()) is not None:
            call.user_id = user_id
        removing = _Removing(user_id, erasure_id)
        for part in (removing.sessions, removing.memories, removing.threads, removing.rest):
            left = True
            while left:
                async with self.uow.begin_tenant(run.tenant_id) as tx:
                    left = await part(tx)
                    await run.check(tx)
        async with self.uow.begin_global(run.tenant_id) as shared:
            await shared.access.unbind(run.tenant_id, user_id, clock.now())
        self.access.forget()
        await self._finish(run, erasure_id)

    async def _finish(self, run: JobRun, erasure_id: UUID) -> None:
        """The receipt names the chain's end, which has the lines of all that was done before it."""
        head = await self.audit.seal(run.tenant_id)
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            await tx.erasures.finish(erasure_id, clock.now())
            await tx.erasures.attest(erasure_id, head.position, head.hash)
            row = _there(await tx.erasures.get(erasure_id))
            await run.finish(tx, {"counts": row["counts"]})
            await tx.jobs.blank(run.fence.job_id)


@dataclass(frozen=True, slots=True)
class _Removing:
    """The parts of an erasure. Each says whether more of the kind may be left."""

    user_id: str
    erasure_id: UUID

    async def sessions(self, tx: Transaction) -> bool:
        """Some sessions, with what other owners' memories keep of them."""
        found = await tx.erasing.sessions(self.user_id, SESSIONS_AT_ONCE)
        if not found:
            return False
        await tx.owners.lock_and_change(self._owner, _NOTHING)
        elsewhere = await tx.erasing.drawn_elsewhere(self.user_id, found)
        for owner in sorted({row["owner"] for row in elsewhere}):
            await tx.owners.lock_and_change(owner, _NOTHING)
        gone = [row for row in elsewhere if row["alone"]]
        for row in gone:
            await uncount(tx, row)
        memories = [row["id"] for row in gone] + await tx.erasing.memories_of(found)
        parts = [
            await tx.erasing.erase_memories(memories),
            await tx.erasing.erase_traces(found),
            await tx.erasing.erase_threads(await tx.erasing.threads_of(found)),
            await tx.erasing.erase_sessions(found),
        ]
        await self._count(tx, parts)
        return True

    async def memories(self, tx: Transaction) -> bool:
        """Some memories."""
        await tx.owners.lock_and_change(self._owner, _NOTHING)
        found = await tx.erasing.memories(self.user_id, MEMORIES_AT_ONCE)
        if found:
            await self._count(tx, [await tx.erasing.erase_memories(found)])
        return bool(found)

    async def threads(self, tx: Transaction) -> bool:
        """Some threads of checkpoints."""
        found = await tx.erasing.threads(self.user_id, THREADS_AT_ONCE)
        if found:
            await self._count(tx, [await tx.erasing.erase_threads(found)])
        return bool(found)

    async def rest(self, tx: Transaction) -> bool:
        """All that is left."""
        await self._count(tx, [await tx.erasing.erase_rest(self.user_id)])
        return False

    @property
    def _owner(self) -> str:
        return Scope(self.user_id).owner

    async def _count(self, tx: Transaction, parts: Sequence[dict[str, int]]) -> None:
        counts: dict[str, int] = {}
        for part in parts:
            for table, number in part.items():
                counts[table] = counts.get(table, 0) + number
        await tx.erasures.add_counts(self.erasure_id, counts)


def _receipt(row: Row) -> Erasure:
    plain: dict[str, Any] = {name: row[name] for name in Erasure.model_fields if name not in {"id", "audit"}}
    end = None
    if row["chain_hash"] is not None:
        end = ChainEnd(position=row["chain_position"], hash=bytes(row["chain_hash"]).hex())
    return Erasure(id=str(row["id"]), audit=end, **plain)


def _no_erasure() -> NotFound:
    return NotFound("There is no such erasure.", code="erasure_not_found")


def _there(row: Row | None) -> Row:
    if row is None:
        raise _no_erasure()
    return row
