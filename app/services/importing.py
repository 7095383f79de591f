"""Import: lines of an export with their ids, sources and times; or memories of another system, marked as imported."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from pydantic import ValidationError

from app.core import clock
from app.core.errors import BadRequest
from app.core.sealing import Unsealable
from app.core.strict_json import loads
from app.core.text.digest import text_hash
from app.domain.principal import Principal
from app.domain.scope import Scope
from app.repositories.owners import OwnerChange
from app.repositories.postings import Posting
from app.repositories.transfer import TABLES, Unstorable
from app.schemas.memories import MemoriesAdd, MemoryIn
from app.schemas.transfer import ForeignMemory, Imported
from app.services.analysis import analyse_all
from app.services.memories import MemoryService
from app.services.redacting import Redacting
from app.services.transfer_rows import FORMAT, LINKS, VERSION, bad_line, row_in
from app.services.writing import embed_later, no_sealing
from app.uow import Transaction, UnitOfWork

ROWS_AT_ONCE: Final = 200
FOREIGN: Final = "foreign"
DEEPEST: Final = 64


@dataclass(slots=True)
class _Read:
    """Lines of one kind that wait to be stored together, and what has been stored before."""

    kind: str | None = None
    first: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)
    owners: set[str] = field(default_factory=set)
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
            Invalid: A line is none of an export, or contradicts what is stored; the answer names it.
        """
        principal.require_administration()
        principal.require("memories:write")
        principal.require("sessions:write")
        read = _Read()
        async for raw in lines:
            read.done.lines += 1
            if raw.strip():
                kind, row = _parsed(raw, read.done.lines, user_id)
                if kind != read.kind or len(read.rows) >= ROWS_AT_ONCE:
                    progress(await self._flush(principal, user_id, read))
                    read.kind, read.first = kind, read.done.lines
                if kind is not None:
                    read.rows.append(row)
        progress(await self._flush(principal, user_id, read))
        await self._count(principal.tenant_id, read.owners)
        return read.done

    async def _flush(self, principal: Principal, user_id: str | None, read: _Read) -> int:
        rows, read.rows = read.rows, []
        if not rows or read.kind is None:
            return 0
        if read.kind == FOREIGN:
            await self._foreign(principal, user_id, read, rows)
            return len(rows)
        async with self.uow.begin(principal) as tx:
            storing = _Storing(tx, read)
            try:
                await storing.put(read.kind, rows)
            except Unstorable as error:
                raise bad_line(
                    read.first, f"{read.kind} contradicts or misses something, here or soon after"
                ) from error
        return len(rows)

    async def _foreign(
        self, principal: Principal, user_id: str | None, read: _Read, rows: list[dict[str, Any]]
    ) -> None:
        found = [MemoryIn(**row, user_id=user_id, source="imported") for row in rows]
        await self.memories.add(principal, MemoriesAdd(memories=found), None)
        read.done.stored["memories"] = read.done.stored.get("memories", 0) + len(found)

    async def _count(self, tenant_id: UUID, owners: set[str]) -> None:
        """Counters are made anew from the rows."""
        for owner in sorted(owners):
            async with self.uow.begin_tenant(tenant_id) as tx:
                await tx.owners.lock_and_change(owner, OwnerChange())
                await tx.owners.recount(owner)


@dataclass(frozen=True, slots=True)
class _Storing:
    """One part within its transaction."""

    tx: Transaction
    read: _Read

    async def put(self, kind: str, rows: list[dict[str, Any]]) -> None:
        """Store rows of one table that are new, with what is computed from them."""
        if kind == LINKS:
            await self.tx.transfer.link([(UUID(row["id"]), UUID(row["superseded_by"])) for row in rows])
            return
        numbered = [row_in(kind, row, self.read.first + place) for place, row in enumerate(rows)]
        if kind == "memory_sources":
            await self._with_sessions_that_are_there(numbered)
        if kind == "memories":
            numbered = [self._memory(row) for row in numbered]
        stored = {key[0] for key in await self.tx.transfer.put(TABLES[kind], numbered)} if kind in _INDEXED else None
        if stored is None:
            count = len(await self.tx.transfer.put(TABLES[kind], numbered))
        else:
            count = len(stored)
            await self._index(kind, [row for row in numbered if row["id"] in stored])
        done = self.read.done
        done.stored[kind] = done.stored.get(kind, 0) + count
        done.known += len(numbered) - count
        self.read.owners |= {row["owner"] for row in numbered if kind in {"memories", "messages", "sessions"}}

    def _memory(self, row: dict[str, Any]) -> dict[str, Any]:
        """Its hash, and the seal of this installation."""
        if not row.get("sensitive"):
            return row | {"content_hash": text_hash(row["text"]), "sealed": None}
        try:
            return row | self.tx.sealed_columns(row)
        except Unsealable as error:
            raise no_sealing() from error

    async def _with_sessions_that_are_there(self, rows: list[dict[str, Any]]) -> None:
        named = {row["session_id"] for row in rows} - {None}
        known = await self.tx.transfer.known_sessions(sorted(named))
        for row in rows:
            if row["session_id"] not in known:
                row["session_id"] = None

    async def _index(self, kind: str, rows: list[dict[str, Any]]) -> None:
        """Words at once, vectors by jobs."""
        if kind == "sessions":
            for row in rows:
                await self.tx.jobs.enqueue("embed_messages", row["id"], clock.now(), user_id=row["user_id"])
            return
        plain = [row for row in rows if row.get("sealed") is None]
        analyses = await analyse_all([row["text"] for row in plain])
        by_owner: dict[str, list[Posting]] = {}
        for row, analysis in zip(plain, analyses, strict=True):
            posting = Posting(row["id"], analysis.frequencies, analysis.length)
            by_owner.setdefault(row["owner"], []).append(posting)
        for owner, postings in by_owner.items():
            index = self.tx.memories.index if kind == "memories" else self.tx.messages.index
            await index(owner, postings)
        if kind == "memories" and plain:
            whose = Scope.of_owner(plain[0]["owner"]).user_id if len(by_owner) == 1 else None
            await embed_later(self.tx, [row["id"] for row in plain], clock.now(), whose)


_INDEXED: Final = frozenset({"memories", "messages", "sessions"})


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
    if user_id is not None:
        _check_owner(row, number, user_id)
    return table, row


def _check_owner(row: Mapping[str, Any], number: int, user_id: str) -> None:
    """A user's import brings nothing to others."""
    if row.get("owner", Scope(user_id).owner) != Scope(user_id).owner or row.get("user_id", user_id) != user_id:
        raise bad_line(number, "it is another user's")


def _foreign_row(line: dict[str, Any], number: int, user_id: str | None) -> dict[str, Any]:
    if user_id is None:
        raise bad_line(number, "memories of other systems are imported user by user")
    try:
        return ForeignMemory.model_validate(line).model_dump(exclude_unset=True)
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False)[0]
        raise bad_line(number, f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}") from error


async def split_lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Lines of a stream."""
    rest = b""
    async for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line
    if rest:
        yield rest


def dumped(done: Imported) -> str:
    """The outcome as one line of JSON."""
    return json.dumps(done.model_dump(), ensure_ascii=False)
