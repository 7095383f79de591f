"""What the columns of imported rows hold beyond their types in the database: as whoever reads them expects it."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from app.domain.memory import Category, EventAction, Kind, Source, Status, Use
from app.domain.procedure import Outcome
from app.domain.session import MemoryMode, MessageRole, SessionStatus
from app.schemas.fields import Id, Timezone
from app.schemas.snapshots import SnapshotSettings
from app.schemas.states import StateDocument

_EXACTLY: Final = ConfigDict(extra="forbid", strict=True)


class _Sentence(TypedDict):
    __pydantic_config__ = ConfigDict(strict=True)  # type: ignore[misc]
    text: str
    from_seq: int
    to_seq: int
    role: str | None
    sort: str
    score: float


class _Details(TypedDict):
    sentences: NotRequired[list[_Sentence]]
    by: NotRequired[str]


class _Example(TypedDict):
    __pydantic_config__ = _EXACTLY  # type: ignore[misc]
    input: str
    output: str


class _Version(TypedDict):
    __pydantic_config__ = _EXACTLY  # type: ignore[misc]
    card: Status
    title: str
    when_to_use: str
    body: str
    steps: list[str]
    examples: list[_Example]
    tags: list[str]


class _Attempt(TypedDict):
    __pydantic_config__ = _EXACTLY  # type: ignore[misc]
    action: str
    result: NotRequired[str | None]
    outcome: NotRequired[Outcome | None]


_OBJECT: Final[TypeAdapter[Any]] = TypeAdapter(dict[str, Any])
_OBJECTS: Final[TypeAdapter[Any]] = TypeAdapter(list[dict[str, Any]])
_ID: Final[TypeAdapter[Any]] = TypeAdapter(Id)
_ZONE: Final[TypeAdapter[Any]] = TypeAdapter(Timezone)
_SHARE: Final[TypeAdapter[Any]] = TypeAdapter(Annotated[float, Field(ge=0, le=1)])
_FROM_ONE: Final[TypeAdapter[Any]] = TypeAdapter(Annotated[int, Field(ge=1)])
_COUNT: Final[TypeAdapter[Any]] = TypeAdapter(Annotated[int, Field(ge=0)])
_OUTCOME: Final[TypeAdapter[Any]] = TypeAdapter(Outcome)

EVERYWHERE: Final[Mapping[str, TypeAdapter[Any]]] = {
    "metadata": _OBJECT,
    "timezone": _ZONE,
    **dict.fromkeys(("user_id", "agent_id", "app_id", "session_id", "alias"), _ID),
    **dict.fromkeys(("version", "seq"), _FROM_ONE),
    **dict.fromkeys(("tokens", "length", "level", "part"), _COUNT),
    **dict.fromkeys(("last_seq", "message_count", "extracted_seq", "summarized_seq", "weighed_seq"), _COUNT),
    **dict.fromkeys(("seen_count", "access_count", "used_count", "ignored_count", "wrong_count"), _COUNT),
    **dict.fromkeys(("successes", "failures", "from_seq", "to_seq", "at_seq", "message_seq", "forked_at_seq"), _COUNT),
}
"""Columns that mean the same in every table. The version of a checkpoint's channel is a word: see `SHAPES`."""

SHAPES: Final[Mapping[str, Mapping[str, TypeAdapter[Any]]]] = {
    "memory_keys": {"key": _ID},
    "key_aliases": {"key": _ID},
    "users": {"id": _ID},
    "sessions": {"id": _ID, "memory": TypeAdapter(MemoryMode), "status": TypeAdapter(SessionStatus)},
    "messages": {"role": TypeAdapter(MessageRole), "parts": _OBJECTS, "tool_calls": _OBJECTS},
    "session_states": {"document": TypeAdapter(StateDocument)},
    "summaries": {"details": TypeAdapter(_Details)},
    "memories": {
        "key": _ID,
        "kind": TypeAdapter(Kind),
        "category": TypeAdapter(Category),
        "source": TypeAdapter(Source),
        "use": TypeAdapter(Use),
        "status": TypeAdapter(Status),
        "confidence": _SHARE,
        "importance": TypeAdapter(Annotated[int, Field(ge=1, le=10)]),
        "weight": TypeAdapter(Annotated[float, Field(ge=0, le=100)]),
    },
    "memory_events": {
        "action": TypeAdapter(EventAction),
        "before": _OBJECT,
        "after": _OBJECT,
        "changed": TypeAdapter(dict[str, Annotated[list[Any], Field(min_length=2, max_length=2)]]),
    },
    "procedures": {
        "steps": TypeAdapter(list[str]),
        "examples": TypeAdapter(list[_Example]),
        "front_matter": _OBJECT,
    },
    "procedure_versions": {"document": TypeAdapter(_Version)},
    "lessons": {"outcome": _OUTCOME},
    "experiences": {"outcome": _OUTCOME, "steps": TypeAdapter(list[_Attempt])},
    "blocks": {"char_limit": _FROM_ONE},
    "checkpoint_threads": {"settings": TypeAdapter(SnapshotSettings)},
    "checkpoints": {"channel_versions": TypeAdapter(dict[str, str])},
    "checkpoint_blobs": {"version": TypeAdapter(str), "codec": TypeAdapter(Literal["zlib"])},
    "store_texts": {"tokens": TypeAdapter(list[str])},
    "store_items": {"value": _OBJECT, "ttl_minutes": TypeAdapter(Annotated[float, Field(ge=0)])},
}
"""By table and column. A null is a matter of the column, and JSON without a shape of its own may be anything."""


def is_shaped(table: str, column: str) -> bool:
    """Whether something is expected of a column beyond its type."""
    return column in SHAPES.get(table, {}) or column in EVERYWHERE


def check_shape(table: str, column: str, value: Any) -> None:  # noqa: ANN401 - JSON is anything
    """Look at a value that is not null. Raises `ValueError` where whoever reads it could not."""
    shape = SHAPES.get(table, {}).get(column) or EVERYWHERE.get(column)
    if shape is None:
        return
    try:
        shape.validate_python(value)
    except ValidationError as error:
        raise ValueError(column) from error
