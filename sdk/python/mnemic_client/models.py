"""What the service answers, as far as programs usually look into it; other members stay readable as attributes."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict


class Answer(BaseModel):
    """Anything that the service answers; members that a newer service adds are kept."""

    model_config = ConfigDict(extra="allow")


class Session(Answer):
    """A conversation."""

    id: str
    user_id: str | None = None
    title: str | None = None
    status: str = "open"
    last_seq: int = 0
    version: int = 1
    metadata: dict[str, Any] = {}


class Message(Answer):
    """What was said, with its number in the session."""

    id: str
    seq: int
    role: str
    content: str | list[dict[str, Any]] | None = None
    metadata: dict[str, Any] = {}
    occurred_at: datetime | None = None


class Appended(Answer):
    """Messages that were stored, the memories that were made of them at once, and those that they asked to forget."""

    results: list[Message]
    remembered: list[str] = []
    forgotten: list[str] = []


class Popped(Answer):
    """The message that was taken away; None where there was none."""

    message: Message | None


class Cleared(Answer):
    """How many messages were taken away."""

    deleted: int


class Memory(Answer):
    """Something worth knowing."""

    id: str
    text: str
    kind: str = "semantic"
    category: str = "other"
    version: int = 1
    metadata: dict[str, Any] = {}


class Hit(Answer):
    """A memory or a message that a search found."""

    type: str
    id: str
    text: str
    score: float


class Found(Answer):
    """What a search found."""

    results: list[Hit]
    filtered_count: int = 0
    degraded: list[str] = []


class Context(Answer):
    """What goes into the next prompt: sections, and the whole as `text` or `messages`."""

    sections: list[dict[str, Any]] = []


class State(Answer):
    """A version of a session's state."""

    state: dict[str, Any]
    version: int


class Fact(Answer):
    """A value under an exact key."""

    key: str
    value: Any = None
    version: int = 1


class CheckpointInfo(Answer):
    """A checkpoint of a session, without its state."""

    id: str
    parent_id: str | None = None
    position: int
    label: str | None = None
    metadata: dict[str, Any] = {}


class Step(Answer):
    """What a step of a run took and gave."""

    step_id: str
    position: int
    input: Any = None
    output: Any = None


class Checkpoint(CheckpointInfo):
    """A checkpoint with its state; of the newest also the steps since."""

    state: dict[str, Any]
    pending_steps: list[Step] = []


class Change(Answer):
    """One place that differs between two states."""

    op: str
    path: str
    before: Any = None
    after: Any = None


class Diff(Answer):
    """What differs between two checkpoints."""

    changes: list[Change]


class TraceEntry(Answer):
    """A checkpoint that was made or a step that was done."""

    type: str
    position: int
    checkpoint: CheckpointInfo | None = None
    step: Step | None = None
