"""The one write path of memories: drafted, deduplicated, indexed, embedded, noted."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from app.core import ids
from app.core.errors import Contention, Forbidden, Invalid
from app.core.sealing import Unsealable
from app.domain.gate.instructions import is_instruction
from app.domain.keys import spelled
from app.domain.memory import Source, default_importance, default_weight, traits_of
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.repositories.base import Row
from app.repositories.owners import OwnerChange
from app.repositories.postings import Posting
from app.repositories.vectors import Embedded
from app.schemas.memories import Memory, MemoryIn, SourceIn
from app.services.analysis import Analysis
from app.services.closing import uncount
from app.services.history import SHOWN, event_row
from app.services.keying import KeySettlement
from app.services.keys import canonical_keys
from app.services.presenting import is_current, memories_of, no_memory
from app.uow import Transaction

NOT_THE_USERS: Final[frozenset[Source]] = frozenset({"tool_observed", "assistant_said", "imported"})
"""Sources whose orders are nobody's wishes: they are kept as data, uncertain until somebody vouches for them."""


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
    newest_wins: bool = False
    """Whether what is written now is current under its key even where another value has been valid since later."""

    settles_keys: bool = True
    """Whether rivals under a key are closed here; where conflicts are resolved, that has decided about them."""

    async def run(self, drafts: Sequence[Draft], vectors: Sequence[Embedded], model_id: int) -> list[Memory]:
        """Store the drafts, or reinforce what says the same; the memories come back in the drafts' order."""
        await self._check_sessions(drafts)
        names = await canonical_keys(self.tx, {draft.row["key"] for draft in drafts if draft.row["key"] is not None})
        for draft in drafts:
            if draft.row["key"] is not None:
                draft.row["key"] = names[draft.row["key"]].key
        await self._seal_as_before(drafts)
        hidden = {draft.row["id"] for draft in drafts if draft.row.get("sensitive")}
        vectors = [vector for vector in vectors if vector.target not in hidden]
        drafts = [self._sealed(draft) for draft in drafts]
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
        await self._add_sources(rows, drafts)
        rows = await self._settled(rows)
        shown = {memory.id: memory for memory in await memories_of(self.tx, list(rows.values()))}
        return [shown[str(rows[_identity(draft.row)]["id"])] for draft in drafts]

    async def _seal_as_before(self, drafts: Sequence[Draft]) -> None:
        """Let nothing come in clear under a key whose present value is sealed."""
        open_ones = [draft for draft in drafts if draft.row["key"] is not None and not draft.row.get("sensitive")]
        if open_ones:
            places = {(draft.row["owner"], draft.row["key"]) for draft in open_ones}
            sealed = await self.tx.facts.sealed(places, self.at)
            for draft in open_ones:
                draft.row["sensitive"] = (draft.row["owner"], draft.row["key"]) in sealed

    def _sealed(self, draft: Draft) -> Draft:
        """A draft with nothing but a placeholder in clear, if it is sensitive. Its quotes are not kept."""
        if not draft.row.get("sensitive"):
            return draft
        try:
            row = draft.row | self.tx.sealed_columns(draft.row)
        except Unsealable as error:
            raise no_sealing() from error
        bare = draft.memory.model_copy(
            update={"sources": [one.model_copy(update={"quote": None}) for one in draft.memory.sources]}
        )
        nothing = replace(draft.analysis, frequencies={}, length=0, tokens=1, content_hash=row["content_hash"])
        return Draft(row, nothing, bare)

    async def repeat(self, known: Row, draft: Draft) -> Row:
        """Reinforce a memory that a draft says again in other words: the draft's source is kept, its text is not."""
        said = await self.tx.memories.reinforce(known["id"], draft.row)
        event = event_row("reinforced", known, said, self.actor, self.at, SHOWN | {"seen_count"})
        await self.tx.memories.record([event | {"before": {"seen_count": known["seen_count"]}}])
        await self._add_sources({_identity(draft.row): said}, [draft])
        return said

    async def _settled(self, rows: dict[tuple[Any, ...], Row]) -> dict[tuple[Any, ...], Row]:
        """The rows after their keys have one current value each."""
        keyed = {identity: row for identity, row in rows.items() if row["key"] is not None}
        if not keyed or not self.settles_keys:
            return rows
        settlement = KeySettlement(self.tx, self.actor, self.at)
        for row in keyed.values():
            await settlement.settle(row, newest_wins=self.newest_wins)
        now = {row["id"]: row for row in await self.tx.memories.by_ids([row["id"] for row in keyed.values()])}
        return rows | {identity: now[row["id"]] for identity, row in keyed.items()}

    async def _store(
        self, owner: str, drafts: dict[tuple[Any, ...], Draft], vectors: Sequence[Embedded], model_id: int
    ) -> dict[tuple[Any, ...], Row]:
        length = sum(draft.analysis.length for draft in drafts.values())
        await self.tx.owners.lock_and_change(owner, OwnerChange(memories=len(drafts), memory_tokens=length))
        rows = await self._put(drafts)
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
        await self.tx.memories.record([self._noted(row) for row in rows.values()])
        for identity, draft in drafts.items():
            if identity not in fresh:
                rows[identity] = await self._take_over(rows[identity], draft)
        return rows

    async def _take_over(self, known: Row, draft: Draft) -> Row:
        """What was said before gets what the caller names now and is another: a new version, or none at all."""
        given = draft.memory.model_fields_set
        values: dict[str, Any] = {
            name: draft.row[name]
            for name in ("category", "importance", "weight", "use", "pinned")
            if name in given and draft.row[name] is not None and draft.row[name] != known[name]
        }
        metadata = known["metadata"] | draft.row["metadata"]
        if metadata != known["metadata"]:
            values["metadata"] = metadata
        if not values:
            return known
        changed = await self.tx.memories.change(known["id"], values | {"updated_at": self.at})
        await self.tx.memories.record([event_row("updated", known, changed, self.actor, self.at, set(values))])
        return changed

    async def _put(self, drafts: dict[tuple[Any, ...], Draft]) -> dict[tuple[Any, ...], Row]:
        """Store or reinforce. What has expired is not brought back by it: it gives way to a new memory."""
        stored = await self.tx.memories.put([draft.row for draft in drafts.values()])
        rows = {_identity(row): row for row in stored}
        over = {identity: row for identity, row in rows.items() if not is_current(row, self.at) and not row["created"]}
        for row in over.values():
            await self._retire(row)
        if over:
            again = await self.tx.memories.put([drafts[identity].row for identity in over])
            rows |= {_identity(row): row for row in again}
        return rows

    async def _retire(self, row: Row) -> None:
        await uncount(self.tx, row)
        retired = await self.tx.memories.change(row["id"], {"status": "expired", "updated_at": self.at})
        await self.tx.memories.record([event_row("updated", row, retired, self.actor, self.at, {"status"})])

    def _noted(self, row: Row) -> dict[str, Any]:
        if row["created"]:
            return event_row("added", None, row, self.actor, self.at, SHOWN)
        event = event_row("reinforced", None, row, self.actor, self.at, SHOWN | {"seen_count"})
        counted = row["seen_count"] - 1
        return event | {"before": {"seen_count": counted}, "changed": {"seen_count": [counted, row["seen_count"]]}}

    async def _add_sources(self, rows: dict[tuple[Any, ...], Row], drafts: Sequence[Draft]) -> None:
        """Where they come from, those of a text that was given twice together."""
        named: dict[str, set[int]] = {}
        for draft in drafts:
            for source in draft.memory.sources:
                named.setdefault(source.session_id, set()).update(source.seqs)
        messages = {
            session_id: {row["seq"]: row for row in await self.tx.messages.by_seqs(session_id, sorted(seqs))}
            for session_id, seqs in named.items()
        }
        if any(len(messages[session_id]) < len(seqs) for session_id, seqs in named.items()):
            raise Invalid("A source names messages that do not exist.", code="source_not_found")
        await self.tx.memories.add_sources(
            [
                self._source(rows[_identity(draft.row)]["id"], source, messages[source.session_id])
                for draft in drafts
                for source in draft.memory.sources
            ]
        )

    def _source(self, memory_id: UUID, source: SourceIn, messages: Mapping[int, Row]) -> dict[str, Any]:
        meant = [messages[seq] for seq in sorted(set(source.seqs))]
        return {
            "id": ids.new_id(),
            "memory_id": memory_id,
            "session_id": source.session_id,
            "seqs": [row["seq"] for row in meant],
            "message_ids": [row["id"] for row in meant],
            "external_ids": [row["external_id"] for row in meant if row["external_id"] is not None],
            "quote": source.quote,
            "created_at": self.at,
        }

    async def _check_sessions(self, drafts: Sequence[Draft]) -> None:
        named = {draft.row["session_id"] for draft in drafts} - {None}
        named |= {source.session_id for draft in drafts for source in draft.memory.sources}
        for session_id in sorted(named):
            if not await self.tx.sessions.hold(session_id, self.at):
                raise Invalid("A memory names a session that does not exist.", code="session_not_found")


