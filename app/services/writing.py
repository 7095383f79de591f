"""The one write path of memories: drafted, deduplicated, indexed, embedded, noted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from app.core import ids
from app.core.errors import Forbidden, Invalid
from app.domain.memory import default_importance, default_weight, traits_of
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.repositories.base import Row
from app.repositories.owners import OwnerChange
from app.repositories.postings import Posting
from app.repositories.vectors import Embedded
from app.schemas.memories import Memory, MemoryIn
from app.services.analysis import Analysis
from app.services.history import SHOWN, event_row
from app.services.presenting import memories_of
from app.uow import Transaction


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory on its way into the database: its columns, its tokens, its sources."""

    row: dict[str, Any]
    analysis: Analysis
    memory: MemoryIn


@dataclass(frozen=True, slots=True)
class MemoryWriter:
    """An add within its transaction. Owners are locked in order before their rows are touched."""

    tx: Transaction
    actor: str
    at: datetime

    async def run(self, drafts: Sequence[Draft], vectors: Sequence[Embedded], model_id: int) -> list[Memory]:
        await self._check_sessions(drafts)
        users = {draft.row["user_id"] for draft in drafts} - {None}
        if users:
            await self.tx.users.touch(users, self.at)
        unique: dict[tuple[Any, ...], Draft] = {}
        for draft in drafts:
            unique.setdefault(_identity(draft.row), draft)
        rows: dict[tuple[Any, ...], Row] = {}
        for owner in sorted({draft.row["owner"] for draft in drafts}):
            mine = {identity: draft for identity, draft in unique.items() if draft.row["owner"] == owner}
            rows |= await self._store(owner, mine, vectors, model_id)
        shown = {memory.id: memory for memory in await memories_of(self.tx, list(rows.values()))}
        return [shown[str(rows[_identity(draft.row)]["id"])] for draft in drafts]

    async def _store(
        self, owner: str, drafts: dict[tuple[Any, ...], Draft], vectors: Sequence[Embedded], model_id: int
    ) -> dict[tuple[Any, ...], Row]:
        length = sum(draft.analysis.length for draft in drafts.values())
        await self.tx.owners.lock_and_change(owner, OwnerChange(memories=len(drafts), memory_tokens=length))
        stored = await self.tx.memories.put([draft.row for draft in drafts.values()])
        rows = {_identity(row): row for row in stored}
        fresh = {identity: draft for identity, draft in drafts.items() if rows[identity]["created"]}
        if len(fresh) < len(drafts):
            known = [draft for identity, draft in drafts.items() if identity not in fresh]
            surplus = OwnerChange(-len(known), -sum(draft.analysis.length for draft in known))
            await self.tx.owners.lock_and_change(owner, surplus)
        postings = [
            Posting(draft.row["id"], draft.analysis.frequencies, draft.analysis.length) for draft in fresh.values()
        ]
        await self.tx.memories.index(owner, postings)
        new_ids = {draft.row["id"] for draft in fresh.values()}
        await self.tx.vectors.put_memories(model_id, [vector for vector in vectors if vector.target in new_ids])
        await self._note(rows, drafts)
        return rows

    async def _note(self, rows: dict[tuple[Any, ...], Row], drafts: dict[tuple[Any, ...], Draft]) -> None:
        """Sources and history."""
        sources = [
            source
            for identity, draft in drafts.items()
            for source in await self._sources(rows[identity]["id"], draft.memory)
        ]
        await self.tx.memories.add_sources(sources)
        await self.tx.memories.record(
            [
                event_row("added" if row["created"] else "reinforced", None, row, self.actor, self.at, SHOWN)
                for row in rows.values()
            ]
        )

    async def _sources(self, memory_id: UUID, memory: MemoryIn) -> list[dict[str, Any]]:
        found = []
        for source in memory.sources:
            messages = await self.tx.messages.by_seqs(source.session_id, source.seqs)
            if len(messages) < len(set(source.seqs)):
                raise Invalid("A source names messages that do not exist.", code="source_not_found")
            found.append(
                {
                    "id": ids.new_id(),
                    "memory_id": memory_id,
                    "session_id": source.session_id,
                    "seqs": sorted(row["seq"] for row in messages),
                    "message_ids": [row["id"] for row in messages],
                    "external_ids": [row["external_id"] for row in messages if row["external_id"] is not None],
                    "quote": source.quote,
                    "created_at": self.at,
                }
            )
        return found

    async def _check_sessions(self, drafts: Sequence[Draft]) -> None:
        named = {draft.row["session_id"] for draft in drafts} - {None}
        named |= {source.session_id for draft in drafts for source in draft.memory.sources}
        for session_id in sorted(named):
            if await self.tx.sessions.get(session_id) is None:
                raise Invalid("A memory names a session that does not exist.", code="session_not_found")


