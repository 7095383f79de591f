"""Contradictions in requests and answers."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from app.schemas.fields import RequestModel, ResponseModel
from app.schemas.memories import Memory

Keep = Literal["newer", "older", "both", "neither"]


class Conflict(ResponseModel):
    """Two memories that cannot both be true; both are served, marked as disputed, until one of them is chosen."""

    id: str
    memories: list[Memory] = Field(description="The newer statement first")
    reason: str
    resolution: str | None
    created_at: datetime
    resolved_at: datetime | None


class ConflictResolution(RequestModel):
    """What holds."""

    keep: Keep = Field(
        description="The one that holds: the other becomes history. Both may be true after all, or neither"
    )

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"keep": "newer"}]}}