def draft_of(principal: Principal, memory: MemoryIn, analysis: Analysis, at: datetime) -> Draft:
    """The columns of a memory that a client states."""
    scope = _write_scope(principal, memory)
    traits = traits_of(memory.source)
    ordering = memory.source in NOT_THE_USERS and is_instruction(memory.text)
    ttl = (
        memory.ttl
        if memory.ttl is not None or memory.expires_at is not None
        else principal.defaults.ttl_of(memory.kind)
    )
    expires_at = memory.expires_at if ttl is None else at + timedelta(seconds=ttl)
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
        # A lesson says what to do by its nature: it stays apart from facts, fenced, and is flagged.
        "uncertain": traits.uncertain or (ordering and memory.kind != "procedural"),
        "flags": ["instruction"] if ordering else [],
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
        "sensitive": memory.sensitive or is_sensitive(principal, memory.key),
        "sealed": None,
    }
    return Draft(row, analysis, memory)


def is_sensitive(principal: Principal, key: str | None) -> bool:
    """Whether the tenant has what stands under a key sealed, in whatever spelling it is written."""
    sealed = principal.defaults.sensitive_keys
    return key is not None and (key.startswith(sealed) or spelled(key).startswith(sealed))


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
    return (*scope, row["kind"], bytes(row["content_hash"]), row["key"], _canonical(row["value"]))


