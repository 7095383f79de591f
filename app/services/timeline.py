"""The timeline of a user: sessions and memories, in the order in which things happened."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.domain.memory import EventAction
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.domain.timeline import EVENT_OF, TIMELINE_EVENTS, TimelineEvent
from app.repositories.base import RowLike
from app.repositories.timelines import TimeSpan
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.schemas.timeline import TimelineEntry, TimelineFilter
from app.services.users import known_user
from app.uow import Transaction, UnitOfWork

_OF_SESSIONS: Final[tuple[tuple[TimelineEvent, bool], ...]] = (("session_opened", False), ("session_closed", True))


@dataclass(frozen=True, slots=True)
class TimelineService:
    """The use case of `GET /v1/users/{id}/timeline`."""

    uow: UnitOfWork

    async def page(
        self, principal: Principal, user_id: str, asked: TimelineFilter, cursor: str | None, limit: int
    ) -> Page[TimelineEntry]:
        """Entries, newest first."""
        principal.require("memories:read")
        before = decode_cursor(cursor, datetime, str)
        span = TimeSpan(asked.since, asked.until, None if before is None else (before[0], before[1]))
        async with self.uow.begin(principal, reading=True) as tx:
            await known_user(tx, user_id)
            found = await _of_memories(tx, Scope(user_id).owner, asked, span, limit + 1)
            if "sessions:read" in principal.scopes and asked.kind is None and asked.category is None:
                found += await _of_sessions(tx, Scope(user_id).owner, asked, span, limit + 1)
        found.sort(key=lambda one: one[0], reverse=True)
        shown = found[:limit]
        return Page(
            results=[entry for _, entry in shown],
            next_cursor=encode_cursor(shown[-1][0][0].isoformat(), shown[-1][0][1]) if len(found) > limit else None,
        )


Placed = tuple[tuple[datetime, str], TimelineEntry]


async def _of_memories(tx: Transaction, owner: str, asked: TimelineFilter, span: TimeSpan, limit: int) -> list[Placed]:
    wanted = asked.events or TIMELINE_EVENTS
    actions: Sequence[EventAction] = [action for action, event in EVENT_OF.items() if event in wanted]
    if not actions:
        return []
    rows = await tx.timelines.of_memories(owner, actions, span, limit, kind=asked.kind, category=asked.category)
    return [((row["at"], row["name"]), _entry(row)) for row in tx.shown(rows)]


async def _of_sessions(tx: Transaction, owner: str, asked: TimelineFilter, span: TimeSpan, limit: int) -> list[Placed]:
    found: list[Placed] = []
    for event, closed in _OF_SESSIONS:
        if asked.events is None or event in asked.events:
            found += [
                (
                    (row["at"], row["name"]),
                    TimelineEntry(at=row["at"], event=event, session_id=row["id"], title=row["title"]),
                )
                for row in await tx.timelines.of_sessions(owner, span, limit, closed=closed)
            ]
    return found


def _entry(row: RowLike) -> TimelineEntry:
    gone = row["status"] == "deleted"
    return TimelineEntry(
        at=row["at"],
        event=EVENT_OF[row["action"]],
        memory_id=str(row["memory_id"]),
        text=None if gone else row["text"],
        reason=row["reason"],
        event_id=str(row["event_id"]),
        **{name: row[name] for name in ("kind", "category", "status", "action")},
    )
