"""What every repository stands on: one transaction, one tenant, and whom the key may see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BindParameter, ColumnElement, RowMapping, Select, false, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.sql import Executable
from sqlalchemy.sql.dml import Insert, ReturningInsert

from app.core import clock
from app.core.sealing import KeyRing
from app.db.models import installation, sessions
from app.domain.audit import pseudonym
from app.domain.scope import Scope

Row = RowMapping
"""A row as a mapping of column names to values."""

RowLike = RowMapping | Mapping[str, Any]
"""A row of the database, or one that is to be."""


@dataclass(slots=True)
class Pseudonyms:
    """What stands for ids where nothing may be left of them, by the installation's own key."""

    _key: bytes | None = None

    async def of(self, connection: AsyncConnection, kind: str, name: str) -> str:
        """The pseudonym of an id of this kind; the key is read at first use."""
        if self._key is None:
            self._key = bytes((await connection.execute(select(installation.c.pseudonym_key))).scalar_one())
        return pseudonym(self._key, kind, name)


@dataclass(frozen=True, slots=True)
class Bound:
    """A transaction and the limits of whom it serves.

    `user_ids` is the key's binding: None sees every user of the tenant. `met` gathers the users whose rows were read
    one by one or written. `ring` opens what is sealed, `reads_sealed` says whether the key may have it opened.
    """

    connection: AsyncConnection
    tenant_id: UUID
    user_ids: frozenset[str] | None = None
    pseudonyms: Pseudonyms = field(default_factory=Pseudonyms)
    met: set[str] = field(default_factory=set)
    ring: KeyRing = field(default_factory=KeyRing)
    reads_sealed: bool = False


def filled(
    statement: Insert | ReturningInsert[Any], rows: Sequence[dict[str, Any]]
) -> tuple[Insert | ReturningInsert[Any], dict[str, Any] | None]:
    """An INSERT and the values to run it with. One row is given beside it: a statement with rows is compiled anew."""
    return (statement, rows[0]) if len(rows) == 1 else (statement.values(list(rows)), None)


class Repository:
    """SQL over one transaction. Every statement names the tenant, although row-level security would add it."""

    def __init__(self, bound: Bound) -> None:
        self._connection = bound.connection
        self._tenant_id = bound.tenant_id
        self._user_ids = bound.user_ids
        self._pseudonyms = bound.pseudonyms
        self._met = bound.met

    async def _all(self, statement: Executable, values: Any = None) -> list[RowMapping]:  # noqa: ANN401 - bind values
        rows = list((await self._connection.execute(statement, values)).mappings().all())
        if getattr(statement, "is_dml", False):
            for row in rows:
                self._meet(row)
        return rows

    async def _first(self, statement: Executable, values: Any = None) -> RowMapping | None:  # noqa: ANN401 - bind values
        row = (await self._connection.execute(statement, values)).mappings().first()
        if row is not None:
            self._meet(row)
        return row

    async def _count(self, statement: Select[Any]) -> int:
        """How many rows a statement would give."""
        counted = select(func.count()).select_from(statement.order_by(None).subquery())
        return int((await self._connection.execute(counted)).scalar_one())

    async def _one_row(self, statement: Executable) -> RowMapping:
        row = (await self._connection.execute(statement)).mappings().one()
        self._meet(row)
        return row

    def _meet(self, row: RowLike) -> None:
        """Note whose a row is."""
        user_id = row.get("user_id") or Scope.of_owner(row.get("owner") or "").user_id
        if user_id is not None:
            self._met.add(user_id)

    async def _run(self, statement: Executable, values: Any = None) -> int:  # noqa: ANN401 - bind values
        """Execute and say how many rows were touched."""
        return (await self._connection.execute(statement, values)).rowcount

    def _own(self, user_id: ColumnElement[Any]) -> list[ColumnElement[bool]]:
        """Confine to the users that the key is bound to."""
        return [] if self._user_ids is None else [user_id.in_(sorted(self._user_ids))]

    def _own_or_shared(self, user_id: ColumnElement[Any], scoped: ColumnElement[Any]) -> list[ColumnElement[bool]]:
        """Confine to the bound users' rows and the levels above them; `scoped` (a session id) keeps a row private."""
        if self._user_ids is None:
            return []
        mine = user_id.in_(sorted(self._user_ids)) if self._user_ids else false()
        return [or_(mine, user_id.is_(None) & scoped.is_(None))]

    def _outside_expired(self, session_id: ColumnElement[Any]) -> ColumnElement[bool]:
        """Leave out what belongs to a session that is past its time at the moment."""
        return outside_expired(session_id, self._tenant_id, clock.now())


def outside_expired(
    session_id: ColumnElement[Any], tenant_id: UUID | BindParameter[Any], at: datetime | BindParameter[Any]
) -> ColumnElement[bool]:
    """That a row belongs to no session that is past its time, which the sweep has yet to remove."""
    past = sessions.alias("expired_sessions")
    expired = select(past.c.id).where(past.c.tenant_id == tenant_id, past.c.id == session_id, past.c.expires_at <= at)
    return ~expired.exists()
