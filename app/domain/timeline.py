"""What a timeline tells: which lines of history stand for which of its events."""

from collections.abc import Mapping
from typing import Final, Literal, get_args

from app.domain.memory import EventAction

TimelineEvent = Literal[
    "session_opened",
    "session_closed",
    "memory_added",
    "memory_changed",
    "memory_replaced",
    "memory_expired",
    "memory_archived",
    "memory_deleted",
]
TIMELINE_EVENTS: Final[tuple[TimelineEvent, ...]] = get_args(TimelineEvent)

EVENT_OF: Final[Mapping[EventAction, TimelineEvent]] = {
    "added": "memory_added",
    "updated": "memory_changed",
    "restored": "memory_changed",
    "undone": "memory_changed",
    "disputed": "memory_changed",
    "settled": "memory_changed",
    "confirmed": "memory_changed",
    "revived": "memory_changed",
    "merged": "memory_changed",
    "shortened": "memory_changed",
    "dated": "memory_changed",
    "noted": "memory_changed",
    "superseded": "memory_replaced",
    "expired": "memory_expired",
    "archived": "memory_archived",
    "deleted": "memory_deleted",
    "rejected": "memory_deleted",
}
"""That something was said again, or how it served, is no event."""
