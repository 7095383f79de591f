"""Extraction on demand: messages in, what they leave behind out."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from app.domain.memory import Category, Kind, Source
from app.schemas.fields import Id, Redactions, RequestModel, ResponseModel, Timezone
from app.schemas.messages import MessageIn

Outcome = Literal["added", "reinforced", "passed_over", "refused"]


class ExtractRequest(RequestModel):
    """Messages that are read for what is worth remembering; they themselves are not stored."""

    messages: list[MessageIn] = Field(min_length=1, max_length=200)
    user_id: Id | None = None
    agent_id: Id | None = None
    app_id: Id | None = None
    timezone: Timezone | None = Field(None, description="For messages that name none")
    infer: bool = Field(default=True, description="False: each message is kept as it stands, without a judgement")
    dry_run: bool = Field(default=False, description="Show what would be written and why, and write nothing")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {
            "examples": [
                {
                    "user_id": "ada",
                    "messages": [{"role": "user", "content": "我上周搬到了里斯本,以后请用中文回答我。"}],
                    "dry_run": True,
                }
            ]
        }
    }


class Finding(ResponseModel):
    """Something that was found in the messages, and what became of it."""

    text: str
    kind: Kind
    category: Category
    key: str | None
    value: Any = None
    source: Source
    uncertain: bool
    importance: int
    places: list[int] = Field(description="Of its messages in the request, from 0")
    quote: str
    occurred_at: datetime | None
    expires_at: datetime | None
    score: float = Field(description="How much it is worth keeping, in [0, 1]")
    outcome: Outcome
    reason: str | None = Field(None, description="Why it is refused, or what it does to what is stored")
    memory_id: str | None = Field(None, description="The memory that says it now; absent in a dry run of a new one")
    displaced_ids: list[str] = Field(default_factory=list, description="Memories that are history because of it")
    disputed_ids: list[str] = Field(default_factory=list, description="Memories that it contradicts")


class ExtractResult(ResponseModel):
    """What was found, in the order of the messages."""

    results: list[Finding]
    forgotten_ids: list[str] = Field(default_factory=list, description="Memories that the messages ask to forget")
    extractor: str = Field(description="What has read the messages: rules, llm, or none where `infer` is false")
    dry_run: bool
    degraded: list[str] = Field(default_factory=list, description="llm: rules have read in the language model's stead")
    redacted: Redactions = Field(default_factory=list)
