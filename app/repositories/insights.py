"""What reflection looks at: what was observed since the last time, and what was concluded before."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, RowMapping, func, select, update

from app.db.models import memories, memory_events, owner_stats
from app.repositories.base import Repository
from app.repositories.selection import current_at

_M: Final = memories.c
_O: Final = owner_stats.c


class InsightRepository(Repository):
    """Observations are current, certain memories of an owner that are no conclusions themselves, and not sealed."""

    async def last(self, owner: str) -> datetime | None:
        """When an owner's memories were last reflected on."""
        row = await self._first(select(_O.reflected_at).where(_O.tenant_id == self._tenant_id, _O.owner == owner))
        return None if row is None else row["reflected_at"]

    async def reflected(self, owner: str, at: datetime) -> None:
        """Count anew from an instant. The owner's row must be locked."""
        statement = update(owner_stats).where(_O.tenant_id == self._tenant_id, _O.owner == owner)
        await self._run(statement.values(reflected_at=at))

    async def gathered(self, owner: str, since: datetime | None, at: datetime) -> tuple[int, int]:
        """How many observations came since an instant, and their importance together."""
        statement = select(func.count(), func.coalesce(func.sum(_M.importance), 0))
        count, importance = (await self._connection.execute(statement.where(*self._observed(owner, since, at)))).one()
        return int(count), int(importance)

    async def observations(self, owner: str, since: datetime | None, at: datetime, limit: int) -> list[RowMapping]:
        """The newest observations since an instant, the eldest of them first: whole rows."""
        newest = select(memories).where(*self._observed(owner, since, at)).order_by(_M.id.desc()).limit(limit)
        return list(reversed(await self._all(newest)))

    async def corrected(self, owner: str, least: int, limit: int) -> list[RowMapping]:
        """Keys under which an owner has taken back or changed a value so often: key, times; the most often first.

        Memories that were merged into another wording are no corrections.
        """
        events = memory_events.c
        merged = select(events.id).where(
            events.tenant_id == self._tenant_id,
            events.memory_id == _M.id,
            events.action == "superseded",
            events.reason.startswith("merged"),
        )
        times = func.count()
        statement = (
            select(_M.key, times.label("times"))
            .where(
                _M.tenant_id == self._tenant_id,
                _M.owner == owner,
                _M.key.is_not(None),
                _M.status == "superseded",
                _M.source != "derived",
                _M.uncertain.is_(False),
                _M.sealed.is_(None),
                ~merged.correlate(memories).exists(),
            )
            .group_by(_M.key)
            .having(times >= least)
        )
        return await self._all(statement.order_by(times.desc(), _M.key).limit(limit))

    async def outweigh(self, ids: Sequence[UUID], share: float, at: datetime) -> list[RowMapping]:
        """Lower the weight of memories whose rows are locked to a share of it; the changed rows."""
        statement = update(memories).where(_M.tenant_id == self._tenant_id, _M.id == func.any(list(ids)))
        values: dict[str, Any] = {"weight": _M.weight * share, "updated_at": at, "version": _M.version + 1}
        return await self._all(statement.values(values).returning(memories))

    def _observed(self, owner: str, since: datetime | None, at: datetime) -> list[ColumnElement[bool]]:
        found: list[ColumnElement[bool]] = [
            _M.tenant_id == self._tenant_id,
            _M.owner == owner,
            _M.kind != "procedural",
            _M.source != "derived",
            _M.uncertain.is_(False),
            _M.session_id.is_(None),
            _M.sealed.is_(None),
            *current_at(at),
        ]
        return found if since is None else [*found, _M.created_at > since]
