"""Facts: one current value under a key; what it was before stays readable."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID

from app.core import clock
from app.core.errors import Conflict, NotFound
from app.domain.keys import spelled
from app.domain.memory import Category
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.repositories.base import RowLike
from app.repositories.owners import OwnerChange
from app.schemas.facts import Fact, FactPut, FactVersion, worded
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.schemas.memories import MemoryIn
from app.services.analysis import analyse_all
from app.services.answers import Answer, Write, write_once
from app.services.disputes import end_disputes
from app.services.embedding import Embedder, TextToEmbed
from app.services.history import event_row
from app.services.keys import canonical_key
from app.services.presenting import shown_status
from app.services.redacting import Redacting
from app.services.sessions import check_version
from app.services.writing import MemoryWriter, draft_of, embed_later
from app.uow import Transaction, UnitOfWork

Found = TypeVar("Found", bound=RowLike)


@dataclass(frozen=True, slots=True)
class FactService:
    """The use cases of facts."""

    uow: UnitOfWork
    embedder: Embedder
    redacting: Redacting

    async def put(self, write: Write, user_id: str, key: str, request: FactPut) -> Answer:
        """Set a key's value (201 where it had none). The value before it is superseded at once."""
        principal = write.principal
        principal.require("memories:write")
        owner = Scope(principal.own_user(user_id)).owner
        at = clock.now()
        async with self.uow.begin(principal) as tx:
            canonical = await canonical_key(tx, key)
            known = await tx.facts.current(owner, canonical.key, at)
        if any(row["sensitive"] for row in known):
            request = request.model_copy(update={"sensitive": True})  # what is sealed does not come out by a new value
        cleaned = await self.redacting.clean(principal, request, name=canonical.key)
        request = cleaned.request
        memory = _memory(user_id, canonical.key, request, at)
        draft = draft_of(principal, memory, (await analyse_all([memory.text]))[0], at)
        sealed = draft.row["sensitive"]
        texts = [] if sealed else [TextToEmbed(draft.row["id"], memory.text, draft.analysis.content_hash)]
        vectors = await self.embedder.passages_if_up(texts) if texts else []
        record = await self.embedder.record()
        expected = write.expected(request.version)

        async def work(tx: Transaction) -> Answer:
            await tx.users.touch([draft.row["user_id"]], at)  # users are locked before their owners' counters
            await tx.owners.lock_and_change(owner, OwnerChange())
            before = await tx.facts.current_for_update(owner, canonical.key, at)
            version = before[0]["version"] if before else 0
            check_version(version, expected)
            if not sealed and any(row["sensitive"] for row in before):
                raise Conflict("The fact was sealed in the meantime: try again.", code="sealed_meanwhile")
            draft.row["version"] = version + 1  # a fact's version goes on over its values
            writer = MemoryWriter(tx, principal.actor, at, newest_wins=True)
            stored = (await writer.run([draft], vectors, record.id))[0]
            if not vectors and not sealed:
                await embed_later(tx, [UUID(stored.id)], at, stored.user_id)
            row = _there(tx.shown(await tx.memories.by_ids([UUID(stored.id)])))
            return Answer(200 if before else 201, _fact(row).model_copy(update={"redacted": cleaned.kinds()}))

        return await write_once(self.uow, write, Fact, work)

    async def get(self, principal: Principal, user_id: str, key: str) -> Fact:
        """The current value under a key; another user's facts are as absent as those that are not there."""
        principal.require("memories:read")
        owner = Scope(user_id).owner
        async with self.uow.begin(principal, reading=True) as tx:
            canonical = await canonical_key(tx, key)
            return _fact(_there(tx.shown(await tx.facts.current(owner, canonical.key, clock.now()))))

    async def page(
        self, principal: Principal, user_id: str, prefix: str, cursor: str | None, limit: int, *, count: bool
    ) -> Page[Fact]:
        """A user's facts by key, of those that begin with a prefix."""
        principal.require("memories:read")
        owner = Scope(user_id).owner
        after = decode_cursor(cursor, str, UUID)
        begins = spelled(prefix) + ("." if prefix.endswith((".", "_", "-")) and spelled(prefix) else "")
        async with self.uow.begin(principal, reading=True) as tx:
            position = None if after is None else (after[0], after[1])
            at = clock.now()
            rows = tx.shown(await tx.facts.page(owner, begins, position, limit + 1, at))
            total = await tx.facts.count(owner, begins, at) if count else None
        last = rows[limit - 1] if len(rows) > limit else None
        return Page(
            results=[_fact(row) for row in rows[:limit]],
            next_cursor=None if last is None else encode_cursor(last["key"], last["id"]),
            total=total,
        )

    async def history(
        self, principal: Principal, user_id: str, key: str, cursor: str | None, limit: int
    ) -> Page[FactVersion]:
        """Every value that a key had, newest first, those too that were taken back."""
        principal.require("memories:read")
        before = decode_cursor(cursor, UUID)
        async with self.uow.begin(principal, reading=True) as tx:
            canonical = await canonical_key(tx, key)
            after = None if before is None else before[0]
            rows = tx.shown(await tx.facts.history(Scope(user_id).owner, canonical.key, after, limit + 1))
        if before is None:
            _there(rows)
        return Page(
            results=[_version(row) for row in rows[:limit]],
            next_cursor=encode_cursor(rows[limit - 1]["id"]) if len(rows) > limit else None,
        )

    async def delete(self, write: Write, user_id: str, key: str) -> Answer:
        """Take a fact back; its history stays."""
        principal = write.principal
        principal.require("memories:write")
        owner = Scope(user_id).owner
        at = clock.now()

        async def work(tx: Transaction) -> Answer:
            canonical = await canonical_key(tx, key)
            _there(await tx.facts.current(owner, canonical.key, at))
            await tx.owners.lock_and_change(owner, OwnerChange())
            rows = await tx.facts.current_for_update(owner, canonical.key, at)
            check_version(_there(rows)["version"], write.if_match)
            gone = OwnerChange(-len(rows), -sum(row["length"] for row in rows))
            await tx.owners.lock_and_change(owner, gone)
            values = {"status": "deleted", "deleted_at": at, "updated_at": at}
            changed = [(row, await tx.memories.change(row["id"], values)) for row in rows]
            await tx.memories.record(
                [event_row("deleted", old, new, principal.actor, at, {"status"}) for old, new in changed]
            )
            await end_disputes(tx, rows, principal.actor, at)
            return Answer(204, None)

        return await write_once(self.uow, write, None, work)


