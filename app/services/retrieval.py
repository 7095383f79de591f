"""Search over memories, and messages where asked for: the question is prepared first, then one short read."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from app.core import clock
from app.domain.fusion import Fusion, FusionRule, Leg
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.domain.scoring import HALF_LIFE_DAYS, Weights
from app.domain.smalltalk import worth_retrieving
from app.providers.rerank.base import Reranker, RerankUnavailable
from app.repositories.base import RowLike
from app.repositories.selection import Then
from app.schemas.search import FactorWeights, FusionChoice, Hit, LegWeights, SearchRequest, SearchResult
from app.services.accesses import AccessLog
from app.services.candidates import Lookup, zone_of
from app.services.embedding import Embedder
from app.services.explaining import Explained, Explainer
from app.services.forgetting.reviving import RevivalService, hit_again
from app.services.hits import Nearby, hits_of
from app.services.news import likeness_of_news
from app.services.questions import Question, ask
from app.services.ranking import Scored, Scoring, rank
from app.services.redacting import Redacting
from app.services.rewriting import QueryRewriter, Rewritten
from app.services.shortlist import Limits, Shortlist, relevant, shortlist
from app.services.sizes import Sizes
from app.services.succession import in_language_of
from app.services.texts import Texts, read_contenders
from app.uow import UnitOfWork

SPARE: Final = 10
"""Contenders beyond the hits asked for, to take the places of those that fall to likeness or to the budget."""

RECENT_TURNS: Final = 6


@dataclass(frozen=True, slots=True)
class RetrievalService:
    """The use case of searching."""

    uow: UnitOfWork
    embedder: Embedder
    rewriter: QueryRewriter
    reranker: Reranker | None
    rerank_candidates: int
    accesses: AccessLog
    explainer: Explainer
    redacting: Redacting
    revival: RevivalService
    sizes: Sizes = field(default_factory=Sizes)

    async def search(self, principal: Principal, request: SearchRequest) -> SearchResult:
        """Find memories, and messages where asked for, that the key may see."""
        principal.require("memories:read")
        if request.include_messages:
            principal.require("sessions:read")
        user_id = request.user_id if request.user_id is None else principal.own_user(request.user_id)
        if request.retrieval == "never":
            return SearchResult(results=[], filtered_count=0, degraded=[], skipped="never")
        if request.retrieval == "auto" and not worth_retrieving(request.query):
            return SearchResult(results=[], filtered_count=0, degraded=[], skipped="small_talk")
        request = (await self.redacting.clean(principal, request)).request
        rewritten = await self._completed(principal, request)
        at = request.now or clock.now()
        question, degraded = await ask(
            self.embedder, rewritten.text, leg_weights(principal, request.legs), at, fusion_of(request.fusion)
        )
        scoring = scoring_of(principal, request)
        scope = Scope(user_id, request.agent_id, request.app_id, request.session_id)
        depth = request.top_k + SPARE
        if request.rerank and self.reranker is not None:
            depth = max(depth, self.rerank_candidates)
        async with self.uow.begin(principal, planned_once=True, reading=True) as tx:
            if question.time is not None:
                question = question.in_zone(await zone_of(tx, principal, user_id, request.timezone), at)
            lookup = Lookup(tx, principal, scope, question, request, depth, self.sizes)
            pools = await lookup.pools()
            found, filtered = relevant(
                [hit for pool in pools for hit in rank(pool, question, scoring)], request.min_score
            )
            best, texts = await read_contenders(
                tx, found, depth, Then(request.as_of, request.known_at), archived=request.include_archived
            )
            likeness = None if request.past else await likeness_of_news(tx, question, best, texts.rows)
        best = in_language_of(question.text, best, texts.rows)
        best, missing = await self._reranked(request, question, best, texts.rows, scoring.weights)
        chosen = shortlist(
            best,
            texts.rows,
            limits_of(request),
            texts.lineage.memories,
            texts.replaced,
            likeness,
        )
        results = await self._shown(principal, request, chosen, texts)
        kept = self.redacting.kept(principal, request) if request.explain else request
        explained = Explained(question, scoring, kept, lookup.way, pools, chosen, filtered, found)
        if not request.explain and not request.past:
            self.accesses.note(principal.tenant_id, _memories_of(chosen), clock.now())
            if request.include_archived:
                await self._revive(principal, user_id, chosen, texts)
        return SearchResult(
            results=results,
            filtered_count=len(filtered),
            dropped_count=chosen.count("over_budget"),
            tokens=sum(hit.tokens for hit in results),
            rewritten_query=rewritten.text if rewritten.by is not None else None,
            degraded=[*rewritten.degraded, *degraded, *missing],
            explanation=await self.explainer.explain(principal, user_id, explained) if request.explain else None,
        )

    async def _revive(self, principal: Principal, user_id: str | None, chosen: Shortlist, texts: Texts) -> None:
        archived = [one.hit.id for one in chosen.kept if texts.rows[one.hit.id].get("status") == "archived"]
        again = hit_again([one.hit for one in chosen.kept], archived)
        await self.revival.later(principal.tenant_id, again, user_id)

    async def _completed(self, principal: Principal, request: SearchRequest) -> Rewritten:
        """The question as the turns before it complete it."""
        recent = request.recent
        if recent is None:
            return Rewritten(request.query, None, [])
        turns = recent.messages
        if turns is None:
            principal.require("sessions:read")
            async with self.uow.begin(principal) as tx:
                rows = await tx.messages.last(recent.session_id or "", RECENT_TURNS)
            turns = [row["text"] for row in rows]
        return await self.rewriter.rewrite(request.query, turns)

    async def _reranked(
        self,
        request: SearchRequest,
        question: Question,
        best: list[Scored],
        rows: Mapping[UUID, RowLike],
        weights: Weights,
    ) -> tuple[list[Scored], list[str]]:
        """The best ones in the reranker's order, if it answers in time; no connection is held meanwhile."""
        if not request.rerank:
            return best, []
        asked = [hit for hit in best if hit.id in rows]
        if self.reranker is None:
            return best, ["rerank"]
        if not asked:
            return best, []
        try:
            marks = await self.reranker.scores(question.text, [rows[hit.id]["text"] for hit in asked])
        except RerankUnavailable:
            return best, ["rerank"]
        anew = [hit.reranked(mark, weights) for hit, mark in zip(asked, marks, strict=True)]
        return sorted(anew, key=lambda hit: -hit.score), []

    async def _shown(self, principal: Principal, request: SearchRequest, chosen: Shortlist, texts: Texts) -> list[Hit]:
        nearby = Nearby({}, 0)
        if request.neighbours and chosen.kept and "sessions:read" in principal.scopes:
            async with self.uow.begin(principal) as tx:
                nearby = await Nearby.read(tx, [one.hit for one in chosen.kept], texts, request.neighbours)
        return hits_of(chosen, texts, nearby)


