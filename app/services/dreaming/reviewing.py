"""A second look at what was said: statements of messages from which no memory has come, found and written."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from app.domain.dreaming.changes import Change
from app.domain.extraction.candidates import Candidate
from app.domain.extraction.turns import Turn
from app.providers.llm.base import LanguageModelNonsense, LanguageModelUnavailable
from app.repositories.base import Row
from app.services.allowance import Allowance
from app.services.drafting import Origin, drafts_of, judged, zone_of_sender
from app.services.embedding import Embedder
from app.services.extraction import embedded, turn_of
from app.services.extractors.base import Extraction, Extractor, Window
from app.services.extractors.llm import MOST_KEYS
from app.services.extractors.rules import RulesExtractor
from app.services.history import job_actor
from app.services.learning import Learner
from app.services.tenancy import tenant_defaults
from app.services.vectorising import JobRun
from app.uow import UnitOfWork

SESSIONS: Final = 5
"""Sessions that one dream looks at again: the last ones."""

MESSAGES: Final = 60
"""Messages of each: the last ones that extraction is done with."""

_TIMES: Final = ("occurred_at", "expires_at")


@dataclass(frozen=True, slots=True)
class Missed:
    """A statement that was not kept when it was said."""

    session_id: str
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Looks and writes. No connection is held while a model works.

    Args:
        uow: Opens transactions.
        embedder: Makes vectors.
        extractor: Reads messages; None: nothing is looked at again.
    """

    uow: UnitOfWork
    embedder: Embedder
    extractor: Extractor | None

    async def missed(self, tenant_id: UUID, owner: str) -> tuple[list[Missed], bool]:
        """What the last sessions' users said that left nothing; and whether a model was missing."""
        if self.extractor is None:
            return [], False
        async with self.uow.begin_tenant(tenant_id) as tx:
            sessions = [row for row in await tx.sessions.last_of(owner, SESSIONS) if row["memory"] == "on"]
        found: list[Missed] = []
        degraded = False
        for session in sessions:
            more, worse = await self._of_session(tenant_id, session)
            found += more
            degraded = degraded or worse
        return found, degraded

    async def _of_session(self, tenant_id: UUID, session: Row) -> tuple[list[Missed], bool]:
        async with self.uow.begin_tenant(tenant_id) as tx:
            defaults = await tenant_defaults(tx)
            turns = await self._turns(tx, session, defaults.timezone)
            drawn = {
                seq for row in await tx.memories.drawn(session["id"], [one.seq for one in turns]) for seq in row["seqs"]
            }
            asks = self.extractor is not None and self.extractor.name == "llm"
            used_up = asks and await Allowance.used_up(tx, defaults)
            keys = await tx.facts.keys(session["owner"], turns[-1].occurred_at, MOST_KEYS) if asks and turns else []
        if all(one.seq in drawn or one.role != "user" for one in turns):
            return [], False
        extraction, degraded = await self._read(Window(turns, keys=keys), used_up=used_up)
        await Allowance(self.uow).note(tenant_id, extraction.calls, extraction.tokens)
        passed = [one.candidate for one in judged(extraction.candidates, turns, defaults.gate_threshold) if one.passed]
        fresh = [
            one for one in passed if one.source == "user_stated" and not drawn & set(one.seqs) and not one.replaced
        ]
        return [Missed(session["id"], one) for one in fresh], degraded

    async def _read(self, window: Window, *, used_up: bool) -> tuple[Extraction, bool]:
        """By the configured extractor; by rule where a model fails."""
        if self.extractor is None or used_up:
            return await RulesExtractor().extract(window), used_up
        try:
            return await self.extractor.extract(window), False
        except (LanguageModelUnavailable, LanguageModelNonsense):
            return await RulesExtractor().extract(window), True

    @staticmethod
    async def _turns(tx: Any, session: Row, tenants: str | None) -> list[Turn]:  # noqa: ANN401 - a transaction
        rows = await tx.messages.page(
            session["id"], after=None, limit=MESSAGES, newest_first=True, from_seq=0, to_seq=session["extracted_seq"]
        )
        user = None if session["user_id"] is None else await tx.users.get(session["user_id"])
        zone = zone_of_sender(None, session, user, tenants)
        return [turn_of(row, zone) for row in reversed(rows) if row["redacted_at"] is None]

    async def write(self, run: JobRun, change: Change, at: datetime) -> bool:
        """Keep what was found, on the one way that extraction has; False where it is known, or the session is gone."""
        candidate = candidate_of(change.candidate)
        if change.after is not None:
            candidate = Candidate(**{**_fields(candidate), "text": change.after})
        session_id = change.session_id or ""
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            session = await tx.sessions.get(session_id)
            if session is None:
                return False
            defaults = await tenant_defaults(tx)
            turns = [one for one in await self._turns(tx, session, defaults.timezone) if one.seq in candidate.seqs]
        if len(turns) < len(candidate.seqs):
            return False
        origin = Origin.of_session(session)
        drafts = await drafts_of(origin, [candidate], turns, at, defaults.forgetting.ttls)
        vectors = await embedded(self.embedder, drafts)
        model = await self.embedder.record()
        async with self.uow.begin_tenant(run.tenant_id) as tx:
            locked = await tx.sessions.get_for_update(session_id)
            if locked is None or locked["memory"] != "on":
                return False
            if await tx.memories.drawn(session_id, list(candidate.seqs)):
                return False  # it has left something meanwhile, or this is the second run
            actor = job_actor(run.fence.job_id)
            learner = Learner(tx, actor, at, origin, model, self.embedder.calibration)
            learnt = await learner.learn([candidate], drafts, vectors, [])
            await run.check(tx)
        return bool(learnt.written)


def stored(candidate: Candidate) -> dict[str, Any]:
    """A statement as JSON."""
    found = asdict(candidate)
    for name in _TIMES:
        found[name] = None if found[name] is None else found[name].isoformat()
    return found | {"seqs": list(candidate.seqs)}


def candidate_of(known: Mapping[str, Any]) -> Candidate:
    """A statement from JSON."""
    times = {name: None if known[name] is None else datetime.fromisoformat(known[name]) for name in _TIMES}
    return Candidate(**{**known, **times, "seqs": tuple(known["seqs"])})


def _fields(candidate: Candidate) -> dict[str, Any]:
    return {name: getattr(candidate, name) for name in candidate.__dataclass_fields__}


def review_changes(missed: Sequence[Missed], first: int) -> list[Change]:
    """What was missed as changes, numbered from `first`."""
    return [
        Change(
            number,
            "review",
            after=one.candidate.text,
            candidate=stored(one.candidate),
            session_id=one.session_id,
        )
        for number, one in enumerate(missed, first)
    ]
