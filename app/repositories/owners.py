"""The counters of an owner. Lock order everywhere: sessions, users, owner_stats, then memories and jobs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    BigInteger,
    BindParameter,
    RowMapping,
    Subquery,
    Table,
    Text,
    bindparam,
    func,
    or_,
    select,
    text,
    union,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql import Executable

from app.db.models import memories, memory_sources, messages, owner_stats
from app.domain.memory import VISIBLE_STATUSES
from app.repositories.base import Repository
from app.repositories.prepared import Prepared

VERSIONS: Final = ("version", "memory_version")
COUNTERS: Final = ("memory_count", "memory_tokens", "message_count", "message_tokens")

_SIZE: Final = select(owner_stats.c.owner, owner_stats.c.memory_count, owner_stats.c.message_count).where(
    owner_stats.c.tenant_id == bindparam("tenant_id", type_=owner_stats.c.tenant_id.type)
)
_SIZE_OF_ALL: Final = Prepared.of(_SIZE)
_SIZE_OF_SOME: Final = Prepared.of(
    _SIZE.where(owner_stats.c.owner == func.any(bindparam("owners", type_=ARRAY(Text(collation="C")))))
)

_HAS_MEMORIES: Final = text("owner_stats.memory_count > 0")
"""In words, as the partial index has it."""

_VERSIONS_OF: Final = Prepared.of(
    select(owner_stats.c.owner, owner_stats.c.memory_version).where(
        owner_stats.c.tenant_id == bindparam("tenant_id", type_=owner_stats.c.tenant_id.type),
        owner_stats.c.owner == func.any(bindparam("owners", type_=ARRAY(Text(collation="C")))),
    )
)


def _lock_and_change() -> Executable:
    statement = insert(owner_stats)
    grown = {name: func.greatest(owner_stats.c[name] + statement.excluded[name], 0) for name in COUNTERS}
    versions = {name: owner_stats.c[name] + statement.excluded[name] for name in VERSIONS}
    return statement.on_conflict_do_update(index_elements=["tenant_id", "owner"], set_=versions | grown).returning(
        owner_stats.c.version
    )


_LOCK_AND_CHANGE: Final = _lock_and_change()
"""Built once: it is in the path of every write."""


@dataclass(frozen=True, slots=True)
class OwnerChange:
    """What one write adds to an owner's counters (negative: takes away)."""

    memories: int = 0
    memory_tokens: int = 0
    messages: int = 0
    message_tokens: int = 0

    @property
    def of_messages(self) -> bool:
        """Whether it is about messages alone, and leaves every memory as it was."""
        return not (self.memories or self.memory_tokens) and bool(self.messages or self.message_tokens)


@dataclass(frozen=True, slots=True)
class CorpusSize:
    """Owners, and how much they have together."""

    owners: list[str]
    memories: int
    messages: int


