"""Recall: what was said, found by words, by meaning, by time and by who said it, with what stood around it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.core import clock
from app.domain.fusion import Leg
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.domain.scoring import HALF_LIFE_DAYS, Weights
from app.repositories.base import RowLike
from app.repositories.owners import CorpusSize
from app.repositories.search import Period
from app.schemas.messages import Message
from app.schemas.recall import RecallHit, RecallRequest, RecallResult
from app.services.candidates import leg_query, owners_in_scope, way_to_messages, zone_of
from app.services.embedding import Embedder
from app.services.hits import breakdown_of
from app.services.messages import message_of
from app.services.questions import Question, ask
from app.services.ranking import Pool, Scored, Scoring, rank
from app.services.redacting import Redacting
from app.uow import Transaction, UnitOfWork

MODES: Final[dict[str, dict[Leg, float | None]]] = {
    "hybrid": {Leg.KEY: 0.0, Leg.CONSTRAINT: 0.0},
    "keyword": {Leg.DENSE: 0.0, Leg.LEXICAL: 1.0, Leg.TIME: 0.0, Leg.KEY: 0.0, Leg.CONSTRAINT: 0.0},
    "semantic": {Leg.DENSE: 1.0, Leg.LEXICAL: 0.0, Leg.TIME: 0.0, Leg.KEY: 0.0, Leg.CONSTRAINT: 0.0},
}


@dataclass(frozen=True, slots=True)
class RecallService:
    """The use case of recall."""

    uow: UnitOfWork
    embedder: Embedder
    redacting: Redacting

    async def search(self, principal: Principal, request: RecallRequest) -> RecallResult:
        """Find messages of sessions that the key may see."""
        principal.require("sessions:read")
        request = (await self.redacting.clean(principal, request)).request
        question, degraded = None, list[str]()
        if request.query is not None:
            question, degraded = await ask(self.embedder, request.query, MODES[request.mode], clock.now())
        user_id = request.user_id if request.user_id is None else principal.own_user(request.user_id)
        scope = Scope(user_id, request.agent_id, request.app_id, request.session_id)
        async with self.uow.begin(principal, planned_once=question is not None, reading=True) as tx:
            size = await tx.owners.size(owners_in_scope(scope, principal, []))
            if question is None:
                found = await _latest(tx, size.owners, scope, request)
            else:
                if question.time is not None:
                    question = question.in_zone(await zone_of(tx, principal, user_id, None), clock.now())
                found = await _matching(tx, size, scope, request, question)
            around = await _around(tx, [row for row, _ in found], request)
        results = [_hit(row, scored, around, request) for row, scored in found]
        return RecallResult(results=results, degraded=degraded)


async def _latest(
    tx: Transaction, owners: Sequence[str], scope: Scope, request: RecallRequest
) -> list[tuple[RowLike, Scored | None]]:
    wanted = await tx.search.latest(owners, scope, _period(request), request.limit)
    rows = {row["id"]: row for row in await tx.messages.by_ids(wanted)}
    return [(rows[message_id], None) for message_id in wanted]


async def _matching(
    tx: Transaction, size: CorpusSize, scope: Scope, request: RecallRequest, question: Question
) -> list[tuple[RowLike, Scored | None]]:
    """Hits of the legs; by words or by meaning alone a message's surroundings do not count."""
    period = _period(request)
    owners, path = await way_to_messages(tx, size, scope, period)
    query = leg_query(question, owners, request.limit, path)
    hybrid = request.mode == "hybrid"
    pool = Pool.of_messages(await tx.search.messages(replace(query, neighbours=hybrid), scope, period))
    scoring = Scoring(Weights(), clock.now(), "access", HALF_LIFE_DAYS)
    ranked = rank(pool if hybrid else replace(pool, places=[]), question, scoring)[: request.limit]
    rows = {row["id"]: row for row in await tx.messages.by_ids([hit.id for hit in ranked])} if ranked else {}
    return [(rows[hit.id], hit) for hit in ranked]


async def _around(tx: Transaction, rows: Sequence[RowLike], request: RecallRequest) -> dict[tuple[str, int], Message]:
    """The neighbours of the hits, by session and number."""
    if not rows or not (request.context_before or request.context_after):
        return {}
    spans = [
        (row["session_id"], row["seq"] - request.context_before, row["seq"] + request.context_after) for row in rows
    ]
    return {(row["session_id"], row["seq"]): message_of(row) for row in await tx.messages.around(spans)}


def _period(request: RecallRequest) -> Period:
    return Period(request.roles, request.since, request.until)


def _hit(
    row: RowLike, scored: Scored | None, around: dict[tuple[str, int], Message], request: RecallRequest
) -> RecallHit:
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
