"""Imports in answers, and lines of other systems' memories."""

from typing import Any

from pydantic import Field

from app.domain.memory import Category, Kind
from app.schemas.fields import Id, Instant, Json, MemoryText, Metadata, RequestModel, ResponseModel
from app.schemas.memories import Importance


class ForeignMemory(RequestModel):
    """A memory of another system: it is kept with the source `imported`."""

    text: MemoryText
    kind: Kind = "semantic"
    category: Category = "other"
    key: Id | None = None
    value: Json = None
    importance: Importance | None = None
    occurred_at: Instant | None = None
    metadata: Metadata = Field(default_factory=dict[str, Any])


class Imported(ResponseModel):
    """What became of an import."""

    lines: int = Field(description="Lines that were read")
    stored: dict[str, int] = Field(description="Rows that are new, by table")
    known: int = Field(description="Rows that were there already: a part that is sent again changes nothing")
    unreadable: int = Field(description="Sealed memories whose contents the export did not have: left out")
