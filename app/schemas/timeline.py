"""Timelines in requests and answers."""

from dataclasses import dataclass
from datetime import datetime

from pydantic import Field

from app.domain.memory import Category, EventAction, Kind, Status
from app.domain.timeline import TimelineEvent
from app.schemas.fields import ResponseModel


@dataclass(frozen=True, slots=True)
class TimelineFilter:
    """What is to be shown; what is None does not restrict."""

    events: list[TimelineEvent] | None = None
    since: datetime | None = None
    until: datetime | None = None
    kind: Kind | None = None
    category: Category | None = None


class TimelineEntry(ResponseModel):
    """Something that happened."""

    at: datetime
    event: TimelineEvent
    session_id: str | None = Field(None, description="Of a session's entries")
    title: str | None = Field(None, description="Of the session")
    memory_id: str | None = Field(None, description="Of a memory's entries")
    text: str | None = Field(None, description="What the memory says now; null where it is deleted")
    kind: Kind | None = None
    category: Category | None = None
    status: Status | None = Field(None, description="Of the memory, now")
    action: EventAction | None = Field(None, description="As the memory's history calls it")
    reason: str | None = None
    event_id: str | None = Field(None, description="The line of history: POST /v1/undo takes it")
