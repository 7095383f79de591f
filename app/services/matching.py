"""What helps with a task: procedures and lessons, found by what the task says, ordered by how well they have worked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Protocol
from uuid import UUID

from app.core import clock
from app.domain.principal import Principal
from app.domain.procedure import Found, in_order, success_rate
from app.domain.scope import Scope
from app.repositories.base import RowLike
from app.schemas.procedures import MatchedLesson, MatchedProcedure, Matches
from app.schemas.search import LegWeights, SearchRequest
from app.services.presenting_procedures import card_of, lesson_fields
from app.services.retrieval import RetrievalService
from app.uow import Transaction, UnitOfWork

LEGS: Final = LegWeights(dense=0.6, lexical=0.4, time=0, key=0, constraint=0)
"""Tasks of one kind are seldom told in the same words: the meaning counts for more than in other searches."""

LEAST_SIMILARITY: Final = 0.03
LEAST_COVERAGE: Final = 0.2
"""What has less of both, of the task's meaning and of its words, is about another task.

Calibrated similarity of the bundled model to a whole text that tells when to use it.
"""

LEAST_LIKE: Final = 0.12
"""The same for a lesson, which is embedded by its task alone.

Measured with the bundled model on 20 tasks in both languages and 42 others of their kinds, told in other words: 40
reach it, and 37 are nearest to the lesson of their kind. Of 20 tasks that had nothing to do with any lesson, 12 come as
near to one of ten.
"""

CANDIDATES: Final = 8
"""Hits looked at for each that is wanted: procedures and lessons are told apart afterwards."""

MOST_CANDIDATES: Final = 100


class Likeness(Protocol):
    """How like a task something is, as a search found it."""

    @property
    def relevance(self) -> float:
        """In [0, 1]."""

    @property
    def similarity(self) -> float | None:
        """Calibrated; None without vectors."""

    @property
    def coverage(self) -> float | None:
        """How much of the task's words it has."""


@dataclass(frozen=True, slots=True)
class Help:
    """What helps with a task, best first, lessons of failures before others.

    Args:
        lessons: What attempts taught.
        procedures: How it is done.
        ends: When the memories behind them end, by id; without those that do not.
    """

    lessons: Sequence[MatchedLesson] = ()
    procedures: Sequence[MatchedProcedure] = ()
    ends: Mapping[str, datetime] = field(default_factory=dict)


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
        hits = {UUID(hit.id): hit.score_breakdown for hit in found.results}
        if not hits:
            return Matches(lessons=[], procedures=[], degraded=found.degraded)
        async with self.uow.begin(principal) as tx:
            matched = await help_among(tx, hits, limit)
        return Matches(lessons=list(matched.lessons), procedures=list(matched.procedures), degraded=found.degraded)


async def help_among(tx: Transaction, found: Mapping[UUID, Likeness], limit: int) -> Help:
    """Of the procedural memories that a search found those that fit, at most `limit` of a sort."""
    hits = {one: likeness for one, likeness in found.items() if _fits(likeness, LEAST_SIMILARITY)}
    if not hits:
        return Help()
    procedures = await tx.procedures.by_ids(list(hits))
    lessons = await tx.lessons.by_ids(list(hits), clock.now())
    taught = {row["id"]: row for row in lessons if _fits(hits[row["id"]], LEAST_LIKE)}
    cards = {row["id"]: row for row in await tx.memories.by_ids(list(hits))}
    known = {row["id"] for row in (*lessons, *procedures)}
    plain = {one: row for one, row in cards.items() if one not in known and row["category"] == "lesson"}
    ends = {one: [end for end in (row["valid_to"], row["expires_at"]) if end is not None] for one, row in cards.items()}
    return Help(
        lessons=_lessons(taught, plain, hits)[:limit],
        procedures=_procedures(procedures, hits)[:limit],
        ends={str(one): min(dates) for one, dates in ends.items() if dates},
    )


def _procedures(rows: Sequence[RowLike], hits: Mapping[UUID, Likeness]) -> list[MatchedProcedure]:
    found = [Found(row, hits[row["id"]].relevance, success_rate(row["successes"], row["failures"])) for row in rows]
    return [
        MatchedProcedure(**card_of(one.item).model_dump(), relevance=round(one.relevance, 4)) for one in in_order(found)
    ]


def _lessons(
    taught: Mapping[UUID, RowLike], plain: Mapping[UUID, RowLike], hits: Mapping[UUID, Likeness]
) -> list[MatchedLesson]:
    """Lessons of experiences, and those that were written as memories, of which nobody knows how they served."""
    unknown: dict[str, Any] = {"outcome": None, "task": None, "successes": 0, "failures": 0}
    rows: list[RowLike] = [*taught.values(), *({**row, **unknown} for row in plain.values())]
    found = [
        Found(
            row,
            hits[row["id"]].relevance,
            success_rate(row["successes"], row["failures"]),
            warns=row["outcome"] == "failure",
        )
        for row in rows
    ]
    return [MatchedLesson(**lesson_fields(one.item), relevance=round(one.relevance, 4)) for one in in_order(found)]


def _fits(hit: Likeness, least: float) -> bool:
    return (hit.similarity or 0.0) >= least or (hit.coverage or 0.0) >= LEAST_COVERAGE
