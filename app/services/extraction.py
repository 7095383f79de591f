"""The job that learns from a session: its new messages become memories, killed anywhere without loss or repetition."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from app.core import clock
from app.core.errors import QuotaExceeded
from app.core.metrics import Metrics
from app.domain.extraction.turns import Turn
from app.domain.fence import cut
from app.domain.jobs import backoff
from app.domain.principal import TenantDefaults
from app.providers.llm.base import LanguageModelUnavailable
from app.repositories.base import RowLike
from app.repositories.quotas import LIMITS
from app.repositories.vectors import Embedded
from app.schemas.messages import MessageIn, text_of
from app.services.allowance import Allowance, Spent, renewal
from app.services.drafting import Judged, Origin, drafts_of, judged, zone_of_sender
from app.services.embedding import Embedder, TextToEmbed
from app.services.extractors.base import Extraction, Extractor, Window
from app.services.extractors.llm import MOST_KEYS
from app.services.history import job_actor
from app.services.judging import Judging, Verdicts, told_by
from app.services.learning import Learner, Learnt
from app.services.tenancy import tenant_defaults
from app.services.vectorising import JobLost, JobRun
from app.services.writing import Draft
from app.uow import Transaction, UnitOfWork

WINDOW: Final = 60
"""Messages that are read between two commits."""

OVERLAP: Final = 8
"""Messages before them that help to understand them."""

MOST_TOLD: Final = 200
"""Memories that a job's result names."""


FIRST_PAUSE: Final = timedelta(seconds=30)
"""Until a language model that fails is asked again; doubled each time, up to ten minutes."""

OUTAGES: Final = "outages"
"""In a job's payload: how many before it found no language model, or no room."""

FULL: Final = "full"
"""In a job's payload: the quota that was used up when it was queued."""


@dataclass(frozen=True, slots=True)
class Read:
    """A session's window as it stood when it was read."""

    session: RowLike
    before: list[Turn]
    turns: list[Turn]
    last_seq: int
    to_its_end: bool
    """Whether nothing came after it."""
    keys: list[str]
    defaults: TenantDefaults
    spent: Spent | None
    """The period of whose tokens nothing is left to the tenant."""


@dataclass(slots=True)
class Tally:
    """What a run of the job has done so far."""

    learnt: Learnt = field(default_factory=Learnt)
    refused: Counter[str] = field(default_factory=Counter)
    readers: dict[str, None] = field(default_factory=dict)
    calls: int = 0
    first_seq: int | None = None
    last_seq: int | None = None

    def add(self, read: Read, found: Sequence[Judged], learnt: Learnt) -> None:
        """Count a window that is written."""
        self.learnt = self.learnt.and_then(learnt)
        self.refused.update(one.reason for one in found if one.reason is not None)
        self.first_seq = read.turns[0].seq if self.first_seq is None else self.first_seq
        self.last_seq = read.last_seq

    def result(self) -> dict[str, Any]:
        """What the job's record tells."""
        learnt = self.learnt
        return {
            "extractor": "+".join(self.readers),
            "memory_ids": [str(one) for one in learnt.written[:MOST_TOLD]],
            "ended_ids": [str(one) for one in learnt.ended[:MOST_TOLD]],
            "forgotten_ids": [str(one) for one in learnt.forgotten[:MOST_TOLD]],
            "kept": len(learnt.written),
            "refused": dict(self.refused),
            "calls": self.calls,
        }