def leg_weights(principal: Principal, asked: LegWeights) -> dict[Leg, float | None]:
    """The request's weights over the tenant's; None leaves a leg its default."""
    own = principal.defaults.legs
    given = {leg: getattr(asked, leg.value) for leg in Leg}
    return {leg: own.get(leg.value) if weight is None else weight for leg, weight in given.items()}


def fusion_of(asked: FusionChoice) -> FusionRule:
    """How the legs become one relevance."""
    return FusionRule(Fusion(asked.method), rrf_k=asked.rrf_k)


def scoring_of(principal: Principal, request: SearchRequest) -> Scoring:
    """The request's weights over the tenant's over the default ones."""
    base = Scoring(Weights(), request.now or clock.now(), "access", HALF_LIFE_DAYS)
    return scored_by(request.weights, scored_by(FactorWeights.model_validate(principal.defaults.factors), base))


def scored_by(asked: FactorWeights, base: Scoring) -> Scoring:
    """A scoring with what is asked otherwise."""
    given = asked.model_dump(exclude_none=True)
    of, half_life = given.pop("recency_of", base.recency_of), given.pop("half_life_days", base.half_life_days)
    return replace(base, weights=replace(base.weights, **given), recency_of=of, half_life_days=half_life)


def limits_of(request: SearchRequest) -> Limits:
    """What a request wants of its hits."""
    return Limits(request.top_k, request.min_score, request.token_budget, request.collapse)


def _memories_of(chosen: Shortlist) -> list[UUID]:
    return [one.hit.id for one in chosen.kept if one.hit.type == "memory"]
