"""Lessons (Reflexion): an attempt is reflected upon, and the next one like it is told what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from app.core import clock, ids
from app.core.errors import Invalid, NotFound
from app.core.text.digest import text_hash
from app.core.text.normal import normalise
from app.core.text.tokens import tokens
from app.domain.fence import cut
from app.domain.likeness import Wording
from app.domain.principal import Principal
from app.domain.procedure import SUBJECT_LENGTH, SUCCESSES_OF_A_DRAFT, Outcome
from app.domain.reflection import Attempt, body_of, different_ways, title_of
from app.domain.scope import Scope
from app.repositories.base import Row, RowLike
from app.repositories.owners import OwnerChange
from app.repositories.search import DenseQuery, LegQuery
from app.repositories.selection import Selection
from app.repositories.vectors import Embedded
from app.schemas.lessons import Experience, ExperienceIn, Lesson, LessonWithExperiences
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.schemas.memories import MemoryIn, SourceIn
from app.schemas.procedures import OutcomeReport, ProcedureScope
from app.services.analysis import analyse_all
from app.services.answers import Answer, Write, write_once
from app.services.embedding import Embedder, TextToEmbed
from app.services.presenting_procedures import experience_of, lesson_as_answer, lesson_fields
from app.services.proceduring import ProcedureWriter, fresh_of, weigh
from app.services.redacting import Redacting
from app.services.reflecting import Reflecting, Reflection, attempts_of
from app.services.writing import Draft, MemoryWriter, draft_of, embed_later, locked_memory
from app.uow import Transaction, UnitOfWork

SAME_TASK: Final = 0.4
"""Calibrated similarity from which lessons of the same working steps are about the same task, told in other words."""

NEIGHBOURS: Final = 8
WORDS: Final = 32
EXPERIENCES_SHOWN: Final = 20
WAYS_OF_A_DRAFT: Final = 3


@dataclass(frozen=True, slots=True)
class LessonService:
    """The use cases of learning from attempts."""

    uow: UnitOfWork
    embedder: Embedder
    redacting: Redacting
    reflecting: Reflecting

    async def learn(self, write: Write, request: ExperienceIn) -> Answer:
        """Reflect upon an attempt and keep the lesson, or reinforce the one that says it; count what was followed."""
        principal = write.principal
        principal.require("memories:write")
        cleaned = await self.redacting.clean(principal, request)
        request = own_words(cleaned.request)
        at = clock.now()
        reflection = await self.reflecting.reflect(request)
        memory = _memory(request, reflection)
        draft = draft_of(principal, memory, (await analyse_all([memory.text]))[0], at)
        subject = request.task[:SUBJECT_LENGTH]
        vectors = await self.embedder.passages_if_up([TextToEmbed(draft.row["id"], subject, text_hash(memory.text))])
        record = await self.embedder.record()
        near = vectors[0].of(record.id) if vectors else None
        dense = None if near is None else DenseQuery(near, record)
        degraded = [*reflection.degraded, *([] if vectors else ["embedding"])]

        async def work(tx: Transaction) -> Answer:
            taught = _Taught(tx, principal, at, record.id, self.embedder)
            await taught.lock(draft, request)
            await taught.count_used(request)
            row, known = await taught.keep(draft, request, vectors, dense)
            experience_id = ids.new_id()
            await tx.lessons.add_experience(_row(experience_id, row["id"], request, at))
            drafted = await taught.draft_procedure(row, reflection) if row["outcome"] == "success" else None
            body = Experience(
                id=str(experience_id),
                lesson=lesson_as_answer(row),
                reflection=reflection.by,
                known=known,
                procedure_draft_id=None if drafted is None else str(drafted),
                degraded=degraded,
                redacted=cleaned.kinds(),
            )
            return Answer(201, body)

        return await write_once(self.uow, write, Experience, work)

    async def page(
        self,
        principal: Principal,
        scope: Scope,
        outcome: Outcome | None,
        cursor: str | None,
        limit: int,
        *,
        count: bool,
    ) -> Page[Lesson]:
        """Lessons, newest first."""
        principal.require("memories:read")
        after = decode_cursor(cursor, UUID)
        at = clock.now()
        async with self.uow.begin(principal, reading=True) as tx:
            rows = await tx.lessons.page(scope, outcome, None if after is None else after[0], limit + 1, at)
            total = await tx.lessons.count(scope, outcome, at) if count else None
        more = len(rows) > limit
        return Page(
            results=[lesson_as_answer(row) for row in rows[:limit]],
            next_cursor=encode_cursor(rows[limit - 1]["id"]) if more else None,
            total=total,
        )

    async def get(self, principal: Principal, lesson_id: UUID) -> LessonWithExperiences:
        """A lesson with the newest attempts that it comes from."""
        principal.require("memories:read")
        async with self.uow.begin(principal, reading=True) as tx:
            return await _shown(tx, _there(await tx.lessons.get(lesson_id, clock.now())))

    async def outcome(self, write: Write, lesson_id: UUID, request: OutcomeReport) -> Answer:
        """Count how it went when a lesson was followed: it rises or falls."""
        principal = write.principal
        principal.require("memories:write")
        cleaned = await self.redacting.clean(principal, request)
        at = clock.now()

        async def work(tx: Transaction) -> Answer:
            _there(await tx.lessons.get(lesson_id, at))
            memory = await locked_memory(tx, principal, lesson_id)
            await tx.lessons.count_outcome(lesson_id, cleaned.request.outcome)
            await weigh(tx, memory, cleaned.request.outcome, cleaned.request.note, principal.actor, at)
            shown = await _shown(tx, _there(await tx.lessons.get(lesson_id, at)))
            return Answer(200, shown.model_copy(update={"redacted": cleaned.kinds()}))

        return await write_once(self.uow, write, LessonWithExperiences, work)


def own_words(request: ExperienceIn) -> ExperienceIn:
    """The attempt without what memory has served into it; a task that was nothing else is left as it is."""
    steps = [
        step.model_copy(
            update={"action": _own(step.action) or step.action, "result": step.result and (_own(step.result) or None)}
        )
        for step in request.steps
    ]
    evaluation = request.evaluation and (_own(request.evaluation) or None)
    task = _own(request.task) or request.task
    return request.model_copy(update={"task": task, "steps": steps, "evaluation": evaluation})


def _own(text: str) -> str:
    own = cut(text)
    return text if own == text else own.strip()


@dataclass(frozen=True, slots=True)
class _Taught:
    """One attempt within its transaction. Owners are locked in order: what was followed may be others'."""

    tx: Transaction
    principal: Principal
    at: datetime
    model_id: int
    embedder: Embedder

    async def lock(self, draft: Draft, request: ExperienceIn) -> None:
        """Hold the session, then lock the lesson's user, then its owner and those of what was followed, in order."""
        if request.session_id is not None and not await self.tx.sessions.hold(request.session_id, self.at):
            raise Invalid("The experience names a session that does not exist.", code="session_not_found")
        if draft.row["user_id"] is not None:
            await self.tx.users.touch([draft.row["user_id"]], self.at)
        followed = await self.tx.memories.by_ids(sorted(set(request.used))) if request.used else []
        await self.tx.owners.lock(sorted({draft.row["owner"], *(row["owner"] for row in followed)}))

    async def keep(
        self, draft: Draft, request: ExperienceIn, vectors: Sequence[Embedded], dense: DenseQuery | None
    ) -> tuple[Row, bool]:
        """The lesson, and whether it was known: in the same words, or in others that mean the same."""
        await self.tx.owners.lock_and_change(draft.row["owner"], OwnerChange())
        writer = MemoryWriter(self.tx, self.principal.actor, self.at)
        same = await self._same(draft, request, dense)
        if same is not None:
            lesson_id, known = (await writer.repeat(same, draft))["id"], True
        else:
            (memory,) = await writer.run([draft], vectors, self.model_id)
            lesson_id, known = UUID(memory.id), memory.id != str(draft.row["id"])
            if not vectors and not known:
                await embed_later(self.tx, [lesson_id], self.at, draft.row["user_id"])
        await self.tx.lessons.taught(lesson_id, draft.row["owner"], request.outcome, request.task)
        row = await self.tx.lessons.get(lesson_id, self.at)
        assert row is not None  # noqa: S101 - it was written in this transaction
        return row, known

    async def _same(self, draft: Draft, request: ExperienceIn, dense: DenseQuery | None) -> Row | None:
        """A lesson of the same scope and outcome that says the same, or tells the same of a like task.

        Of successes that is the way that worked, of failures what is to be made of them.
        """
        words = list(dict.fromkeys(tokens(draft.row["text"])))[:WORDS]
        scope = Scope(draft.row["user_id"], draft.row["agent_id"], draft.row["app_id"])
        chosen = Selection(scope, self.at, kinds=["procedural"], categories=["lesson"])
        found = await self.tx.search.memories(LegQuery([draft.row["owner"]], words, dense, NEIGHBOURS), chosen)
        lessons = {row["id"]: row for row in await self.tx.lessons.by_ids([row["id"] for row in found], self.at)}
        wording = Wording.of(draft.row["text"])
        for near in sorted(found, key=lambda row: -(row["cosine"] or 0.0)):
            lesson = lessons.get(near["id"])
            if lesson is None or lesson["outcome"] != request.outcome or _scope_of(lesson) != scope:
                continue
            same = Wording.of(lesson["text"]).says_the_same_as(wording)
            like = near["cosine"] is not None and self.embedder.calibration.similarity(near["cosine"]) >= SAME_TASK
            if same or (like and await self._tells_the_same(lesson, request)):
                return (await self.tx.memories.by_ids([near["id"]]))[0]
        return None

    async def _tells_the_same(self, lesson: Row, request: ExperienceIn) -> bool:
        way, judged = _way(attempts_of(request)), _judged(request.evaluation)
        if not (way if request.outcome == "success" else judged):
            return False
        known = await self.tx.lessons.experiences(lesson["id"], EXPERIENCES_SHOWN)
        if request.outcome == "success":
            return any(_way([Attempt(**step) for step in row["steps"]]) == way for row in known)
        return any(_judged(row["evaluation"]) == judged for row in known)

    async def count_used(self, request: ExperienceIn) -> None:
        """Let the attempt count for the lessons and procedures that it followed."""
        if not request.used:
            return
        used = sorted(set(request.used))
        lessons = {row["id"] for row in await self.tx.lessons.by_ids(used, self.at)}
        procedures = {row["id"] for row in await self.tx.procedures.by_ids(used)}
        if set(used) - lessons - procedures:
            raise Invalid("`used` names a lesson or procedure that is not there.", code="used_not_found")
        for one in used:
            memory = await locked_memory(self.tx, self.principal, one)
            if one in lessons:
                await self.tx.lessons.count_outcome(one, request.outcome)
                await weigh(self.tx, memory, request.outcome, None, self.principal.actor, self.at)
            else:
                writer = ProcedureWriter(self.tx, self.principal.actor, self.at, self.model_id)
                await writer.count(memory, request.outcome, None)

    async def draft_procedure(self, lesson: Row, reflection: Reflection) -> UUID | None:
        """A way that has worked again and again is drafted, once; a person publishes it or does not."""
        if lesson["successes"] < SUCCESSES_OF_A_DRAFT or await self.tx.procedures.of_lesson(lesson["id"]) is not None:
            return None
        known = await self.tx.lessons.experiences(lesson["id"], EXPERIENCES_SHOWN)
        tasks = list(dict.fromkeys(row["task"] for row in known))[:WAYS_OF_A_DRAFT]
        ways = different_ways([[Attempt(**step) for step in row["steps"]] for row in known])[:WAYS_OF_A_DRAFT]
        fields: dict[str, Any] = {
            "title": title_of(lesson["task"]),
            "when_to_use": "\n".join(title_of(task) for task in tasks),
            "body": body_of(lesson["text"], ways, reflection.language),
            "steps": [],
            "examples": [],
            "tags": [],
        }
        (fresh,) = await fresh_of(self.principal, _whose(lesson), [fields], self.at)
        writer = ProcedureWriter(self.tx, self.principal.actor, self.at, self.model_id)
        row = await writer.create(replace(fresh, lesson_id=lesson["id"]), "draft")
        drafted: UUID = row["id"]
        return drafted


