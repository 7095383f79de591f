"""Sessions in requests and answers."""

from datetime import datetime
from typing import Any

from pydantic import Field, model_validator

from app.domain.jobs import JobState
from app.domain.session import MemoryMode, SessionStatus
from app.schemas.fields import Id, Instant, Metadata, Redactions, RequestModel, ResponseModel, ShortText, Timezone, Ttl


class SessionCreate(RequestModel):
    """A new session. Every field is optional; an id is made up if none is chosen."""

    id: Id | None = Field(None, description="Chosen by the client, unique in the tenant")
    user_id: Id | None = Field(None, description="Whose session it is; memories drawn from it belong to this user")
    agent_id: Id | None = None
    app_id: Id | None = None
    title: ShortText | None = None
    timezone: Timezone | None = Field(None, description="IANA zone that decides what 昨天 means in it")
    metadata: Metadata = Field(default_factory=dict)
    ttl: Ttl | None = Field(None, description="Seconds until the session and what is scoped to it goes")
    memory: MemoryMode = Field("on", description="Whether memories are drawn from it and served into it")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"id": "trip-planning", "user_id": "ada", "timezone": "Europe/London"}]}
    }


class SessionChange(RequestModel):
    """What may be changed of a session; absent fields stay as they are."""

    title: ShortText | None = None
    timezone: Timezone | None = None
    metadata: Metadata | None = None
    memory: MemoryMode | None = None
    expires_at: Instant | None = None
    version: int | None = Field(None, ge=1, description="Compare-and-set, like If-Match")

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"title": "Planning the trip"}]}}

    @model_validator(mode="after")
    def _changes_something(self) -> "SessionChange":
        if not self.model_fields_set - {"version"}:
            raise ValueError("name at least one field to change")
        for name in sorted({"metadata", "memory"} & self.model_fields_set):
            if getattr(self, name) is None:
                raise ValueError(f"{name} cannot be null")
        return self


class Session(ResponseModel):
    """A session."""

    id: str
    user_id: str | None
    agent_id: str | None
    app_id: str | None
    title: str | None
    timezone: str | None
    metadata: dict[str, Any]
    memory: MemoryMode
    status: SessionStatus
    version: int
    last_seq: int = Field(description="The number of the last message ever appended; 0 if none")
    message_count: int
    created_at: datetime
    updated_at: datetime
    last_message_at: datetime | None
    closed_at: datetime | None
    expires_at: datetime | None
    known_at: datetime | None = Field(None, description="Of a fork: its contexts know what was known then")
    redacted: Redactions = Field(default_factory=list)


class ClosedSession(Session):
    """A session that takes no more messages, and what is still done with those it has."""

    job_ids: list[str] = Field(description="Jobs that learn from what is left and make the last summary")
    jobs_status: JobState | None = Field(None, description="With `wait`: how they ended, or that they still run")
