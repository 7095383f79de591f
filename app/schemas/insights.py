"""Reflection, asked for and answered."""

from typing import Literal

from pydantic import Field

from app.domain.jobs import JobState
from app.schemas.fields import RequestModel, ResponseModel


class ReflectRequest(RequestModel):
    """Whether to reflect now."""

    dry_run: bool = Field(default=False, description="Say what would be concluded, and write nothing")
    force: bool = Field(default=False, description="Also where less has come together than the tenant's settings ask")

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"dry_run": True, "force": True}]}}


class PlannedInsight(ResponseModel):
    """What would be concluded."""

    text: str
    memory_ids: list[str] = Field(description="From which memories")


class Reflected(ResponseModel):
    """What was concluded, or with dry_run would be."""

    dry_run: bool
    due: bool | None = Field(None, description="Whether enough has come together; if not, nothing is concluded")
    observations: int | None = Field(None, description="New memories since the last reflection")
    importance: int | None = Field(None, description="Their importance together")
    by: Literal["llm", "counted"] | None = Field(None, description="A language model, or counting without one")
    insights: list[PlannedInsight] = Field(default_factory=list, description="With dry_run")
    memory_ids: list[str] = Field(default_factory=list, description="The insights that were written")
    outweighed: int | None = Field(None, description="Episodes that weigh less now, or were archived")
    degraded: list[str] = Field(default_factory=list, description="llm: it did not answer")
    undo_id: str | None = Field(None, description="Undoes all of it: POST /v1/undo")
    job_id: str | None = None
    status: JobState | None = None
