"""What an erasure removes, part by part. What would go by a cascade is deleted by name, so that it is counted."""

import json
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    RowMapping,
    Select,
    Table,
    Text,
    Uuid,
    and_,
    bindparam,
    cast,
    delete,
    func,
    or_,
    select,
    union,
)

from app.db.models import (
    block_versions,
    blocks,
    checkpoint_blobs,
    checkpoint_steps,
    checkpoint_threads,
    checkpoint_writes,
    checkpoints,
    context_cache,
    dreams,
    experiences,
    idempotency_keys,
    jobs,
    lessons,
    memories,
    memory_conflicts,
    memory_events,
    memory_postings,
    memory_sources,
    memory_vectors,
    message_postings,
    message_vectors,
    messages,
    owner_stats,
    procedure_versions,
    procedures,
    search_explanations,
    session_states,
    sessions,
    store_items,
    store_texts,
    summaries,
    users,
)
from app.domain.jobs import JOB_KINDS
from app.domain.scope import Scope
from app.repositories.base import Repository

Counts = dict[str, int]

OF_MESSAGES: Final = (message_postings, message_vectors)
OF_SESSIONS: Final = (summaries, session_states, context_cache, messages)
OF_MEMORIES: Final = (memory_sources, memory_events, memory_postings, memory_vectors)
OF_THREADS: Final = (checkpoint_steps, checkpoint_writes, checkpoint_blobs, checkpoints)
OF_USERS: Final = (blocks, store_items, jobs, dreams, idempotency_keys, search_explanations, owner_stats, users)

REACHED: Final[frozenset[Table]] = frozenset(
    {
        *(*OF_MESSAGES, *OF_SESSIONS, *OF_MEMORIES, *OF_THREADS, *OF_USERS),
        *(sessions, memories, memory_conflicts, checkpoint_threads, block_versions, store_texts),
        *(procedures, procedure_versions, lessons, experiences),
    }
)
"""Every table that an erasure deletes from."""


def _ids(values: Sequence[UUID]) -> Any:  # noqa: ANN401 - an expression
    return func.any(bindparam(None, list(values), type_=ARRAY(Uuid())))


def _names(values: Sequence[str]) -> Any:  # noqa: ANN401 - an expression
    return func.any(bindparam(None, list(values), type_=ARRAY(Text(collation="C"))))


