"""Searches in requests and answers."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from app.domain.memory import Category, Kind, Source
from app.domain.session import MessageRole
from app.schemas.fields import Id, Instant, JsonObject, MessageText, RequestModel, ResponseModel, Timezone
from app.schemas.memories import MemorySource

Share = Annotated[float, Field(ge=0, le=1000)]
LegName = Literal["dense", "lexical", "time", "key", "constraint"]
Reason = Literal["min_score", "near_identical", "same_source", "superseded", "over_budget", "below_top_k"]


class LegWeights(RequestModel):
    """How much each way of finding counts; 0 switches it off. What is absent has the tenant's or the default weight."""

    dense: Share | None = Field(None, description="By meaning")
    lexical: Share | None = Field(None, description="By words (BM25)")
    time: Share | None = Field(None, description="By the time that the question names")
    key: Share | None = Field(None, description="Facts whose key the question names")
    constraint: Share | None = Field(None, description="Pinned constraints in scope, whatever the question")

    @model_validator(mode="after")
    def _one_is_on(self) -> "LegWeights":
        if all(getattr(self, name) == 0 for name in type(self).model_fields):
            raise ValueError("at least one leg must be on")
        return self


class FactorWeights(RequestModel):
    """How much each factor of the score counts. What is absent has the tenant's or the default weight."""

    relevance: Share | None = None
    recency: Share | None = None
    importance: Share | None = None
    confidence: float | None = Field(None, ge=0, le=1, description="How far the score is scaled by the confidence")
    recency_of: Literal["access", "creation"] | None = Field(
        None, description="Since the last access, or by a half-life since the memory's own time"
    )
    half_life_days: float | None = Field(None, gt=0, le=36500, description="Of recency_of creation; default 30")

    @model_validator(mode="after")
    def _one_counts(self) -> "FactorWeights":
        if self.relevance == 0 and self.recency == 0 and self.importance == 0:
            raise ValueError("at least one weight must be above 0")
        return self


class FusionChoice(RequestModel):
    """How the legs become one relevance."""

    method: Literal["fixed", "rrf", "min_max", "z_score"] = Field(
        "fixed", description="fixed: means the same in every query; the others only order the hits of one"
    )
    rrf_k: float = Field(60.0, ge=0, le=10_000, description="Of rrf: how slowly a rank's worth falls")


class RecentTurns(RequestModel):
    """The turns before the question, which say what its pronouns mean: of a session, or as they stand here."""

    session_id: Id | None = None
    messages: list[MessageText] | None = Field(None, min_length=1, max_length=20, description="Oldest first")

    @model_validator(mode="after")
    def _one_source(self) -> "RecentTurns":
        if (self.session_id is None) == (self.messages is None):
            raise ValueError("name either session_id or messages")
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
    include_archived: bool = Field(
        default=False, description="Add what was archived for want of use; what answers the question is revived by it"
    )
    filters: JsonObject | None = Field(
        None, description='What else must hold of memories: {"metadata.topic": {"eq": "tea"}}, AND, OR, NOT'
    )
    kinds: list[Kind] = Field(default=["episodic", "semantic"], min_length=1, max_length=3)
    top_k: int = Field(10, ge=1, le=200)
    min_score: float = Field(0.0, ge=0, le=1, description="On relevance, before recency and importance")
    token_budget: int | None = Field(None, ge=1, le=1_000_000, description="Tokens that all texts together may cost")
    weights: FactorWeights = Field(default_factory=FactorWeights)
    legs: LegWeights = Field(default_factory=LegWeights)
    fusion: FusionChoice = Field(default_factory=FusionChoice)
    retrieval: Literal["auto", "always", "never"] = Field(
        "always", description="auto: small talk finds nothing; never: nothing is looked for"
    )
    recent: RecentTurns | None = Field(None, description="Turns that may complete the question; they do not filter")
    rerank: bool = Field(default=False, description="Let the configured reranker order the best hits anew")
    collapse: bool = Field(default=True, description="Show what says nearly the same once: its newest wording")
    neighbours: int = Field(0, ge=0, le=5, description="Messages to show before and after each hit's own")
    timezone: Timezone | None = Field(None, description="What 昨天 means; default: the user's, the tenant's, UTC")
    now: Instant | None = Field(None, description="The time from which recency and 'last week' are counted")
    as_of: Instant | None = Field(None, description="What was true at this time, as it is known today")
    known_at: Instant | None = Field(None, description="What the service knew at this time; with as_of, of that one")
    explain: bool = Field(default=False, description="Say how it went, and keep it for a replay")

    @property
    def past(self) -> bool:
        """Whether it asks about another time than the present."""
        return self.as_of is not None or self.known_at is not None

    model_config = RequestModel.model_config | {
        "json_schema_extra": {
            "examples": [{"query": "What does Ada drink?", "user_id": "ada", "include_messages": True}]
        }
    }


