"""The job `reflect`: insights from what was observed since the last time, each with the memories that bear it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from app.core import clock
from app.domain.context.words import Tongue
from app.domain.insights.counting import LEAST_CORRECTIONS, Finding, Observation, correction
from app.domain.insights.policy import ReflectionPolicy
from app.domain.principal import TenantDefaults
from app.domain.profile import tongue_of
from app.domain.scope import Scope
from app.repositories.base import RowLike
from app.schemas.insights import PlannedInsight, Reflected, ReflectRequest
from app.services.allowance import Allowance
from app.services.answers import Answer, Write, write_once
from app.services.drafting import zone_of_sender
from app.services.embedding import Embedder
from app.services.insights.finding import Found, InsightFinder
from app.services.insights.writing import InsightWriter, prepared
from app.services.tenancy import tenant_defaults
from app.services.users import known_user
from app.services.vectorising import JobRun
from app.uow import Transaction, UnitOfWork

MOST_OBSERVED: Final = 500
"""Observations of one reflection: the newest."""

MOST_KNOWN: Final = 200
"""Insights of before that a new one is compared with."""

MOST_CORRECTED: Final = 3
VERSIONS: Final = 20


@dataclass(frozen=True, slots=True)
class Looked:
    """What there is to reflect on.

    Args:
        due: Whether it is enough.
        count: Observations since the last time.
        importance: Theirs together.
        observations: The newest of them, the eldest first.
        corrections: What was corrected again and again.
        known: What was concluded before.
        topics: What that was about.
        zone: The user's.
        tongue: The user's.
        policy: The tenant's.
        ask: Whether a language model may be asked.
    """

    due: bool
    count: int
    importance: int
    observations: list[Observation]
    corrections: list[Finding]
    known: list[str]
    topics: set[str]
    zone: ZoneInfo
    tongue: Tongue
    policy: ReflectionPolicy
    ask: bool


@dataclass(frozen=True, slots=True)
class ReflectionService:
    """The use cases of the job, of asking for it, and of asking what it would conclude."""

    uow: UnitOfWork
    embedder: Embedder
    finder: InsightFinder

    async def ask(self, write: Write, user_id: str, request: ReflectRequest) -> Answer:
        """What would be concluded (`dry_run`), or a job that does it."""
        principal = write.principal
        principal.require("memories:write")
        owner, at = Scope(user_id).owner, clock.now()
        async with self.uow.begin(principal) as tx:
            await known_user(tx, user_id)
        if request.dry_run:
            looked = await self._look(principal.tenant_id, owner, at, force=request.force)
            return Answer(200, _shown(looked, await self._found(principal.tenant_id, owner, looked)))

        async def work(tx: Transaction) -> Answer:
            payload = {"force": request.force}
            job_id = await tx.jobs.enqueue("reflect", owner, at, user_id=user_id, payload=payload)
            return Answer(202, Reflected(dry_run=False, job_id=str(job_id), undo_id=str(job_id), status="queued"))

        return await write_once(self.uow, write, Reflected, work)

    async def run(self, run: JobRun) -> None:
        """Look, find, and write all of it in the transaction that ends the job: killed before, nothing is written."""
        at = clock.now()
        looked = await self._look(run.tenant_id, run.subject, at, force=bool(run.payload.get("force")))
        found = await self._found(run.tenant_id, run.subject, looked)
        ready = await prepared(self.embedder, Scope.of_owner(run.subject).user_id, found, at)
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            await run.check(tx)
            writer = InsightWriter(tx, run, run.subject, at, looked.policy)
            written, outweighed = await writer.write(ready)
            if looked.due:
                await tx.insights.reflected(run.subject, at)
            result: dict[str, Any] = {
                **_told(looked, found),
                "memory_ids": [str(one) for one in written],
                "outweighed": outweighed,
                "refused": dict(found.refused),
                "undo_id": str(run.fence.job_id),
            }
            await run.finish(tx, result)

    async def _look(self, tenant_id: UUID, owner: str, at: datetime, *, force: bool) -> Looked:
        async with self.uow.begin_tenant(tenant_id) as tx:
            defaults = await tenant_defaults(tx)
            since = await tx.insights.last(owner)
            count, importance = await tx.insights.gathered(owner, since, at)
            due = defaults.reflection.due(count, importance) or (force and count > 0)
            rows = await tx.insights.observations(owner, since, at, MOST_OBSERVED) if due else []
            before = await tx.profiles.insights(owner, at, MOST_KNOWN)
            tongue = tongue_of([row["text"] for row in reversed(rows)])
            corrections = await _corrections(tx, owner, tongue) if due else []
            return Looked(
                due=due,
                count=count,
                importance=importance,
                observations=[_observation(row) for row in rows],
                corrections=corrections,
                known=[row["text"] for row in before],
                topics={topic for row in before if (topic := _topic(row["metadata"])) is not None},
                zone=await _zone(tx, owner, defaults),
                tongue=tongue,
                policy=defaults.reflection,
                ask=not await Allowance.used_up(tx, defaults),
            )

    async def _found(self, tenant_id: UUID, owner: str, looked: Looked) -> Found:
        """What is new of what the observations say; what was concluded before is not concluded again."""
        if not looked.due:
            return Found([], "counted")
        corrections = [one for one in looked.corrections if one.topic not in looked.topics]
        known = [*looked.known]
        found = await self.finder.find(
            looked.observations,
            corrections,
            known,
            looked.zone,
            looked.tongue,
            whose=Scope.of_owner(owner).user_id,
            ask=looked.ask,
        )
        await Allowance(self.uow).note(tenant_id, found.calls, found.tokens)
        fresh = [one for one in found.findings if one.topic not in looked.topics]
        return Found(fresh, found.by, found.refused, found.degraded)


async def _corrections(tx: Transaction, owner: str, tongue: Tongue) -> list[Finding]:
    found = []
    for row in await tx.insights.corrected(owner, LEAST_CORRECTIONS, MOST_CORRECTED):
        versions = await tx.facts.history(owner, row["key"], None, VERSIONS)
        ids = [one["id"] for one in versions if one["status"] != "deleted" and one["sealed"] is None]
        found.append(correction(row["key"], int(row["times"]), ids, tongue))
    return found


async def _zone(tx: Transaction, owner: str, defaults: TenantDefaults) -> ZoneInfo:
    user_id = Scope.of_owner(owner).user_id
    user = None if user_id is None else await tx.users.get(user_id)
    return ZoneInfo(zone_of_sender(None, None, user, defaults.timezone))


def _observation(row: RowLike) -> Observation:
    happened: datetime = row["occurred_at"] or row["valid_from"] or row["created_at"]
    return Observation(row["id"], row["text"], happened, row["kind"] == "episodic")


def _topic(metadata: Mapping[str, Any]) -> str | None:
    known = metadata.get("insight")
    return known.get("topic") if isinstance(known, dict) else None


def _told(looked: Looked, found: Found) -> dict[str, Any]:
    return {
        "due": looked.due,
        "observations": looked.count,
        "importance": looked.importance,
        "by": found.by if looked.due else None,
        "degraded": ["llm"] if found.degraded else [],
    }


def _shown(looked: Looked, found: Found) -> Reflected:
    planned: Sequence[Finding] = found.findings
    return Reflected(
        dry_run=True,
        insights=[PlannedInsight(text=one.text, memory_ids=[str(each) for each in one.sources]) for one in planned],
        **_told(looked, found),
    )
