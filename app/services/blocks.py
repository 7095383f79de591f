"""Core memory (MemGPT): labelled texts with a limit, changed by agents, every version kept."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from app.core import clock, ids
from app.core.errors import Forbidden, Invalid, NotFound, PreconditionFailed
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.repositories.base import Row
from app.schemas.blocks import Block, BlockPatch, BlockPut, BlockVersion
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.services.answers import Answer, Write, write_once
from app.services.redacting import Redacting
from app.services.sessions import check_version
from app.uow import Transaction, UnitOfWork


@dataclass(frozen=True, slots=True)
class BlockAddress:
    """Which block: its label within a user's, an agent's, both's or the tenant's own."""

    label: str
    user_id: str | None
    agent_id: str | None


@dataclass(frozen=True, slots=True)
class BlockService:
    """The use cases of blocks."""

    uow: UnitOfWork
    redacting: Redacting

    async def get(self, principal: Principal, address: BlockAddress) -> Block:
        """One block."""
        principal.require("memories:read")
        async with self.uow.begin(principal, reading=True) as tx:
            return _block(_there(await tx.blocks.get(address.label, address.user_id, address.agent_id)))

    async def page(
        self,
        principal: Principal,
        user_id: str | None,
        agent_id: str | None,
        cursor: str | None,
        limit: int,
        *,
        count: bool,
    ) -> Page[Block]:
        """Blocks, oldest first."""
        principal.require("memories:read")
        after = decode_cursor(cursor, UUID)
        async with self.uow.begin(principal, reading=True) as tx:
            rows = await tx.blocks.page(user_id, agent_id, None if after is None else after[0], limit + 1)
            total = await tx.blocks.count(user_id, agent_id) if count else None
        more = len(rows) > limit
        return Page(
            results=[_block(row) for row in rows[:limit]],
            next_cursor=encode_cursor(rows[limit - 1]["id"]) if more else None,
            total=total,
        )

    async def put(self, write: Write, address: BlockAddress, request: BlockPut) -> Answer:
        """Make a block (201) or replace it whole."""
        principal = write.principal
        owner = _writable_owner(principal, address)
        cleaned = await self.redacting.clean(principal, request)
        request = cleaned.request
        _check_length(request.text, request.limit)
        at = clock.now()
        values: dict[str, Any] = {
            "text": request.text,
            "description": request.description,
            "char_limit": request.limit,
            "read_only": request.read_only,
            "updated_at": at,
        }

        async def work(tx: Transaction) -> Answer:
            current = await tx.blocks.get_for_update(address.label, address.user_id, address.agent_id)
            if current is not None:
                _check_changeable(principal, current, write.expected(request.version))
                row = await tx.blocks.change(current["id"], values)
            else:
                check_version(0, write.expected(request.version))
                if address.user_id is not None:
                    await tx.users.touch([address.user_id], at)
                row = await self._create(tx, address, owner, values)
            await tx.blocks.note(row, principal.actor, at)
            body = _block(row).model_copy(update={"redacted": cleaned.kinds()})
            return Answer(201 if current is None else 200, body)

        return await write_once(self.uow, write, Block, work)

    async def patch(self, write: Write, address: BlockAddress, request: BlockPatch) -> Answer:
        """Append, replace a part, or write single fields."""
        principal = write.principal
        _writable_owner(principal, address)
        cleaned = await self.redacting.clean(principal, request)
        request = cleaned.request
        at = clock.now()

        async def work(tx: Transaction) -> Answer:
            current = _there(await tx.blocks.get_for_update(address.label, address.user_id, address.agent_id))
            _check_changeable(principal, current, write.expected(request.version))
            text = _changed_text(current["text"], request)
            limit = request.limit or current["char_limit"]
            _check_length(text, limit)
            named = request.model_dump(include={"description", "read_only"}, exclude_unset=True)
            values = named | {"text": text, "char_limit": limit, "updated_at": at}
            row = await tx.blocks.change(current["id"], values)
            await tx.blocks.note(row, principal.actor, at)
            return Answer(200, _block(row).model_copy(update={"redacted": cleaned.kinds()}))

        return await write_once(self.uow, write, Block, work)

    async def delete(self, write: Write, address: BlockAddress) -> Answer:
        """Remove a block and its versions."""
        _writable_owner(write.principal, address)

        async def work(tx: Transaction) -> Answer:
            current = _there(await tx.blocks.get_for_update(address.label, address.user_id, address.agent_id))
            _check_changeable(write.principal, current, write.if_match)
            await tx.blocks.delete(current["id"])
            return Answer(204, None)

        return await write_once(self.uow, write, None, work)

    async def versions(
        self, principal: Principal, address: BlockAddress, cursor: str | None, limit: int, *, count: bool
    ) -> Page[BlockVersion]:
        """The texts that a block had, newest first."""
        principal.require("memories:read")
        before = decode_cursor(cursor, int)
        async with self.uow.begin(principal) as tx:
            current = _there(await tx.blocks.get(address.label, address.user_id, address.agent_id))
            rows = await tx.blocks.versions(current["id"], None if before is None else before[0], limit + 1)
        more = len(rows) > limit
        return Page(
            results=[BlockVersion(**{name: row[name] for name in BlockVersion.model_fields}) for row in rows[:limit]],
            next_cursor=encode_cursor(rows[limit - 1]["version"]) if more else None,
            total=current["version"] if count else None,
        )

    @staticmethod
    async def _create(tx: Transaction, address: BlockAddress, owner: str, values: dict[str, Any]) -> Row:
        scope = {"label": address.label, "user_id": address.user_id, "agent_id": address.agent_id}
        row = await tx.blocks.create(
            {"id": ids.new_id(), "owner": owner, "created_at": values["updated_at"], **scope, **values}
        )
        if row is None:
            raise PreconditionFailed("Somebody made this block at the same moment: read it and repeat the change.")
        return row


def _writable_owner(principal: Principal, address: BlockAddress) -> str:
    principal.require("memories:write")
    scope = Scope(address.user_id, address.agent_id)
    if principal.user_ids is not None and (address.user_id is None or address.user_id not in principal.user_ids):
        raise Forbidden("This key is bound to users and may write their own blocks only.", code="foreign_user")
    if scope.empty:
        principal.require("shared:write")
    return scope.owner


def _check_changeable(principal: Principal, current: Row, expected: int | None) -> None:
    check_version(current["version"], expected)
    if current["read_only"] and "admin" not in principal.scopes:
        raise Forbidden("This block is read-only.", code="read_only")


def _check_length(text: str, limit: int) -> None:
    if len(text) > limit:
        raise Invalid(
            f"The text would have {len(text)} characters, the block's limit is {limit}: shorten it, or move details "
            "to a memory.",
            code="block_full",
        )


def _changed_text(text: str, request: BlockPatch) -> str:
    if request.append is not None:
        return f"{text}\n{request.append}" if text else request.append
    if request.replace is not None:
        times = text.count(request.replace.old)
        if times != 1:
            raise Invalid(f"The old text must occur exactly once; it occurs {times} times.", code="old_text_not_unique")
        return text.replace(request.replace.old, request.replace.new)
    return text if request.text is None else request.text


def _there(row: Row | None) -> Row:
    if row is None:
        raise NotFound("There is no such block.", code="block_not_found")
    return row


def _block(row: Row) -> Block:
    derived = {"limit": row["char_limit"], "characters": len(row["text"])}
    own = [name for name in Block.model_fields if name not in {*derived, "redacted"}]
    return Block(**derived, **{name: row[name] for name in own})
