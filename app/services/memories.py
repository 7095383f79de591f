"""Memories: the one write path for what a client states, and what an admin reads, corrects and deletes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from app.core import clock, ids
from app.core.errors import Forbidden, Invalid, NotFound
from app.core.text.digest import text_hash
from app.domain.budget import estimate_tokens
from app.domain.memory import default_importance, default_weight, traits_of
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.providers.embeddings.base import EmbeddingUnavailable
from app.repositories.base import Row
from app.repositories.idempotency import IdempotencyClaim
from app.repositories.owners import OwnerChange
from app.repositories.postings import Posting
from app.repositories.selection import Selection
from app.repositories.vectors import Embedded
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.schemas.memories import (
    AddedMemories,
    AddedMemory,
    MemoriesAdd,
    Memory,
    MemoryAdd,
    MemoryChange,
    MemoryEvent,
    MemoryHistory,
    MemoryIn,
    MemorySource,
)
from app.services.analysis import Analysis, analyse_all
from app.services.answers import Answer, answer_once
from app.services.embedding import Embedder, TextToEmbed
from app.services.sessions import check_version
from app.uow import Transaction, UnitOfWork

EMBEDDED_AT_ONCE: Final = 100
"""Up to so many explicit adds are embedded before the answer; more are embedded by a job."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory on its way into the database: its columns, its tokens, its sources."""

    row: dict[str, Any]
    analysis: Analysis
    memory: MemoryIn