def draft_of(principal: Principal, memory: MemoryIn, analysis: Analysis, at: datetime) -> Draft:
    """The columns of a memory that a client states."""
    if memory.sensitive:
        raise Invalid("This installation cannot seal sensitive memories.", code="sealing_unavailable")
    scope = _write_scope(principal, memory)
    traits = traits_of(memory.source)
    expires_at = at + timedelta(seconds=memory.ttl) if memory.ttl is not None else memory.expires_at
    occurred_at = memory.occurred_at or at
    row = {
        "id": ids.new_id(),
        "owner": scope.owner,
        "user_id": scope.user_id,
        "agent_id": scope.agent_id,
        "app_id": scope.app_id,
        "session_id": scope.session_id,
        "kind": memory.kind,
        "text": memory.text,
        "key": memory.key,
        "value": memory.value,
        "category": memory.category,
        "source": memory.source,
        "uncertain": traits.uncertain,
        "confidence": traits.confidence if memory.confidence is None else memory.confidence,
        "importance": memory.importance or default_importance(memory.category),
        "weight": default_weight(memory.category) if memory.weight is None else memory.weight,
        "pinned": memory.category == "constraint" if memory.pinned is None else memory.pinned,
        "use": memory.use,
        "status": "active",
        "valid_from": occurred_at,
        "occurred_at": memory.occurred_at,
        "expires_at": expires_at,
        "last_seen_at": occurred_at,
        "created_at": at,
        "updated_at": at,
        "tokens": analysis.tokens,
        "length": analysis.length,
        "content_hash": analysis.content_hash,
        "metadata": memory.metadata,
    }
    return Draft(row, analysis, memory)


def _write_scope(principal: Principal, memory: MemoryIn) -> Scope:
    if memory.shared:
        principal.require("shared:write")
        if principal.user_ids is not None:
            raise Forbidden("A key that is bound to users cannot write shared memories.", code="foreign_user")
        return Scope()
    scope = Scope(principal.own_user(memory.user_id), memory.agent_id, memory.app_id, memory.session_id)
    if scope.empty:
        raise Invalid(
            "Say whose memory it is: user_id, agent_id, app_id or session_id, or shared: true.", code="scope_required"
        )
    return scope


def _identity(row: Row | dict[str, Any]) -> tuple[Any, ...]:
    """What the dedupe index sees of a row that a client stated."""
    scope = (row["owner"], row["agent_id"], row["app_id"], row["session_id"])
    return (*scope, row["kind"], bytes(row["content_hash"]))


async def embed_later(tx: Transaction, stored: Sequence[Memory], at: datetime) -> UUID:
    """A job for the vectors of memories that have none yet."""
    users = {memory.user_id for memory in stored}
    return await tx.jobs.enqueue(
        "embed_memories",
        str(ids.new_id()),
        at,
        user_id=users.pop() if len(users) == 1 else None,
        payload={"memory_ids": [memory.id for memory in stored]},
    )
