"""Dreams in requests and answers."""

from datetime import datetime
from typing import Any

from pydantic import Field

from app.domain.dreaming.changes import DreamState, DreamStep
from app.domain.jobs import JobState
from app.domain.redaction import SecretKind
from app.schemas.fields import MemoryText, RequestModel, ResponseModel


class DreamRequest(RequestModel):
    """Whether memories are put in order at once, or it is only shown how."""

    dry_run: bool = Field(
        default=False, description="Change nothing: keep a proposal, which can be read, edited, applied or rejected"
    )

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"dry_run": True}]}}


class DreamChange(ResponseModel):
    """One change that a dream proposes, or has made."""

    id: int
    step: DreamStep = Field(
        description="review: a statement that was missed; merge: one of several wordings stays; conflict: two that "
        "cannot both be true go to conflict resolution; shorten; dates: absolute dates; evolution: a note on what was "
        "before"
    )
    memory_ids: list[str] = Field(description="The first one stays or is written; empty for what is new")
    before: list[str]
    after: str | None
    session_id: str | None = Field(description="Of review: where it was said")
    accepted: bool = Field(description="Whether it is done when the dream is applied")


class Dream(ResponseModel):
    """A look over a user's memories: what is to be put in order, or was."""

    id: str
    user_id: str
    state: DreamState
    version: int
    changes: list[DreamChange]
    diff: str = Field(description="The accepted changes, to be read: - goes, + comes, ! is to be decided")
    degraded: list[str] = Field(description="llm: rules stood in for a language model")
    created_at: datetime
    decided_at: datetime | None
    job_id: str | None = Field(description="The job that applies it; its id undoes it")
    redacted: list[SecretKind] = Field(default_factory=list, description="Kinds of secrets that were taken out")


class DreamChangeEdit(RequestModel):
    """What somebody wants otherwise."""

    id: int = Field(ge=1, le=1_000_000)
    accepted: bool | None = None
    after: MemoryText | None = Field(None, description="Another text; not for a conflict")


class DreamEdit(RequestModel):
    """Changes of a proposal that are edited; the others stay as they are."""

    changes: list[DreamChangeEdit] = Field(min_length=1, max_length=1_000)

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"changes": [{"id": 1, "accepted": False}]}]}
    }


class Dreamed(ResponseModel):
    """A proposal (dry_run), or the job that does it."""

    dry_run: bool
    dream: Dream | None = Field(None, description="With dry_run")
    dream_id: str | None = Field(None, description="What was done is read there: GET /v1/users/{id}/dreams/{dream_id}")
    counts: dict[str, Any] = Field(default_factory=dict, description="Memories by what was done to them")
    profile_facts: int | None = Field(None, description="Facts of the profile as it is now")
    undo_id: str | None = Field(None, description="Undoes all of it: POST /v1/undo")
    job_id: str | None = None
    status: JobState | None = None
