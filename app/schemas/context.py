"""Contexts in requests and answers."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from app.domain.context.defaults import SectionName, Strategy
from app.domain.memory import Category, Kind, Source
from app.domain.procedure import Outcome
from app.schemas.fields import Instant, MessageText, RequestModel, ResponseModel
from app.schemas.search import FactorWeights

Format = Literal["messages", "text", "sections"]


class ContextRequest(RequestModel):
    """What the next call of a model is about. Everything is optional: the question is the user's last message."""

    query: MessageText | None = Field(
        None, min_length=1, description="What memories are looked up for; the user's last message if absent"
    )
    token_budget: int | None = Field(
        None, ge=100, le=1_000_000, description="What the whole context may cost; the tenant's, else 4000"
    )
    memory_share: float | None = Field(
        None, ge=0, le=1, description="Of the budget, for memories at most; the tenant's, else .1"
    )
    strategy: Strategy | None = Field(
        None,
        description="What stands for the conversation: full, window (the last turns), summary, hierarchical (the "
        "summary, opened where the question points), selective (messages that matter, and those related to the "
        "question); the tenant's, else selective",
    )
    window_turns: int | None = Field(None, ge=1, le=200, description="The last turns that stay as they were said")
    window_tokens: int | None = Field(None, ge=1, le=1_000_000, description="What these turns may cost at most")
    retrieval: Literal["auto", "always", "never"] = Field(
        "auto", description="auto: small talk is given no memories; never: none are looked for"
    )
    weights: FactorWeights = Field(default_factory=FactorWeights)
    kinds: list[Kind] = Field(default=["episodic", "semantic"], min_length=1, max_length=3)
    include_uncertain: bool = Field(
        default=False, description="Add what only an assistant said or was inferred, marked"
    )
    now: Instant | None = Field(None, description="The time from which recency and 'last week' are counted")
    format: Format = Field(
        "messages", description="messages: ready to be sent; text: one text; sections: only the sections"
    )

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"token_budget": 3000}, {"query": "订哪家餐厅?", "strategy": "summary"}]}
    }


class ContextWarm(RequestModel):
    """What to prepare for."""

    partial_input: MessageText | None = Field(
        None, min_length=1, description="What somebody is typing; the user's last message if absent"
    )

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"partial_input": "Which restaurant did we"}]}
    }


class ContextItem(ResponseModel):
    """A line of a section."""

    name: str = Field(description="A memory's id, a block's label, or from which to which message: 12..14")
    text: str
    tokens: int
    memory_id: str | None = None
    source: Source | None = None
    category: Category | None = None
    date: datetime | None = Field(None, description="When it was so, or was said")
    uncertain: bool | None = None
    disputed: bool | None = None
    sort: Literal["lesson", "procedure"] | None = Field(
        None, description="In `lessons`; a procedure's body is read by `memory_id`: GET /v1/procedures/{id}"
    )
    outcome: Outcome | None = Field(None, description="What a lesson comes from: failure warns, success recommends")
    from_seq: int | None = None
    to_seq: int | None = None


class ContextSection(ResponseModel):
    """A section; an empty one costs nothing."""

    name: SectionName
    text: str = Field(description="As it stands in the prompt: fenced as data, with its source")
    tokens: int
    items: list[ContextItem]


class RecentMessage(ResponseModel):
    """A message that stands in the context as it was said."""

    seq: int
    role: str
    tokens: int


class DroppedItem(ResponseModel):
    """Something that the budget left out."""

    section: SectionName
    name: str


class ContextConflict(ResponseModel):
    """A stored memory that the user's own newer words contradict: the words hold, the memory is left out."""

    memory_id: str
    stored: str
    said: str
    seq: int


class Context(ResponseModel):
    """What lies on the workbench of the next call."""

    session_id: str
    strategy: Strategy = Field(description="The one that was taken")
    fell_back_from: Strategy | None = Field(None, description="The one asked for, where the budget did not hold it")
    token_budget: int
    tokens: int = Field(description="What the context costs, by the configured counter: never above the budget")
    sections: list[ContextSection] = Field(description="In their order, empty ones among them")
    recent: list[RecentMessage] = Field(description="Messages that stand in it as they were said")
    messages: list[dict[str, Any]] | None = Field(None, description="Ready for /chat/completions")
    text: str | None = Field(None, description="The same as one text")
    dropped: list[DroppedItem]
    memory_ids: list[str]
    conflicts: list[ContextConflict]
    prefetched: bool = Field(description="Whether the memories were prepared before the call")
    skipped: Literal["small_talk", "never", "memory_off"] | None = Field(
        None, description="Why no memories were looked for"
    )
    rewritten_query: str | None = None
    degraded: list[str] = Field(description="What was missing: embedding, llm, summary")


class Prepared(ResponseModel):
    """What was prepared for a session's next context."""

    session_id: str
    prepared: bool = Field(description="Whether there is something: not for small talk, or where memory is off")
    query: str | None
    memories: int
    last_seq: int
