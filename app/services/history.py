"""Lines of a memory's history: what happened, whose doing it was, before and after."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from app.core import ids
from app.domain.memory import EventAction
from app.domain.undoing import difference
from app.repositories.base import Row, RowLike
from app.schemas.memories import MemoryEvent

SHOWN: Final = frozenset({"text", "kind", "key", "value", "category", "source", "uncertain", "importance", "status"})

JOB: Final = "job:"
"""How the actor of a job's changes begins; its id follows."""


def job_actor(job_id: UUID) -> str:
    """How history names a job."""
    return f"{JOB}{job_id}"


def event_row(
    action: EventAction, before: Row | None, after: Row, actor: str, at: datetime, names: set[str] | frozenset[str]
) -> dict[str, Any]:
    """A line of history: it shows the columns named, and keeps all that changed, so that it can be undone."""
    return {
        "id": ids.new_id(),
        "memory_id": after["id"],
        "action": action,
        "actor": actor,
        "job_id": UUID(actor.removeprefix(JOB)) if actor.startswith(JOB) else None,
        "before": None if before is None else _columns(before, names),
        "after": _columns(after, names),
        "changed": None if before is None else difference(plain(before), plain(after)),
        "created_at": at,
    }


def plain(row: RowLike) -> dict[str, Any]:
    """A row as JSON."""
    return {name: _plain(value) for name, value in row.items()}


def _columns(row: Row, names: set[str] | frozenset[str]) -> dict[str, Any]:
    return {name: _plain(row[name]) for name in sorted(names)}


def _plain(value: Any) -> Any:  # noqa: ANN401 - a column's value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    return str(value) if isinstance(value, UUID) else value


def event_of(row: Mapping[str, Any] | Row) -> MemoryEvent:
    """A line of history as answers have it."""
    named = {name: None if row[name] is None else str(row[name]) for name in ("id", "job_id", "undo_id")}
    return MemoryEvent(**named, **{name: row[name] for name in MemoryEvent.model_fields if name not in named})
