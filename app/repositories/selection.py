"""Which memories a list or a search is about, as conditions in SQL."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    BindParameter,
    ColumnElement,
    DateTime,
    FromClause,
    Text,
    and_,
    bindparam,
    func,
    literal_column,
    or_,
)

from app.db.models import memories
from app.domain.filters import Filter
from app.domain.memory import VISIBLE_STATUSES, Kind
from app.domain.scope import Scope
from app.repositories.filters import filter_condition

PAST_STATUSES: Final = (*VISIBLE_STATUSES, "superseded", "expired", "archived")
"""What may have been true at another time; what was deleted is nobody's business any more."""


@dataclass(frozen=True, slots=True)
class Then:
    """Another time than the present.

    Args:
        as_of: What was true at this instant, as it is known now.
        known_at: What the service held to be true at this instant; with `as_of`, what it then knew of that one.
    """

    as_of: datetime | None = None
    known_at: datetime | None = None

    @property
    def past(self) -> bool:
        """Whether any time is named."""
        return self.as_of is not None or self.known_at is not None


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
        then: Another time than the present.
        archived: Whether what was archived for want of use is chosen beside what is current.
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
    then: Then = Then()
    archived: bool = False

    @property
    def shape(self) -> tuple[bool, ...]:
        """What the text of the conditions depends on, the filter apart; the rest are values."""
        scope = self.scope
        named = (
            *(scope.user_id, scope.agent_id, scope.app_id, scope.session_id),
            *(self.excluded_owner, self.created_until, self.then.as_of, self.then.known_at),
        )
        listed = (self.shared_owners, self.kinds, self.categories, self.statuses)
        return (
            *(value is not None for value in named),
            *(bool(value) for value in listed),
            self.uncertain,
            self.sessions_apart,
            self.procedural,
        )

    @property
    def procedural(self) -> bool:
        """Whether lessons and procedures alone are chosen: an index knows them."""
        return tuple(self.kinds) == ("procedural",)

    @property
    def narrow(self) -> bool:
        """Whether it may leave much less than what its owners have."""
        scope = self.scope
        named = (scope.agent_id, scope.app_id, scope.session_id)
        some = self.filter is not None or bool(self.categories) or self.procedural
        return some or any(value is not None for value in named)

    def values(self) -> dict[str, Any]:
        """The values of the conditions' parameters, by name; those of the filter have their values with them."""
        scope = self.scope
        visible = (*VISIBLE_STATUSES, "archived") if self.archived else VISIBLE_STATUSES
        return {
            "of_user": None if scope.user_id is None else scope.owner,
            "of_agent": scope.agent_id,
            "of_app": scope.app_id,
            "of_session": scope.session_id,
            "of_kinds": list(self.kinds),
            "of_categories": list(self.categories),
            "of_statuses": list(self.statuses or (PAST_STATUSES if self.then.past else visible)),
            "of_levels": list(self.shared_owners),
            "of_nobody": self.excluded_owner,
            "current_at": self.at,
            "created_until": self.created_until,
            "as_of": self.then.as_of or self.then.known_at,
            "known_at": self.then.known_at,
        }

    def conditions(self) -> list[ColumnElement[bool]]:
        """The conditions on `memories`, each parameter with its value."""
        values = self.values()
        chosen = [*self._scoped(values), *self._current(values)]
        if self.procedural:
            chosen.append(memories.c.kind == literal_column("'procedural'"))  # in words, as the partial index has it
        elif self.kinds:
            chosen.append(memories.c.kind == any_of("of_kinds", values))
        if self.categories:
            chosen.append(memories.c.category == any_of("of_categories", values))
        if self.excluded_owner is not None:
            chosen.append(memories.c.owner != text_of("of_nobody", values))
        if self.created_until is not None:
            chosen.append(memories.c.created_at <= _time("created_until", values))
        if self.filter is not None:
            chosen.append(filter_condition(memories, self.filter))
        if not self.uncertain:
            chosen.append(memories.c.uncertain.is_(False))
        return chosen

    def _scoped(self, values: dict[str, Any]) -> list[ColumnElement[bool]]:
        """A user's rows are those of the user's owner: naming the column too would mislead the planner."""
        scope = self.scope
        named = (
            ("of_user", memories.c.owner, scope.user_id),
            ("of_agent", memories.c.agent_id, scope.agent_id),
            ("of_app", memories.c.app_id, scope.app_id),
            ("of_session", memories.c.session_id, scope.session_id),
        )
        conditions = [column == text_of(name, values) for name, column, value in named if value is not None]
        if self.sessions_apart and scope.session_id is None:
            conditions.append(memories.c.session_id.is_(None))
        if not self.shared_owners or not conditions:
            return conditions
        return [or_(and_(*conditions), and_(or_(*self._above(values)), memories.c.session_id.is_(None)))]

    def _above(self, values: dict[str, Any]) -> list[ColumnElement[bool]]:
        """The levels above the scope: the user's own rows of no agent, app or session, and the shared owners'."""
        above = [memories.c.owner == any_of("of_levels", values)]
        if self.scope.user_id is not None:
            plain = memories.c.agent_id.is_(None) & memories.c.app_id.is_(None)
            above.append((memories.c.owner == text_of("of_user", values)) & plain)
        return above

    def _current(self, values: dict[str, Any]) -> list[ColumnElement[bool]]:
        status = memories.c.status == any_of("of_statuses", values)
        if self.then.past:
            return [status, *held_at(self.then, _time("as_of", values), _time("known_at", values))]
        if self.statuses:
            ended = memories.c.expires_at <= _time("current_at", values)
            over = and_(memories.c.status.in_(LIVING_STATUSES), ended.is_(True))
            return [or_(status, over) if "expired" in self.statuses else and_(status, ~over)]
        return [status, *_lasting(_time("current_at", values))]


