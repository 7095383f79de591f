"""From what an extractor has found to drafts of memories: gated, scoped, with the place it came from."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from app.core import ids
from app.domain.extraction.candidates import Candidate
from app.domain.extraction.turns import Turn
from app.domain.gate.judging import DEFAULT_THRESHOLD, judge
from app.domain.gate.refusals import Refusal
from app.domain.memory import Kind, default_weight, traits_of
from app.domain.scope import Scope
from app.repositories.base import RowLike
from app.schemas.memories import MemoryIn, SourceIn
from app.services.analysis import Analysis, analyse_all
from app.services.writing import Draft

LONGEST_VALUE: Final = 1_000
"""Characters of a value under a key; a longer one is no value, and stays in the text alone."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose memories are formed, and from which session."""

    scope: Scope
    session_id: str | None

    @classmethod
    def of_session(cls, session: RowLike) -> "Origin":
        """A user's memories are theirs whomever they spoke to; without a user they are the next owner's."""
        return cls(narrowest(session["user_id"], session["agent_id"], session["app_id"], session["id"]), session["id"])


def zone_of_sender(asked: str | None, session: RowLike | None, user: RowLike | None, tenants: str | None = None) -> str:
    """The zone of messages that name none: the call's, the session's, the user's, the tenant's."""
    named = (asked, session and session["timezone"], user and user["timezone"], tenants)
    return next((zone for zone in named if zone), "UTC")


def narrowest(user_id: str | None, agent_id: str | None, app_id: str | None, session_id: str | None) -> Scope:
    """The scope of the owner alone: where a memory came from is kept with its sources."""
    if user_id is not None:
        return Scope(user_id)
    if app_id is not None:
        return Scope(app_id=app_id)
    return Scope(agent_id=agent_id) if agent_id is not None else Scope(session_id=session_id)


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate after the gate; its kind is the gate's."""

    candidate: Candidate
    passed: bool
    score: float
    reason: Refusal | None


def judged(
    candidates: Sequence[Candidate], turns: Sequence[Turn], threshold: float = DEFAULT_THRESHOLD
) -> list[Judged]:
    """Every candidate as the gate sees it, judged by the turn in which its quote stands."""
    by_seq = {turn.seq: turn for turn in turns}
    found = []
    for candidate in candidates:
        verdict = judge(candidate, _turn_of(candidate, by_seq), threshold=threshold)
        kept = replace(candidate, kind=verdict.kind)
        found.append(Judged(kept, verdict.passed, verdict.score, verdict.reason))
    return found


def refusals(found: Sequence[Judged]) -> dict[str, int]:
    """How many were refused, by reason."""
    return dict(Counter(one.reason for one in found if one.reason is not None))


async def drafts_of(
    origin: Origin,
    candidates: Sequence[Candidate],
    turns: Sequence[Turn],
    at: datetime,
    ttls: Mapping[Kind, int] = MappingProxyType({}),
) -> list[Draft]:
    """Drafts in the candidates' order; `ttls` are the tenant's lives in seconds, by kind."""
    analyses = await analyse_all([candidate.text for candidate in candidates])
    by_seq = {turn.seq: turn for turn in turns}
    drafts = [
        _draft(origin, candidate, max(by_seq[seq].occurred_at for seq in candidate.seqs), analysis, at)
        for candidate, analysis in zip(candidates, analyses, strict=True)
    ]
    for draft in drafts:
        row, ttl = draft.row, ttls.get(draft.row["kind"])
        if ttl is not None and row["expires_at"] is None and not row["pinned"]:
            row["expires_at"] = at + timedelta(seconds=ttl)
    return drafts


def _draft(origin: Origin, candidate: Candidate, said_at: datetime, analysis: Analysis, at: datetime) -> Draft:
    scope, traits = origin.scope, traits_of(candidate.source)
    ends = candidate.change == "ends"  # what it says is over is no value
    keyed = candidate.key is not None and not ends and len(candidate.value or "") <= LONGEST_VALUE
    row: dict[str, Any] = {
        "id": ids.new_id(),
        "owner": scope.owner,
        "user_id": scope.user_id,
        "agent_id": scope.agent_id,
        "app_id": scope.app_id,
        "session_id": scope.session_id,
        "extracted": True,
        "kind": candidate.kind,
        "text": candidate.text,
        "key": candidate.key if keyed else None,
        "value": candidate.value if keyed else None,
        "category": candidate.category,
        "source": candidate.source,
        "uncertain": traits.uncertain,
        "confidence": traits.confidence,
        "importance": min(10, max(1, candidate.importance)),
        "weight": default_weight(candidate.category),
        "pinned": candidate.category == "constraint" and not traits.uncertain,
        "use": "everywhere",
        "status": "active",
        "valid_from": said_at,
        "occurred_at": candidate.occurred_at or said_at,
        "expires_at": candidate.expires_at,
        "last_seen_at": said_at,
        "created_at": at,
        "updated_at": at,
        "tokens": analysis.tokens,
        "length": analysis.length,
        "content_hash": analysis.content_hash,
        "metadata": {},
    }
    seqs = sorted(candidate.seqs)
    sources = [] if origin.session_id is None else [SourceIn(session_id=origin.session_id, seqs=seqs)]
    quoted = [source.model_copy(update={"quote": candidate.quote}) for source in sources]
    return Draft(row, analysis, MemoryIn(text=candidate.text, sources=quoted))


def _turn_of(candidate: Candidate, by_seq: dict[int, Turn]) -> Turn:
    """The turn in which the quote stands; the last one, where it stands in none."""
    mine = [by_seq[seq] for seq in sorted(candidate.seqs)]
    return next((turn for turn in reversed(mine) if candidate.quote in turn.text), mine[-1])
