"""Memories in requests and answers."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag, model_validator

from app.domain.jobs import JobState
from app.domain.memory import Category, EventAction, Kind, Source, Status, Use
from app.schemas.fields import (
    Id,
    Instant,
    Json,
    MemoryText,
    Metadata,
    Redactions,
    RequestModel,
    ResponseModel,
    ShortText,
    Ttl,
)

Importance = Annotated[int, Field(ge=1, le=10)]
Weight = Annotated[float, Field(ge=0, le=100)]
Key = Annotated[Id, Field(description="The canonical name of what this is the value of, such as user.city")]
Seq = Annotated[int, Field(ge=1, le=2**63 - 1)]


class SourceIn(RequestModel):
    """Where a memory comes from."""

    session_id: Id
    seqs: list[Seq] = Field(default_factory=list, max_length=1000)
    quote: ShortText | None = None


class MemoryIn(RequestModel):
    """A memory to keep. Its owner is the first given of user, app, agent, session; `shared` gives it to the tenant."""

    text: MemoryText = Field(description="What is remembered, in its own language; this is embedded and searched")
    kind: Kind = "semantic"
    key: Key | None = None
    value: Json = Field(None, description="The value under `key`, for programs to compare")
    category: Category = "other"
    source: Source = Field("user_stated", description="Who vouches for it; assistants' and inferred ones are uncertain")
    user_id: Id | None = None
    agent_id: Id | None = None
    app_id: Id | None = None
    session_id: Id | None = Field(None, description="Makes it visible in this session only; it goes with the session")
    shared: bool = Field(default=False, description="Owned by the whole tenant; needs the scope shared:write")
    importance: Importance | None = Field(None, description="1-10; by category if absent")
    confidence: float | None = Field(None, ge=0, le=1)
    weight: Weight | None = None
    use: Use = "everywhere"
    pinned: bool | None = Field(None, description="Never decays, first in context; constraints are by default")
    sensitive: bool = Field(default=False, description="Encrypt its contents; read with the scope sensitive")
    ttl: Ttl | None = None
    expires_at: Instant | None = None
    occurred_at: Instant | None = Field(None, description="When it became so; now if absent")
    metadata: Metadata = Field(default_factory=dict)
    sources: list[SourceIn] = Field(default_factory=list, max_length=100)

    @model_validator(mode="after")
    def _hangs_together(self) -> "MemoryIn":
        scoped = any(value is not None for value in (self.user_id, self.agent_id, self.app_id, self.session_id))
        if self.shared and scoped:
            raise ValueError("a shared memory belongs to no user, agent, app or session")
        if self.ttl is not None and self.expires_at is not None:
            raise ValueError("give ttl or expires_at, not both")
        if self.value is not None and self.key is None:
            raise ValueError("a value needs a key")
        return self


class MemoryAdd(MemoryIn):
    """One memory."""

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"text": "Ada prefers tea over coffee.", "user_id": "ada"}]}
    }


class MemoriesAdd(RequestModel):
    """Up to 1,000 memories, all stored or none."""

    memories: list[MemoryIn] = Field(min_length=1, max_length=1000)

    model_config = RequestModel.model_config | {
        "json_schema_extra": {
            "examples": [{"memories": [{"text": "艾达住在里斯本。", "user_id": "ada", "key": "user.city"}]}]
        }
    }


def _one_or_many(value: Any) -> str:  # noqa: ANN401 - whatever the client sent
    return "many" if isinstance(value, MemoriesAdd) or (isinstance(value, dict) and "memories" in value) else "one"


AddBody = Annotated[Annotated[MemoryAdd, Tag("one")] | Annotated[MemoriesAdd, Tag("many")], Discriminator(_one_or_many)]


class MemoryChange(RequestModel):
    """What may be changed of a memory; absent fields stay as they are."""

    text: MemoryText | None = None
    key: Key | None = None
    value: Json = None
    category: Category | None = None
    importance: Importance | None = None
    confidence: float | None = Field(None, ge=0, le=1)
    weight: Weight | None = None
    use: Use | None = None
    pinned: bool | None = None
    expires_at: Instant | None = Field(None, description="null: never")
    occurred_at: Instant | None = None
    metadata: Metadata | None = None
    version: int | None = Field(None, ge=1, description="Compare-and-set, like If-Match")

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"importance": 8}]}}

    @model_validator(mode="after")
    def _changes_something(self) -> "MemoryChange":
        if not self.model_fields_set - {"version"}:
            raise ValueError("name at least one field to change")
        required = {"text", "category", "importance", "confidence", "weight", "use", "pinned", "metadata"}
        for name in sorted(required & self.model_fields_set):
            if getattr(self, name) is None:
                raise ValueError(f"{name} cannot be null")
        return self


class MemorySource(ResponseModel):
    """Where a memory comes from: messages by their numbers, their ids and the client's own ids."""

    session_id: str | None
    seqs: list[int]
    message_ids: list[str]
    external_ids: list[str]
    quote: str | None


class Memory(ResponseModel):
    """A memory."""

    id: str
    text: str
    kind: Kind
    key: str | None
    value: Any
    category: Category
    source: Source
    uncertain: bool
    user_id: str | None
    agent_id: str | None
    app_id: str | None
    session_id: str | None
    shared: bool
    status: Status
    confidence: float
    importance: int
    weight: float
    use: Use
    pinned: bool
    sensitive: bool = Field(description="Its contents are encrypted; it is found by its key, not by words or meaning")
    sealed: bool = Field(description="Whether this key does not read them: text is a placeholder then")
    flags: list[str] = Field(description="instruction: it tells somebody what to do, and nobody has vouched for it")
    metadata: dict[str, Any]
    occurred_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    expires_at: datetime | None
    created_at: datetime
    updated_at: datetime
    superseded_at: datetime | None
    superseded_by: str | None
    last_seen_at: datetime
    seen_count: int
    last_accessed_at: datetime | None
    access_count: int
    used_count: int
    ignored_count: int
    wrong_count: int
    needs_confirmation: bool = Field(description="Somebody should be asked whether it still holds")
    archived_at: datetime | None
    version: int
    sources: list[MemorySource]
    redacted: Redactions = Field(default_factory=list)


class AddedMemory(Memory):
    """One added memory."""

    degraded: list[str] = Field(default_factory=list, description="What was missing while it was stored")


class AddedMemories(ResponseModel):
    """Added memories in input order."""

    results: list[Memory]
    degraded: list[str] = Field(default_factory=list, description="What was missing while they were stored")
    job_id: str | None = Field(None, description="The job that embeds them, where that goes on after the answer")
    status: JobState | None = Field(None, description="Its state")


class MemoryEvent(ResponseModel):
    """One thing that happened to a memory."""

    id: str
    action: EventAction
    actor: str = Field(description="Whose doing: key:<id>, or the service's own")
    reason: str | None
    job_id: str | None
    undo_id: str | None = Field(description="The bulk deletion that did it")
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    created_at: datetime


class MemoryHistory(ResponseModel):
    """Everything that happened to a memory, oldest first."""

    results: list[MemoryEvent]
