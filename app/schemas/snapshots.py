"""Checkpoints of plain JSON states in requests and answers."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from app.schemas.fields import (
    Id,
    Json,
    JsonObject,
    Metadata,
    Redactions,
    RequestModel,
    ResponseModel,
    ShortText,
    Ttl,
)

Label = Annotated[ShortText, Field(min_length=1, description="A name to find it by; labelled ones are kept longer")]
KeepLast = Annotated[int, Field(ge=1, le=100_000, description="The newest so many are kept")]


class SnapshotCreate(RequestModel):
    """A checkpoint of a session's task."""

    state: JsonObject | None = Field(None, description="What to keep; the session's current state if absent")
    parent_id: Id | None = Field(None, description="What it comes from; the newest if absent. Any older one: a branch")
    compare_and_set: bool = Field(
        default=False,
        description="Only if the parent is still the newest, else 412; without a parent_id: only if there is none yet",
    )
    label: Label | None = None
    run_id: Id | None = None
    metadata: Metadata = Field(default_factory=dict)
    ttl: Ttl | None = Field(None, description="Seconds to keep it; as the session's settings have it if absent")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {
            "examples": [{"state": {"plan": ["book the train"], "done": []}, "label": "before booking"}]
        }
    }


class SnapshotChange(RequestModel):
    """Another label, or none."""

    label: Label | None

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"label": "known good"}]}}


class SnapshotInfo(ResponseModel):
    """A checkpoint without its state."""

    id: str
    session_id: str
    parent_id: str | None
    position: int = Field(description="Ascending in the order in which checkpoints and steps were made")
    label: str | None
    run_id: str | None
    metadata: dict[str, Any]
    message_seq: int | None = Field(description="The last message that the session had then")
    created_at: datetime
    expires_at: datetime | None
    redacted: Redactions = Field(default_factory=list)


class Snapshot(SnapshotInfo):
    """A checkpoint with its state."""

    state: dict[str, Any]


class Step(ResponseModel):
    """What one step of a run took and gave."""

    step_id: str
    session_id: str
    checkpoint_id: str | None = Field(description="The newest checkpoint when it was put")
    position: int
    input: Any
    output: Any
    created_at: datetime
    redacted: Redactions = Field(default_factory=list)


class LatestSnapshot(Snapshot):
    """The newest checkpoint, with the steps that were done since."""

    pending_steps: list[Step] = Field(description="Up to 200, oldest first: a resumed run need not do them again")


class StepPut(RequestModel):
    """What a step gave. The first output stands, and later ones are answered with it.

    A step may be put with its `input` alone when it begins, and again with its `output` when it is done.
    """

    input: Json = None
    output: Json = None
    auto_checkpoint: bool | None = Field(
        None,
        description="Make a checkpoint with it, of the session's state, or of the newest checkpoint's where the "
        "session has none; if absent, as the settings have it for finished steps",
    )
    state: JsonObject | None = Field(None, description="The state for that checkpoint, instead of the session's")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"input": {"q": "trains"}, "output": {"train": "IC 32"}}]}
    }


class StoredStep(Step):
    """A step, and the checkpoint that was made with it."""

    checkpoint: SnapshotInfo | None = None


class TraceEntry(ResponseModel):
    """One event of a thread: a checkpoint that was made or a step that was done."""

    type: Literal["checkpoint", "step"]
    position: int
    created_at: datetime
    checkpoint: SnapshotInfo | None = None
    step: Step | None = None


class StateChange(ResponseModel):
    """One place that differs."""

    op: Literal["add", "remove", "replace"]
    path: str = Field(description="JSON Pointer (RFC 6901)")
    before: Any
    after: Any


class SnapshotDiff(ResponseModel):
    """What differs between two checkpoints: a JSON Patch from the one to the other, with the values before."""

    from_id: str
    to_id: str
    changes: list[StateChange]
    truncated: bool = Field(description="There are more than 10,000 changes")


class LineageNode(ResponseModel):
    """A checkpoint in the tree."""

    id: str
    parent_id: str | None
    position: int
    depth: int = Field(description="How many it comes from, one after the other, as far as they are still there")
    children: list[str]
    label: str | None
    created_at: datetime


class SnapshotTree(ResponseModel):
    """The lineage of a session's checkpoints, oldest first."""

    nodes: list[LineageNode]
    roots: list[str]
    heads: list[str] = Field(description="The ends of the branches")
    truncated: bool = Field(description="There are more than 10,000: these are the oldest")


class SnapshotFork(RequestModel):
    """How the new session is called."""

    id: Id | None = Field(None, description="The new session's id; made if absent")
    title: ShortText | None = None
    as_known_then: bool = Field(
        default=False, description="Its contexts have memories as they were known at the checkpoint"
    )

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"id": "trip-planning-by-car"}]}}


class SnapshotRestore(RequestModel):
    """Which version of the state must be current."""

    version: int | None = Field(None, ge=0, description="Compare-and-set, like If-Match; 0: there must be none yet")

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{}]}}


class SnapshotSettings(RequestModel):
    """What a session's thread keeps, and does by itself."""

    keep_last: KeepLast | None = Field(None, description="The newest so many; null keeps all")
    keep_labelled: bool = Field(default=True, description="Those with a label are kept however old they are")
    ttl: Ttl | None = Field(None, description="Seconds that a new checkpoint is kept; null: until it is pruned")
    auto_checkpoint: bool = Field(default=False, description="Each finished step makes a checkpoint")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"keep_last": 50, "auto_checkpoint": True}]}
    }


class SnapshotPrune(RequestModel):
    """What to keep, once."""

    keep_last: KeepLast
    keep_labelled: bool = True
    dry_run: bool = False

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"keep_last": 10}]}}


class PrunedSnapshots(ResponseModel):
    """What went, or would."""

    deleted: list[str]
    parts: int = Field(description="Parts of states that nothing names any more; 0 in a dry run")