class OwnerRepository(Repository):
    """owner_stats: the version counter, and BM25's corpus statistics."""

    async def lock_and_change(self, owner: str, change: OwnerChange) -> int:
        """Add to the counters and return the owner's new version. Holds the owner's row until the commit."""
        row = {
            "tenant_id": self._tenant_id,
            "owner": owner,
            "version": 1,
            "memory_version": 0 if change.of_messages else 1,
            "memory_count": change.memories,
            "memory_tokens": change.memory_tokens,
            "message_count": change.messages,
            "message_tokens": change.message_tokens,
        }
        return int((await self._connection.execute(_LOCK_AND_CHANGE, row)).scalar_one())

    async def change_all(self, changes: Mapping[str, OwnerChange]) -> None:
        """Add to the memory counters of many owners whose rows are locked, each a new version, in one statement."""
        given = (
            func.unnest(
                _names(list(changes)),
                bindparam(None, [one.memories for one in changes.values()], type_=ARRAY(BigInteger())),
                bindparam(None, [one.memory_tokens for one in changes.values()], type_=ARRAY(BigInteger())),
            )
            .table_valued("owner", "memories", "tokens")
            .render_derived()
        )
        known = owner_stats.c
        statement = update(owner_stats).where(known.tenant_id == self._tenant_id, known.owner == given.c.owner)
        values: dict[str, Any] = {name: known[name] + 1 for name in VERSIONS}
        values["memory_count"] = func.greatest(known.memory_count + given.c.memories, 0)
        values["memory_tokens"] = func.greatest(known.memory_tokens + given.c.tokens, 0)
        await self._run(statement.values(values))

    async def lock(self, owners: Sequence[str]) -> list[str]:
        """Hold owners' rows until the commit, in the order of their names; those that there are."""
        statement = (
            select(owner_stats.c.owner)
            .where(owner_stats.c.tenant_id == self._tenant_id, owner_stats.c.owner == func.any(_names(owners)))
            .order_by(owner_stats.c.owner)
            .with_for_update(key_share=True)
        )
        return [row["owner"] for row in await self._all(statement)] if owners else []

    async def of_session(self, session_id: str, *, drawn: bool = False) -> list[str]:
        """Who has something of a session: its messages, the memories scoped to it and, if `drawn`, those from it."""
        parts = [
            select(table.c.owner).where(table.c.tenant_id == self._tenant_id, table.c.session_id == session_id)
            for table in (messages, memories)
        ]
        if drawn:
            source = memory_sources.c
            named = (source.tenant_id == memories.c.tenant_id) & (source.memory_id == memories.c.id)
            drawn_from = select(memories.c.owner).join_from(memory_sources, memories, named)
            parts.append(drawn_from.where(source.tenant_id == self._tenant_id, source.session_id == session_id))
        return sorted((await self._connection.execute(union(*parts))).scalars().all())

    async def of_memories(self, ids: Sequence[UUID]) -> list[str]:
        """Whose these memories are."""
        statement = select(memories.c.owner).distinct()
        mine = statement.where(memories.c.tenant_id == self._tenant_id, memories.c.id == func.any(list(ids)))
        return sorted((await self._connection.execute(mine)).scalars().all())

    async def after(self, owner: str | None, limit: int) -> list[tuple[str, int]]:
        """Owners in the order of their names, each with how many rows it is said to have."""
        rows = owner_stats.c.memory_count + owner_stats.c.message_count
        statement = select(owner_stats.c.owner, rows).where(owner_stats.c.tenant_id == self._tenant_id)
        if owner is not None:
            statement = statement.where(owner_stats.c.owner > owner)
        found = await self._connection.execute(statement.order_by(owner_stats.c.owner).limit(limit))
        return [(name, count) for name, count in found.all()]

    async def unmaintained(self, before: datetime | None, limit: int) -> list[str]:
        """Owners with memories whose last turn of maintenance was before an instant, or who have had none (None).

        The longest ago first, their rows locked; who is held by another transaction waits for the next time.
        """
        last = owner_stats.c.maintained_at
        statement = (
            select(owner_stats.c.owner)
            .where(
                owner_stats.c.tenant_id == self._tenant_id,
                last.is_(None) if before is None else last < before,
                _HAS_MEMORIES,
            )
            .order_by(last)
            .limit(limit)
            .with_for_update(key_share=True, skip_locked=True)
        )
        return list((await self._connection.execute(statement)).scalars().all())

    async def maintained(self, owners: Sequence[str], at: datetime) -> None:
        """Owners whose rows are locked have their next turn a day from now."""
        statement = update(owner_stats).where(
            owner_stats.c.tenant_id == self._tenant_id, owner_stats.c.owner == func.any(_names(owners))
        )
        await self._run(statement.values(maintained_at=at))

    async def dreamers(self, before: datetime, limit: int) -> list[RowMapping]:
        """Users with memories whose last dream was before an instant, or who had none, the longest ago first.

        Rows of owner, dreamed_at and memory_count, locked; who is held by another transaction waits for the next time.
        """
        last = owner_stats.c.dreamed_at
        statement = (
            select(owner_stats.c.owner, last, owner_stats.c.memory_count)
            .where(
                owner_stats.c.tenant_id == self._tenant_id,
                or_(last.is_(None), last < before),
                owner_stats.c.owner >= "u:",
                owner_stats.c.owner < "u;",
                _HAS_MEMORIES,
            )
            .order_by(last.nulls_first(), owner_stats.c.owner)
            .limit(limit)
            .with_for_update(key_share=True, skip_locked=True)
        )
        return await self._all(statement)

    async def dreamed(self, owners: Sequence[str], at: datetime) -> None:
        """Owners whose rows are locked have had their turn to dream."""
        statement = update(owner_stats).where(
            owner_stats.c.tenant_id == self._tenant_id, owner_stats.c.owner == func.any(_names(owners))
        )
        await self._run(statement.values(dreamed_at=at))

    async def differing(self, owners: Sequence[str]) -> list[str]:
        """Those of the owners whose counters are not what their rows say, all seen at one instant."""
        kept, said = self._rows_of(memories, owners), self._rows_of(messages, owners)
        true = [func.coalesce(part.c[name], 0) for part in (kept, said) for name in ("count", "length")]
        stored = [owner_stats.c[name] for name in COUNTERS]
        statement = (
            select(owner_stats.c.owner)
            .join_from(owner_stats, kept, kept.c.owner == owner_stats.c.owner, isouter=True)
            .join(said, said.c.owner == owner_stats.c.owner, isouter=True)
            .where(
                owner_stats.c.tenant_id == self._tenant_id,
                owner_stats.c.owner == func.any(_names(owners)),
                or_(*(one != other for one, other in zip(stored, true, strict=True))),
            )
        )
        return sorted((await self._connection.execute(statement)).scalars().all())

    async def recount(self, owner: str) -> None:
        """Set the counters of an owner whose row is locked to what its rows say."""
        kept, said = self._rows_of(memories, [owner]), self._rows_of(messages, [owner])
        true = [
            func.coalesce(select(part.c[name]).scalar_subquery(), 0)
            for part in (kept, said)
            for name in ("count", "length")
        ]
        values: dict[str, Any] = dict(zip(COUNTERS, true, strict=True))
        statement = update(owner_stats).where(owner_stats.c.tenant_id == self._tenant_id, owner_stats.c.owner == owner)
        versions: dict[str, Any] = {name: owner_stats.c[name] + 1 for name in VERSIONS}
        await self._run(statement.values(versions | values))

    def _rows_of(self, table: Table, owners: Sequence[str]) -> Subquery:
        """How many rows owners have that are counted, and the sum of their lengths."""
        statement = select(table.c.owner, func.count().label("count"), func.sum(table.c.length).label("length")).where(
            table.c.tenant_id == self._tenant_id, table.c.owner == func.any(_names(owners))
        )
        if table is memories:
            statement = statement.where(memories.c.status.in_(VISIBLE_STATUSES))
        return statement.group_by(table.c.owner).subquery()

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

    async def memory_versions(self, owners: Sequence[str]) -> dict[str, int]:
        """How often the memories of owners have changed; 0 where there never was one."""
        rows = await _VERSIONS_OF.run(self._connection, {"tenant_id": self._tenant_id, "owners": list(owners)})
        found = {row["owner"]: row["memory_version"] for row in rows}
        return {owner: found.get(owner, 0) for owner in owners}

    async def size(self, owners: Sequence[str] | None) -> CorpusSize:
        """The corpus of some owners together, or (None) of every owner in the tenant."""
        if owners is None:
            rows = await _SIZE_OF_ALL.run(self._connection, {"tenant_id": self._tenant_id})
        else:
            values = {"tenant_id": self._tenant_id, "owners": list(owners)}
            rows = await _SIZE_OF_SOME.run(self._connection, values)
        counts = (sum(row[name] for row in rows) for name in ("memory_count", "message_count"))
        return CorpusSize([row["owner"] for row in rows], *counts)


def _names(owners: Sequence[str]) -> BindParameter[Any]:
    return bindparam(None, list(owners), type_=ARRAY(Text(collation="C")))