def _canonical(value: Any) -> str | None:  # noqa: ANN401 - JSON is anything
    """A value as text, the same before and after the database has held it: it gives whole numbers without a point."""
    if value is None:
        return None
    return json.dumps(_whole(value), sort_keys=True)


def _whole(value: Any) -> Any:  # noqa: ANN401 - JSON is anything
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _whole(part) for name, part in value.items()}
    return [_whole(part) for part in value] if isinstance(value, list) else value


def no_sealing() -> Invalid:
    """What a write that is to be sealed gets where there is no key."""
    return Invalid(
        "This installation has no sealing key: set SEALING_KEYS or SEALING_KEY_FILE.", code="sealing_unavailable"
    )


async def embed_later(tx: Transaction, memory_ids: Sequence[UUID], at: datetime, user_id: str | None) -> UUID:
    """A job for the vectors of memories that have none yet; `user_id` where they are all one user's."""
    payload = {"memory_ids": [str(memory_id) for memory_id in memory_ids]}
    return await tx.jobs.enqueue("embed_memories", str(ids.new_id()), at, user_id=user_id, payload=payload)


def user_of(stored: Sequence[Memory]) -> str | None:
    """Whose memories they are, where they are one user's."""
    users = {memory.user_id for memory in stored}
    return users.pop() if len(users) == 1 else None


async def locked_memory(
    tx: Transaction,
    principal: Principal,
    memory_id: UUID,
    *,
    deleted_too: bool = False,
    unexpired_at: datetime | None = None,
) -> Row:
    """A memory to be changed, with its owner locked before it: adds take their locks in the same order.

    With `unexpired_at` one that is past its time by then is not there.
    """
    if deleted_too:
        seen = writable(principal, await tx.memories.get_any(memory_id))
    else:
        seen = writable(principal, await tx.memories.get(memory_id, unexpired_at=unexpired_at))
    await tx.owners.lock_and_change(seen["owner"], OwnerChange())
    if deleted_too:
        found = writable(principal, await tx.memories.get_any_for_update(memory_id))
    else:
        found = writable(principal, await tx.memories.get_for_update(memory_id, unexpired_at=unexpired_at))
    if found["owner"] != seen["owner"]:
        raise Contention("The memory was given to another user at this moment.")
    return found


def writable(principal: Principal, row: Row | None) -> Row:
    """A memory that this key may change: its user's, or a shared one where the key may write those."""
    if row is None:
        raise no_memory()
    if principal.user_ids is not None and row["user_id"] is None:
        raise Forbidden("A key that is bound to users cannot write shared memories.", code="foreign_user")
    if row["owner"] == Scope().owner:
        principal.require("shared:write")
    return row
