"""What people and agents do with memories they have read."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, model_validator

from app.domain.jobs import JobState
from app.schemas.fields import Id, JsonObject, RequestModel, ResponseModel, ShortText
from app.schemas.memories import Memory

MAX_IDS = 200


class MemoriesGet(RequestModel):
    """Memories by their ids."""

    ids: list[UUID] = Field(min_length=1, max_length=MAX_IDS)

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"ids": ["01980000-0000-7000-8000-000000000000"]}]}
    }


class MemoriesFound(ResponseModel):
    """Memories in the order of the ids, and the ids under which there is none."""

    results: list[Memory]
    missing: list[str]


class Judgement(RequestModel):
    """Why; optional, and kept in the history."""

    reason: ShortText | None = None

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"reason": "Ada said so herself."}]}}


class Feedback(RequestModel):
    """How a memory served."""

    verdict: Literal["used", "ignored", "wrong"]
    reason: ShortText | None = None

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"verdict": "used"}]}}


class MemoriesDelete(RequestModel):
    """Which memories to delete: all that match every scope field and the filter. At least one of them is needed."""

    user_id: Id | None = None
    agent_id: Id | None = None
    app_id: Id | None = None
    session_id: Id | None = None
    filters: JsonObject | None = None
    dry_run: bool = Field(default=False, description="Say what would be deleted, and delete nothing")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {
            "examples": [{"user_id": "ada", "filters": {"category": {"eq": "event"}}, "dry_run": True}]
        }
    }

    @model_validator(mode="after")
    def _is_about_something(self) -> "MemoriesDelete":
        if not any((self.user_id, self.agent_id, self.app_id, self.session_id, self.filters)):
            raise ValueError("name a scope field or a filter: this never deletes everything")
        return self


class MemorySample(ResponseModel):
    """A memory in short."""

    id: str
    text: str


Sample = Annotated[list[MemorySample], Field(description="Some of what matched")]


class MemoriesDeleted(ResponseModel):
    """What was deleted, or with dry_run would be."""

    matched: int
    deleted: int
    sample: Sample
    undo_id: str | None = Field(description="Names this deletion in each memory's history")
    job_id: str | None = Field(None, description="The job that deletes, where there are more than 10,000")
    status: JobState | None = None