def _memory(user_id: str, key: str, request: FactPut, at: datetime) -> MemoryIn:
    value = request.text if request.value is None else request.value
    return MemoryIn(
        text=request.text or f"{key}: {worded(value)}",
        key=key,
        value=value,
        user_id=user_id,
        category=_category(key),
        importance=request.importance,
        occurred_at=request.occurred_at,
        expires_at=None if request.ttl is None else at + timedelta(seconds=request.ttl),
        sensitive=request.sensitive,
    )


def _category(key: str) -> Category:
    families: dict[str, Category] = {
        "user": "identity",
        "preference": "preference",
        "project": "project",
        "tool": "tool_config",
        "goal": "goal",
    }
    return families.get(key.partition(".")[0], "other")


def _fact(row: RowLike) -> Fact:
    own = {name: row[name] for name in Fact.model_fields if name not in {"memory_id", "redacted"}}
    return Fact(memory_id=str(row["id"]), **own)


def _version(row: RowLike) -> FactVersion:
    own = {name: row[name] for name in FactVersion.model_fields if name not in {"memory_id", "status"}}
    return FactVersion(memory_id=str(row["id"]), status=shown_status(row, clock.now()), **own)


def _there(rows: Sequence[Found]) -> Found:
    if not rows:
        raise NotFound("There is no such fact.", code="fact_not_found")
    return rows[0]