class ReplayRequest(RequestModel):
    """An explained search again, with other weights: nothing is looked up anew but the texts."""

    explanation_id: Id = Field(description="From the `explanation` of a search")
    weights: FactorWeights = Field(default_factory=FactorWeights)
    legs: LegWeights = Field(default_factory=LegWeights)
    fusion: FusionChoice | None = None
    top_k: int | None = Field(None, ge=1, le=200)
    min_score: float | None = Field(None, ge=0, le=1)
    token_budget: int | None = Field(None, ge=1, le=1_000_000)
    collapse: bool | None = None

    model_config = RequestModel.model_config | {
        "json_schema_extra": {
            "examples": [{"explanation_id": "01939f4e-7c1b-7d3a-9d57-1f0e6f3f3c55", "weights": {"recency": 1.0}}]
        }
    }


class ScoreBreakdown(ResponseModel):
    """Where a score comes from. Every factor is in [0, 1]."""

    relevance: float = Field(description="Of the legs and, for messages, of what stands around")
    recency: float
    importance: float
    similarity: float | None = Field(description="Calibrated cosine: 1 for the same text, whatever the model")
    similarity_raw: float | None
    bm25: float | None
    coverage: float | None = Field(description="How much of the question's words it has, by what they tell")
    ranks: dict[str, int]
    signals: dict[str, float] = Field(default_factory=dict, description="What the legs time, key and constraint give")
    context: float | None = Field(None, description="Of a message: what its relevance owes to its surroundings")
    rerank: float | None = Field(None, description="The reranker's mark, where it was asked")


class NearbyMessage(ResponseModel):
    """A message that stands next to a hit, for reading; not one of its sources."""

    session_id: str
    seq: int
    role: MessageRole
    text: str
    occurred_at: datetime


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
    archived: bool = False
    needs_confirmation: bool = False
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
    tokens: int = Field(description="What the text costs in a prompt, estimated")
    similar_ids: list[str] = Field(
        default_factory=list,
        description="Left out for this hit: what says nearly the same, or was learnt from it, or it from them",
    )
    context_before: list[NearbyMessage] = Field(default_factory=list)
    context_after: list[NearbyMessage] = Field(default_factory=list)


class NamedTime(ResponseModel):
    """The time that the question names."""

    words: str
    since: datetime | None
    until: datetime | None


class LeftOut(ResponseModel):
    """A candidate that is no hit, and why."""

    type: Literal["memory", "message"]
    id: str
    score: float
    reason: Reason
    similar_to: str | None = None


class Explanation(ResponseModel):
    """How a search went."""

    id: str | None = Field(description="For a replay with other weights, for a day")
    query: str = Field(description="What was looked for: the question, completed from the turns before it")
    path: dict[str, str] = Field(
        description="exact: every vector compared; selected: those of few rows; hnsw: an index"
    )
    tokens: list[str]
    rows_in_scope: dict[str, int]
    candidates: dict[str, int]
    embedding_model: str | None
    legs: dict[str, float] = Field(description="Shares of the legs that could speak")
    weights: dict[str, float]
    time: NamedTime | None
    keys: list[str] = Field(description="Keys that the question names")
    filtered_count: int
    left_out: list[LeftOut] = Field(description="The best of those that are no hits")


class SearchResult(ResponseModel):
    """Hits, best first."""

    results: list[Hit]
    filtered_count: int = Field(description="How many candidates min_score left out")
    dropped_count: int = Field(0, description="How many hits the token budget left out")
    tokens: int = Field(0, description="What the texts of all hits cost together, estimated")
    skipped: Literal["small_talk", "never"] | None = Field(None, description="Why nothing was looked for")
    rewritten_query: str | None = Field(None, description="The question as the turns before it complete it")
    degraded: list[str] = Field(description="What was missing: embedding, rerank, llm")
    explanation: Explanation | None = None
