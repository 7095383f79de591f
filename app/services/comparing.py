"""Shadow reports: what another embedding model would find, before it serves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.core.errors import Conflict, NotFound
from app.domain.embedding import overlap
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.repositories.models import ModelRecord, model_record
from app.schemas.embedding_models import AskedQuery, ComparedQuery, CompareRequest, Comparison, FoundByOne
from app.schemas.search import FactorWeights, LegWeights, SearchRequest, SearchResult
from app.services.accesses import AccessLog
from app.services.embedding import Embedder
from app.services.retrieval import RetrievalService
from app.uow import UnitOfWork

TOP: Final = 10
SHOWN: Final = 160
BY_MEANING: Final = LegWeights(lexical=0, time=0, key=0, constraint=0)
ONLY_RELEVANCE: Final = FactorWeights(recency=0, importance=0)


@dataclass(frozen=True, slots=True)
class ComparisonService:
    """The use case of comparing. Searches are run as everybody's are, by the other model too; no access is counted."""

    uow: UnitOfWork
    embedder: Embedder
    retrieval: RetrievalService

    async def compare(self, principal: Principal, model_id: int, request: CompareRequest) -> Comparison:
        """Put questions to both models, within the caller's tenant.

        Raises:
            NotFound: There is no such model.
            Conflict: It is retired, or this process cannot load one of the two.
        """
        principal.require_administration()
        async with self.uow.begin_global() as tx:
            row = await tx.models.one(model_id)
        if row is None:
            raise NotFound("There is no such embedding model.", code="model_not_found")
        if row["status"] == "retired":
            raise Conflict(f"{row['name']} is retired: it has no vectors.", code="model_retired")
        active = await self.embedder.record()
        other = model_record(row)
        for one in (active, other):
            if one.name not in self.embedder.models:
                raise Conflict(f"This process cannot load {one.name}.", code="model_not_loadable")
        asked = request.queries or await self.recent(principal, request.limit)
        results, degraded = [], set[str]()
        for query in asked:
            compared, missing = await self._one(principal, query, (self._by(active), self._by(other)))
            results.append(compared)
            degraded |= missing
        return Comparison(
            active=active.name,
            other=other.name,
            queries=len(results),
            overlap=_mean([one.overlap for one in results]),
            overlap_as_served=_mean([one.overlap_as_served for one in results]),
            degraded=sorted(degraded),
            results=results,
        )

    def _by(self, record: ModelRecord) -> RetrievalService:
        """Searches with this model; their accesses are never written down."""
        return replace(self.retrieval, embedder=self.embedder.pinned_to(record), accesses=AccessLog(self.uow, 0.0))

    async def _one(
        self, principal: Principal, asked: AskedQuery, searches: tuple[RetrievalService, RetrievalService]
    ) -> tuple[ComparedQuery, set[str]]:
        whole = SearchRequest(**asked.model_dump(), top_k=TOP, collapse=False)
        meaning = whole.model_copy(update={"legs": BY_MEANING, "weights": ONLY_RELEVANCE})
        first, second = [await search.search(principal, meaning) for search in searches]
        served = [await search.search(principal, whole) for search in searches]
        compared = ComparedQuery(
            query=asked.query,
            user_id=asked.user_id,
            overlap=overlap(_ids(first), _ids(second)),
            overlap_as_served=overlap(_ids(served[0]), _ids(served[1])),
            only_active=_only(first, second),
            only_other=_only(second, first),
        )
        return compared, {missing for result in (first, second, *served) for missing in result.degraded}

    async def recent(self, principal: Principal, limit: int) -> list[AskedQuery]:
        """What was asked last, each question of a user once: explained searches, then what users said."""
        async with self.uow.begin(principal) as tx:
            explained = await tx.explanations.recent(limit)
            said = await tx.messages.last_said(limit) if len(explained) < limit else []
        asked = [(row["text"], row["user_id"]) for row in explained]
        asked += [(row["text"], Scope.of_owner(row["owner"]).user_id) for row in said]
        distinct = [(text, user) for text, user in dict.fromkeys(asked) if text.strip()]
        return [AskedQuery(query=text, user_id=user) for text, user in distinct[:limit]]


def _ids(result: SearchResult) -> list[str]:
    return [hit.id for hit in result.results]


def _only(first: SearchResult, second: SearchResult) -> list[FoundByOne]:
    both = set(_ids(second))
    return [FoundByOne(id=hit.id, text=hit.text[:SHOWN]) for hit in first.results if hit.id not in both]


def _mean(shares: Sequence[float]) -> float | None:
    return round(sum(shares) / len(shares), 4) if shares else None