LIVING_STATUSES: Final = ("active", "disputed", "archived")
"""What is past its time is expired, though its status says so only when a job has come by."""


def held_at(
    then: Then, as_of: BindParameter[Any] | datetime, known_at: BindParameter[Any] | datetime
) -> list[ColumnElement[bool]]:
    """True at `as_of`, as far as was known at `known_at`: an end that was not known then is no end."""
    rows = memories.c
    began = or_(rows.valid_from.is_(None), rows.valid_from <= as_of)
    lasts = or_(rows.expires_at.is_(None), rows.expires_at > as_of)
    if then.known_at is None:
        return [began, lasts, or_(rows.valid_to.is_(None), rows.valid_to > as_of)]
    held = or_(rows.valid_to.is_(None), rows.valid_to > as_of, rows.superseded_at > known_at)
    return [began, lasts, held, rows.created_at <= known_at]


def undeleted(unexpired_at: datetime | None) -> list[ColumnElement[bool]]:
    """That a memory is not deleted and, if an instant is named, not past its time by then."""
    ends = memories.c.expires_at
    if unexpired_at is None:
        return [memories.c.status != "deleted"]
    return [memories.c.status.not_in(("deleted", "expired")), or_(ends.is_(None), ends > unexpired_at)]


def current_at(at: datetime, rows: FromClause = memories) -> list[ColumnElement[bool]]:
    """What is current at an instant: active or disputed, still valid, not expired."""
    return [rows.c.status.in_(VISIBLE_STATUSES), *_lasting(at, rows)]


def _lasting(at: datetime | BindParameter[Any], rows: FromClause = memories) -> list[ColumnElement[bool]]:
    """Still valid and not expired."""
    return [
        or_(rows.c.valid_to.is_(None), rows.c.valid_to > at),
        or_(rows.c.expires_at.is_(None), rows.c.expires_at > at),
    ]


def text_of(name: str, values: dict[str, Any]) -> BindParameter[Any]:
    """A parameter that holds a name."""
    return bindparam(name, values[name], type_=Text(collation="C"))


def _time(name: str, values: dict[str, Any]) -> BindParameter[Any]:
    return bindparam(name, values[name], type_=DateTime(timezone=True))


def any_of(name: str, values: dict[str, Any]) -> Any:  # noqa: ANN401 - SQLAlchemy's any()
    """One of the names that a parameter holds."""
    return func.any(bindparam(name, values[name], type_=ARRAY(Text(collation="C"))))
