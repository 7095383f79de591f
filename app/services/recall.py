"""Recall: what was said, found by words, by meaning, by time and by who said it, with what stood around it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.core import clock
from app.domain.fusion import Leg
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.domain.scoring import Weights
from app.repositories.base import Row
from app.repositories.search import Period
from app.schemas.messages import Message
from app.schemas.recall import RecallHit, RecallRequest, RecallResult
from app.services.embedding import Embedder
from app.services.hits import breakdown_of
from app.services.messages import message_of
from app.services.questions import Question, ask
from app.services.ranking import Scored, rank
from app.services.retrieval import owners_in_scope
from app.uow import Transaction, UnitOfWork

MODES: Final[dict[str, dict[Leg, float | None]]] = {
    "hybrid": {Leg.DENSE: None, Leg.LEXICAL: None},
    "keyword": {Leg.DENSE: 0.0, Leg.LEXICAL: 1.0},
    "semantic": {Leg.DENSE: 1.0, Leg.LEXICAL: 0.0},
}


@dataclass(frozen=True, slots=True)
class RecallService:
    """The use case of recall."""

    uow: UnitOfWork
    embedder: Embedder

    async def search(self, principal: Principal, request: RecallRequest) -> RecallResult:
        """Find messages of sessions that the key may see."""
        principal.require("sessions:read")
        question, degraded = None, list[str]()
        if request.query is not None:
            question, degraded = await ask(self.embedder, request.query, MODES[request.mode])
        user_id = request.user_id if request.user_id is None else principal.own_user(request.user_id)
        scope = Scope(user_id, request.agent_id, request.app_id, request.session_id)
        async with self.uow.begin(principal) as tx:
            size = await tx.owners.size(owners_in_scope(scope, principal, []))
            if question is None:
                found = await _latest(tx, size.owners, scope, request)
            else:
                found = await _matching(tx, size.owners, size.messages, size.message_length, scope, request, question)
            around = await _around(tx, [row for row, _ in found], request)
        results = [_hit(row, scored, around, request) for row, scored in found]
        return RecallResult(results=results, degraded=degraded)


async def _latest(
    tx: Transaction, owners: Sequence[str], scope: Scope, request: RecallRequest
) -> list[tuple[Row, Scored | None]]:
    wanted = await tx.search.latest(owners, scope, _period(request), request.limit)
    rows = {row["id"]: row for row in await tx.messages.by_ids(wanted)}
    return [(rows[message_id], None) for message_id in wanted]


async def _matching(
    tx: Transaction,
    owners: Sequence[str],
    corpus: int,
    mean_length: float,
    scope: Scope,
    request: RecallRequest,
    question: Question,
) -> list[tuple[Row, Scored | None]]:
    query = question.legs(owners, corpus, mean_length, request.limit)
    found = await tx.search.messages(query, scope, _period(request))
    rows = await tx.messages.by_ids([one.id for one in found]) if found else []
    ranked = rank("message", found, rows, question, clock.now(), Weights())
    return [(hit.row, hit) for hit in ranked[: request.limit]]


async def _around(tx: Transaction, rows: Sequence[Row], request: RecallRequest) -> dict[tuple[str, int], Message]:
    """The neighbours of the hits, by session and number."""
    if not rows or not (request.context_before or request.context_after):
        return {}
    spans = [
        (row["session_id"], row["seq"] - request.context_before, row["seq"] + request.context_after) for row in rows
    ]
    return {(row["session_id"], row["seq"]): message_of(row) for row in await tx.messages.around(spans)}


def _period(request: RecallRequest) -> Period:
    return Period(request.roles, request.since, request.until)


def _hit(row: Row, scored: Scored | None, around: dict[tuple[str, int], Message], request: RecallRequest) -> RecallHit:
    session_id, seq = row["session_id"], row["seq"]
    before = [around.get((session_id, seq - step)) for step in range(request.context_before, 0, -1)]
    after = [around.get((session_id, seq + step)) for step in range(1, request.context_after + 1)]
    return RecallHit(
        message=message_of(row),
        score=None if scored is None else scored.score,
        score_breakdown=None if scored is None else breakdown_of(scored),
        before=[message for message in before if message is not None],
        after=[message for message in after if message is not None],
    )
