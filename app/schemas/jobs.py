"""Jobs in answers."""

from datetime import datetime
from typing import Any

from pydantic import Field

from app.domain.jobs import JobKind, JobState
from app.schemas.fields import ResponseModel


class Job(ResponseModel):
    """A piece of background work."""

    id: str
    kind: JobKind
    subject: str = Field(description="What it works on, such as a session")
    state: JobState
    status: JobState = Field(description="The same as state")
    attempts: int
    error: str | None
    input_window: dict[str, Any] | None
    result: dict[str, Any] | None
    run_after: datetime
    created_at: datetime
    updated_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