@dataclass(frozen=True, slots=True)
class MemoryService:
    """The use cases of memories."""

    uow: UnitOfWork
    embedder: Embedder

    async def add(
        self, principal: Principal, request: MemoryAdd | MemoriesAdd, claim: IdempotencyClaim | None
    ) -> Answer:
        """Keep memories: what is known already is reinforced, and comes back under the id that it has."""
        principal.require("memories:write")
        at = clock.now()
        given = request.memories if isinstance(request, MemoriesAdd) else [request]
        analyses = await analyse_all([memory.text for memory in given])
        drafts = [_draft(principal, memory, analysis, at) for memory, analysis in zip(given, analyses, strict=True)]
        vectors, degraded = await self._embed(drafts)
        many = isinstance(request, MemoriesAdd)
        async with self.uow.begin(principal) as tx:

            async def work() -> Answer:
                stored = await _Add(tx, principal.actor, at).run(drafts, vectors, (await self.embedder.record()).id)
                if not many:
                    if degraded:
                        await _embed_later(tx, stored, at)
                    return Answer(201, AddedMemory(**stored[0].model_dump(), degraded=degraded))
                if not degraded and len(drafts) <= EMBEDDED_AT_ONCE:
                    return Answer(201, AddedMemories(results=stored))
                job_id = await _embed_later(tx, stored, at)
                body = AddedMemories(results=stored, degraded=degraded, job_id=str(job_id), status="queued")
                return Answer(201 if len(drafts) <= EMBEDDED_AT_ONCE else 202, body)

            shape = AddedMemories if many else AddedMemory
            return await answer_once(tx, claim, at, shape.model_validate_json, work)

    async def get(self, principal: Principal, memory_id: UUID) -> Memory:
        """One memory."""
        principal.require("memories:read")
        async with self.uow.begin(principal) as tx:
            row = _there(await tx.memories.get(memory_id))
            return (await memories_of(tx, [row]))[0]

    async def page(
        self, principal: Principal, selection: Selection, cursor: str | None, limit: int, *, count: bool
    ) -> Page[Memory]:
        """Memories, newest first."""
        principal.require("memories:read")
        before = decode_cursor(cursor, UUID)
        async with self.uow.begin(principal) as tx:
            rows = await tx.memories.page(selection, None if before is None else before[0], limit + 1)
            total = await tx.memories.count(selection) if count else None
            results = await memories_of(tx, rows[:limit])
        more = len(rows) > limit
        return Page(results=results, next_cursor=encode_cursor(rows[limit - 1]["id"]) if more else None, total=total)

    async def change(
        self, principal: Principal, memory_id: UUID, request: MemoryChange, if_match: int | None
    ) -> Memory:
        """Correct a memory. A new text gets its tokens and its vector before the old ones are gone."""
        principal.require("memories:write")
        at = clock.now()
        values = request.model_dump(exclude_unset=True, exclude={"version"})
        expected = if_match if if_match is not None else request.version
        vectors: list[Embedded] = []
        if request.text is not None:
            vectors = await self._vectors([TextToEmbed(memory_id, request.text, text_hash(request.text))])
        async with self.uow.begin(principal) as tx:
            before = _writable(principal, await tx.memories.get_for_update(memory_id))
            check_version(before["version"], expected)
            changed = await _change(tx, before, values, at)
            if request.text is not None:
                await tx.vectors.put_memories((await self.embedder.record()).id, vectors)
                if not vectors:
                    await _embed_later(tx, await memories_of(tx, [changed]), at)
            await tx.memories.record([_event("updated", before, changed, principal.actor, at, set(values))])
            return (await memories_of(tx, [changed]))[0]

    async def delete(self, principal: Principal, memory_id: UUID, if_match: int | None) -> None:
        """Delete a memory: it is invisible at once and can be brought back for a while."""
        principal.require("memories:write")
        at = clock.now()
        async with self.uow.begin(principal) as tx:
            before = _writable(principal, await tx.memories.get_for_update(memory_id))
            check_version(before["version"], if_match)
            await tx.owners.lock_and_change(before["owner"], OwnerChange(memories=-1, memory_tokens=-before["length"]))
            values = {"status": "deleted", "deleted_at": at, "updated_at": at}
            changed = await tx.memories.change(memory_id, values)
            await tx.memories.record([_event("deleted", before, changed, principal.actor, at, {"status"})])

    async def history(self, principal: Principal, memory_id: UUID) -> MemoryHistory:
        """Everything that happened to a memory, a deleted one too."""
        principal.require("memories:read")
        async with self.uow.begin(principal) as tx:
            if not await tx.memories.exists(memory_id):
                raise no_memory()
            rows = await tx.memories.history(memory_id)
        return MemoryHistory(results=[_event_of(row) for row in rows])

    async def _embed(self, drafts: Sequence[Draft]) -> tuple[list[Embedded], list[str]]:
        if len(drafts) > EMBEDDED_AT_ONCE:
            return [], []
        texts = [TextToEmbed(draft.row["id"], draft.row["text"], draft.analysis.content_hash) for draft in drafts]
        vectors = await self._vectors(texts)
        return vectors, [] if vectors else ["embedding"]

    async def _vectors(self, texts: Sequence[TextToEmbed]) -> list[Embedded]:
        """Vectors, or none where the model is unavailable: a memory is stored all the same."""
        try:
            return await self.embedder.passages(texts)
        except EmbeddingUnavailable:
            return []


@dataclass(frozen=True, slots=True)
class _Add:
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
                _event("added" if row["created"] else "reinforced", None, row, self.actor, self.at, _SHOWN)
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


_SHOWN: Final = frozenset({"text", "kind", "key", "value", "category", "source", "importance", "status"})
_DATED: Final = frozenset({"expires_at", "occurred_at", "valid_from", "valid_to"})


def _draft(principal: Principal, memory: MemoryIn, analysis: Analysis, at: datetime) -> Draft:
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


