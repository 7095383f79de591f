"""Memories: the one write path for what a client states, and what an admin reads, corrects and deletes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from app.core import clock
from app.core.errors import Conflict, Invalid
from app.core.sealing import Unsealable
from app.core.text.digest import text_hash
from app.domain.budget import estimate_tokens
from app.domain.memory import VISIBLE_STATUSES
from app.domain.principal import Principal
from app.domain.redaction import SecretKind
from app.repositories.base import Row
from app.repositories.idempotency import IdempotencyClaim
from app.repositories.owners import OwnerChange
from app.repositories.postings import Posting
from app.repositories.sealed import CONTENTS
from app.repositories.selection import Selection, Then
from app.repositories.vectors import Embedded
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.schemas.memories import AddedMemories, AddedMemory, MemoriesAdd, Memory, MemoryAdd, MemoryChange, MemoryHistory
from app.services.analysis import analyse_all
from app.services.answers import Answer, Write, write_once
from app.services.closing import remove
from app.services.disputes import follow
from app.services.embedding import Embedder, TextToEmbed
from app.services.history import event_of, event_row
from app.services.keying import KeySettlement
from app.services.keys import canonical_key
from app.services.past import as_known
from app.services.presenting import memories_of, no_memory
from app.services.redacting import Redacting
from app.services.reviewing import review_later
from app.services.sessions import check_version
from app.services.writing import (
    Draft,
    MemoryWriter,
    draft_of,
    embed_later,
    is_sensitive,
    locked_memory,
    no_sealing,
    user_of,
)
from app.uow import Transaction, UnitOfWork

EMBEDDED_AT_ONCE: Final = 100
"""Up to so many explicit adds are embedded before the answer; more are embedded by a job."""


@dataclass(frozen=True, slots=True)
class MemoryService:
    """The use cases of memories."""

    uow: UnitOfWork
    embedder: Embedder
    redacting: Redacting
    reviews: bool
    """Whether a job holds what is added against what is there."""

    async def add(
        self,
        principal: Principal,
        request: MemoryAdd | MemoriesAdd,
        claim: IdempotencyClaim | None,
        began: datetime | None = None,
    ) -> Answer:
        """Keep memories: what is known already is reinforced, and comes back under the id that it has.

        `began` is when the call did, if that was earlier: who was erased since is not brought back.
        """
        principal.require("memories:write")
        at = began or clock.now()
        cleaned = await self.redacting.clean(principal, request)
        request = cleaned.request
        given = request.memories if isinstance(request, MemoriesAdd) else [request]
        analyses = await analyse_all([memory.text for memory in given])
        drafts = [draft_of(principal, memory, analysis, at) for memory, analysis in zip(given, analyses, strict=True)]
        vectors, degraded = await self._embed(drafts)
        model_id = (await self.embedder.record()).id  # looked up before a connection is held: never two at once
        many = isinstance(request, MemoriesAdd)

        async def work(tx: Transaction) -> Answer:
            stored = await MemoryWriter(tx, principal.actor, at).run(drafts, vectors, model_id)
            stored = [
                _told(memory, cleaned.kinds(*(("memories", place) if many else ())))
                for place, memory in enumerate(stored)
            ]
            if self.reviews:
                await review_later(tx, stored, user_of(stored))
            if not many:
                if degraded:
                    await embed_later(tx, [UUID(one.id) for one in stored], at, user_of(stored))
                return Answer(201, AddedMemory(**stored[0].model_dump(), degraded=degraded))
            if not degraded and len(drafts) <= EMBEDDED_AT_ONCE:
                return Answer(201, AddedMemories(results=stored))
            job_id = await embed_later(tx, [UUID(one.id) for one in stored], at, user_of(stored))
            body = AddedMemories(results=stored, degraded=degraded, job_id=str(job_id), status="queued")
            return Answer(201 if len(drafts) <= EMBEDDED_AT_ONCE else 202, body)

        shape = AddedMemories if many else AddedMemory
        return await write_once(self.uow, Write(principal, claim), shape, work)

    async def get(self, principal: Principal, memory_id: UUID, then: Then) -> Memory:
        """One memory, until it is past its time; of another time, if it was there and true then."""
        principal.require("memories:read")
        async with self.uow.begin(principal, reading=True) as tx:
            row = _there(await tx.memories.get(memory_id, unexpired_at=None if then.past else clock.now()))
            if then.past and not await tx.memories.held(memory_id, then):
                raise no_memory()
            return (await memories_of(tx, await as_known(tx, [row], then.known_at)))[0]

    async def page(
        self, principal: Principal, selection: Selection, cursor: str | None, limit: int, *, count: bool
    ) -> Page[Memory]:
        """Memories, newest first."""
        principal.require("memories:read")
        before = decode_cursor(cursor, UUID)
        async with self.uow.begin(principal, reading=True) as tx:
            rows = await tx.memories.page(selection, None if before is None else before[0], limit + 1)
            total = await tx.memories.count(selection) if count else None
            results = await memories_of(tx, await as_known(tx, rows[:limit], selection.then.known_at))
        more = len(rows) > limit
        return Page(results=results, next_cursor=encode_cursor(rows[limit - 1]["id"]) if more else None, total=total)

    async def change(
        self,
        principal: Principal,
        memory_id: UUID,
        request: MemoryChange,
        if_match: int | None,
        claim: IdempotencyClaim | None = None,
    ) -> Answer:
        """Correct a memory. A new text gets its tokens and its vector before the old ones are gone."""
        principal.require("memories:write")
        at = clock.now()
        cleaned = await self.redacting.clean(principal, request, name=await self._key_of(principal, memory_id, request))
        request = cleaned.request
        values = request.model_dump(exclude_unset=True, exclude={"version"})
        expected = if_match if if_match is not None else request.version
        vectors: list[Embedded] = []
        sealed = request.text is not None and await self._is_sealed(principal, memory_id)
        if request.text is not None and not sealed:
            vectors = await self.embedder.passages_if_up(
                [TextToEmbed(memory_id, request.text, text_hash(request.text))]
            )
        record = None if request.text is None or sealed else await self.embedder.record()

        async def work(tx: Transaction) -> Answer:
            before = await locked_memory(tx, principal, memory_id, unexpired_at=at)
            check_version(before["version"], expected)
            await _check_card(tx, before)
            _check_sealing(principal, before, values)
            changed = await rewritten(tx, before, values, at)
            if "key" in values:
                await KeySettlement(tx, principal.actor, at).settle(changed, newest_wins=True)
            if record is not None:
                made = [] if changed["category"] == "lesson" else vectors  # a lesson is embedded by its task
                await tx.vectors.put_memories(record.id, made)
                if not made:
                    await embed_later(tx, [changed["id"]], at, changed["user_id"])
            await tx.memories.record([event_row("updated", before, changed, principal.actor, at, set(values))])
            await follow(tx, [(before, changed)], principal.actor, at)
            return Answer(200, _told((await memories_of(tx, [changed]))[0], cleaned.kinds()))

        return await write_once(self.uow, Write(principal, claim), Memory, work)

    async def delete(
        self, principal: Principal, memory_id: UUID, if_match: int | None, claim: IdempotencyClaim | None = None
    ) -> Answer:
        """Delete a memory: it is invisible at once and can be brought back for a while."""
        principal.require("memories:write")
        at = clock.now()

        async def work(tx: Transaction) -> Answer:
            before = await locked_memory(tx, principal, memory_id)
            check_version(before["version"], if_match)
            await remove(tx, before, principal.actor, at)
            return Answer(204, None)

        return await write_once(self.uow, Write(principal, claim), None, work)

    async def history(self, principal: Principal, memory_id: UUID) -> MemoryHistory:
        """Everything that happened to a memory, a deleted one too."""
        principal.require("memories:read")
        async with self.uow.begin(principal, reading=True) as tx:
            if not await tx.memories.exists(memory_id):
                raise no_memory()
            rows = await tx.memories.history(memory_id)
        return MemoryHistory(results=[event_of(row) for row in rows])

    async def _key_of(self, principal: Principal, memory_id: UUID, request: MemoryChange) -> str | None:
        """The key of a memory whose value is changed under it: its name says what the value is."""
        if request.value is None or request.key is not None:
            return None
        async with self.uow.begin(principal) as tx:
            row = await tx.memories.get(memory_id)
        return None if row is None else row["key"]

    async def _is_sealed(self, principal: Principal, memory_id: UUID) -> bool:
        async with self.uow.begin(principal) as tx:
            row = await tx.memories.get(memory_id)
        return row is not None and row["sealed"] is not None

    async def _embed(self, drafts: Sequence[Draft]) -> tuple[list[Embedded], list[str]]:
        if len(drafts) > EMBEDDED_AT_ONCE:
            return [], []
        texts = [
            TextToEmbed(draft.row["id"], draft.row["text"], draft.analysis.content_hash)
            for draft in drafts
            if not draft.row["sensitive"]  # a sealed text is sent to no model, and no vector tells of it
        ]
        if not texts:
            return [], []
        vectors = await self.embedder.passages_if_up(texts)
        return vectors, [] if vectors else ["embedding"]


async def _check_card(tx: Transaction, before: Row) -> None:
    if before["kind"] == "procedural" and await tx.procedures.holds(before["id"]):
        raise Conflict("This is the card of a procedure: change it under /v1/procedures.", code="procedure_card")


def _check_sealing(principal: Principal, before: Row, values: Mapping[str, Any]) -> None:
    """Nobody replaces what they may not read, and nothing comes under a key that is sealed without being sealed.

    Raises:
        Forbidden: The memory is sealed and the key has not the scope.
        Conflict: The new key is one that the tenant has sealed.
    """
    if before["sealed"] is not None and values.keys() & set(CONTENTS):
        principal.require("sensitive")
    if before["sealed"] is None and is_sensitive(principal, values.get("key")):
        raise Conflict("What stands under this key is sealed: add it anew under the key.", code="key_is_sealed")


async def rewritten(tx: Transaction, before: Row, values: dict[str, Any], at: datetime) -> Row:
    """Write fields of a memory whose row is locked; a new text gets its tokens, and the caller gives it its vector.

    Raises:
        Conflict: Another active memory says the same already.
    """
    values = await _named(tx, before, values)
    if before["sealed"] is not None and values.keys() & set(CONTENTS):
        return await _sealed_anew(tx, before, values, at)
    text = values.get("text")
    if text is None:
        await _check_twin(tx, before, values)
        return await tx.memories.change(before["id"], values | {"updated_at": at})
    analysis = (await analyse_all([text]))[0]
    derived = {
        "content_hash": analysis.content_hash,
        "length": analysis.length,
        "tokens": estimate_tokens(text),
        "updated_at": at,
    }
    await _check_twin(tx, before, values | derived)
    if before["status"] in VISIBLE_STATUSES:
        await tx.owners.lock_and_change(before["owner"], OwnerChange(memory_tokens=analysis.length - before["length"]))
    changed = await tx.memories.change(before["id"], values | derived)
    await tx.memories.unindex(before["id"])
    await tx.memories.index(before["owner"], [Posting(before["id"], analysis.frequencies, analysis.length)])
    return changed


async def _sealed_anew(tx: Transaction, before: Row, values: dict[str, Any], at: datetime) -> Row:
    """Write contents of a sealed memory: they are sealed too, and nothing is indexed."""
    try:
        columns = tx.sealed_columns(tx.opened(before) | values)
    except Unsealable as error:
        raise no_sealing() from error
    rest = {name: value for name, value in values.items() if name not in CONTENTS}
    return await tx.memories.change(before["id"], rest | columns | {"updated_at": at})


async def _named(tx: Transaction, before: Row, values: dict[str, Any]) -> dict[str, Any]:
    """The values with their key in its canonical spelling; a value needs a key."""
    if values.get("key") is not None:
        values = values | {"key": (await canonical_key(tx, values["key"])).key}
    if values.get("value", before["value"]) is not None and values.get("key", before["key"]) is None:
        raise Invalid("A value needs a key.", code="key_required")
    return values


async def _check_twin(tx: Transaction, before: Row, values: dict[str, Any]) -> None:
    if values.keys() & {"content_hash", "key", "value"} and await tx.memories.twin({**before, **values}) is not None:
        raise Conflict("Another active memory says the same already.", code="duplicate_memory")


def _told(memory: Memory, redacted: list[SecretKind]) -> Memory:
    return memory.model_copy(update={"redacted": redacted}) if redacted else memory


def _there(row: Row | None) -> Row:
    if row is None:
        raise no_memory()
    return row
