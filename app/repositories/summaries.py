"""Summaries of sessions: the current ones in their places, and those that they were made from."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    BigInteger,
    RowMapping,
    Text,
    Uuid,
    bindparam,
    delete,
    func,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from app.db.models import memories, memory_sources, summaries
from app.repositories.base import Repository
from app.repositories.prepared import Prepared

_TENANT: Final = bindparam("tenant_id", type_=Uuid())
_SESSION: Final = bindparam("session", type_=Text(collation="C"))
_CURRENT: Final = Prepared.of(
    select(summaries)
    .where(summaries.c.tenant_id == _TENANT, summaries.c.session_id == _SESSION, summaries.c.superseded_at.is_(None))
    .order_by(summaries.c.from_seq)
)
_GONE: Final = memories.c.status.in_([literal_column("'superseded'"), literal_column("'deleted'")])
_OVERTAKEN: Final = Prepared.of(
    select(memory_sources.c.quote, memory_sources.c.seqs)
    .join_from(
        memory_sources,
        memories,
        (memories.c.tenant_id == memory_sources.c.tenant_id) & (memories.c.id == memory_sources.c.memory_id),
    )
    .where(
        memory_sources.c.tenant_id == _TENANT,
        memory_sources.c.session_id == _SESSION,
        memory_sources.c.quote.is_not(None),
    )
    .group_by(memory_sources.c.quote, memory_sources.c.seqs)
    .having(func.bool_and(_GONE))
    .limit(bindparam("most", type_=BigInteger()))
)
"""In the path of every context."""

_WANTED: Final = func.unnest(bindparam("seqs", type_=ARRAY(BigInteger()))).table_valued("seq").render_derived()
_STRETCHES: Final = Prepared.of(
    select(summaries)
    .where(
        summaries.c.tenant_id == _TENANT,
        summaries.c.session_id == _SESSION,
        summaries.c.level == literal_column("0"),
        select(_WANTED.c.seq).where(_WANTED.c.seq.between(summaries.c.from_seq, summaries.c.to_seq)).exists(),
    )
    .order_by(summaries.c.from_seq)
    .limit(bindparam("most", type_=BigInteger()))
)


class SummaryRepository(Repository):
    """The tree of a session. The caller has looked whether the key may see it, and locked it before it writes."""

    async def current(self, session_id: str) -> list[dict[str, Any]]:
        """The summaries that stand for all that was folded, by their place."""
        return await _CURRENT.read(self._connection, {"tenant_id": self._tenant_id, "session": session_id})

    async def tree(self, session_id: str) -> list[RowMapping]:
        """Every summary, the highest level first, each level by place."""
        statement = select(summaries).where(*self._of(session_id))
        return await self._all(statement.order_by(summaries.c.level.desc(), summaries.c.from_seq))

    async def stretches(self, session_id: str, seqs: Sequence[int], limit: int) -> list[dict[str, Any]]:
        """The summaries of level 0 in whose stretches these messages stand."""
        values = {"tenant_id": self._tenant_id, "session": session_id, "seqs": sorted(set(seqs)), "most": limit}
        return await _STRETCHES.read(self._connection, values)

    async def covering(self, session_id: str, seq: int) -> list[RowMapping]:
        """Every summary that a message may bear out: in whose range it stands, or before whose beginning."""
        within = (summaries.c.from_seq <= seq + 1, summaries.c.to_seq >= seq)
        return await self._all(select(summaries).where(*self._of(session_id), *within))

    async def overtaken(self, session_id: str, limit: int) -> list[dict[str, Any]]:
        """Quotes from a session, with their numbers, whose memories were all superseded or deleted."""
        values = {"tenant_id": self._tenant_id, "session": session_id, "most": limit}
        return await _OVERTAKEN.read(self._connection, values)

    async def add(self, rows: Sequence[dict[str, Any]]) -> None:
        """Store summaries."""
        if rows:
            await self._run(insert(summaries).values([{"tenant_id": self._tenant_id, **row} for row in rows]))

    async def change(self, summary_id: UUID, values: dict[str, Any]) -> None:
        """Write columns of one."""
        statement = update(summaries).where(summaries.c.tenant_id == self._tenant_id, summaries.c.id == summary_id)
        await self._run(statement.values(values))

    async def supersede(self, ids: Sequence[UUID], at: datetime) -> int:
        """Let summaries stand behind the one that was made from them; how many were current until now."""
        statement = update(summaries).where(
            summaries.c.tenant_id == self._tenant_id,
            summaries.c.id == func.any(list(ids)),
            summaries.c.superseded_at.is_(None),
        )
        return await self._run(statement.values(superseded_at=at))

    async def clear(self, session_id: str) -> None:
        """Delete every summary of a session."""
        await self._run(delete(summaries).where(*self._of(session_id)))

    def _of(self, session_id: str) -> list[Any]:
        return [summaries.c.tenant_id == self._tenant_id, summaries.c.session_id == session_id]
