"""What attempts teach, in requests and answers."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BeforeValidator, Field, model_validator

from app.domain.memory import Source
from app.domain.procedure import Outcome
from app.schemas.fields import Id, MemoryText, Redactions, RequestModel, ResponseModel

Telling = Annotated[MemoryText, Field(max_length=4000)]


def _as_step(value: Any) -> Any:  # noqa: ANN401 - whatever the client sent
    return {"action": value} if isinstance(value, str) else value


class StepTaken(RequestModel):
    """A step of an attempt."""

    action: Telling
    result: Telling | None = None
    outcome: Outcome | None = Field(
        None, description="Whether this step worked; a lesson says what was better than what"
    )


class ExperienceIn(RequestModel):
    """An attempt at a task, and how it went."""

    task: Telling = Field(description="What was to be done: a similar task finds the lesson again")
    steps: list[Annotated[StepTaken, BeforeValidator(_as_step)]] = Field(
        default_factory=list, max_length=200, description="What was done; a text stands for its action"
    )
    outcome: Outcome
    evaluation: Telling | None = Field(None, description="What is to be made of it, as far as that is known")
    used: list[UUID] = Field(
        default_factory=list, max_length=50, description="Lessons and procedures that were followed: it counts for them"
    )
    session_id: Id | None = Field(None, description="Where it happened: kept as the lesson's source")
    user_id: Id | None = None
    agent_id: Id | None = None
    app_id: Id | None = None
    shared: bool = Field(default=False, description="Owned by the whole tenant; needs the scope shared:write")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {
            "examples": [
                {
                    "task": "Scrape the prices of a shop's web page",
                    "steps": [{"action": "GET /prices", "result": "403 Forbidden", "outcome": "failure"}],
                    "outcome": "failure",
                    "evaluation": "The server refuses clients without a name: set a User-Agent.",
                    "agent_id": "researcher",
                }
            ]
        }
    }

    @model_validator(mode="after")
    def _teaches(self) -> "ExperienceIn":
        if self.evaluation is None and not self.steps:
            raise ValueError("give steps or an evaluation: without them there is nothing to learn from")
        if self.shared and (self.user_id or self.agent_id or self.app_id):
            raise ValueError("what is shared belongs to no user, agent or app")
        return self


class Lesson(ResponseModel):
    """What attempts have taught. It is a memory, too: kind procedural, category lesson, under the same id."""

    id: str
    text: str
    outcome: Outcome | None = Field(description="What it comes from: failure warns, success recommends; null: unknown")
    task: str | None
    user_id: str | None
    agent_id: str | None
    app_id: str | None
    shared: bool
    source: Source
    confidence: float
    success_count: int
    failure_count: int
    success_rate: float = Field(description="Expected by Laplace's rule: 0.5 where it was never tried")
    seen_count: int
    version: int
    created_at: datetime
    updated_at: datetime


class ExperienceTold(ResponseModel):
    """An attempt that a lesson comes from."""

    id: str
    task: str
    steps: list[dict[str, Any]]
    outcome: Outcome
    evaluation: str | None
    session_id: str | None
    created_at: datetime


class LessonWithExperiences(Lesson):
    """A lesson with the newest attempts that it comes from."""

    experiences: list[ExperienceTold]
    procedure_id: str | None = Field(description="The procedure that was drafted from its repeated success")
    redacted: Redactions = Field(default_factory=list)


class Experience(ResponseModel):
    """What was learnt of an attempt."""

    id: str
    lesson: Lesson
    reflection: Literal["llm", "template"]
    known: bool = Field(description="Whether it says again what a lesson said already: that one is reinforced")
    procedure_draft_id: str | None = Field(description="Drafted now, for a person to publish")
    degraded: list[str] = Field(description="What was missing: llm, embedding")
    redacted: Redactions = Field(default_factory=list)
