"""LangGraph's store in requests and answers."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Discriminator, Field, StringConstraints

from app.core.strict_json import text_fault
from app.schemas.fields import Id, JsonObject, MessageText, RequestModel, ResponseModel

MAX_DEPTH: Final = 50


def _segment(text: str) -> str:
    fault = text_fault(text)
    if fault is not None:
        raise ValueError(fault)
    if any(char < " " or char == "\x7f" for char in text):
        raise ValueError("control characters are not allowed in namespaces and keys")
    return text


Segment = Annotated[str, StringConstraints(min_length=1, max_length=255), AfterValidator(_segment)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=1000), AfterValidator(_segment)]
Namespace = Annotated[list[Segment], Field(min_length=1, max_length=MAX_DEPTH)]
FieldPath = Annotated[str, StringConstraints(min_length=1, max_length=255), AfterValidator(_segment)]
Minutes = Annotated[float, Field(gt=0, le=100 * 366 * 24 * 60)]


class StoreGet(RequestModel):
    """Read an item."""

    op: Literal["get"]
    namespace: Namespace
    key: Key
    refresh_ttl: bool = Field(default=True, description="Reading begins its time to live anew")


class StorePut(RequestModel):
    """Write an item, or delete it."""

    op: Literal["put"]
    namespace: Namespace
    key: Key
    value: JsonObject | None = Field(description="null deletes the item")
    index: Literal[False] | Annotated[list[FieldPath], Field(max_length=50)] | None = Field(
        None, description="Fields that are searched: `title`, `list[*].text`; all of it if absent; false: none"
    )
    ttl: Minutes | None = Field(None, description="Minutes to live; for ever if absent")


class StoreSearch(RequestModel):
    """Find items below a namespace."""

    op: Literal["search"]
    namespace_prefix: Annotated[list[Segment], Field(max_length=MAX_DEPTH)]
    filter: JsonObject | None = Field(
        None, description="Every key of it must match: a value, or {$gte: 3} and the like"
    )
    limit: int = Field(10, ge=0, le=1000)
    offset: int = Field(0, ge=0, le=100_000)
    query: MessageText | None = Field(None, description="What to look for, by meaning and by words")
    refresh_ttl: bool = True


class StoreMatch(RequestModel):
    """What a namespace must begin or end with."""

    match_type: Literal["prefix", "suffix"]
    path: Namespace = Field(description="`*` stands for any one segment")


class StoreNamespaces(RequestModel):
    """List namespaces that have items."""

    op: Literal["list_namespaces"]
    match_conditions: list[StoreMatch] = Field(default_factory=list, max_length=10)
    max_depth: int | None = Field(None, ge=1, le=MAX_DEPTH, description="Deeper ones are cut to it")
    limit: int = Field(100, ge=0, le=10_000)
    offset: int = Field(0, ge=0, le=100_000)


StoreOp = Annotated[StoreGet | StorePut | StoreSearch | StoreNamespaces, Discriminator("op")]


class StoreBatch(RequestModel):
    """Operations, done one after the other in one transaction."""

    ops: list[StoreOp] = Field(max_length=1000)
    user_id: Id | None = Field(None, description="Whose items the puts make")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {
            "examples": [
                {
                    "ops": [
                        {
                            "op": "put",
                            "namespace": ["users", "ada", "notes"],
                            "key": "tea",
                            "value": {"text": "Prefers green tea. 喜欢绿茶。"},
                        },
                        {"op": "search", "namespace_prefix": ["users", "ada"], "query": "What does she drink?"},
                    ]
                }
            ]
        }
    }


class StoreItem(ResponseModel):
    """An item."""

    namespace: list[str]
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime


class FoundItem(StoreItem):
    """An item that a search found."""

    score: float | None = Field(description="In [0, 1], the same scale as in every search; null without a query")


class StoreResults(ResponseModel):
    """One result for each operation: an item or null, null, items, or namespaces."""

    results: list[list[FoundItem] | list[list[str]] | StoreItem | None]
    degraded: list[str] = Field(description="What was missing: embedding")