async def _change(tx: Transaction, before: Row, values: dict[str, Any], at: datetime) -> Row:
    text = values.get("text")
    if text is None:
        return await tx.memories.change(before["id"], values | {"updated_at": at})
    analysis = (await analyse_all([text]))[0]
    twin = await tx.memories.twin(before, analysis.content_hash)
    if twin is not None:
        raise Invalid("Another active memory says the same already.", code="duplicate_memory")
    await tx.owners.lock_and_change(before["owner"], OwnerChange(memory_tokens=analysis.length - before["length"]))
    derived = {
        "content_hash": analysis.content_hash,
        "length": analysis.length,
        "tokens": estimate_tokens(text),
        "updated_at": at,
    }
    changed = await tx.memories.change(before["id"], values | derived)
    await tx.memories.unindex(before["id"])
    await tx.memories.index(before["owner"], [Posting(before["id"], analysis.frequencies, analysis.length)])
    return changed


async def _embed_later(tx: Transaction, stored: Sequence[Memory], at: datetime) -> UUID:
    """A job for the vectors of memories that have none yet."""
    users = {memory.user_id for memory in stored}
    return await tx.jobs.enqueue(
        "embed_memories",
        str(ids.new_id()),
        at,
        user_id=users.pop() if len(users) == 1 else None,
        payload={"memory_ids": [memory.id for memory in stored]},
    )


async def memories_of(tx: Transaction, rows: Sequence[Row]) -> list[Memory]:
    """Memories as answers have them, each with its sources."""
    by_memory = await sources_of(tx, [row["id"] for row in rows])
    return [_memory(row, by_memory.get(row["id"], [])) for row in rows]


async def sources_of(tx: Transaction, memory_ids: Sequence[UUID]) -> dict[UUID, list[MemorySource]]:
    """Where memories come from, by memory."""
    found: dict[UUID, list[MemorySource]] = {}
    if not memory_ids:
        return found
    for row in await tx.memories.sources(memory_ids):
        found.setdefault(row["memory_id"], []).append(
            MemorySource(
                session_id=row["session_id"],
                seqs=row["seqs"],
                message_ids=[str(message_id) for message_id in row["message_ids"]],
                external_ids=row["external_ids"],
                quote=row["quote"],
            )
        )
    return found


def _memory(row: Row, sources: list[MemorySource]) -> Memory:
    derived = {"id", "sources", "shared", "superseded_by"}
    superseded_by = row["superseded_by"]
    return Memory(
        id=str(row["id"]),
        sources=sources,
        shared=row["owner"] == Scope().owner,
        superseded_by=None if superseded_by is None else str(superseded_by),
        **{name: row[name] for name in Memory.model_fields if name not in derived},
    )


def _event(
    action: str, before: Row | None, after: Row, actor: str, at: datetime, names: set[str] | frozenset[str]
) -> dict[str, Any]:
    """A line of history: only the columns that matter to it."""
    return {
        "id": ids.new_id(),
        "memory_id": after["id"],
        "action": action,
        "actor": actor,
        "before": None if before is None else _columns(before, names),
        "after": _columns(after, names),
        "created_at": at,
    }


def _columns(row: Row, names: set[str] | frozenset[str]) -> dict[str, Any]:
    return {
        name: row[name].isoformat() if name in _DATED and row[name] is not None else row[name] for name in sorted(names)
    }


def _event_of(row: Row) -> MemoryEvent:
    job_id = row["job_id"]
    return MemoryEvent(
        id=str(row["id"]),
        job_id=None if job_id is None else str(job_id),
        **{name: row[name] for name in MemoryEvent.model_fields if name not in {"id", "job_id"}},
    )


def no_memory() -> NotFound:
    """An absent or a foreign memory: the answer is the same."""
    return NotFound("There is no such memory.", code="memory_not_found")


def _there(row: Row | None) -> Row:
    if row is None:
        raise no_memory()
    return row


def _writable(principal: Principal, row: Row | None) -> Row:
    """A memory that this key may change: its user's, or a shared one where the key may write those."""
    found = _there(row)
    if principal.user_ids is not None and found["user_id"] is None:
        raise Forbidden("A key that is bound to users cannot write shared memories.", code="foreign_user")
    if found["owner"] == Scope().owner:
        principal.require("shared:write")
    return found
