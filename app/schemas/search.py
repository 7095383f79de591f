"""Searches in requests and answers."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from app.domain.memory import Category, Kind, Source
from app.domain.session import MessageRole
from app.schemas.fields import Id, Instant, JsonObject, MessageText, RequestModel, ResponseModel
from app.schemas.memories import MemorySource

Share = Annotated[float, Field(ge=0, le=1000)]


class LegWeights(RequestModel):
    """How much each way of finding counts; 0 switches it off."""

    dense: Share | None = None
    lexical: Share | None = None

    @model_validator(mode="after")
    def _one_is_on(self) -> "LegWeights":
        if self.dense == 0 and self.lexical == 0:
            raise ValueError("at least one leg must be on")
        return self


class FactorWeights(RequestModel):
    """How much each factor of the score counts."""

    relevance: Share | None = None
    recency: Share | None = None
    importance: Share | None = None

    @model_validator(mode="after")
    def _one_counts(self) -> "FactorWeights":
        if self.relevance == 0 and self.recency == 0 and self.importance == 0:
            raise ValueError("at least one weight must be above 0")
        return self


class SearchRequest(RequestModel):
    """What to look for, and among whose memories. An absent scope field does not restrict."""

    query: MessageText = Field(min_length=1)
    user_id: Id | None = None
    agent_id: Id | None = None
    app_id: Id | None = None
    session_id: Id | None = None
    include_shared: bool = Field(default=False, description="Add the levels above: app, agent, tenant")
    include_messages: bool = Field(default=False, description="Search the sessions' messages too")
    include_uncertain: bool = Field(default=False, description="Add what only an assistant said or was inferred")
    filters: JsonObject | None = Field(
        None, description='What else must hold of memories: {"metadata.topic": {"eq": "tea"}}, AND, OR, NOT'
    )
    kinds: list[Kind] = Field(default=["episodic", "semantic"], min_length=1, max_length=3)
    top_k: int = Field(10, ge=1, le=200)
    min_score: float = Field(0.0, ge=0, le=1, description="On relevance, before recency and importance")
    weights: FactorWeights = Field(default_factory=FactorWeights)
    legs: LegWeights = Field(default_factory=LegWeights)
    now: Instant | None = Field(None, description="The time from which recency is counted")
    explain: bool = Field(default=False, description="Say which path was taken and what each leg found")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {
            "examples": [{"query": "What does Ada drink?", "user_id": "ada", "include_messages": True}]
        }
    }


class ScoreBreakdown(ResponseModel):
    """Where a score comes from. Every factor is in [0, 1]."""

    relevance: float
    recency: float
    importance: float
    similarity: float | None = Field(description="Calibrated cosine: 1 for the same text, whatever the model")
    similarity_raw: float | None
    bm25: float | None
    ranks: dict[str, int]


class Hit(ResponseModel):
    """Something found: a memory, or a message where `include_messages` was asked for."""

    type: Literal["memory", "message"]
    id: str
    text: str
    user_id: str | None
    agent_id: str | None
    app_id: str | None
    session_id: str | None
    kind: Kind | None
    category: Category | None
    key: str | None
    value: Any
    role: MessageRole | None
    source: Source | None
    uncertain: bool
    disputed: bool
    confidence: float | None
    importance: int | None
    weight: float | None
    pinned: bool
    occurred_at: datetime | None
    created_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    metadata: dict[str, Any]
    sources: list[MemorySource]
    score: float = Field(description="In [0, 1], higher is better; means the same in every query")
    score_breakdown: ScoreBreakdown


class Explanation(ResponseModel):
    """How a search went."""

    path: dict[str, str]
    tokens: list[str]
    rows_in_scope: dict[str, int]
    candidates: dict[str, int]
    embedding_model: str | None


class SearchResult(ResponseModel):
    """Hits, best first."""

    results: list[Hit]
    filtered_count: int = Field(description="How many candidates min_score left out")
    degraded: list[str] = Field(description="What was missing: embedding")
    explanation: Explanation | None = None
