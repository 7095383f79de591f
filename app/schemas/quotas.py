"""Quotas of a tenant, in requests and answers."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, model_validator

from app.schemas.fields import RequestModel, ResponseModel

Limit = Annotated[int, Field(ge=0, le=2**53)]


class QuotaChange(RequestModel):
    """Limits to be set; absent ones stay as they are, null lifts one."""

    memories: Limit | None = Field(None, description="Current memories: active ones and disputed ones")
    messages: Limit | None = Field(None, description="Messages, of all sessions together")
    bytes: Limit | None = Field(
        None,
        description="UTF-8 bytes of memories (but deleted ones), messages, states, checkpoints and stored items",
    )
    llm_tokens: Limit | None = Field(None, description="Tokens of the language model in a calendar month (UTC)")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"memories": 100_000, "bytes": 1_000_000_000}]}
    }

    @model_validator(mode="after")
    def _changes_something(self) -> "QuotaChange":
        if not self.model_fields_set:
            raise ValueError("name at least one quota")
        return self


class Quota(ResponseModel):
    """A limit and what is used of it."""

    limit: int | None = Field(description="null: as much as there is room for")
    used: int


class PeriodQuota(Quota):
    """A limit of a period."""

    renewed_at: datetime = Field(description="When the next period begins, and nothing is used")


class Quotas(ResponseModel):
    """What a tenant may have, and what it has."""

    memories: Quota
    messages: Quota
    bytes: Quota
    llm_tokens: PeriodQuota
