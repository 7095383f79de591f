"""Which memories a list or a search is about, as conditions in SQL."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ARRAY, ColumnElement, Text, and_, bindparam, func, or_

from app.db.models import memories
from app.domain.filters import Filter
from app.domain.memory import VISIBLE_STATUSES, Kind
from app.domain.scope import Scope
from app.repositories.filters import filter_condition


@dataclass(frozen=True, slots=True)
class Selection:
    """What is chosen.

    Args:
        scope: Scope fields that must match; an absent one does not restrict.
        shared_owners: Levels above the scope whose rows are added.
        kinds: Kinds to choose; empty chooses all.
        categories: Categories to choose; empty chooses all.
        statuses: Statuses to choose; empty chooses what is current at `at`.
        at: The instant for which "current" is asked.
        uncertain: Whether what is not served as fact is chosen too.
        filter: What else must hold.
        sessions_apart: Whether what is scoped to a session is left out where the scope names none.
        excluded_owner: An owner whose rows are left alone.
        created_until: Only what was there at this instant.
    """

    scope: Scope
    at: datetime
    shared_owners: Sequence[str] = ()
    kinds: Sequence[Kind] = ()
    categories: Sequence[str] = ()
    statuses: Sequence[str] = ()
    uncertain: bool = False
    filter: Filter | None = None
    excluded_owner: str | None = None
    sessions_apart: bool = False
    created_until: datetime | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """The conditions on `memories`."""
        chosen = [*self._scoped(), *self._current()]
        if self.kinds:
            chosen.append(memories.c.kind.in_(self.kinds))
        if self.categories:
            chosen.append(memories.c.category.in_(self.categories))
        if self.excluded_owner is not None:
            chosen.append(memories.c.owner != self.excluded_owner)
        if self.created_until is not None:
            chosen.append(memories.c.created_at <= self.created_until)
        if self.filter is not None:
            chosen.append(filter_condition(memories, self.filter))
        if not self.uncertain:
            chosen.append(memories.c.uncertain.is_(False))
        return chosen

    def _scoped(self) -> list[ColumnElement[bool]]:
        scope = self.scope
        named = (
            (memories.c.user_id, scope.user_id),
            (memories.c.agent_id, scope.agent_id),
            (memories.c.app_id, scope.app_id),
            (memories.c.session_id, scope.session_id),
        )
        conditions = [column == value for column, value in named if value is not None]
        if scope.user_id is not None:
            conditions.append(memories.c.owner == scope.owner)
        if self.sessions_apart and scope.session_id is None:
            conditions.append(memories.c.session_id.is_(None))
        if not self.shared_owners or not conditions:
            return conditions
        return [or_(and_(*conditions), and_(or_(*self._above()), memories.c.session_id.is_(None)))]

    def _above(self) -> list[ColumnElement[bool]]:
        """The levels above the scope: the user's own rows of no agent, app or session, and the shared owners'."""
        levels = bindparam(None, list(self.shared_owners), type_=ARRAY(Text(collation="C")))
        above = [memories.c.owner == func.any(levels)]
        if self.scope.user_id is not None:
            plain = memories.c.agent_id.is_(None) & memories.c.app_id.is_(None)
            above.append((memories.c.owner == self.scope.owner) & plain)
        return above

    def _current(self) -> list[ColumnElement[bool]]:
        if self.statuses:
            return [memories.c.status.in_(self.statuses)]
        return current_at(self.at)


def current_at(at: datetime) -> list[ColumnElement[bool]]:
    """What is current at an instant: active or disputed, still valid, not expired."""
    return [
        memories.c.status.in_(VISIBLE_STATUSES),
        or_(memories.c.valid_to.is_(None), memories.c.valid_to > at),
        or_(memories.c.expires_at.is_(None), memories.c.expires_at > at),
    ]
