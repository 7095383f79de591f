"""An explained search again, with other weights."""

from dataclasses import dataclass, replace
from typing import Any

from app.domain.fusion import Leg
from app.domain.principal import Principal
from app.repositories.selection import Then
from app.schemas.search import ReplayRequest, SearchResult
from app.services.explaining import Explained, Explainer, restored
from app.services.hits import Nearby, hits_of
from app.services.news import likeness_of_news
from app.services.ranking import rank
from app.services.retrieval import SPARE, fusion_of, limits_of, scored_by
from app.services.shortlist import relevant, shortlist
from app.services.succession import in_language_of
from app.services.texts import read_contenders
from app.uow import UnitOfWork


@dataclass(frozen=True, slots=True)
class ReplayService:
    """The use case of asking "what if"."""

    uow: UnitOfWork
    explainer: Explainer

    async def replay(self, principal: Principal, request: ReplayRequest) -> SearchResult:
        """Rank the stored candidates anew, by what the first search was asked and what is asked otherwise now.

        What the key may no longer see, or what is gone, is no hit. No reranker is asked again.
        """
        principal.require("memories:read")
        content = await self.explainer.recall(principal, request.explanation_id)
        question, scoring, first, way, pools = restored(content)
        if first.include_messages:
            principal.require("sessions:read")
        named: dict[str, Any] = {
            name: getattr(request, name)
            for name in ("top_k", "min_score", "token_budget", "collapse")
            if getattr(request, name) is not None
        }
        again = first.model_copy(update=named)
        rule = question.rule if request.fusion is None else fusion_of(request.fusion)
        spoke = question.rule.weights
        weights = {leg: _weight(request, leg, spoke.get(leg, 0.0)) for leg in Leg}
        question = replace(question, rule=replace(rule, weights=weights))
        scoring = scored_by(request.weights, scoring)
        found, filtered = relevant([hit for pool in pools for hit in rank(pool, question, scoring)], again.min_score)
        async with self.uow.begin(principal) as tx:
            best, texts = await read_contenders(
                tx,
                found,
                again.top_k + SPARE,
                Then(again.as_of, again.known_at),
                archived=again.include_archived,
            )
            likeness = None if again.past else await likeness_of_news(tx, question, best, texts.rows)
        best = in_language_of(question.text, best, texts.rows)
        chosen = shortlist(
            best,
            texts.rows,
            limits_of(again),
            texts.lineage.memories,
            texts.replaced,
            likeness,
        )
        results = hits_of(chosen, texts, Nearby({}, 0))
        explained = Explained(question, scoring, again, way, pools, chosen, filtered, found)
        return SearchResult(
            results=results,
            filtered_count=len(filtered),
            dropped_count=chosen.count("over_budget"),
            tokens=sum(hit.tokens for hit in results),
            degraded=["rerank"] if again.rerank else [],
            explanation=self.explainer.told(explained, request.explanation_id),
        )


def _weight(request: ReplayRequest, leg: Leg, before: float) -> float:
    """A leg that could not speak stays silent; the others have what the request says."""
    asked: float | None = getattr(request.legs, leg.value)
    return before if asked is None or before == 0 else asked
