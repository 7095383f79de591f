"""Searching what was said."""

from typing import Literal

from pydantic import Field, model_validator

from app.domain.session import MessageRole
from app.schemas.fields import Id, Instant, MessageText, RequestModel, ResponseModel
from app.schemas.messages import Message
from app.schemas.search import ScoreBreakdown


class RecallRequest(RequestModel):
    """What to look for, in which sessions, when and by whom. Without a query: the newest messages."""

    query: MessageText | None = Field(None, min_length=1)
    mode: Literal["hybrid", "keyword", "semantic"] = Field("hybrid", description="By words, by meaning, or both")
    user_id: Id | None = None
    agent_id: Id | None = None
    app_id: Id | None = None
    session_id: Id | None = None
    roles: list[MessageRole] = Field(default_factory=list, max_length=4, description="Only said by these")
    since: Instant | None = Field(None, description="Only from this time on")
    until: Instant | None = Field(None, description="Only before this time")
    limit: int = Field(10, ge=1, le=200)
    context_before: int = Field(0, ge=0, le=20, description="Messages to show before each hit")
    context_after: int = Field(0, ge=0, le=20, description="Messages to show after each hit")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"query": "搬家", "user_id": "ada", "context_before": 1}]}
    }

    @model_validator(mode="after")
    def _period_is_one(self) -> "RecallRequest":
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise ValueError("since must be before until")
        return self


class RecallHit(ResponseModel):
    """A message that was found, and what stood around it."""

    message: Message
    score: float | None = Field(description="In [0, 1]; null where nothing in particular was looked for")
    score_breakdown: ScoreBreakdown | None
    before: list[Message]
    after: list[Message]


class RecallResult(ResponseModel):
    """Hits, best first."""

    results: list[RecallHit]
    degraded: list[str] = Field(description="What was missing: embedding")
