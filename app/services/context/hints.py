"""The section of lessons and procedures: what helps with a question, among the rows that its context may hold."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from app.domain.context.parts import Count, Part, Piece
from app.domain.context.words import HEADINGS, Tongue, hint_marks
from app.domain.fusion import Leg
from app.repositories.reach import ContextSelection
from app.repositories.search import EXACT_UP_TO
from app.schemas.procedures import MatchedLesson, MatchedProcedure
from app.services.candidates import leg_query, path_for
from app.services.context.recalled import Hint
from app.services.matching import LEGS, Help, Likeness, help_among
from app.services.questions import Question
from app.services.ranking import Pool, Scoring, rank
from app.uow import Transaction

MOST_HINTS: Final = 3
"""Lessons in a context at most, and as many procedures."""

CANDIDATES: Final = 16
LIKE: Final = 0.12
COVERED: Final = 0.4
BOTH: Final = (0.03, 0.01)
"""So like in meaning, or so many of its words, or so much of both: else a question is no task that was done before.

Stricter than a match of tasks, for most questions of a conversation ask for no help. With the bundled model, six
lessons and procedures, and 11 such questions in each language, 1 (en) and 3 (zh) are given any; 9 of 10 tasks are
given theirs.
"""

LONGEST_HINT: Final = 400
"""Characters of a line; a procedure is read by its id."""


async def hints_for(
    tx: Transaction, owners: Sequence[str], selection: ContextSelection, question: Question, scoring: Scoring
) -> tuple[Hint, ...]:
    """Lessons, those of failures first, then procedures; one cheap look where there are none at all."""
    rows = await tx.search.procedural(owners, EXACT_UP_TO + 1)
    if not rows:
        return ()
    path = "selected" if rows <= EXACT_UP_TO else await path_for(tx, "memories", rows)
    asked = question.by({leg: getattr(LEGS, leg.value) for leg in Leg})
    query = leg_query(asked, owners, CANDIDATES, path)
    pool = Pool.of_memories(await tx.search.memories(query, replace(selection, kinds=["procedural"])))
    best = [one for one in rank(pool, asked, scoring)[:CANDIDATES] if _helps(one)]
    found = await help_among(tx, {one.id: one for one in best}, MOST_HINTS)
    return (
        *(_of_lesson(one, found) for one in found.lessons),
        *(_of_procedure(one, found) for one in found.procedures),
    )


def _helps(found: Likeness) -> bool:
    like, covered = found.similarity or 0.0, found.coverage or 0.0
    return like >= LIKE or covered >= COVERED or (like >= BOTH[0] and covered >= BOTH[1])


def hint_part(hints: Sequence[Hint], tongue: Tongue, count: Count) -> Part:
    """The section `lessons`; the first is the last to be left out."""
    pieces = [_piece(hint, tongue, count, -float(place)) for place, hint in enumerate(hints)]
    return Part("lessons", HEADINGS[tongue]["lessons"], "lessons", tuple(pieces))


def _piece(hint: Hint, tongue: Tongue, count: Count, rank_: float) -> Piece:
    procedure = hint.id if hint.sort == "procedure" else None
    text = f"- {hint.text} {hint_marks(tongue, hint.dated.date().isoformat(), hint.outcome, procedure)}"
    details = {
        "memory_id": hint.id,
        "source": hint.source,
        "category": "lesson" if hint.sort == "lesson" else None,
        "date": hint.dated,
        "sort": hint.sort,
        "outcome": hint.outcome,
    }
    return Piece(text, count(text) + 1, hint.id, rank_, details)


def _of_lesson(lesson: MatchedLesson, found: Help) -> Hint:
    until = found.ends.get(lesson.id)
    return Hint(lesson.id, "lesson", _short(lesson.text), lesson.updated_at, until, lesson.source, lesson.outcome)


def _of_procedure(procedure: MatchedProcedure, found: Help) -> Hint:
    text = _short(f"{procedure.title}: {procedure.when_to_use}")
    return Hint(procedure.id, "procedure", text, procedure.updated_at, found.ends.get(procedure.id))


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= LONGEST_HINT else plain[: LONGEST_HINT - 1] + "…"
