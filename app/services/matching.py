"""What helps with a task: procedures and lessons, found by what the task says, ordered by how well they have worked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from app.core import clock
from app.domain.principal import Principal
from app.domain.procedure import Found, in_order, success_rate
from app.domain.scope import Scope
from app.repositories.base import RowLike
from app.schemas.procedures import MatchedLesson, MatchedProcedure, Matches
from app.schemas.search import Hit, LegWeights, SearchRequest
from app.services.presenting_procedures import card_of, lesson_fields
from app.services.retrieval import RetrievalService
from app.uow import UnitOfWork

LEGS: Final = LegWeights(dense=0.6, lexical=0.4, time=0, key=0, constraint=0)
"""Tasks of one kind are seldom told in the same words: the meaning counts for more than in other searches."""

LEAST_SIMILARITY: Final = 0.03
LEAST_COVERAGE: Final = 0.2
"""What has less of both, of the task's meaning and of its words, is about another task.

Measured with the bundled model on 30 tasks in both languages, told in other words than their lessons: nine of ten reach
the first. For eight tasks that had nothing to do with any lesson, the nearest one had .003 in the median, .07 at most.
"""

CANDIDATES: Final = 8
"""Hits looked at for each that is wanted: procedures and lessons are told apart afterwards."""

MOST_CANDIDATES: Final = 100


@dataclass(frozen=True, slots=True)
class Matching:
    """The use case of looking for help before a task is done."""

    uow: UnitOfWork
    retrieval: RetrievalService

    async def find(self, principal: Principal, scope: Scope, task: str, limit: int) -> Matches:
        """At most `limit` lessons and as many procedures, of the scope and the levels above it.

        Two short reads; between them, and while the task is embedded, no connection is held.
        """
        request = SearchRequest(
            query=task,
            user_id=scope.user_id,
            agent_id=scope.agent_id,
            app_id=scope.app_id,
            include_shared=True,
            kinds=["procedural"],
            top_k=min(CANDIDATES * limit, MOST_CANDIDATES),
            legs=LEGS,
            collapse=False,
        )
        found = await self.retrieval.search(principal, request)
        hits = {UUID(hit.id): hit for hit in found.results if _fits(hit)}
        if not hits:
            return Matches(lessons=[], procedures=[], degraded=found.degraded)
        async with self.uow.begin(principal) as tx:
            procedures = {row["id"]: row for row in await tx.procedures.by_ids(list(hits))}
            taught = {row["id"]: row for row in await tx.lessons.by_ids(list(hits), clock.now())}
            others = await tx.memories.by_ids([one for one in hits if one not in procedures and one not in taught])
        plain = {row["id"]: row for row in others if row["category"] == "lesson"}
        return Matches(
            lessons=_lessons(taught, plain, hits)[:limit],
            procedures=_procedures(list(procedures.values()), hits)[:limit],
            degraded=found.degraded,
        )


def _procedures(rows: Sequence[RowLike], hits: Mapping[UUID, Hit]) -> list[MatchedProcedure]:
    found = [Found(row, _relevance(hits[row["id"]]), success_rate(row["successes"], row["failures"])) for row in rows]
    return [
        MatchedProcedure(**card_of(one.item).model_dump(), relevance=round(one.relevance, 4)) for one in in_order(found)
    ]


def _lessons(
    taught: Mapping[UUID, RowLike], plain: Mapping[UUID, RowLike], hits: Mapping[UUID, Hit]
) -> list[MatchedLesson]:
    """Lessons of experiences, and those that were written as memories, of which nobody knows how they served."""
    unknown: dict[str, Any] = {"outcome": None, "task": None, "successes": 0, "failures": 0}
    rows: list[RowLike] = [*taught.values(), *({**row, **unknown} for row in plain.values())]
    found = [
        Found(
            row,
            _relevance(hits[row["id"]]),
            success_rate(row["successes"], row["failures"]),
            warns=row["outcome"] == "failure",
        )
        for row in rows
    ]
    return [MatchedLesson(**lesson_fields(one.item), relevance=round(one.relevance, 4)) for one in in_order(found)]


def _fits(hit: Hit) -> bool:
    breakdown = hit.score_breakdown
    return (breakdown.similarity or 0.0) >= LEAST_SIMILARITY or (breakdown.coverage or 0.0) >= LEAST_COVERAGE


def _relevance(hit: Hit) -> float:
    return hit.score_breakdown.relevance
