"""Search: the question is embedded first, then one short read; fusion and scoring are the domain's."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from app.core import clock
from app.core.text.tokens import tokens
from app.domain.calibration import Calibration
from app.domain.fusion import Candidate, Fused, FusionRule, Leg, fuse
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.domain.scoring import Weights, importance_factor, recency, score
from app.repositories.base import Row
from app.repositories.owners import CorpusSize
from app.repositories.search import EXACT_UP_TO, DenseQuery, Found, LegQuery, Path
from app.repositories.selection import Selection
from app.schemas.memories import MemorySource
from app.schemas.search import Explanation, Hit, LegWeights, ScoreBreakdown, SearchRequest, SearchResult
from app.services.embedding import Embedder
from app.services.presenting import sources_of
from app.uow import Transaction, UnitOfWork

MAX_TOKENS: Final = 64
"""Distinct tokens of a question that are looked up."""

LEAST_CANDIDATES: Final = 50
CANDIDATES_PER_HIT: Final = 3

HitType = Literal["memory", "message"]


@dataclass(frozen=True, slots=True)
class _Question:
    """A question as the legs take it."""

    text: str
    tokens: list[str]
    dense: DenseQuery | None
    rule: FusionRule
    calibration: Calibration


@dataclass(frozen=True, slots=True)
class _Scored:
    """A found row with its place in the order."""

    type: HitType
    row: Row
    fused: Fused[UUID]
    recency: float
    importance: float
    score: float


@dataclass(frozen=True, slots=True)
class RetrievalService:
    """The use case of searching."""

    uow: UnitOfWork
    embedder: Embedder

    async def search(self, principal: Principal, request: SearchRequest) -> SearchResult:
        """Find memories, and messages where asked for, that the key may see."""
        principal.require("memories:read")
        if request.include_messages:
            principal.require("sessions:read")
        question, degraded = await self._question(request)
        at = request.now or clock.now()
        user_id = request.user_id if request.user_id is None else principal.own_user(request.user_id)
        scope = Scope(user_id, request.agent_id, request.app_id, request.session_id)
        async with self.uow.begin(principal) as tx:
            search = _Search(tx, question, request, scope, principal, at)
            found = await search.run()
            kept = [hit for hit in found if hit.fused.relevance >= request.min_score]
            best = sorted(kept, key=lambda hit: -hit.score)[: request.top_k]
            sources = await sources_of(tx, [hit.row["id"] for hit in best if hit.type == "memory"])
        return SearchResult(
            results=[_hit(hit, sources) for hit in best],
            filtered_count=len(found) - len(kept),
            degraded=degraded,
            explanation=search.explanation(self.embedder.model.name) if request.explain else None,
        )

    async def _question(self, request: SearchRequest) -> tuple[_Question, list[str]]:
        """Embed and tokenise; a leg that cannot speak is left out of the fusion."""
        weights = _leg_weights(request.legs)
        words = list(dict.fromkeys(tokens(request.query)))[:MAX_TOKENS]
        dense = await self.embedder.question(request.query) if weights[Leg.DENSE] > 0 else None
        degraded = ["embedding"] if dense is None and weights[Leg.DENSE] > 0 else []
        if dense is None:
            weights[Leg.DENSE] = 0.0
        if not words:
            weights[Leg.LEXICAL] = 0.0
        rule = replace(FusionRule(), weights=weights)
        lexical = words if weights[Leg.LEXICAL] > 0 else []
        return _Question(request.query, lexical, dense, rule, self.embedder.calibration), degraded


class _Search:
    """One search within its transaction."""

    def __init__(
        self,
        tx: Transaction,
        question: _Question,
        request: SearchRequest,
        scope: Scope,
        principal: Principal,
        at: datetime,
    ) -> None:
        self._tx = tx
        self._question = question
        self._request = request
        self._scope = scope
        self._principal = principal
        self._at = at
        self._paths: dict[str, str] = {}
        self._sizes: dict[str, int] = {}
        self._candidates: dict[str, int] = {}

    async def run(self) -> list[_Scored]:
        """Every candidate of both corpora, scored."""
        shared = self._scope.shared_owners() if self._request.include_shared else []
        size = await self._tx.owners.size(self._owners(shared))
        if not size.owners:
            return []
        found = await self._memories(size, shared)
        if self._request.include_messages:
            found += await self._messages(size)
        return found

    def explanation(self, model: str) -> Explanation:
        """How it went."""
        return Explanation(
            path=self._paths,
            tokens=self._question.tokens,
            rows_in_scope=self._sizes,
            candidates=self._candidates,
            embedding_model=model if self._question.dense is not None else None,
        )

    def _owners(self, shared: Sequence[str]) -> list[str] | None:
        """Whose rows can be in scope at all; None where that is every owner's."""
        if self._scope.user_id is not None:
            return [self._scope.owner, *shared]
        bound = self._principal.user_ids
        return None if bound is None else [f"u:{user_id}" for user_id in sorted(bound)] + list(shared)

    async def _memories(self, size: CorpusSize, shared: Sequence[str]) -> list[_Scored]:
        selection = Selection(
            scope=self._scope,
            at=clock.now(),
            shared_owners=shared,
            kinds=self._request.kinds,
            uncertain=self._request.include_uncertain,
        )
        query = self._legs("memories", size.owners, size.memories, size.memory_length)
        found = await self._tx.search.memories(query, selection)
        rows = await self._tx.memories.by_ids([one.id for one in found]) if found else []
        return self._scored("memory", found, rows)

    async def _messages(self, size: CorpusSize) -> list[_Scored]:
        query = self._legs("messages", size.owners, size.messages, size.message_length)
        found = await self._tx.search.messages(query, self._scope)
        rows = await self._tx.messages.by_ids([one.id for one in found]) if found else []
        return self._scored("message", found, rows)

    def _legs(self, name: str, owners: Sequence[str], corpus: int, mean_length: float) -> LegQuery:
        path: Path = "exact" if corpus <= EXACT_UP_TO else "hnsw"
        self._paths[name] = path if self._question.dense is not None else "lexical"
        self._sizes[name] = corpus
        return LegQuery(
            owners=owners,
            tokens=self._question.tokens,
            dense=self._question.dense,
            corpus=corpus,
            mean_length=mean_length,
            limit=max(LEAST_CANDIDATES, CANDIDATES_PER_HIT * self._request.top_k),
            path=path,
        )

    def _scored(self, kind: HitType, found: Sequence[Found], rows: Iterable[Row]) -> list[_Scored]:
        self._candidates[kind] = len(found)
        by_id = {row["id"]: row for row in rows}
        candidates = [_candidate(one) for one in found if one.id in by_id]
        newest = max((_happened(row) for row in by_id.values()), default=None)
        weights = _factor_weights(self._request)
        return [
            self._score(kind, by_id[fused.id], fused, newest, weights)
            for fused in fuse(candidates, self._question.rule, self._question.calibration)
        ]

    def _score(self, kind: HitType, row: Row, fused: Fused[UUID], newest: datetime | None, weights: Weights) -> _Scored:
        accessed = row["last_accessed_at"] if kind == "memory" else None
        freshness = recency(happened_at=_happened(row), accessed_at=accessed, newest_at=newest, now=self._at)
        importance = importance_factor(row["importance"] if kind == "memory" else None)
        return _Scored(kind, row, fused, freshness, importance, score(fused.relevance, freshness, importance, weights))


