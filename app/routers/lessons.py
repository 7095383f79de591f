"""/v1/experiences and /v1/lessons"""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response

from app.domain.procedure import Outcome
from app.domain.scope import Scope
from app.routers.deps import (
    DEFAULT_PAGE,
    CountQuery,
    CursorQuery,
    LimitQuery,
    PrincipalDep,
    ServicesDep,
    WriteDep,
    reply,
    tag,
    versioned,
)
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.fields import Id
from app.schemas.lessons import Experience, ExperienceIn, Lesson, LessonWithExperiences
from app.schemas.lists import Page
from app.schemas.procedures import OutcomeReport

experiences_router = APIRouter(prefix="/experiences", tags=["Procedures"], route_class=StrictRoute)
router = APIRouter(prefix="/lessons", tags=["Procedures"], route_class=StrictRoute)

LessonId = Annotated[UUID, Path(description="The lesson's id")]


@experiences_router.post("", status_code=201, responses=documented(403, 409), operation_id="add_experience")
async def add_experience(body: ExperienceIn, write: WriteDep, services: ServicesDep, response: Response) -> Experience:
    """Tell how an attempt went: it is reflected upon, and the lesson is found by whoever has a similar task.

    A language model reflects where one is configured; else the lesson is made of the task, the steps and the
    evaluation. A way that has worked three times is drafted as a procedure, for a person to publish.
    """
    answer = await services.lessons.learn(write, body)
    reply(answer, response)
    return Experience.model_validate(answer.body)


@router.get("", responses=documented(403), operation_id="list_lessons")
async def list_lessons(
    principal: PrincipalDep,
    services: ServicesDep,
    user_id: Annotated[Id | None, Query(description="Only this user's")] = None,
    agent_id: Annotated[Id | None, Query(description="Only this agent's")] = None,
    app_id: Annotated[Id | None, Query(description="Only this app's")] = None,
    outcome: Annotated[Outcome | None, Query(description="Only what warns (failure) or recommends (success)")] = None,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
    count: CountQuery = False,
) -> Page[Lesson]:
    """Lessons, newest first."""
    scope = Scope(user_id, agent_id, app_id)
    return await services.lessons.page(principal, scope, outcome, cursor, limit, count=count)


@router.get("/{lesson_id}", responses=documented(403, 404), operation_id="get_lesson")
async def get_lesson(
    lesson_id: LessonId, principal: PrincipalDep, services: ServicesDep, response: Response
) -> LessonWithExperiences:
    """A lesson with the newest attempts that it comes from."""
    lesson = await services.lessons.get(principal, lesson_id)
    tag(response, lesson.version)
    return lesson


@router.post("/{lesson_id}/outcome", responses=documented(403, 404, 409), operation_id="report_lesson_outcome")
async def report_lesson_outcome(
    lesson_id: LessonId, body: OutcomeReport, write: WriteDep, services: ServicesDep, response: Response
) -> LessonWithExperiences:
    """Say whether a lesson helped: its confidence and its place among others rise or fall."""
    return versioned(await services.lessons.outcome(write, lesson_id, body), response, LessonWithExperiences)
