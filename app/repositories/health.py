"""How well the memories of a tenant, or of one owner, serve: counts."""

from datetime import datetime
from typing import Final

from sqlalchemy import RowMapping, and_, func, select

from app.db.models import memories, memory_conflicts, memory_events
from app.repositories.base import Repository
from app.repositories.selection import current_at

_M: Final = memories.c


class HealthRepository(Repository):
    """Counts over memories that were not superseded; what is erased is not counted any more."""

    async def counts(self, at: datetime, owner: str | None = None) -> RowMapping:
        """Of memories: `written`, `current`, `archived`, `junk`, `junk_now`, `never_used`, `served`, `hits`, `used`,
        `ignored`, `wrong`, `to_confirm`, and `texts`: different ones among the current ones of each owner.

        `junk` turned out to be worth nothing: rejected, called wrong more often than used, or gone by the rules without
        one use. `junk_now` is what of the current ones was ignored or wrong more often than it was of use.
        """
        events = memory_events.c
        rejected = select(events.id).where(
            events.tenant_id == self._tenant_id, events.memory_id == _M.id, events.action == "rejected"
        )
        rows = select(
            *(_M[name] for name in ("id", "owner", "status", "content_hash", "access_count", "used_count")),
            *(_M[name] for name in ("ignored_count", "wrong_count", "needs_confirmation")),
            and_(*current_at(at)).label("current"),
            ((_M.status == "deleted") & rejected.exists()).label("rejected"),
        ).where(_M.tenant_id == self._tenant_id, _M.status != "superseded")
        if owner is not None:
            rows = rows.where(_M.owner == owner)
        m = rows.subquery().c
        unused = (m.access_count == 0) | (m.ignored_count + m.wrong_count >= m.access_count)
        faded = m.status.in_(("archived", "expired")) & unused & (m.used_count == 0)
        bad = m.wrong_count > m.used_count
        ignored = (m.ignored_count + m.wrong_count) * 2 > m.access_count
        doubtful = bad | (ignored & (m.ignored_count > m.used_count))
        texts = func.count(func.distinct(func.concat(m.owner, " ", func.encode(m.content_hash, "hex"))))
        statement = select(
            func.count().label("written"),
            func.count().filter(m.current).label("current"),
            func.count().filter(m.rejected | bad | faded).label("junk"),
            func.count().filter(m.current & doubtful).label("junk_now"),
            func.count().filter(m.current & (m.access_count == 0)).label("never_used"),
            func.count().filter(m.access_count > 0).label("served"),
            func.coalesce(func.sum(m.access_count), 0).label("hits"),
            func.coalesce(func.sum(m.used_count), 0).label("used"),
            func.coalesce(func.sum(m.ignored_count), 0).label("ignored"),
            func.coalesce(func.sum(m.wrong_count), 0).label("wrong"),
            func.count().filter(m.current & m.needs_confirmation).label("to_confirm"),
            texts.filter(m.current).label("texts"),
            func.count().filter(m.status == "archived").label("archived"),
        )
        return await self._one_row(statement)

    async def contradictions(self, owner: str | None = None) -> int:
        """Open pairs that cannot both be true."""
        conflicts = memory_conflicts.c
        statement = select(conflicts.id).where(conflicts.tenant_id == self._tenant_id, conflicts.resolved_at.is_(None))
        if owner is not None:
            mine = select(_M.id).where(_M.tenant_id == self._tenant_id, _M.id == conflicts.memory_id, _M.owner == owner)
            statement = statement.where(mine.exists())
        return await self._count(statement)
