"""The counters of an owner. Lock order everywhere: session, then owner_stats, then jobs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import ARRAY, Text, bindparam, func, select
from sqlalchemy.dialects.postgresql import insert

from app.db.models import memories, messages, owner_stats
from app.domain.memory import VISIBLE_STATUSES
from app.repositories.base import Repository


@dataclass(frozen=True, slots=True)
class OwnerChange:
    """What one write adds to an owner's counters (negative: takes away)."""

    memories: int = 0
    memory_tokens: int = 0
    messages: int = 0
    message_tokens: int = 0


@dataclass(frozen=True, slots=True)
class CorpusSize:
    """How many texts some owners have together, and their mean length in tokens (1.0 where there are none)."""

    owners: list[str]
    memories: int
    memory_length: float
    messages: int
    message_length: float


class OwnerRepository(Repository):
    """owner_stats: the version counter, and BM25's corpus statistics."""

    async def lock_and_change(self, owner: str, change: OwnerChange) -> int:
        """Add to the counters and return the owner's new version. Holds the owner's row until the commit."""
        row = {
            "tenant_id": self._tenant_id,
            "owner": owner,
            "version": 1,
            "memory_count": change.memories,
            "memory_tokens": change.memory_tokens,
            "message_count": change.messages,
            "message_tokens": change.message_tokens,
        }
        statement = insert(owner_stats).values(row)
        counters = ("memory_count", "memory_tokens", "message_count", "message_tokens")
        grown = {name: func.greatest(owner_stats.c[name] + statement.excluded[name], 0) for name in counters}
        upsert = statement.on_conflict_do_update(
            index_elements=["tenant_id", "owner"], set_={"version": owner_stats.c.version + 1, **grown}
        ).returning(owner_stats.c.version)
        return int((await self._connection.execute(upsert)).scalar_one())

    async def held_by_session(self, session_id: str) -> list[tuple[str, OwnerChange]]:
        """What owners lose with a session: its messages, and the memories scoped to it; in the order of their names."""
        said = (
            select(messages.c.owner, func.count(), func.coalesce(func.sum(messages.c.length), 0))
            .where(messages.c.tenant_id == self._tenant_id, messages.c.session_id == session_id)
            .group_by(messages.c.owner)
        )
        kept = (
            select(memories.c.owner, func.count(), func.sum(memories.c.length))
            .where(
                memories.c.tenant_id == self._tenant_id,
                memories.c.session_id == session_id,
                memories.c.status.in_(VISIBLE_STATUSES),
            )
            .group_by(memories.c.owner)
        )
        changes: dict[str, OwnerChange] = {}
        for owner, count, length in (await self._connection.execute(kept)).all():
            changes[owner] = OwnerChange(memories=-count, memory_tokens=-int(length))
        for owner, count, length in (await self._connection.execute(said)).all():
            known = changes.get(owner, OwnerChange())
            changes[owner] = replace(known, messages=-count, message_tokens=-int(length))
        return sorted(changes.items())

    async def size(self, owners: Sequence[str] | None) -> CorpusSize:
        """The corpus of some owners together, or (None) of every owner in the tenant."""
        names = ("memory_count", "memory_tokens", "message_count", "message_tokens")
        statement = select(owner_stats.c.owner, *(owner_stats.c[name] for name in names)).where(
            owner_stats.c.tenant_id == self._tenant_id
        )
        if owners is not None:
            chosen = bindparam(None, list(owners), type_=ARRAY(Text(collation="C")))
            statement = statement.where(owner_stats.c.owner == func.any(chosen))
        rows = await self._all(statement)
        memories, memory_tokens, messages, message_tokens = (sum(row[name] for row in rows) for name in names)
        return CorpusSize(
            [row["owner"] for row in rows],
            memories,
            max(memory_tokens / max(memories, 1), 1.0),
            messages,
            max(message_tokens / max(messages, 1), 1.0),
        )
