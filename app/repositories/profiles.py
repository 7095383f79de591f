"""What is known about a user for certain, and what was concluded from it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, RowMapping, or_, select

from app.db.models import memories, memory_events
from app.domain.memory import Source
from app.repositories.base import Repository
from app.repositories.selection import current_at

_M: Final = memories.c
CERTAIN_IF_VOUCHED: Final[tuple[Source, ...]] = ("user_stated", "assistant_said", "inferred")
"""Sources whose certain memories a person vouches for: the last two are uncertain until somebody confirms them."""


class ProfileRepository(Repository):
    """The facts of a user's own that are scoped to no session. What is read of other sources is read by name."""

    async def facts(self, owner: str, at: datetime, limit: int) -> list[RowMapping]:
        """What the user said or somebody confirmed: whole rows with `confirmed`, what matters most first."""
        vouched = or_(_M.source.in_(CERTAIN_IF_VOUCHED), self._confirmed())
        return await self._facts(owner, at, vouched, limit)

    async def known(self, owner: str, at: datetime, limit: int) -> list[RowMapping]:
        """The same with what tools observed and what was imported: all that is served as fact."""
        return await self._facts(owner, at, _M.source != "derived", limit)

    async def insights(self, owner: str, at: datetime, limit: int) -> list[RowMapping]:
        """What reflection concluded and still holds: whole rows, the newest first."""
        statement = select(memories).where(
            *self._own_of(owner, at), _M.source == "derived", _M.metadata.has_key("insight")
        )
        return await self._all(statement.order_by(_M.id.desc()).limit(limit))

    async def _facts(self, owner: str, at: datetime, chosen: ColumnElement[bool], limit: int) -> list[RowMapping]:
        confirmed = self._confirmed().label("confirmed")
        statement = select(memories, confirmed).where(*self._own_of(owner, at), chosen)
        order = (_M.pinned.desc(), _M.importance.desc(), _M.id.desc())
        return await self._all(statement.order_by(*order).limit(limit))

    def _own_of(self, owner: str, at: datetime) -> Sequence[ColumnElement[bool]]:
        return [
            _M.tenant_id == self._tenant_id,
            _M.owner == owner,
            _M.kind == "semantic",
            _M.session_id.is_(None),
            _M.uncertain.is_(False),
            *current_at(at),
        ]

    def _confirmed(self) -> Any:  # noqa: ANN401 - a condition
        events = memory_events.c
        said_yes = select(events.id).where(
            events.tenant_id == self._tenant_id, events.memory_id == _M.id, events.action == "confirmed"
        )
        # Looked up by index for each memory: of EXISTS the planner would make one scan of everybody's history.
        return said_yes.limit(1).correlate(memories).scalar_subquery().is_not(None)
