"""The job that learns from a session: its new messages become memories, killed anywhere without loss or repetition."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from app.core import clock
from app.core.metrics import Metrics
from app.domain.extraction.turns import Turn
from app.domain.fence import cut
from app.repositories.base import RowLike
from app.repositories.vectors import Embedded
from app.schemas.messages import MessageIn, text_of
from app.services.drafting import Judged, Origin, drafts_of, judged, zone_of_sender
from app.services.embedding import Embedder, TextToEmbed
from app.services.extractors.base import Extractor, Window
from app.services.learning import Learner, Learnt
from app.services.vectorising import JobRun
from app.services.writing import Draft
from app.uow import UnitOfWork

WINDOW: Final = 60
"""Messages that are read between two commits."""

OVERLAP: Final = 8
"""Messages before them that help to understand them."""

MOST_TOLD: Final = 200
"""Memories that a job's result names."""


@dataclass(frozen=True, slots=True)
class Read:
    """A session's window as it stood when it was read."""

    session: RowLike
    before: list[Turn]
    turns: list[Turn]
    last_seq: int


@dataclass(frozen=True, slots=True)
class ExtractionService:
    """The use case of the job `extract`."""

    uow: UnitOfWork
    embedder: Embedder
    extractor: Extractor
    metrics: Metrics

    async def run(self, run: JobRun) -> None:
        """Learn from what a session has after its cursor, window by window; the cursor moves with what was learnt."""
        learnt, refused, first, last = Learnt(), Counter[str](), None, None
        while (read := await self._read(run)) is not None:
            found = await self._judged(read)
            refused.update(one.reason for one in found if one.reason is not None)
            part = await self._learn(run, read, found)
            if part is None:
                continue  # somebody else has moved the cursor: what follows it is read anew
            learnt = learnt.and_then(part)
            first, last = first if first is not None else read.turns[0].seq, read.last_seq
        for reason, count in refused.items():
            self.metrics.extraction.labels(reason).inc(count)
        self.metrics.extraction.labels("kept").inc(len(learnt.written))
        result: dict[str, Any] = {
            "extractor": self.extractor.name,
            "memory_ids": [str(one) for one in learnt.written[:MOST_TOLD]],
            "ended_ids": [str(one) for one in learnt.ended[:MOST_TOLD]],
            "forgotten_ids": [str(one) for one in learnt.forgotten[:MOST_TOLD]],
            "kept": len(learnt.written),
            "refused": dict(refused),
        }
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            await run.finish(tx, result, {"from_seq": first, "to_seq": last})

    async def _read(self, run: JobRun) -> Read | None:
        """The window after the cursor, under the session's lock: an append that has no commit yet is waited for."""
        async with self.uow.begin_tenant(run.tenant_id) as tx:
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
        turns = [turn_of(row, zone_of_sender(None, session, user)) for row in rows]
        before = [turn for turn in turns if turn.seq <= cursor]
        return Read(session, before, turns[len(before) :], fresh[-1]["seq"])

    async def _judged(self, read: Read) -> list[Judged]:
        extraction = await self.extractor.extract(Window(read.turns, read.before))
        return judged(extraction.candidates, [*read.before, *read.turns])

    async def _learn(self, run: JobRun, read: Read, found: Sequence[Judged]) -> Learnt | None:
        """Write what passed the gate; None where the window is no longer the one that was read."""
        at = clock.now()
        origin = Origin.of_session(read.session)
        kept = [one.candidate for one in found if one.passed]
        drafts = await drafts_of(origin, kept, [*read.before, *read.turns], at)
        vectors = await embedded(self.embedder, drafts)
        model = await self.embedder.record()
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            session = await tx.sessions.get_for_update(run.subject)
            if session is None:
                return Learnt()
            if session["extracted_seq"] != read.session["extracted_seq"] or session["memory"] != "on":
                return None
            learner = Learner(tx, f"job:{run.fence.job_id}", at, origin, model, self.embedder.calibration)
            learnt = await learner.learn(kept, drafts, vectors, read.turns)
            await tx.sessions.extracted_to(run.subject, read.last_seq)
            await run.check(tx)
        return learnt


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
