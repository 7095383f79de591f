"""The job `consolidate`: what says the same becomes one memory, what cannot both be true is brought to a decision."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from app.core import clock
from app.domain.conflict.statements import Decision
from app.domain.lifecycle.merging import keeper
from app.domain.lifecycle.shortening import LONG
from app.domain.scope import Scope
from app.repositories.base import Row
from app.schemas.forgetting import (
    Consolidated,
    ConsolidateRequest,
    PlannedConflict,
    PlannedMerge,
    PlannedShortening,
)
from app.services.allowance import Allowance
from app.services.answers import Answer, Write, write_once
from app.services.closing import since
from app.services.embedding import Embedder
from app.services.extractors.judging import MOST_PAIRS, JudgeModel
from app.services.forgetting.comparing import Compared, Comparer, Pair
from app.services.forgetting.joining import Joiner
from app.services.forgetting.shortening import Shortener
from app.services.neighbours import statement_in
from app.services.tenancy import tenant_defaults
from app.services.users import known_user
from app.services.vectorising import JobRun
from app.uow import Transaction, UnitOfWork

AT_ONCE: Final = 25
"""Memories that are compared in one transaction, and pairs of which are joined in one."""

MOST_SHORTENED: Final = 20
"""Long memories that one job asks a language model about."""

MOST_REHEARSED: Final = 1_000
"""Memories that a dry run looks at: the answer waits for it."""


@dataclass(frozen=True, slots=True)
class Group:
    """Memories that say the same, and which of them stays."""

    kept: Row
    others: list[Row]


@dataclass(slots=True)
class Findings:
    """What became, or would become, of memories.

    Args:
        compared: How many were looked at.
        groups: What says the same.
        clashes: Pairs for conflict resolution with the verdict on each.
        shortened: Long memories with their shorter wordings.
    """

    compared: int = 0
    groups: list[Group] = field(default_factory=list)
    clashes: list[tuple[Pair, str]] = field(default_factory=list)
    shortened: list[tuple[Row, str]] = field(default_factory=list)

    def add(self, other: "Findings") -> None:
        """Both together."""
        self.compared += other.compared
        self.groups += other.groups
        self.clashes += other.clashes
        self.shortened += other.shortened


@dataclass(frozen=True, slots=True)
class ConsolidationService:
    """The use cases of the job, of asking for it, and of asking what it would do."""

    uow: UnitOfWork
    embedder: Embedder
    judge: JudgeModel
    shortener: Shortener

    async def ask(self, write: Write, user_id: str, request: ConsolidateRequest) -> Answer:
        """What would happen (`dry_run`), or a job that does it."""
        principal = write.principal
        principal.require("memories:write")
        owner, at = Scope(user_id).owner, clock.now()
        async with self.uow.begin(principal) as tx:
            await known_user(tx, user_id)
        if request.dry_run:
            return Answer(200, _shown(await self.rehearse(principal.tenant_id, owner)))

        async def work(tx: Transaction) -> Answer:
            job_id = await tx.jobs.enqueue("consolidate", owner, at, user_id=user_id)
            body = Consolidated(dry_run=False, job_id=str(job_id), undo_id=str(job_id), status="queued")
            return Answer(202, body)

        return await write_once(self.uow, write, Consolidated, work)

    async def run(self, run: JobRun) -> None:
        """Consolidate one owner's memories and end the job."""
        found = await self.consolidate(run, run.subject)
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            await run.finish(
                tx,
                {
                    "compared": found.compared,
                    "merged": sum(len(group.others) for group in found.groups),
                    "disputed": len(found.clashes),
                    "shortened": len(found.shortened),
                    "undo_id": str(run.fence.job_id),
                },
            )

    async def consolidate(self, run: JobRun, owner: str) -> Findings:
        """Do it as a step of any job: what was done carries that job's id, and goes with its undo.

        Killed anywhere, a next run finds what is left: a memory that was merged is no longer current.
        """
        return await self._walk(run.tenant_id, owner, run, None)

    async def rehearse(self, tenant_id: UUID, owner: str) -> Findings:
        """What would be done to an owner's first thousand memories."""
        return await self._walk(tenant_id, owner, None, MOST_REHEARSED)

    async def _walk(self, tenant_id: UUID, owner: str, run: JobRun | None, most: int | None) -> Findings:
        total, last, at = Findings(), None, clock.now()
        while most is None or total.compared < most:
            compared = await self._compared(tenant_id, owner, last, at)
            if not compared.rows:
                break
            found = await self._decided(tenant_id, compared)
            if len(total.shortened) < MOST_SHORTENED:
                gone = {row["id"] for group in found.groups for row in group.others}
                found.shortened = await self._shorter(
                    tenant_id, [row for row in compared.rows if row["id"] not in gone]
                )
            if run is not None:
                found = await self._done(run, owner, found, at)
            total.add(found)
            last = compared.rows[-1]["id"]
        return total

    async def _compared(self, tenant_id: UUID, owner: str, last: UUID | None, at: datetime) -> Compared:
        model = await self.embedder.record()
        async with self.uow.begin_tenant(tenant_id) as tx:
            comparer = Comparer(tx, owner, at, model, self.embedder.calibration)
            return await comparer.compare(last, AT_ONCE)

    async def _decided(self, tenant_id: UUID, compared: Compared) -> Findings:
        """Groups and clashes, by the rules, and by the language model where there is one that may be asked."""
        judged = await self._judged(tenant_id, compared.pairs)
        verdicts = [(pair, pair.verdict(said)) for pair, said in zip(compared.pairs, judged, strict=True)]
        same = [pair for pair, verdict in verdicts if verdict == "same"]
        clashes = [(pair, verdict) for pair, verdict in verdicts if verdict not in {"same", "other"}]
        return Findings(len(compared.rows), grouped(same), clashes)

    async def _judged(self, tenant_id: UUID, pairs: Sequence[Pair]) -> list[Decision | None]:
        if not pairs or self.judge.model is None or await self._used_up(tenant_id):
            return [None] * len(pairs)
        asked = [
            (statement_in(pair.newer, since(pair.newer)), statement_in(pair.older, since(pair.older)))
            for pair in pairs[:MOST_PAIRS]
        ]
        judged = await self.judge.judge(asked)
        await Allowance(self.uow).note(tenant_id, judged.calls, judged.tokens)
        return [*judged.decisions, *[None] * (len(pairs) - len(asked))]

    async def _shorter(self, tenant_id: UUID, rows: Sequence[Row]) -> list[tuple[Row, str]]:
        if self.shortener.model is None or await self._used_up(tenant_id):
            return []
        found = []
        for row in [one for one in rows if len(one["text"]) >= LONG and one["key"] is None]:
            shorter = await self.shortener.shorter(row["text"])
            await Allowance(self.uow).note(tenant_id, shorter.calls, shorter.tokens)
            if shorter.text is not None:
                found.append((row, shorter.text))
        return found

    async def _used_up(self, tenant_id: UUID) -> bool:
        async with self.uow.begin_tenant(tenant_id) as tx:
            return await Allowance.used_up(tx, await tenant_defaults(tx))

    async def _done(self, run: JobRun, owner: str, found: Findings, at: datetime) -> Findings:
        """Write it; what somebody has changed meanwhile is left as it is."""
        if not (found.groups or found.clashes or found.shortened):
            return found
        joiner = Joiner(self.uow, self.embedder, run, owner, at)
        groups = [group for group in found.groups if await joiner.join(group.kept, group.others)]
        clashes = [(pair, verdict) for pair, verdict in found.clashes if await joiner.dispute(pair.newer, pair.older)]
        shortened = [(row, text) for row, text in found.shortened if await joiner.reword(row, text)]
        return Findings(found.compared, groups, clashes, shortened)