@dataclass(frozen=True, slots=True)
class ExtractionService:
    """The use case of the job `extract`.

    Args:
        uow: Opens transactions.
        embedder: Makes vectors.
        extractor: Reads windows.
        judging: Asks a language model about conflicts, if there is one.
        instead: What reads where the tenant has used up its tokens; None: the window waits for the next day.
        metrics: Counts what is kept and what is not.
    """

    uow: UnitOfWork
    embedder: Embedder
    extractor: Extractor
    judging: Judging
    instead: Extractor | None
    metrics: Metrics

    async def run(self, run: JobRun) -> bool:
        """Learn from what a session has after its cursor, window by window; the cursor moves with what was learnt.

        The answer says whether any memory has changed. What is appended meanwhile has a job of its own. Where the
        language model does not answer, or the tenant has no room, the job ends, and a fresh one tries again later.
        """
        tally = Tally()
        await self._through(run, tally)
        return tally.learnt.changes_something

    async def _through(self, run: JobRun, tally: Tally) -> None:
        more = True
        try:
            while more and (read := await self._read(run)) is not None:
                more = await self._window(run, read, tally)
        except LanguageModelUnavailable as outage:
            await self._defer(run, tally, f"The language model is unavailable: {outage}", _next_try(run))
            return
        except _UsedUp as used_up:
            pause = renewal(clock.now(), used_up.period) - clock.now()
            await self._defer(run, tally, f"The tenant has used up the tokens of the {used_up.period}.", pause)
            return
        except QuotaExceeded as full:
            await self._defer(run, tally, f"QuotaExceeded: {full}", _next_try(run), {FULL: full.quota})
            return
        self._measure(tally)
        window = {"from_seq": tally.first_seq, "to_seq": tally.last_seq}
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            await run.finish(tx, tally.result(), window)

    async def _window(self, run: JobRun, read: Read, tally: Tally) -> bool:
        """Whether there may be more after it."""
        extraction, found = await self._judged(run, read)
        tally.calls += extraction.calls
        tally.readers.setdefault(extraction.by)
        learnt = await self._learn(run, read, found, tally, judged=read.spent is None and not extraction.degraded)
        if learnt is None:  # somebody has moved the cursor: what follows it is read anew
            return True
        tally.add(read, found, learnt)
        return not read.to_its_end

    def _measure(self, tally: Tally) -> None:
        for reason, count in tally.refused.items():
            self.metrics.extraction.labels(reason).inc(count)
        self.metrics.extraction.labels("kept").inc(len(tally.learnt.written))

    async def _defer(
        self, run: JobRun, tally: Tally, error: str, pause: timedelta, more: Mapping[str, Any] | None = None
    ) -> None:
        """End the job as failed and queue a fresh one, so that nothing waits behind it and no attempt is used up."""
        self._measure(tally)
        at = clock.now()
        window = {"from_seq": tally.first_seq, "to_seq": tally.last_seq}
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            session = await tx.sessions.get(run.subject)
            if not await tx.jobs.finish(run.fence, "failed", at, error=error, result=tally.result(), window=window):
                raise JobLost
            payload = {OUTAGES: run.payload.get(OUTAGES, 0) + 1} | dict(more or {})
            user_id = None if session is None else session["user_id"]
            await tx.jobs.enqueue("extract", run.subject, at, delay=pause, user_id=user_id, payload=payload)

    async def _read(self, run: JobRun) -> Read | None:
        """The window after the cursor, under the session's lock: an append that has no commit yet is waited for."""
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            if FULL in run.payload:
                await _check_room(tx, run.payload[FULL])
            session = await tx.sessions.get_for_update(run.subject)
            if session is None or session["memory"] != "on":
                return None
            cursor = session["extracted_seq"]
            rows = await tx.messages.said(run.subject, cursor, WINDOW, OVERLAP)
            fresh = [row for row in rows if row["seq"] > cursor]
            if not fresh:
                await tx.sessions.extracted_to(run.subject, session["last_seq"])
                return None
            user = None if session["user_id"] is None else await tx.users.get(session["user_id"])
            defaults = await tenant_defaults(tx)
            asks = self.extractor.name == "llm"
            keys = await tx.facts.keys(Origin.of_session(session).scope.owner, clock.now(), MOST_KEYS) if asks else []
            spent = await Allowance.spent(tx, defaults) if asks else None
        zone = zone_of_sender(None, session, user, defaults.timezone)
        turns = [turn_of(row, zone) for row in rows]
        before = [turn for turn in turns if turn.seq <= cursor]
        whole = len(fresh) < WINDOW
        last = session["last_seq"] if whole else fresh[-1]["seq"]
        return Read(session, before, turns[len(before) :], last, whole, keys, defaults, spent)

    async def _judged(self, run: JobRun, read: Read) -> tuple[Extraction, list[Judged]]:
        """What the extractor finds and the gate says of it. Raises as a language model does."""
        extractor = self.extractor if read.spent is None else self.instead
        if extractor is None:
            raise _UsedUp(read.spent or "day")
        extraction = await extractor.extract(Window(read.turns, read.before, keys=read.keys))
        await Allowance(self.uow).note(run.tenant_id, extraction.calls, extraction.tokens)
        turns = [*read.before, *read.turns]
        return extraction, judged(extraction.candidates, turns, read.defaults.gate_threshold)

    async def _learn(
        self, run: JobRun, read: Read, found: Sequence[Judged], tally: Tally, *, judged: bool
    ) -> Learnt | None:
        """Write what passed the gate; None where the window is no longer the one that was read."""
        at = clock.now()
        origin = Origin.of_session(read.session)
        kept = [one.candidate for one in found if one.passed]
        drafts = await drafts_of(origin, kept, [*read.before, *read.turns], at, read.defaults.forgetting.ttls)
        vectors = await embedded(self.embedder, drafts)
        model = await self.embedder.record()
        verdicts = Verdicts.none()
        if judged:
            verdicts = await self.judging.verdicts(run.tenant_id, origin.scope, told_by(kept, drafts, vectors))
            await Allowance(self.uow).note(run.tenant_id, verdicts.calls, verdicts.tokens)
            tally.calls += verdicts.calls
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            session = await tx.sessions.get_for_update(run.subject)
            if session is None:
                return Learnt()
            if session["extracted_seq"] != read.session["extracted_seq"] or session["memory"] != "on":
                return None
            actor = job_actor(run.fence.job_id)
            learner = Learner(tx, actor, at, origin, model, self.embedder.calibration, verdicts)
            learnt = await learner.learn(kept, drafts, vectors, read.turns)
            await tx.sessions.extracted_to(run.subject, read.last_seq)
            await run.check(tx)
        return learnt


