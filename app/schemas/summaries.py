"""Summaries in requests and answers."""

from datetime import datetime

from pydantic import Field

from app.domain.summary.sentences import Sort
from app.schemas.fields import RequestModel, ResponseModel


class SummaryFold(RequestModel):
    """What is to be folded now."""

    keep_turns: int | None = Field(
        None, ge=0, le=200, description="The last turns, which stay as they are; the tenant's window if absent"
    )

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"keep_turns": 0}]}}


class SummarySentence(ResponseModel):
    """A sentence, and the messages that bear it out."""

    text: str
    role: str | None = Field(description="Who said it, word for word; null where a model put it into its own words")
    sort: Sort
    from_seq: int
    to_seq: int


class SummaryNode(ResponseModel):
    """A summary of a stretch of messages (level 0), or of summaries of the level below."""

    id: str
    level: int
    from_seq: int
    to_seq: int
    tokens: int
    current: bool = Field(description="Whether the rolling text is made from it; else it stands behind another one")
    made_from: list[str] = Field(description="The summaries below it")
    made_by: str = Field(description="rules: the conversation's own sentences; llm: a model's, held against them")
    created_at: datetime
    sentences: list[SummarySentence]


class Summary(ResponseModel):
    """The rolling summary of a session."""

    session_id: str
    text: str = Field(description="A line a sentence; empty where nothing has been folded")
    tokens: int
    from_seq: int | None = Field(description="The first message in it")
    to_seq: int = Field(description="The last message in it; 0 if none")
    unfolded: int = Field(description="Messages after that one: they are still there as they were said")
    sentences: list[SummarySentence]
    tree: list[SummaryNode] = Field(description="The highest level first")