def grouped(pairs: Sequence[Pair]) -> list[Group]:
    """Pairs that say the same as groups around the wording that stays: no memory is in two of them.

    Only what was found to say the same as the kept one goes with it: no chain leads from one meaning to another.
    """
    ranked = sorted(pairs, key=lambda pair: (since(pair.newer), pair.newer["id"]), reverse=True)
    groups: dict[UUID, Group] = {}
    taken: set[UUID] = set()
    for pair in ranked:
        kept = keeper([pair.newer, pair.older])
        other = pair.older if kept is pair.newer else pair.newer
        if kept["id"] in taken or other["id"] in taken or other["id"] in groups:
            continue
        groups.setdefault(kept["id"], Group(kept, [])).others.append(other)
        taken.add(other["id"])
    return list(groups.values())


def _shown(found: Findings) -> Consolidated:
    return Consolidated(
        dry_run=True,
        compared=found.compared,
        merged=sum(len(group.others) for group in found.groups),
        disputed=len(found.clashes),
        shortened=len(found.shortened),
        merges=[
            PlannedMerge(
                keep_id=str(group.kept["id"]),
                text=group.kept["text"],
                merged_ids=[str(row["id"]) for row in group.others],
                merged_texts=[row["text"] for row in group.others],
            )
            for group in found.groups
        ],
        conflicts=[
            PlannedConflict(memory_id=str(pair.newer["id"]), other_id=str(pair.older["id"]), verdict=verdict)
            for pair, verdict in found.clashes
        ],
        shortenings=[
            PlannedShortening(memory_id=str(row["id"]), before=row["text"], after=text) for row, text in found.shortened
        ],
    )
