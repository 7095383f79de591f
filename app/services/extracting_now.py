"""Extraction on demand: the job's own pipeline over messages of a request, also as a rehearsal."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.core import clock
from app.core.errors import Invalid
from app.domain.extraction.candidates import Candidate
from app.domain.extraction.turns import Turn
from app.domain.memory import Source, traits_of
from app.domain.principal import Principal
from app.repositories.models import ModelRecord
from app.repositories.vectors import Embedded
from app.schemas.extraction import ExtractRequest, ExtractResult, Finding
from app.services.allowance import Allowance
from app.services.answers import Answer, Write, write_once
from app.services.drafting import Judged, Origin, drafts_of, judged, narrowest, zone_of_sender
from app.services.embedding import Embedder
from app.services.extraction import embedded, turn_in_request
from app.services.extractors.base import Extraction, Extractor, Window
from app.services.extractors.llm import MOST_KEYS
from app.services.extractors.rules import RulesExtractor
from app.services.judging import Judging, Verdicts, told_by
from app.services.learning import Learner, Learnt
from app.services.reconciling import Reconciled
from app.services.redacting import Redacting
from app.services.writing import Draft
from app.uow import Transaction, UnitOfWork

_SOURCES: dict[str, Source] = {"user": "user_stated", "assistant": "assistant_said", "tool": "tool_observed"}


class _Rehearsed(Exception):  # noqa: N818 - the way out of a transaction that is to leave nothing
    def __init__(self, result: ExtractResult) -> None:
        super().__init__()
        self.result = result


@dataclass(frozen=True, slots=True)
class _Prepared:
    """What was found before a connection is taken."""

    origin: Origin
    turns: Sequence[Turn]
    found: Sequence[Judged]
    drafts: Sequence[Draft]
    vectors: Sequence[Embedded]
    model: ModelRecord
    verdicts: Verdicts
    by: str
    degraded: bool

    @property
    def kept(self) -> list[Candidate]:
        return [one.candidate for one in self.found if one.passed]


@dataclass(frozen=True, slots=True)
class ExtractNowService:
    """The use case of `POST /v1/memories/extract`."""

    uow: UnitOfWork
    embedder: Embedder
    extractor: Extractor
    judging: Judging
    redacting: Redacting

    async def extract(self, write: Write, request: ExtractRequest) -> Answer:
        """Read the messages, and write what they leave behind, unless it is a rehearsal."""
        principal = write.principal
        principal.require("memories:write")
        at = clock.now()
        cleaned = await self.redacting.clean(principal, request)
        request = cleaned.request
        prepared = await self._prepared(principal, request, at)

        async def work(tx: Transaction) -> Answer:
            learner = Learner(
                tx,
                principal.actor,
                at,
                prepared.origin,
                prepared.model,
                self.embedder.calibration,
                prepared.verdicts,
            )
            learnt = await learner.learn(prepared.kept, prepared.drafts, prepared.vectors, prepared.turns)
            result = self._result(request, prepared, learnt).model_copy(update={"redacted": cleaned.kinds()})
            if request.dry_run:
                raise _Rehearsed(result)
            return Answer(200, result)

        try:
            return await write_once(self.uow, write, ExtractResult, work)
        except _Rehearsed as rehearsed:
            return Answer(200, rehearsed.result)

    async def _prepared(self, principal: Principal, request: ExtractRequest, at: datetime) -> _Prepared:
        user_id = principal.own_user(request.user_id)
        scope = narrowest(user_id, request.agent_id, request.app_id, None)
        if scope.empty:
            raise Invalid("Say whose memories these are: user_id, agent_id or app_id.", code="scope_required")
        async with self.uow.begin(principal) as tx:
            user = None if user_id is None else await tx.users.get(user_id)
            keys = await tx.facts.keys(scope.owner, at, MOST_KEYS) if self._asks(request) else []
            used_up = self._asks(request) and await Allowance.used_up(tx, principal.defaults)
        zone = zone_of_sender(request.timezone, None, user, principal.defaults.timezone)
        turns = [turn_in_request(place, message, zone, at) for place, message in enumerate(request.messages)]
        extraction = await self._extraction(request, Window(turns, keys=keys), used_up=used_up)
        found = judged(extraction.candidates, turns, principal.defaults.gate_threshold)
        if not request.infer:
            found = [_as_it_is(turn) for turn in turns if _worded(turn)]
        origin, kept = Origin(scope, None), [one.candidate for one in found if one.passed]
        drafts = await drafts_of(origin, kept, turns, at, principal.defaults.forgetting.ttls)
        vectors = await embedded(self.embedder, drafts)
        verdicts = Verdicts.none()
        if extraction.by == "llm":
            verdicts = await self.judging.verdicts(principal.tenant_id, scope, told_by(kept, drafts, vectors))
        calls, tokens = extraction.calls + verdicts.calls, extraction.tokens + verdicts.tokens
        await Allowance(self.uow).note(principal.tenant_id, calls, tokens)
        model = await self.embedder.record()
        return _Prepared(
            origin, turns, found, drafts, vectors, model, verdicts, extraction.by, extraction.degraded or used_up
        )

    def _asks(self, request: ExtractRequest) -> bool:
        """Whether a language model would read the request."""
        return request.infer and self.extractor.name == "llm"

    async def _extraction(self, request: ExtractRequest, window: Window, *, used_up: bool) -> Extraction:
        """What the messages say; rules read them where the model fails or the tenant has used up its tokens."""
        if not request.infer:
            return Extraction([], by="none")
        return await (RulesExtractor() if used_up else self.extractor).extract(window)

    @staticmethod
    def _result(request: ExtractRequest, prepared: _Prepared, learnt: Learnt) -> ExtractResult:
        done = iter(learnt.done)
        results = [_finding(one, next(done) if one.passed else None, request) for one in prepared.found]
        return ExtractResult(
            results=results,
            forgotten_ids=[str(one) for one in learnt.forgotten],
            extractor=prepared.by,
            dry_run=request.dry_run,
            degraded=["llm"] if prepared.degraded else [],
        )


def _worded(turn: Turn) -> bool:
    return turn.role in _SOURCES and bool(turn.text.strip())


def _as_it_is(turn: Turn) -> Judged:
    kept = Candidate(turn.text, "semantic", "other", _SOURCES[turn.role], (turn.seq,), turn.text)
    return Judged(kept, passed=True, score=1.0, reason=None)


def _finding(one: Judged, done: Reconciled | None, request: ExtractRequest) -> Finding:
    candidate = one.candidate
    told: dict[str, object] = {"outcome": "refused", "reason": one.reason}
    if done is not None:
        known = done.memory_id is not None and not (request.dry_run and done.created)
        outcome = "passed_over" if done.memory_id is None else "added" if done.created else "reinforced"
        told = {
            "outcome": outcome,
            "reason": done.verdict,
            "memory_id": str(done.memory_id) if known else None,
            "displaced_ids": [str(memory_id) for memory_id in done.displaced],
            "disputed_ids": [str(memory_id) for memory_id in done.disputed],
        }
    return Finding(
        text=candidate.text,
        kind=candidate.kind,
        category=candidate.category,
        key=candidate.key,
        value=candidate.value,
        source=candidate.source,
        uncertain=traits_of(candidate.source).uncertain,
        importance=candidate.importance,
        places=list(candidate.seqs),
        quote=candidate.quote,
        occurred_at=candidate.occurred_at,
        expires_at=candidate.expires_at,
        score=one.score,
        **told,
    )