class ErasingRepository(Repository):
    """Run under the locks of the sessions or owners whose rows are removed."""

    async def sessions(self, user_id: str, limit: int) -> list[str]:
        """Some of a user's sessions, their rows locked until the commit."""
        statement = select(sessions.c.id).where(
            sessions.c.tenant_id == self._tenant_id, sessions.c.owner == Scope(user_id).owner
        )
        rows = await self._all(statement.order_by(sessions.c.created_at, sessions.c.id).limit(limit).with_for_update())
        return [row["id"] for row in rows]

    async def memories(self, user_id: str, limit: int) -> list[UUID]:
        """Some of a user's memories, deleted ones too."""
        statement = select(memories.c.id).where(
            memories.c.tenant_id == self._tenant_id, memories.c.owner == Scope(user_id).owner
        )
        return [row["id"] for row in await self._all(statement.order_by(memories.c.id).limit(limit))]

    async def threads(self, user_id: str, limit: int) -> list[str]:
        """Some of a user's threads of checkpoints, locked until the commit."""
        statement = select(checkpoint_threads.c.thread_id).where(
            checkpoint_threads.c.tenant_id == self._tenant_id, checkpoint_threads.c.user_id == user_id
        )
        rows = await self._all(statement.order_by(checkpoint_threads.c.thread_id).limit(limit).with_for_update())
        return [row["thread_id"] for row in rows]

    async def drawn_elsewhere(self, user_id: str, session_ids: Sequence[str]) -> list[RowMapping]:
        """Memories of other owners drawn from these sessions: rows with `alone`, where nothing else bears them.

        An insight counts as borne by each of its sources.
        """
        drawn = select(memory_sources.c.memory_id).where(
            memory_sources.c.tenant_id == self._tenant_id, memory_sources.c.session_id == _names(session_ids)
        )
        taught = select(experiences.c.lesson_id).where(
            experiences.c.tenant_id == self._tenant_id, experiences.c.session_id == _names(session_ids)
        )
        found = list((await self._connection.execute(union(drawn, taught))).scalars().all())
        if not found:
            return []
        mine = select(sessions.c.id).where(
            sessions.c.tenant_id == self._tenant_id, sessions.c.owner == Scope(user_id).owner
        )
        other = memory_sources.alias("other")
        borne = select(other.c.id).where(
            other.c.tenant_id == self._tenant_id,
            other.c.memory_id == memories.c.id,
            or_(other.c.session_id.is_(None), other.c.session_id.not_in(mine)),
        )
        alone = or_(memories.c.source == "derived", ~borne.exists()).label("alone")
        statement = select(memories, alone).where(
            memories.c.tenant_id == self._tenant_id,
            memories.c.owner != Scope(user_id).owner,
            memories.c.id == _ids(found),
        )
        return await self._all(statement.order_by(memories.c.id))

    async def erase_traces(self, session_ids: Sequence[str]) -> Counts:
        """Remove what other owners' memories keep of these sessions: quotes, and attempts."""
        mine = memory_sources.c.session_id == _names(session_ids)
        attempts = experiences.c.session_id == _names(session_ids)
        return await self._delete([(memory_sources, mine), (experiences, attempts)])

    async def erase_sessions(self, session_ids: Sequence[str]) -> Counts:
        """Remove sessions with all that hangs on them but memories; jobs that work on them too."""
        named = _names(session_ids)
        said = select(messages.c.id).where(messages.c.tenant_id == self._tenant_id, messages.c.session_id == named)
        about = and_(jobs.c.kind.in_(JOB_KINDS), jobs.c.subject == _names(session_ids))
        return await self._delete(
            [
                (jobs, about),
                *((table, table.c.message_id.in_(said)) for table in OF_MESSAGES),
                *((table, table.c.session_id == named) for table in OF_SESSIONS),
                (sessions, sessions.c.id == named),
            ]
        )

    async def erase_memories(self, ids: Sequence[UUID]) -> Counts:
        """Remove memories with their history, sources, words, vectors, and what is procedural of them."""
        named = _ids(ids)
        whose = select(memories.c.user_id).where(memories.c.tenant_id == self._tenant_id, memories.c.id == named)
        return await self._delete(
            [
                (dreams, dreams.c.user_id.in_(whose)),  # what was proposed quotes memories
                (procedure_versions, procedure_versions.c.procedure_id == named),
                (procedures, procedures.c.id == named),
                (experiences, experiences.c.lesson_id == named),
                (lessons, lessons.c.id == named),
                (memory_conflicts, memory_conflicts.c.memory_id == named),
                (memory_conflicts, memory_conflicts.c.other_id == named),
                *((table, table.c.memory_id == named) for table in OF_MEMORIES),
                (memories, memories.c.id == named),
            ]
        )

    async def threads_of(self, session_ids: Sequence[str]) -> list[str]:
        """The threads of sessions' own checkpoints."""
        statement = select(checkpoint_threads.c.thread_id).where(
            checkpoint_threads.c.tenant_id == self._tenant_id, checkpoint_threads.c.session_id == _names(session_ids)
        )
        return [row["thread_id"] for row in await self._all(statement.order_by(checkpoint_threads.c.thread_id))]

    async def memories_of(self, session_ids: Sequence[str]) -> list[UUID]:
        """Memories that are visible in these sessions only."""
        statement = select(memories.c.id).where(
            memories.c.tenant_id == self._tenant_id, memories.c.session_id == _names(session_ids)
        )
        return [row["id"] for row in await self._all(statement.order_by(memories.c.id))]

    async def erase_threads(self, thread_ids: Sequence[str]) -> Counts:
        """Remove threads with their checkpoints."""
        named = _names(thread_ids)
        parts = (*OF_THREADS, checkpoint_threads)
        return await self._delete([(table, table.c.thread_id == named) for table in parts])

    async def erase_rest(self, user_id: str) -> Counts:
        """Remove what else names a user: blocks, stored items, jobs, answers, explanations, counters, the user.

        Answers, explanations and bulk deletions of nobody in particular go where they may hold something of the user.
        """
        mine = and_(blocks.c.tenant_id == self._tenant_id, blocks.c.user_id == user_id)
        items = and_(store_items.c.tenant_id == self._tenant_id, store_items.c.user_id == user_id)
        spelled = json.dumps(user_id, ensure_ascii=False)
        unnamed = and_(idempotency_keys.c.user_id.is_(None), func.strpos(idempotency_keys.c.body, spelled) > 0)
        filtering = and_(
            jobs.c.kind == "delete_memories",
            jobs.c.user_id.is_(None),
            func.strpos(cast(jobs.c.payload, Text()), spelled) > 0,
        )
        return await self._delete(
            [
                (block_versions, block_versions.c.block_id.in_(_column(blocks.c.id, mine))),
                (blocks, blocks.c.user_id == user_id),
                (store_texts, store_texts.c.item_id.in_(_column(store_items.c.id, items))),
                (store_items, store_items.c.user_id == user_id),
                (jobs, jobs.c.user_id == user_id),
                (jobs, filtering),
                (dreams, dreams.c.user_id == user_id),
                (idempotency_keys, idempotency_keys.c.user_id == user_id),
                (idempotency_keys, unnamed),
                (search_explanations, search_explanations.c.user_id == user_id),
                (search_explanations, search_explanations.c.user_id.is_(None)),
                (owner_stats, owner_stats.c.owner == Scope(user_id).owner),
                (users, users.c.id == user_id),
            ]
        )

    async def _delete(self, parts: Sequence[tuple[Table, ColumnElement[bool]]]) -> Counts:
        counts: Counts = {}
        for table, condition in parts:
            gone = await self._run(delete(table).where(table.c.tenant_id == self._tenant_id, condition))
            if gone:
                counts[table.name] = counts.get(table.name, 0) + gone
        return counts


def _column(column: Any, condition: ColumnElement[bool]) -> Select[Any]:  # noqa: ANN401 - a column
    return select(column).where(condition)
