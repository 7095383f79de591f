"""What becomes of whole threads: copied, pruned, deleted. No value goes that a checkpoint still names."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ARRAY, ColumnElement, Text, bindparam, delete, func, literal, select, text, tuple_
from sqlalchemy.dialects.postgresql import insert as upsert

from app.db.models import checkpoint_blobs, checkpoint_threads, checkpoint_writes, checkpoints
from app.repositories.base import Repository, Row

_COPIED: Final = (checkpoint_blobs, checkpoints, checkpoint_writes)

# A set operation, not a join: one is planned from estimates, which are worst for the largest threads.
_SWEEP_BLOBS: Final = text(
    """
    DELETE FROM checkpoint_blobs b USING (
        SELECT ns, channel, version FROM checkpoint_blobs WHERE tenant_id = :tenant AND thread_id = :thread
        EXCEPT
        SELECT c.ns, v.key COLLATE "C", v.value COLLATE "C" FROM checkpoints c, jsonb_each_text(c.channel_versions) v
        WHERE c.tenant_id = :tenant AND c.thread_id = :thread
    ) unnamed
    WHERE b.tenant_id = :tenant AND b.thread_id = :thread AND b.ns = unnamed.ns AND b.channel = unnamed.channel
        AND b.version = unnamed.version
    """
)

_ORPHANED_WRITES: Final = text(
    """
    DELETE FROM checkpoint_writes w WHERE w.tenant_id = :tenant AND w.thread_id = :thread
    AND (w.ns, w.checkpoint_id) IN (SELECT * FROM unnest(CAST(:ns AS text[]), CAST(:ids AS text[])))
    """
)


class CheckpointUpkeepRepository(Repository):
    """checkpoint_threads and all that hangs on them."""

    async def lock(self, thread_id: str) -> Row | None:
        """The thread, locked against every write until the commit; None where it is absent or another's."""
        return await self._first(select(checkpoint_threads).where(*self._mine([thread_id])).with_for_update())

    async def lock_of_runs(self, run_ids: Sequence[str]) -> list[str]:
        """The threads that these runs have checkpoints in, locked in the order of their ids."""
        ran = (
            select(checkpoints.c.thread_id)
            .where(
                checkpoints.c.tenant_id == self._tenant_id,
                checkpoints.c.run_id == func.any(_texts(run_ids)),
                checkpoints.c.position == 0,
            )
            .distinct()
            .scalar_subquery()
        )
        statement = select(checkpoint_threads.c.thread_id).where(
            checkpoint_threads.c.tenant_id == self._tenant_id,
            checkpoint_threads.c.thread_id == func.any(func.array(ran)),
            *self._own(checkpoint_threads.c.user_id),
        )
        ordered = statement.order_by(checkpoint_threads.c.thread_id).with_for_update()
        return [row["thread_id"] for row in await self._all(ordered)]

    async def create(self, thread_id: str, user_id: str | None, at: datetime) -> None:
        """Make a thread if there is none of this id; the caller then locks it, and sees whether it is theirs."""
        row = {"tenant_id": self._tenant_id, "thread_id": thread_id, "user_id": user_id}
        statement = upsert(checkpoint_threads).values(**row, created_at=at, updated_at=at)
        await self._run(statement.on_conflict_do_nothing())

    async def copy(self, source: str, target: str) -> int:
        """Copy every checkpoint with its values and writes into a thread that exists; how many were new there.

        What the target has under the same key is left as it is.
        """
        counts = [await self._copy(table, source, target) for table in _COPIED]
        return counts[_COPIED.index(checkpoints)]

    async def uses_deltas(self, thread_id: str) -> bool:
        """Whether a channel of the thread is kept as changes, which a checkpoint needs its ancestors for."""
        statement = select(checkpoints.c.checkpoint_id).where(
            *self._of(checkpoints, thread_id), checkpoints.c.metadata.has_key("counters_since_delta_snapshot")
        )
        return await self._first(statement.limit(1)) is not None

    async def delete_all_but_latest(self, thread_id: str) -> int:
        """Delete every checkpoint but the newest of each namespace, with its writes; how many."""
        latest = (
            select(checkpoints.c.ns, func.max(checkpoints.c.checkpoint_id))
            .where(*self._of(checkpoints, thread_id))
            .group_by(checkpoints.c.ns)
        )
        return await self._delete(
            thread_id, tuple_(checkpoints.c.ns, checkpoints.c.checkpoint_id).not_in(latest), opaque=True
        )

    async def delete_runs(self, thread_id: str, run_ids: Sequence[str]) -> int:
        """Delete the checkpoints of these runs in a locked thread, with their writes; how many."""
        return await self._delete(thread_id, checkpoints.c.run_id == func.any(_texts(run_ids)), opaque=True)

    async def delete_checkpoints(self, thread_id: str, ids: Sequence[str]) -> int:
        """Delete these checkpoints of a locked thread; how many there were."""
        return await self._delete(thread_id, checkpoints.c.checkpoint_id == func.any(_texts(ids)), opaque=False)

    async def sweep_blobs(self, thread_id: str) -> int:
        """Delete the values of a locked thread that no checkpoint names any more; how many."""
        return await self._run(_SWEEP_BLOBS, {"tenant": self._tenant_id, "thread": thread_id})

    async def counts(self, thread_id: str) -> tuple[int, int]:
        """How many checkpoints and how many values a locked thread has."""
        numbers = []
        for table in (checkpoints, checkpoint_blobs):
            statement = select(func.count()).select_from(table).where(*self._of(table, thread_id))
            numbers.append(int((await self._connection.execute(statement)).scalar_one()))
        return numbers[0], numbers[1]

    async def delete_threads(self, thread_ids: Sequence[str]) -> int:
        """Delete threads with everything in them; how many the key had."""
        return await self._run(delete(checkpoint_threads).where(*self._mine(thread_ids)))

    async def expired(self, at: datetime, limit: int) -> dict[str, list[str]]:
        """Checkpoints that are past their time, by thread."""
        statement = (
            select(checkpoints.c.thread_id, checkpoints.c.checkpoint_id)
            .where(checkpoints.c.tenant_id == self._tenant_id, checkpoints.c.expires_at <= at)
            .order_by(checkpoints.c.expires_at)
            .limit(limit)
        )
        found: dict[str, list[str]] = {}
        for row in await self._all(statement):
            found.setdefault(row["thread_id"], []).append(row["checkpoint_id"])
        return found

    async def _copy(self, table: Any, source: str, target: str) -> int:  # noqa: ANN401 - one of three tables
        columns = [column for column in table.c if column.name != "thread_id"]
        rows = select(literal(target).label("thread_id"), *columns).where(*self._of(table, source))
        names = ["thread_id", *(column.name for column in columns)]
        return await self._run(upsert(table).from_select(names, rows).on_conflict_do_nothing())

    async def _delete(self, thread_id: str, condition: ColumnElement[bool], *, opaque: bool) -> int:
        kept = [checkpoints.c.position == 0] if opaque else []
        statement = delete(checkpoints).where(*self._of(checkpoints, thread_id), condition, *kept)
        gone = await self._all(statement.returning(checkpoints.c.ns, checkpoints.c.checkpoint_id))
        if gone:
            places = {"ns": [row["ns"] for row in gone], "ids": [row["checkpoint_id"] for row in gone]}
            await self._run(_ORPHANED_WRITES, {"tenant": self._tenant_id, "thread": thread_id, **places})
        return len(gone)

    def _of(self, table: Any, thread_id: str) -> list[ColumnElement[bool]]:  # noqa: ANN401 - a table of a thread's rows
        return [table.c.tenant_id == self._tenant_id, table.c.thread_id == thread_id]

    def _mine(self, thread_ids: Sequence[str]) -> list[ColumnElement[bool]]:
        threads = checkpoint_threads.c
        named = threads.thread_id == thread_ids[0] if len(thread_ids) == 1 else threads.thread_id.in_(list(thread_ids))
        return [threads.tenant_id == self._tenant_id, named, *self._own(threads.user_id)]


def _texts(values: Sequence[str]) -> Any:  # noqa: ANN401 - a bound parameter
    return bindparam(None, list(values), type_=ARRAY(Text(collation="C")))
