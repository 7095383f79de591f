"""Undoing what was done to memories."""

from uuid import UUID

from pydantic import Field, model_validator

from app.schemas.fields import RequestModel, ResponseModel


class Undo(RequestModel):
    """What to undo: all that a job did, one line of a memory's history, or a bulk deletion. Exactly one is named."""

    job_id: UUID | None = None
    event_id: UUID | None = Field(None, description="Of a line of history; what an add displaced comes back with it")
    undo_id: UUID | None = Field(None, description="As the bulk deletion has answered it")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"job_id": "01980000-0000-7000-8000-000000000000"}]}
    }

    @model_validator(mode="after")
    def _one(self) -> "Undo":
        if sum(one is not None for one in (self.job_id, self.event_id, self.undo_id)) != 1:
            raise ValueError("name exactly one of job_id, event_id and undo_id")
        return self


class Undone(ResponseModel):
    """What has been undone."""

    events: int = Field(description="Lines of history whose changes are undone")
    memory_ids: list[str] = Field(description="Memories that were changed by it")
    left_ids: list[str] = Field(
        default_factory=list, description="Memories that were archived and are of use again since: they stay current"
    )
