"""Jobs as clients see them: looked at, waited for, cancelled, run again."""

import asyncio
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from app.core import clock
from app.core.errors import Conflict, NotFound
from app.domain.jobs import FINISHED
from app.domain.principal import Principal
from app.repositories.base import Row
from app.repositories.idempotency import IdempotencyClaim
from app.repositories.jobs import JobBusy
from app.schemas.jobs import Job
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.schemas.sessions import ClosedSession
from app.services.answers import Answer, Write, write_once
from app.uow import Transaction, UnitOfWork

POLL_SECONDS: Final = 0.1
ACCEPTED: Final = 202


@dataclass(frozen=True, slots=True)
class JobService:
    """The use cases of jobs."""

    uow: UnitOfWork

    async def get(self, principal: Principal, job_id: UUID, wait: float = 0.0) -> Job:
        """One job; with `wait`, as soon as it is finished or after so many seconds. No connection is held meanwhile."""
        principal.require("jobs:read")
        return await self._finished(principal, job_id, wait)

    async def _finished(self, principal: Principal, job_id: UUID, wait: float) -> Job:
        deadline = clock.monotonic() + wait
        while True:
            async with self.uow.begin(principal) as tx:
                job = _job(await tx.jobs.get(job_id))
            if job.state in FINISHED or clock.monotonic() >= deadline:
                return job
            await asyncio.sleep(min(POLL_SECONDS, max(deadline - clock.monotonic(), 0.0)))

    async def settled(self, principal: Principal, answer: Answer, wait: float) -> Answer:
        """An answer that names a job, after waiting for its end: 200 with how it ended, or still 202.

        Args:
            principal: Whose call it was; the job is the caller's own.
            answer: A 202 whose body has `job_id` and `status`.
            wait: Seconds to wait at most.
        """
        job_id = getattr(answer.body, "job_id", None)
        if answer.status != ACCEPTED or wait <= 0 or job_id is None or answer.body is None:
            return answer
        # The job is of this very call, also where it is about several of a bound key's users.
        job = await self._finished(replace(principal, user_ids=None), UUID(job_id), wait)
        known = {name: value for name, value in (job.result or {}).items() if name in type(answer.body).model_fields}
        body = answer.body.model_copy(update={"status": job.state, **known})
        return Answer(200 if job.state in FINISHED else ACCEPTED, body, answer.replayed)

    async def closed(self, principal: Principal, answer: Answer, wait: float) -> Answer:
        """The answer of closing a session, after waiting for its last jobs: how they ended together."""
        body = ClosedSession.model_validate(answer.body)
        if wait <= 0 or not body.job_ids:
            return answer
        deadline = clock.monotonic() + wait
        own = replace(principal, user_ids=None)
        jobs = [await self._finished(own, UUID(one), max(0.0, deadline - clock.monotonic())) for one in body.job_ids]
        states = [job.state for job in jobs]
        worst = next((state for state in states if state != "succeeded"), "succeeded")
        return Answer(answer.status, body.model_copy(update={"jobs_status": worst}), answer.replayed)

    async def page(
        self, principal: Principal, filters: dict[str, str], cursor: str | None, limit: int, *, count: bool
    ) -> Page[Job]:
        """Jobs, newest first."""
        principal.require("jobs:read")
        before = decode_cursor(cursor, UUID)
        async with self.uow.begin(principal) as tx:
            rows = await tx.jobs.page(filters, None if before is None else before[0], limit + 1)
            total = await tx.jobs.count(filters) if count else None
        more = len(rows) > limit
        return Page(
            results=[_job(row) for row in rows[:limit]],
            next_cursor=encode_cursor(rows[limit - 1]["id"]) if more else None,
            total=total,
        )

    async def cancel(self, principal: Principal, job_id: UUID, claim: IdempotencyClaim | None = None) -> Answer:
        """Cancel a job; one that is running writes nothing any more. Raises `Conflict` where it is finished."""
        principal.require("jobs:write")
        at = clock.now()

        async def work(tx: Transaction) -> Answer:
            _job(await tx.jobs.get(job_id))
            row = await tx.jobs.cancel(job_id, at)
            if row is None:
                raise Conflict("The job is finished: there is nothing to cancel.", code="job_finished")
            return Answer(200, _job(row))

        return await write_once(self.uow, Write(principal, claim), Job, work)

    async def retry(self, principal: Principal, job_id: UUID, claim: IdempotencyClaim | None = None) -> Answer:
        """Run a job again that failed, died or was cancelled. Raises `Conflict` for any other."""
        principal.require("jobs:write")
        at = clock.now()

        async def work(tx: Transaction) -> Answer:
            _job(await tx.jobs.get(job_id))
            row = await tx.jobs.requeue(job_id, at)
            if row is None:
                raise Conflict("Only a failed, dead or cancelled job can run again.", code="job_not_retryable")
            return Answer(200, _job(row))

        try:
            return await write_once(self.uow, Write(principal, claim), Job, work)
        except JobBusy as busy:
            raise Conflict("A job for the same subject is waiting already.", code="job_waiting") from busy


def _job(row: Row | None) -> Job:
    if row is None:
        raise NotFound("There is no such job.", code="job_not_found")
    own = {name: row[name] for name in Job.model_fields if name not in {"id", "status"}}
    return Job(id=str(row["id"]), status=row["state"], **own)