class _UsedUp(Exception):  # noqa: N818 - a state of affairs
    """The tenant has used up the tokens of a period, and no rules stand in."""

    def __init__(self, period: Spent) -> None:
        super().__init__(period)
        self.period = period


async def _check_room(tx: Transaction, quota: str) -> None:
    """Raise `QuotaExceeded` where there is still no room: before a language model is asked for nothing."""
    row = await tx.quotas.get()
    limit = None if row is None else row[LIMITS[quota]]
    if row is not None and limit is not None and row[quota] >= limit:
        raise QuotaExceeded(quota, limit, row[quota])


def _next_try(run: JobRun) -> timedelta:
    return backoff(run.payload.get(OUTAGES, 0) + 1, FIRST_PAUSE)


def turn_of(row: RowLike, zone: str) -> Turn:
    """A message as an extractor sees it: what was served into it before is cut out."""
    own = row["timezone"] or zone
    return Turn(row["seq"], row["role"], cut(row["text"]), row["occurred_at"], ZoneInfo(own), row["name"])


def turn_in_request(place: int, message: MessageIn, zone: str, at: datetime) -> Turn:
    """The same of a message that is not stored yet, numbered by its place; `at` is when it arrived."""
    own = ZoneInfo(message.timezone or zone)
    return Turn(place, message.role, cut(text_of(message.content)), message.occurred_at or at, own, message.name)


async def embedded(embedder: Embedder, drafts: Sequence[Draft]) -> list[Embedded]:
    """Vectors of drafts; none where the model is down: a job makes them later."""
    texts = [TextToEmbed(draft.row["id"], draft.row["text"], draft.row["content_hash"]) for draft in drafts]
    return await embedder.passages_if_up(texts)
