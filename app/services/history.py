"""Lines of a memory's history: what happened, whose doing it was, before and after."""

from datetime import datetime
from typing import Any, Final
from uuid import UUID

from app.core import ids
from app.domain.memory import EventAction
from app.repositories.base import Row
from app.schemas.memories import MemoryEvent

SHOWN: Final = frozenset({"text", "kind", "key", "value", "category", "source", "uncertain", "importance", "status"})


def event_row(
    action: EventAction, before: Row | None, after: Row, actor: str, at: datetime, names: set[str] | frozenset[str]
) -> dict[str, Any]:
    """A line of history: only the columns named, or those that always matter."""
    return {
        "id": ids.new_id(),
        "memory_id": after["id"],
        "action": action,
        "actor": actor,
        "before": None if before is None else _columns(before, names),
        "after": _columns(after, names),
        "created_at": at,
    }


def _columns(row: Row, names: set[str] | frozenset[str]) -> dict[str, Any]:
    return {name: _plain(row[name]) for name in sorted(names)}


def _plain(value: Any) -> Any:  # noqa: ANN401 - a column's value
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


def event_of(row: Row) -> MemoryEvent:
    """A line of history as answers have it."""
    named = {name: None if row[name] is None else str(row[name]) for name in ("id", "job_id", "undo_id")}
    return MemoryEvent(**named, **{name: row[name] for name in MemoryEvent.model_fields if name not in named})
