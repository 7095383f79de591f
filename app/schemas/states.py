"""Session state in requests and answers."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from app.schemas.fields import JsonObject, Redactions, RequestModel, ResponseModel, ShortText

Steps = Annotated[list[ShortText], Field(max_length=1000)]


class Task(BaseModel):
    """What is being done."""

    model_config = ConfigDict(extra="allow")

    goal: ShortText | None = None
    done_steps: Steps = Field(default_factory=list)
    pending_steps: Steps = Field(default_factory=list)


class StateDocument(BaseModel):
    """The parts of a state whose shape is known; any other field is free."""

    model_config = ConfigDict(extra="allow")

    task: Task | None = None
    artifacts: dict[str, ShortText] | None = Field(None, description="Name to location")
    environment: dict[str, Any] | None = None


class StatePut(RequestModel):
    """A whole new state."""

    state: JsonObject
    version: int | None = Field(None, ge=0, description="Compare-and-set, like If-Match; 0: there must be none yet")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {
            "examples": [{"state": {"task": {"goal": "Book the trip", "pending_steps": ["find a hotel"]}}}]
        }
    }


class StatePatch(RequestModel):
    """A change: JSON Merge Patch, in which null removes a field."""

    patch: JsonObject
    version: int | None = Field(None, ge=0, description="Compare-and-set, like If-Match; 0: there must be none yet")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"patch": {"artifacts": {"plan": "notes/plan.md"}}}]}
    }


class StateRestore(RequestModel):
    """Which version becomes the newest again."""

    to_version: int = Field(ge=1)
    version: int | None = Field(None, ge=0, description="Compare-and-set, like If-Match")

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"to_version": 1}]}}


class State(ResponseModel):
    """A version of a session's state."""

    session_id: str
    state: dict[str, Any]
    version: int
    actor: str | None
    created_at: datetime | None
    at_seq: int | None = Field(None, description="The session's last message when it was written")
    redacted: Redactions = Field(default_factory=list)
