"""Search over memories, and messages where asked for: the question is embedded first, then one short read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.core import clock
from app.domain.filters import parse_filter
from app.domain.fusion import Leg
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.domain.scoring import Weights
from app.repositories.owners import CorpusSize
from app.repositories.search import LegQuery
from app.repositories.selection import Selection
from app.schemas.search import Explanation, SearchRequest, SearchResult
from app.services.embedding import Embedder
from app.services.hits import hit_of
from app.services.presenting import sources_of
from app.services.questions import Question, ask
from app.services.ranking import Scored, rank
from app.uow import Transaction, UnitOfWork


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
        legs = {Leg.DENSE: request.legs.dense, Leg.LEXICAL: request.legs.lexical}
        question, degraded = await ask(self.embedder, request.query, legs)
        user_id = request.user_id if request.user_id is None else principal.own_user(request.user_id)
        scope = Scope(user_id, request.agent_id, request.app_id, request.session_id)
        async with self.uow.begin(principal) as tx:
            search = _Search(tx, question, request, scope, principal)
            found = await search.run()
            kept = [hit for hit in found if hit.fused.relevance >= request.min_score]
            best = sorted(kept, key=lambda hit: -hit.score)[: request.top_k]
            sources = await sources_of(tx, [hit.row["id"] for hit in best if hit.type == "memory"])
        return SearchResult(
            results=[hit_of(hit, sources) for hit in best],
            filtered_count=len(found) - len(kept),
            degraded=degraded,
            explanation=search.explanation(self.embedder.model.name) if request.explain else None,
        )


def owners_in_scope(scope: Scope, principal: Principal, shared: Sequence[str]) -> list[str] | None:
    """Whose rows can be in scope at all; None where that is every owner's."""
    if scope.user_id is not None:
        return [scope.owner, *shared]
    if principal.user_ids is None:
        return None
    return [f"u:{user_id}" for user_id in sorted(principal.user_ids)] + list(shared)


class _Search:
    """One search within its transaction."""

    def __init__(
        self, tx: Transaction, question: Question, request: SearchRequest, scope: Scope, principal: Principal
    ) -> None:
        self._tx = tx
        self._question = question
        self._request = request
        self._scope = scope
        self._principal = principal
        self._at: datetime = request.now or clock.now()
        self._weights = replace(Weights(), **request.weights.model_dump(exclude_none=True))
        self._paths: dict[str, str] = {}
        self._sizes: dict[str, int] = {}
        self._candidates: dict[str, int] = {}

    async def run(self) -> list[Scored]:
        """Every candidate of both corpora, scored."""
        shared = self._scope.shared_owners() if self._request.include_shared else []
        size = await self._tx.owners.size(owners_in_scope(self._scope, self._principal, shared))
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

    async def _memories(self, size: CorpusSize, shared: Sequence[str]) -> list[Scored]:
        request = self._request
        selection = Selection(
            scope=self._scope,
            at=clock.now(),
            shared_owners=shared,
            kinds=request.kinds,
            uncertain=request.include_uncertain,
            sessions_apart=True,
            filter=None if request.filters is None else parse_filter(request.filters),
        )
        query = self._legs("memories", size.owners, size.memories, size.memory_length)
        found = await self._tx.search.memories(query, selection)
        rows = await self._tx.memories.by_ids([one.id for one in found]) if found else []
        self._candidates["memory"] = len(found)
        return rank("memory", found, rows, self._question, self._at, self._weights)

    async def _messages(self, size: CorpusSize) -> list[Scored]:
        query = self._legs("messages", size.owners, size.messages, size.message_length)
        found = await self._tx.search.messages(query, self._scope)
        rows = await self._tx.messages.by_ids([one.id for one in found]) if found else []
        self._candidates["message"] = len(found)
        return rank("message", found, rows, self._question, self._at, self._weights)

    def _legs(self, name: str, owners: Sequence[str], corpus: int, mean_length: float) -> LegQuery:
        query = self._question.legs(owners, corpus, mean_length, self._request.top_k)
        self._paths[name] = query.path if self._question.dense is not None else "lexical"
        self._sizes[name] = corpus
        return query
