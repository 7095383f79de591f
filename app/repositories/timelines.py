"""What happened with a user: lines of memories' history, and sessions, in the order of time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, RowMapping, Select, Text, cast, func, literal_column, select, true, tuple_

from app.db.models import memories, memory_events, sessions
from app.domain.memory import EventAction
from app.repositories.base import Repository

_E: Final = memory_events.c
_M: Final = memories.c
_S: Final = sessions.c
SHOWN: Final = ("owner", "user_id", "text", "key", "value", "metadata", "kind", "category", "status", "sealed")


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """From `since` until before `until`, and before the position (time, name) of the last entry of a page."""

    since: datetime | None = None
    until: datetime | None = None
    before: tuple[datetime, str] | None = None


class TimelineRepository(Repository):
    """Newest first; each row has `at` and `name`, which order rows of all kinds together."""

    async def of_memories(
        self,
        owner: str,
        actions: Sequence[EventAction],
        span: TimeSpan,
        limit: int,
        *,
        kind: str | None = None,
        category: str | None = None,
    ) -> list[RowMapping]:
        """Lines of the history of an owner's memories: at, name, event_id, action, reason, and the memory's columns."""
        name = _named("m", cast(_E.id, Text))
        told = select(_E.created_at.label("at"), name, _E.id.label("event_id"), _E.action, _E.reason).where(
            _E.tenant_id == self._tenant_id, _E.memory_id == _M.id, _E.action.in_(list(actions))
        )
        # The newest of each memory, looked up by index: joined, everybody's history would be read from end to end.
        each = _within(told, _E.created_at, name, span).limit(limit).correlate(memories).lateral("told")
        columns = [_M.id.label("memory_id"), _M.id.label("id"), *(_M[one] for one in SHOWN)]
        statement = (
            select(*each.c, *columns)
            .join_from(memories, each, true())
            .where(_M.tenant_id == self._tenant_id, _M.owner == owner, self._outside_expired(_M.session_id))
        )
        if kind is not None:
            statement = statement.where(_M.kind == kind)
        if category is not None:
            statement = statement.where(_M.category == category)
        return await self._all(statement.order_by(each.c.at.desc(), each.c.name.desc()).limit(limit))

    async def of_sessions(self, owner: str, span: TimeSpan, limit: int, *, closed: bool) -> list[RowMapping]:
        """Sessions of an owner by when they were opened, or closed: at, name, id, title."""
        when = _S.closed_at if closed else _S.created_at
        name = _named("c" if closed else "s", _S.id)
        statement = select(when.label("at"), name, _S.id, _S.title).where(
            _S.tenant_id == self._tenant_id,
            _S.owner == owner,
            when.is_not(None),
            self._outside_expired(_S.id),
        )
        return await self._all(_within(statement, when, name, span).limit(limit))


def _named(sort: str, name: ColumnElement[Any]) -> Any:  # noqa: ANN401 - a labelled column
    """A name that differs from those of all other sorts."""
    return func.concat(literal_column(f"'{sort}:'"), name).collate("C").label("name")


def _within(statement: Select[Any], when: Any, name: Any, span: TimeSpan) -> Select[Any]:  # noqa: ANN401 - columns
    if span.since is not None:
        statement = statement.where(when >= span.since)
    if span.until is not None:
        statement = statement.where(when < span.until)
    if span.before is not None:
        statement = statement.where(tuple_(when, name.element) < tuple_(*span.before))
    return statement.order_by(when.desc(), name.element.desc())
