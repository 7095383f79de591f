"""Jobs: our record of background work. What the dispatcher carries is an id; what is true stands here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
from pgqueuer.queries import Queries
from sqlalchemy import (
    RowMapping,
    Text,
    Uuid,
    bindparam,
    cast,
    column,
    delete,
    func,
    literal_column,
    or_,
    select,
    table,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError

from app.core.ids import new_id
from app.db.lending import driver_of
from app.db.models import jobs
from app.domain.jobs import JobKind, JobState, priority
from app.repositories.base import Repository, filled

ENTRYPOINT = "mnemic_job"

MANY = 10_000
"""Rows that one statement removes at most: what is left waits for the next sweep."""

_DISPATCHED = table("pgqueuer", column("entrypoint"), column("status"), column("payload"))
# Every tenant's sweep clears the same log: rows that another one is at are left to it.
_OLD_LOG = text(
    "DELETE FROM pgqueuer_log WHERE id IN (SELECT id FROM pgqueuer_log WHERE created < :before "
    "ORDER BY created LIMIT :many FOR UPDATE SKIP LOCKED)"
)


_ENQUEUE: Final = (
    insert(jobs)
    .on_conflict_do_update(
        index_elements=["tenant_id", "kind", "subject"],
        index_where=text("state = 'queued'"),
        set_={"updated_at": insert(jobs).excluded.updated_at},
    )
    .returning(jobs.c.id, jobs.c.kind, literal_column("(xmax = 0)").label("created"))
)
_THIS_ONE: Final = (
    jobs.c.tenant_id == bindparam("tenant", type_=Uuid()),
    jobs.c.id == bindparam("job", type_=Uuid()),
)
_AT: Final = bindparam("at", type_=jobs.c.updated_at.type)
_CLAIM: Final = (
    update(jobs)
    .where(*_THIS_ONE, jobs.c.state.in_(("queued", "running")))
    .values(state="running", attempts=jobs.c.attempts + 1, started_at=_AT, updated_at=_AT)
    .returning(jobs)
)
_OF_RUN: Final = update(jobs).where(
    *_THIS_ONE,
    jobs.c.state == "running",
    jobs.c.attempts == bindparam("attempt", type_=jobs.c.attempts.type),
    jobs.c.started_at == bindparam("since", type_=jobs.c.started_at.type),
)
_STILL_RUNNING: Final = _OF_RUN.values(updated_at=_AT)
"""What a worker does with every job; built once."""


@dataclass(frozen=True, slots=True)
class Fence:
    """One run of a job: what it writes counts only while the record names this very run.

    The attempt alone would not do: a job that is run again by hand counts from one again.
    """

    job_id: UUID
    attempt: int
    started_at: datetime


class JobRepository(Repository):
    """The jobs of a tenant. Every change of state names the state it came from."""

    async def enqueue(
        self,
        kind: JobKind,
        subject: str,
        at: datetime,
        *,
        delay: timedelta = timedelta(0),
        user_id: str | None = None,
        payload: dict[str, Any] | None = None,
    ) -> UUID:
        """Queue a job in this transaction, or join the one of the same kind and subject that waits already.

        Joining locks that job's row: it cannot be claimed before our commit, so whoever runs it sees what we wrote.
        """
        (job_id,) = await self.enqueue_all({kind: delay}, subject, at, user_id=user_id, payload=payload)
        return job_id

    async def enqueue_all(
        self,
        delays: Mapping[JobKind, timedelta],
        subject: str,
        at: datetime,
        *,
        user_id: str | None = None,
        payload: dict[str, Any] | None = None,
    ) -> list[UUID]:
        """The same for several kinds of one subject, each with its delay, in one statement; ids in the kinds' order."""
        ordered = sorted(delays.items())  # so that two such statements do not wait for each other
        rows = [
            {
                "tenant_id": self._tenant_id,
                "id": new_id(),
                "kind": kind,
                "subject": subject,
                "user_id": user_id,
                "state": "queued",
                "payload": payload or {},
                "run_after": at + delay,
                "created_at": at,
                "updated_at": at,
            }
            for kind, delay in ordered
        ]
        found = {row.kind: row for row in (await self._connection.execute(*filled(_ENQUEUE, rows))).all()}
        fresh = {UUID(str(row.id)): delays[kind] for kind, row in found.items() if row.created}
        if fresh:
            await self._wake_all(fresh, {UUID(str(row.id)): priority(kind) for kind, row in found.items()})
        return [UUID(str(found[kind].id)) for kind in delays]

    async def hasten(self, job_id: UUID, at: datetime) -> None:
        """Let a job that waits for its time run now; takes effect with our commit."""
        due = update(jobs).where(*self._one(job_id), jobs.c.state == "queued", jobs.c.run_after > at)
        if await self._run(due.values(run_after=at, updated_at=at)):
            await self.wake(job_id)

    async def wake(self, job_id: UUID, delay: timedelta = timedelta(0)) -> None:
        """Tell the dispatcher that a job is due after `delay`; takes effect with our commit. It has waited before."""
        await self._wake_all({job_id: delay}, {job_id: 1})

    async def _wake_all(self, delays: Mapping[UUID, timedelta], priorities: Mapping[UUID, int]) -> None:
        payloads: list[bytes | None] = [f"{self._tenant_id}:{job_id}".encode() for job_id in delays]
        queries = Queries(AsyncpgDriver(driver_of(self._connection)))
        await queries.enqueue(
            [ENTRYPOINT] * len(payloads),
            payloads,
            [priorities[job_id] for job_id in delays],
            execute_after=list(delays.values()),
        )

    async def get(self, job_id: UUID) -> RowMapping | None:
        """One job; None where it is absent or another's."""
        return await self._first(select(jobs).where(*self._one(job_id)))

    async def claim(self, job_id: UUID, at: datetime) -> RowMapping | None:
        """Take a job to run it, counting the attempt; None where it is finished.

        Raises:
            JobBusy: Another job of the same kind and subject is running: come back later.
        """
        try:
            return await self._first(_CLAIM, {"tenant": self._tenant_id, "job": job_id, "at": at})
        except IntegrityError as error:
            raise JobBusy from error

    async def finish(
        self,
        fence: Fence,
        state: JobState,
        at: datetime,
        *,
        error: str | None = None,
        result: dict[str, Any] | None = None,
        window: dict[str, Any] | None = None,
    ) -> bool:
        """End a run of a job; False where it is no longer ours: cancelled, or taken over."""
        values: dict[str, Any] = {"state": state, "error": error, "finished_at": at, "updated_at": at}
        if result is not None:
            values["result"] = result
        if window is not None:
            values["input_window"] = window
        return await self._run(_OF_RUN.values(values), self._run_of(fence)) > 0

    async def still_running(self, fence: Fence, at: datetime) -> bool:
        """Whether this run is still the one that counts; if so, its row is locked until the commit."""
        return await self._run(_STILL_RUNNING, self._run_of(fence) | {"at": at}) > 0

    async def retry_later(self, fence: Fence, at: datetime, delay: timedelta, error: str) -> bool:
        """Queue a run again after `delay`; False where it is no longer ours.

        Raises:
            JobBusy: A younger job for the same subject waits already; nothing else can be done in this transaction.
        """
        values = {"state": "queued", "error": error, "run_after": at + delay, "updated_at": at}
        try:
            queued = await self._run(_OF_RUN.values(values), self._run_of(fence))
        except IntegrityError as busy:
            raise JobBusy from busy
        if queued:
            await self.wake(fence.job_id, delay)
        return queued > 0

    async def cancel(self, job_id: UUID, at: datetime) -> RowMapping | None:
        """Cancel a job that is not finished; None where there is none to cancel."""
        statement = (
            update(jobs)
            .where(*self._one(job_id), jobs.c.state.in_(("queued", "running")))
            .values(state="cancelled", finished_at=at, updated_at=at)
            .returning(jobs)
        )
        return await self._first(statement)

    async def requeue(self, job_id: UUID, at: datetime) -> RowMapping | None:
        """Queue a job that ended badly once more, its attempts counted anew; None where there is none such."""
        statement = (
            update(jobs)
            .where(*self._one(job_id), jobs.c.state.in_(("failed", "dead", "cancelled")))
            .values(state="queued", attempts=0, run_after=at, updated_at=at, finished_at=None, started_at=None)
            .returning(jobs)
        )
        try:
            row = await self._first(statement)
        except IntegrityError as error:
            raise JobBusy from error
        if row is not None:
            await self.wake(job_id)
        return row

    async def blank(self, job_id: UUID) -> None:
        """Take away what a job was asked with."""
        await self._run(update(jobs).where(*self._one(job_id)).values(payload={}))

    async def page(self, filters: dict[str, str], before: UUID | None, limit: int) -> list[RowMapping]:
        """Jobs, newest first, before a keyset position."""
        equal = [jobs.c[name] == value for name, value in filters.items()]
        statement = select(jobs).where(jobs.c.tenant_id == self._tenant_id, *self._own(jobs.c.user_id), *equal)
        if before is not None:
            statement = statement.where(jobs.c.id < before)
        return await self._all(statement.order_by(jobs.c.id.desc()).limit(limit))

    async def count(self, filters: dict[str, str]) -> int:
        """How many jobs the filters leave."""
        equal = [jobs.c[name] == value for name, value in filters.items()]
        statement = select(func.count()).select_from(jobs)
        statement = statement.where(jobs.c.tenant_id == self._tenant_id, *self._own(jobs.c.user_id), *equal)
        return int((await self._connection.execute(statement)).scalar_one())

    async def tally(self) -> dict[tuple[str, str], int]:
        """How many jobs of each kind and state there are, of those that wait, run or ended badly."""
        watched = jobs.c.state.in_(("queued", "running", "failed", "dead"))
        statement = select(jobs.c.kind, jobs.c.state, func.count().label("jobs"))
        rows = await self._all(
            statement.where(jobs.c.tenant_id == self._tenant_id, watched).group_by(jobs.c.kind, jobs.c.state)
        )
        return {(row["kind"], row["state"]): row["jobs"] for row in rows}

    async def overdue(self, before: datetime, limit: int) -> list[UUID]:
        """Unfinished jobs that should have moved before an instant and that the dispatcher no longer knows."""
        payload = func.convert_to(f"{self._tenant_id}:" + cast(jobs.c.id, Text), "UTF8")
        known = (
            select(literal_column("1"))
            .select_from(_DISPATCHED)
            .where(
                _DISPATCHED.c.entrypoint == ENTRYPOINT,
                _DISPATCHED.c.status.in_([literal_column("'queued'"), literal_column("'picked'")]),
                _DISPATCHED.c.payload == payload,
            )
            .exists()
        )
        statement = (
            select(jobs.c.id)
            .where(
                jobs.c.tenant_id == self._tenant_id,
                jobs.c.finished_at.is_(None),
                or_(
                    (jobs.c.state == "queued") & (jobs.c.run_after < before),
                    (jobs.c.state == "running") & (jobs.c.updated_at < before),
                ),
                ~known,
            )
            .order_by(jobs.c.id)
            .limit(limit)
        )
        return list((await self._connection.execute(statement)).scalars().all())

    async def forget(self, before: datetime, kinds: Sequence[JobKind], states: Sequence[JobState]) -> int:
        """Delete records of jobs of these kinds that ended in these ways before an instant."""
        old = (
            select(jobs.c.id)
            .where(
                jobs.c.tenant_id == self._tenant_id,
                jobs.c.state.in_(states),
                jobs.c.kind.in_(kinds),
                jobs.c.finished_at < before,
            )
            .order_by(jobs.c.finished_at)
            .limit(MANY)
        )
        return await self._run(delete(jobs).where(jobs.c.tenant_id == self._tenant_id, jobs.c.id.in_(old)))

    async def forget_dispatch_log(self, before: datetime) -> int:
        """Drop the dispatcher's own log lines older than an instant."""
        return await self._run(_OLD_LOG, {"before": before, "many": MANY})

    def _run_of(self, fence: Fence) -> dict[str, Any]:
        return {
            "tenant": self._tenant_id,
            "job": fence.job_id,
            "attempt": fence.attempt,
            "since": fence.started_at,
        }

    def _one(self, job_id: UUID) -> list[Any]:
        return [jobs.c.tenant_id == self._tenant_id, jobs.c.id == job_id, *self._own(jobs.c.user_id)]


class JobBusy(Exception):  # noqa: N818 - a state of affairs, not an error
    """A job of the same kind and subject is queued or running already."""