async def _shown(tx: Transaction, row: Row) -> LessonWithExperiences:
    known = await tx.lessons.experiences(row["id"], EXPERIENCES_SHOWN)
    drafted = await tx.procedures.of_lesson(row["id"])
    return LessonWithExperiences(
        **lesson_fields(row),
        experiences=[experience_of(one) for one in known],
        procedure_id=None if drafted is None else str(drafted),
    )


def _memory(request: ExperienceIn, reflection: Reflection) -> MemoryIn:
    """The lesson as a memory. What a model made of the attempt is derived; what a template did is what was observed."""
    sources = [] if request.session_id is None else [SourceIn(session_id=request.session_id)]
    return MemoryIn(
        text=reflection.text,
        kind="procedural",
        category="lesson",
        source="derived" if reflection.by == "llm" else "tool_observed",
        sources=sources,
        **request.model_dump(include={"user_id", "agent_id", "app_id", "shared"}),
    )


def _row(experience_id: UUID, lesson_id: UUID, request: ExperienceIn, at: datetime) -> dict[str, Any]:
    return {
        "id": experience_id,
        "lesson_id": lesson_id,
        "session_id": request.session_id,
        "outcome": request.outcome,
        "task": request.task,
        "steps": [step.model_dump() for step in request.steps],
        "evaluation": request.evaluation,
        "created_at": at,
    }


def _way(attempts: Sequence[Attempt]) -> frozenset[str]:
    """The steps of an attempt that did not fail, whatever the order, case and width."""
    return frozenset(normalise(step.action) for step in attempts if step.outcome != "failure")


def _judged(evaluation: str | None) -> str:
    """An evaluation, whatever its case, width, space and last mark."""
    return " ".join(normalise(evaluation or "").split()).rstrip(" .。!")


def _scope_of(row: RowLike) -> Scope:
    return Scope(row["user_id"], row["agent_id"], row["app_id"])


def _whose(row: RowLike) -> ProcedureScope:
    scope = _scope_of(row)
    return ProcedureScope(user_id=scope.user_id, agent_id=scope.agent_id, app_id=scope.app_id, shared=scope.empty)


def _there(row: Row | None) -> Row:
    if row is None:
        raise NotFound("There is no such lesson.", code="lesson_not_found")
    return row
