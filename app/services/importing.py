"""Import: lines of an export with their ids, sources and times; or memories of another system, marked as imported."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from pydantic import ValidationError

from app.core import clock
from app.core.errors import BadRequest, Invalid, TooLarge
from app.core.strict_json import loads
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.repositories.owners import OwnerChange
from app.repositories.transfer import TABLES
from app.schemas.memories import MemoriesAdd, MemoryIn
from app.schemas.transfer import ForeignMemory, Imported
from app.services.disputes import agree
from app.services.import_storing import Numbered, Storing
from app.services.memories import MemoryService
from app.services.redacting import Redacting
from app.services.transfer_rows import FORMAT, LINKS, VERSION, bad_line
from app.uow import UnitOfWork

ROWS_AT_ONCE: Final = 200
FOREIGN: Final = "foreign"
DEEPEST: Final = 64
LONGEST: Final = 32 * 1024 * 1024
"""Bytes of a line: no row that the service takes by itself becomes a longer one, as it is configured by default."""


@dataclass(slots=True)
class _Read:
    """Lines of one kind that wait to be stored together, and what has been stored before."""

    began: datetime
    kind: str | None = None
    rows: list[Numbered] = field(default_factory=list)
    owners: set[str] = field(default_factory=set)
    brought: set[UUID] = field(default_factory=set)
    done: Imported = field(default_factory=lambda: Imported(lines=0, stored={}, known=0, unreadable=0))


@dataclass(frozen=True, slots=True)
class ImportService:
    """The use case of importing. Each part is a transaction: stopped anywhere, the whole can be sent again."""

    uow: UnitOfWork
    memories: MemoryService
    redacting: Redacting

    async def run(
        self,
        principal: Principal,
        user_id: str | None,
        lines: AsyncIterator[bytes],
        progress: Callable[[int], None] = lambda _: None,
    ) -> Imported:
        """Store lines.

        Args:
            principal: An administrator of the tenant.
            user_id: Whose lines they must be; None: a tenant's.
            lines: NDJSON.
            progress: Told how many more lines are done.

        Raises:
            Conflict: A user whose lines they are has been erased since it began.
            Invalid: A line is none of an export, is another user's, or contradicts what is stored; the answer names it.
                Or there is none.
        """
        principal.require_administration()
        principal.require("memories:write")
        principal.require("sessions:write")
        read = _Read(clock.now())
        try:
            async for raw in lines:
                read.done.lines += 1
                if raw.strip():
                    kind, row = _parsed(raw, read.done.lines, user_id)
                    if kind != read.kind or len(read.rows) >= ROWS_AT_ONCE:
                        progress(await self._flush(principal, user_id, read))
                        read.kind = kind
                    if kind is not None:
                        read.rows.append((read.done.lines, row))
            if not read.done.lines:
                raise Invalid("Send the lines of an export: there is not one.", code="nothing_to_import")
            progress(await self._flush(principal, user_id, read))
        finally:  # what came before a line that is refused is stored, and must be in order
            await self._settle(principal.tenant_id, principal.actor, read)
        return read.done

    async def _flush(self, principal: Principal, user_id: str | None, read: _Read) -> int:
        rows, read.rows = read.rows, []
        if not rows or read.kind is None:
            return 0
        if read.kind == FOREIGN:
            await self._foreign(principal, user_id, read, [row for _, row in rows])
            return len(rows)
        async with self.uow.begin(principal) as tx:
            stored = await Storing(tx, user_id, read.began, principal.actor, read.brought).put(read.kind, rows)
        if read.kind != LINKS:
            read.done.stored[read.kind] = read.done.stored.get(read.kind, 0) + stored.new
        read.done.known += stored.known
        read.owners |= stored.owners
        return len(rows)

    async def _foreign(
        self, principal: Principal, user_id: str | None, read: _Read, rows: list[dict[str, Any]]
    ) -> None:
        found = [MemoryIn(**row, user_id=user_id, source="imported") for row in rows]
        await self.memories.add(principal, MemoriesAdd(memories=found), None, began=read.began)
        read.done.stored["memories"] = read.done.stored.get("memories", 0) + len(found)

    async def _settle(self, tenant_id: UUID, actor: str, read: _Read) -> None:
        """What contradicts each other is disputed, whichever of it was there before; counters are made anew."""
        for owner in sorted(read.owners):
            user_id = Scope.of_owner(owner).user_id
            async with self.uow.begin_tenant(tenant_id) as tx:
                if user_id is not None:
                    await tx.users.touch([user_id], read.began)
                await tx.owners.lock_and_change(owner, OwnerChange())
                await agree(tx, [owner], actor, read.began)
                await tx.owners.recount(owner)


def _parsed(raw: bytes, number: int, user_id: str | None) -> tuple[str | None, dict[str, Any]]:
    """A line's kind and row; no kind for the header."""
    try:
        line = loads(raw, max_depth=DEEPEST)
    except BadRequest as error:
        raise bad_line(number, "it is not JSON") from error
    if not isinstance(line, dict):
        raise bad_line(number, "it is no object")
    if line.get("format") == FORMAT:
        if line.get("version") != VERSION:
            raise bad_line(number, "this version of the format is not known here")
        return None, {}
    if "table" not in line:
        return FOREIGN, _foreign_row(line, number, user_id)
    table, row = line["table"], line.get("row")
    if not isinstance(row, dict) or (table not in TABLES and table != LINKS):
        raise bad_line(number, "it has no row of a table that is known here")
    if table == "memories" and row.get("sealed"):
        raise bad_line(number, "it is sealed: export it with a key that has the scope sensitive")
    return table, row


def _foreign_row(line: dict[str, Any], number: int, user_id: str | None) -> dict[str, Any]:
    if user_id is None:
        raise bad_line(number, "memories of other systems are imported user by user")
    try:
        return ForeignMemory.model_validate(line).model_dump(exclude_unset=True)
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False)[0]
        raise bad_line(number, f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}") from error


async def split_lines(chunks: AsyncIterator[bytes], longest: int = LONGEST) -> AsyncIterator[bytes]:
    """Lines of a stream. Raises `TooLarge` at a line of more than `longest` bytes, before more of it is read."""
    parts: list[bytes] = []
    size = 0
    async for chunk in chunks:
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            yield b"".join([*parts, end])
            parts, size = [], 0
        parts.append(rest)
        size += len(rest)
        if size > longest:
            raise TooLarge(f"A line of the import exceeds {longest} bytes.", code="import_line_too_long")
    if size:
        yield b"".join(parts)


def dumped(done: Imported) -> str:
    """The outcome as one line of JSON."""
    return json.dumps(done.model_dump(), ensure_ascii=False)
