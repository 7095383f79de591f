"""A turn of an agent in one write, and where an interrupted session stood."""

from typing import Any

from pydantic import Field, model_validator

from app.schemas.fields import JsonObject, Redactions, RequestModel, ResponseModel, Timezone
from app.schemas.messages import Beside, Message, MessageIn
from app.schemas.sessions import Session
from app.schemas.snapshots import SnapshotCreate, SnapshotInfo
from app.schemas.states import State, Task


class TurnState(RequestModel):
    """What becomes of the state: a merge patch, or a whole new one."""

    patch: JsonObject | None = Field(None, description="JSON Merge Patch, in which null removes a field")
    state: JsonObject | None = Field(None, description="A whole new state")
    version: int | None = Field(None, ge=0, description="Compare-and-set; 0: there must be none yet")

    @model_validator(mode="after")
    def _one_way(self) -> "TurnState":
        if (self.patch is None) == (self.state is None):
            raise ValueError("give either patch or state")
        return self


class TurnCreate(Beside):
    """What an agent's turn leaves behind: messages, the state after them, a checkpoint, or several of these."""

    messages: list[MessageIn] = Field(default_factory=list, max_length=1000)
    timezone: Timezone | None = Field(None, description="For messages that name none")
    state: TurnState | None = None
    checkpoint: SnapshotCreate | None = Field(
        None, description="A checkpoint as it is after the turn; without a `state` of its own it holds the session's"
    )

    model_config = RequestModel.model_config | {
        "json_schema_extra": {
            "examples": [
                {
                    "user_id": "ada",
                    "messages": [
                        {"role": "user", "content": "Find me a hotel in Lisbon."},
                        {"role": "assistant", "content": "I found three; the cheapest is the Avenida."},
                    ],
                    "state": {"patch": {"task": {"goal": "Book the trip", "pending_steps": ["book the Avenida"]}}},
                }
            ]
        }
    }

    @model_validator(mode="after")
    def _leaves_something(self) -> "TurnCreate":
        if not self.messages and self.state is None and self.checkpoint is None:
            raise ValueError("give messages, a state or a checkpoint")
        return self


class Turn(ResponseModel):
    """What was written, all of it in one transaction."""

    session_id: str
    results: list[Message] = Field(description="The messages in input order")
    remembered: list[str] = Field(description="Memories that they created or renewed at once")
    forgotten: list[str] = Field(
        default_factory=list, description="Memories that they asked to forget, deleted at once"
    )
    state: State | None = Field(description="The new version; null where the turn left the state alone")
    checkpoint: SnapshotInfo | None = Field(None, description="The checkpoint; null where none was asked for")
    redacted: Redactions = Field(default_factory=list)


class LastSummary(ResponseModel):
    """The rolling summary, without its tree."""

    text: str
    tokens: int
    from_seq: int | None
    to_seq: int = Field(description="The last message in it; 0 if none")
    unfolded: int = Field(description="Messages after that one")


class Resumed(ResponseModel):
    """Where a session stood when it was left."""

    session: Session
    task: Task = Field(description="The goal, the steps that are done, and those that are open")
    next_step: str | None = Field(description="The first open step; null where none is")
    state: State
    summary: LastSummary
    messages: list[Message] = Field(description="The last ones, oldest first")
    open_tool_calls: list[dict[str, Any]] = Field(
        description="Calls of the last assistant turn that no tool has answered: do them again, or ask"
    )
