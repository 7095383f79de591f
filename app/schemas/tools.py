"""Tools for agents: their arguments, calls and results."""

import json
from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from app.core.strict_json import text_fault
from app.domain.memory import Category
from app.domain.session import MessageRole
from app.domain.tooling import ToolForm, ToolSet
from app.schemas.fields import MAX_TEXT, Id, Json, Redactions, RequestModel, ResponseModel, Timezone

MAX_PAGE = 20
MAX_PAGE_SIZE = 10


def _storable(text: str) -> str:
    fault = text_fault(text)
    if fault is not None:
        raise ValueError(fault)
    return text


Words = Annotated[str, Field(min_length=1, max_length=MAX_TEXT), AfterValidator(_storable)]
Page = Annotated[int, Field(ge=0, lt=MAX_PAGE)]
PageSize = Annotated[int, Field(ge=1, le=MAX_PAGE_SIZE)]
When = Annotated[datetime | date, Field(union_mode="left_to_right")]


class Arguments(BaseModel):
    """What a model gives. Numbers in quotes are understood, unknown names are told back."""

    model_config = ConfigDict(extra="forbid")


class CoreMemoryAppend(Arguments):
    """Of core_memory_append."""

    label: Id
    content: Words


class CoreMemoryReplace(Arguments):
    """Of core_memory_replace."""

    label: Id
    old_content: Words
    new_content: Annotated[str, Field(max_length=MAX_TEXT), AfterValidator(_storable)]


class ArchivalMemoryInsert(Arguments):
    """Of archival_memory_insert."""

    content: Words
    category: Category = "other"
    importance: int | None = Field(None, ge=1, le=10)


class ArchivalMemorySearch(Arguments):
    """Of archival_memory_search."""

    query: Words
    page: Page = 0
    limit: PageSize = 5


class ConversationSearch(Arguments):
    """Of conversation_search."""

    query: Words | None = None
    mode: Literal["hybrid", "keyword", "semantic"] = "hybrid"
    role: MessageRole | None = None
    start_date: str | None = None
    end_date: str | None = None
    page: Page = 0
    limit: PageSize = 5


def _parsed(value: Any) -> Any:  # noqa: ANN401 - whatever the client sent
    """Arguments that come as JSON in a string, as OpenAI's models give them; what is none is told to the model."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value or "{}")
    except (ValueError, RecursionError):
        return value


class ToolCall(RequestModel):
    """A call, as the model made it, and for whom: the program says that, never the model."""

    arguments: Annotated[Json, BeforeValidator(_parsed)] = Field(
        default_factory=dict, description="The model's arguments: an object, or JSON in a string"
    )
    user_id: Id | None = Field(None, description="With whom the agent speaks")
    agent_id: Id | None = Field(None, description="The agent whose model calls")
    app_id: Id | None = None
    session_id: Id | None = Field(None, description="Where: kept as the source; searched where no user is named")
    timezone: Timezone | None = Field(None, description="In which start_date and end_date are meant; UTC if absent")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {
            "examples": [
                {"arguments": {"query": "What does Ada drink?"}, "user_id": "ada", "agent_id": "helper"},
            ]
        }
    }


class ToolResult(ResponseModel):
    """What the model is told. An error is told too: what is wrong, and what to do about it."""

    name: str
    is_error: bool
    text: str
    redacted: Redactions = Field(default_factory=list)


class ToolList(ResponseModel):
    """Definitions to give to a model with each prompt."""

    format: ToolForm
    set: ToolSet
    tools: list[dict[str, Any]]
    tokens: int = Field(description="What these definitions cost in every prompt, estimated")
    costs: dict[ToolSet, int] = Field(description="What each set costs in this form")
