"""LangGraph's checkpoints in requests and answers: what the client has serialised stays opaque, in base64."""

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field, StringConstraints

from app.core.strict_json import text_fault
from app.schemas.fields import Id, JsonObject, RequestModel, ResponseModel

MAX_NAME: Final = 1_000
MAX_PLACE: Final = 4_000


def _name(text: str) -> str:
    fault = text_fault(text)
    if fault is not None:
        raise ValueError(fault)
    return text


Name = Annotated[str, StringConstraints(max_length=MAX_NAME), AfterValidator(_name)]
"""A channel, a version, a serialiser's type: a program's word, kept as it is."""

Place = Annotated[str, StringConstraints(max_length=MAX_PLACE), AfterValidator(_name)]
"""A namespace or a task's path; empty is the root."""

Base64 = Annotated[str, Field(description="The serialised bytes in base64 (RFC 4648, section 4)")]
ThreadIds = Annotated[list[Id], Field(max_length=1000)]

_PUT: Final[dict[str, Any]] = {
    "thread_id": "trip-planning",
    "checkpoint_id": "1f0c2a3e-0000-6000-8000-000000000001",
    "type": "msgpack",
    "document": "gKU=",
    "channel_versions": {"messages": "00000000000000000000000000000001.0.1"},
    "values": [
        {
            "channel": "messages",
            "version": "00000000000000000000000000000001.0.1",
            "type": "msgpack",
            "data": "kaVoZWxsbw==",
        }
    ],
    "metadata": {"source": "loop", "step": 1},
}


class ChannelValue(RequestModel):
    """A channel's value at a version."""

    channel: Name
    version: Name
    type: Name = Field(description="What the client's serialiser calls it; `empty`: the channel has no value")
    data: Base64 | None = Field(None, description="Absent only where the type is `empty`")


class CheckpointPut(RequestModel):
    """A checkpoint, and those of its channels' values that are new since the one before."""

    thread_id: Id
    ns: Place = ""
    checkpoint_id: Id
    parent_id: Id | None = None
    user_id: Id | None = Field(None, description="Whose thread it is, where this makes it")
    type: Name
    document: Base64
    channel_versions: dict[Name, Name] = Field(
        default_factory=dict, description="Every channel with a value, also those that have not changed"
    )
    values: list[ChannelValue] = Field(default_factory=list, max_length=10_000)
    metadata: JsonObject = Field(default_factory=dict, description="`run_id` in it is what delete-runs looks for")

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [_PUT]}}


class CheckpointPlace(ResponseModel):
    """Where a checkpoint is."""

    thread_id: str
    ns: str
    checkpoint_id: str


class WriteIn(RequestModel):
    """One write of a task."""

    idx: int = Field(ge=-(2**31), le=2**31 - 1, description="Its number; below 0 for errors, interrupts and the like")
    channel: Name
    type: Name
    data: Base64


class CheckpointWrites(RequestModel):
    """What a task has written, before the next checkpoint holds it."""

    thread_id: Id
    ns: Place = ""
    checkpoint_id: Id
    user_id: Id | None = Field(None, description="Whose thread it is, where this makes it")
    task_id: Id
    task_path: Place = ""
    writes: list[WriteIn] = Field(max_length=10_000)
    replace: bool = Field(
        default=False, description="Replace what stands under the same number; else it is left as it is"
    )

    model_config = RequestModel.model_config | {
        "json_schema_extra": {
            "examples": [
                {
                    "thread_id": "trip-planning",
                    "checkpoint_id": "1f0c2a3e-0000-6000-8000-000000000001",
                    "task_id": "search",
                    "writes": [{"idx": 0, "channel": "messages", "type": "msgpack", "data": "kaJoaQ=="}],
                }
            ]
        }
    }


class StoredWrites(ResponseModel):
    """How many writes were given; those that stood there already count too."""

    written: int


class CheckpointGet(RequestModel):
    """Which checkpoint."""

    thread_id: Id
    ns: Place = ""
    checkpoint_id: Id | None = Field(None, description="The newest of the namespace if absent")

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"thread_id": "trip-planning"}]}}


class StoredValue(ResponseModel):
    """A channel's value."""

    channel: str
    type: str
    data: str | None


class StoredWrite(ResponseModel):
    """A pending write."""

    task_id: str
    task_path: str
    idx: int
    channel: str
    type: str
    data: str


class CheckpointTuple(ResponseModel):
    """A checkpoint with the values of its channels and its pending writes, in their order."""

    thread_id: str
    ns: str
    checkpoint_id: str
    parent_id: str | None
    type: str
    document: str
    metadata: dict[str, Any]
    values: list[StoredValue]
    writes: list[StoredWrite] = Field(description="By task_path, task_id and idx")


class FoundCheckpoint(ResponseModel):
    """The checkpoint, or null where there is none."""

    checkpoint: CheckpointTuple | None


class CheckpointList(RequestModel):
    """Which checkpoints; what is absent does not restrict."""

    thread_id: Id | None = None
    ns: Place | None = Field(None, description="Only this namespace; all of them if absent")
    checkpoint_id: Id | None = None
    filter: JsonObject | None = Field(None, description="What the metadata must contain: every key with its value")
    before: Id | None = Field(None, description="Only checkpoints whose id is strictly below this one")
    limit: int = Field(20, ge=1, le=200)
    cursor: str | None = Field(None, max_length=16_000, description="next_cursor of the page before")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"thread_id": "trip-planning", "filter": {"source": "loop"}, "limit": 10}]}
    }


class ThreadCopy(RequestModel):
    """From which thread to which."""

    source_thread_id: Id
    target_thread_id: Id

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"source_thread_id": "trip-planning", "target_thread_id": "trip-b"}]}
    }


class CopiedCheckpoints(ResponseModel):
    """How many checkpoints the target did not have before."""

    copied: int


class ThreadsPrune(RequestModel):
    """Which threads, and what to keep of them."""

    thread_ids: ThreadIds
    strategy: Literal["keep_latest", "delete"] = Field(
        "keep_latest", description="keep_latest: the newest checkpoint of each namespace; delete: nothing"
    )

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"thread_ids": ["trip-planning"]}]}}


class RunsDelete(RequestModel):
    """Which runs, as `run_id` in the metadata names them."""

    run_ids: list[Id] = Field(max_length=1000)

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"run_ids": ["run-7"]}]}}


class ThreadDelete(RequestModel):
    """Which thread."""

    thread_id: Id

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"thread_id": "trip-planning"}]}}


class DeletedCheckpoints(ResponseModel):
    """What went: checkpoints, and values that none of the remaining names."""

    checkpoints: int
    values: int


class DeletedThreads(ResponseModel):
    """How many threads went."""

    threads: int
