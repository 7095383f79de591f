"""Two users who turn out to be one: everything of the first becomes the second's."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    RowMapping,
    Table,
    Text,
    and_,
    case,
    cast,
    delete,
    exists,
    func,
    null,
    select,
    text,
    update,
)

from app.db.models import (
    blocks,
    checkpoint_threads,
    dreams,
    idempotency_keys,
    jobs,
    lessons,
    memories,
    memory_postings,
    memory_vectors,
    message_postings,
    message_vectors,
    messages,
    owner_stats,
    procedures,
    search_explanations,
    sessions,
    store_items,
)
from app.db.models.memories import CURRENT
from app.domain.memory import VISIBLE_STATUSES
from app.domain.scope import Scope
from app.repositories.base import Repository
from app.repositories.selection import current_at

OWNED: Final[tuple[Table, ...]] = (
    messages,
    message_postings,
    message_vectors,
    memory_postings,
    memory_vectors,
    procedures,
    lessons,
)
"""Tables whose rows name their owner; texts come before what is made from them and copies their owner."""

OWNED_AND_NAMED: Final[tuple[Table, ...]] = (memories, sessions)
"""Tables whose rows name their owner and the user who that is."""

NAMED: Final[tuple[Table, ...]] = (
    jobs,
    dreams,
    checkpoint_threads,
    store_items,
    idempotency_keys,
    search_explanations,
)
"""Tables whose rows name a user."""


_PLACE: Final = ("agent_id", "app_id", "session_id", "key", "value")


def _told_apart(table: Any, name: str) -> ColumnElement[Any]:  # noqa: ANN401 - the table or an alias
    """A column as the index of active memories sees it: two rows that agree in all of them cannot both be active."""
    if name in {"agent_id", "app_id"}:
        return case((table.c.extracted, null()), else_=table.c[name])
    if name == "value":
        return func.md5(cast(table.c[name], Text()))
    column: ColumnElement[Any] = table.c[name]
    return column


class MergeRepository(Repository):
    """Run under the locks of the source's sessions, both users and both owners, taken in this order."""

    async def lock_sessions(self, user_id: str) -> list[str]:
        """Lock a user's sessions until the commit, in the order of their ids: nothing is appended meanwhile."""
        statement = select(sessions.c.id).where(
            sessions.c.tenant_id == self._tenant_id, sessions.c.owner == Scope(user_id).owner
        )
        return [row["id"] for row in await self._all(statement.order_by(sessions.c.id).with_for_update())]

    async def block_labels_of_both(self, source: str, target: str) -> list[str]:
        """Labels under which both users have a block for the same agent: a person must choose one first."""
        other = blocks.alias("other")
        statement = (
            select(blocks.c.label)
            .join_from(
                blocks,
                other,
                and_(
                    other.c.tenant_id == blocks.c.tenant_id,
                    other.c.label == blocks.c.label,
                    other.c.agent_id.is_not_distinct_from(blocks.c.agent_id),
                ),
            )
            .where(blocks.c.tenant_id == self._tenant_id, blocks.c.user_id == source, other.c.user_id == target)
        )
        return sorted(set((await self._connection.execute(statement)).scalars().all()))

    async def expire(self, user_ids: Sequence[str], at: datetime) -> list[RowMapping]:
        """Mark what is over as expired, so that it is nobody's twin; the changed rows."""
        statement = (
            update(memories)
            .where(
                memories.c.tenant_id == self._tenant_id,
                memories.c.owner.in_([Scope(user_id).owner for user_id in user_ids]),
                memories.c.status.in_(VISIBLE_STATUSES),
                ~and_(*current_at(at)),
            )
            .values(status="expired", updated_at=at, version=memories.c.version + 1)
            .returning(memories)
        )
        return await self._all(statement)

    async def close_twins(self, source: str, target: str, at: datetime) -> list[RowMapping]:
        """Supersede the source's current memories that the target has word for word; the closed rows.

        What is over must have been marked before, see `expire`: nothing visible gives way to what is not.
        """
        twin = memories.alias("twin")
        same = and_(
            twin.c.tenant_id == memories.c.tenant_id,
            twin.c.owner == Scope(target).owner,
            text(CURRENT.replace("status", "twin.status")),
            twin.c.kind == memories.c.kind,
            twin.c.content_hash == memories.c.content_hash,
            twin.c.key.is_not_distinct_from(memories.c.key),
            func.md5(cast(twin.c.value, Text())).is_not_distinct_from(func.md5(cast(memories.c.value, Text()))),
            *(_told_apart(twin, name).is_not_distinct_from(_told_apart(memories, name)) for name in _PLACE),
        )
        statement = (
            update(memories)
            .where(
                memories.c.tenant_id == self._tenant_id,
                memories.c.owner == Scope(source).owner,
                memories.c.status.in_(VISIBLE_STATUSES),
                exists(select(twin.c.id).where(same)),
            )
            .values(
                status="superseded",
                superseded_at=at,
                updated_at=at,
                superseded_by=select(twin.c.id).where(same).limit(1).scalar_subquery(),
                version=memories.c.version + 1,
            )
            .returning(memories)
        )
        return await self._all(statement)

    async def move(self, source: str, target: str) -> dict[str, int]:
        """Give every row of the source to the target; how many rows of each table."""
        moved: dict[str, int] = {}
        before, after = Scope(source).owner, Scope(target).owner
        for table in OWNED_AND_NAMED:
            statement = update(table).where(table.c.tenant_id == self._tenant_id, table.c.owner == before)
            moved[table.name] = await self._run(statement.values(owner=after, user_id=target))
        for table in OWNED:
            statement = update(table).where(table.c.tenant_id == self._tenant_id, table.c.owner == before)
            moved[table.name] = await self._run(statement.values(owner=after))
        mine = update(blocks).where(blocks.c.tenant_id == self._tenant_id, blocks.c.user_id == source)
        moved[blocks.name] = await self._run(mine.values(owner=after, user_id=target))
        for table in NAMED:
            statement = update(table).where(table.c.tenant_id == self._tenant_id, table.c.user_id == source)
            moved[table.name] = await self._run(statement.values(user_id=target))
        await self._add_counts(before, after)
        return moved

    async def _add_counts(self, before: str, after: str) -> None:
        mine = owner_stats.c.tenant_id == self._tenant_id
        old = owner_stats.alias("old")
        names = ("memory_count", "memory_tokens", "message_count", "message_tokens")
        sums: dict[str, Any] = {name: owner_stats.c[name] + old.c[name] for name in names}
        statement = (
            update(owner_stats)
            .where(
                mine, owner_stats.c.owner == after, old.c.tenant_id == owner_stats.c.tenant_id, old.c.owner == before
            )
            .values(version=owner_stats.c.version + 1, **sums)
        )
        await self._run(statement)
        await self._run(delete(owner_stats).where(mine, owner_stats.c.owner == before))