def _leg_weights(asked: LegWeights) -> dict[Leg, float]:
    """The default weights, each replaced by what the request names."""
    default = FusionRule().weights
    named = {Leg.DENSE: asked.dense, Leg.LEXICAL: asked.lexical}
    return {leg: default[leg] if weight is None else weight for leg, weight in named.items()}


def _factor_weights(request: SearchRequest) -> Weights:
    named = request.weights.model_dump(exclude_none=True)
    return replace(Weights(), **named)


def _candidate(found: Found) -> Candidate[UUID]:
    ranks: Mapping[Leg, int | None] = {Leg.DENSE: found.dense_rank, Leg.LEXICAL: found.lexical_rank}
    return Candidate(
        found.id,
        similarity_raw=found.cosine,
        bm25=found.bm25,
        ranks={leg: rank for leg, rank in ranks.items() if rank is not None},
    )


def _happened(row: Row) -> datetime:
    happened: datetime = row["occurred_at"] or row["created_at"]
    return happened


def _hit(hit: _Scored, sources: Mapping[UUID, list[MemorySource]]) -> Hit:
    fused = hit.fused
    shown = {
        "type": hit.type,
        "id": str(hit.row["id"]),
        "text": hit.row["text"],
        "occurred_at": hit.row["occurred_at"],
        "created_at": hit.row["created_at"],
        "metadata": hit.row["metadata"],
        "score": hit.score,
        "score_breakdown": ScoreBreakdown(
            relevance=fused.relevance,
            recency=hit.recency,
            importance=hit.importance,
            similarity=fused.similarity,
            similarity_raw=fused.similarity_raw,
            bm25=fused.bm25,
            ranks={leg.value: rank for leg, rank in fused.ranks.items()},
        ),
    }
    if hit.type == "message":
        return Hit(**shown, **_message_fields(hit.row))
    return Hit(**shown, **_memory_fields(hit.row), sources=sources.get(hit.row["id"], []))


def _memory_fields(row: Row) -> dict[str, Any]:
    names = ("kind", "category", "key", "value", "source", "uncertain", "confidence", "importance", "weight", "pinned")
    own = {name: row[name] for name in (*names, "valid_from", "valid_to")}
    return own | {"role": None, "disputed": row["status"] == "disputed"}


def _message_fields(row: Row) -> dict[str, Any]:
    """A message is its own source."""
    names = ("kind", "category", "key", "value", "source", "confidence", "importance", "weight")
    external = row["external_id"]
    source = MemorySource(
        session_id=row["session_id"],
        seqs=[row["seq"]],
        message_ids=[str(row["id"])],
        external_ids=[] if external is None else [external],
        quote=None,
    )
    absent: dict[str, Any] = dict.fromkeys((*names, "valid_from", "valid_to"))
    return absent | {
        "role": row["role"],
        "uncertain": False,
        "disputed": False,
        "pinned": False,
        "sources": [source],
    }
