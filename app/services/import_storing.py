"""One part of an import in its transaction: what its rows hang on, whose they are, and what is computed from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from app.core import clock
from app.core.sealing import Unsealable
from app.core.text.digest import text_hash
from app.domain.scope import Scope
from app.repositories.owners import OwnerChange
from app.repositories.postings import Posting
from app.repositories.ties import PLACE, SESSION, TIES, Tie, keys_of
from app.repositories.transfer import TABLES, Unstorable
from app.services.analysis import analyse_all
from app.services.keying import KeySettlement
from app.services.transfer_rows import LINKS, bad_line, row_in
from app.services.writing import embed_later, no_sealing
from app.uow import Transaction

Numbered = tuple[int, dict[str, Any]]
"""A row, behind the number of its line."""

_INDEXED: Final = frozenset({"memories", "messages", "sessions"})
_OF_THE_TENANT: Final = frozenset({"memory_keys", "key_aliases"})
_NAMES_SESSIONS: Final = frozenset({"memory_sources", "experiences"})


@dataclass(slots=True)
class Stored:
    """What has become of the rows of one part."""

    new: int = 0
    known: int = 0
    owners: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Storing:
    """Stores rows of one table.

    `user_id` is whose they must be (None: a tenant's), `began` when the import did. `brought` gathers the memories with
    keys that it has brought: what they are to each other, they were where they come from.
    """

    tx: Transaction
    user_id: str | None
    began: datetime
    actor: str
    brought: set[UUID]

    async def put(self, kind: str, given: Sequence[Numbered]) -> Stored:
        """Store rows that are new, with what is computed from them.

        Raises:
            Conflict: A user of theirs is being erased, or was since the import began.
            Invalid: A row is none, is not the user's, or contradicts what is stored; the answer names its line.
        """
        rows = [(number, row_in(kind, row, number)) for number, row in given]
        owners = {owner for number, row in rows if (owner := self._own(kind, row, number)) is not None}
        for tie in TIES.get(kind, ()):
            owners |= await self._tied(kind, tie, rows)
        users = {user for owner in owners if (user := Scope.of_owner(owner).user_id) is not None}
        if kind != "users":
            await self.tx.users.touch(users, self.began)
        stored = await self._put(kind, rows)
        if kind == "memory_conflicts":
            stored.owners |= owners
        await self.tx.users.refuse_erased(users, self.began)
        return stored

    def _own(self, kind: str, row: Mapping[str, Any], number: int) -> str | None:
        """Whose a row is, as far as it says so itself."""
        mine = self.user_id
        if mine is not None and kind in _OF_THE_TENANT:
            raise bad_line(number, "it is the tenant's, not a user's")
        claimed = row["id"] if kind == "users" else row.get("user_id")
        names_user = kind == "users" or (kind != LINKS and "user_id" in TABLES[kind].columns)
        owner = row.get("owner") or (Scope(claimed).owner if claimed is not None else None)
        if mine is not None and ((names_user and claimed != mine) or owner not in {None, Scope(mine).owner}):
            raise bad_line(number, "it is another user's")
        if names_user and "owner" in row and row["owner"] != _owner_by_scope(kind, row):
            raise bad_line(number, f"owner of {kind} is not whom the rest of it names")
        return owner

    async def _tied(self, kind: str, tie: Tie, rows: Sequence[Numbered]) -> set[str]:
        """Look at what rows hang on; whose that is."""
        named = {row[tie.column] for _, row in rows if row.get(tie.column) is not None}
        owners = await self.tx.ties.owners_of(tie.parent, named, locked=kind == "messages")
        mine = None if self.user_id is None else Scope(self.user_id).owner
        for number, row in rows:
            key = row.get(tie.column)
            if key is None:
                continue
            owner = owners.get(key)
            if owner is None:
                raise bad_line(number, f"{tie.column} of {kind} names nothing that is there")
            nobodys = tie.may_be_nobodys and Scope.of_owner(owner).user_id is None
            if mine is not None and owner != mine and not nobodys:
                raise bad_line(number, f"{tie.column} of {kind} names what is another user's")
            if tie.one_owner and row["owner"] != owner:
                raise bad_line(number, f"owner of {kind} is not that of its {tie.column}")
        return set(owners.values())

    async def _put(self, kind: str, rows: list[Numbered]) -> Stored:
        if kind == LINKS:
            await self.tx.transfer.link([(row["id"], row["superseded_by"]) for _, row in rows])
            return Stored()
        if kind in _NAMES_SESSIONS:
            await self._with_sessions_that_are_there(rows)
        if kind == "memories":
            rows = [(number, self._memory(row)) for number, row in rows]
        table = TABLES[kind]
        try:
            keys = set(await self.tx.transfer.put(table, [row for _, row in rows]))
        except Unstorable as error:
            raise bad_line(rows[0][0], f"{kind} contradicts or misses something, here or soon after") from error
        names = keys_of(table)
        fresh = [row for _, row in rows if tuple(row[name] for name in names) in keys]
        await self._same_as_stored(kind, [one for one in rows if tuple(one[1][name] for name in names) not in keys])
        if kind in _INDEXED:
            await self._index(kind, fresh)
        if kind == "memories":
            self.brought.update(row["id"] for _, row in rows if row.get("key") is not None)
            await self._settle([row["id"] for row in fresh if row.get("key") is not None])
        if kind == "messages":
            await self.tx.ties.follow(_last(fresh))
        owners = {row["owner"] for _, row in rows} if kind in _INDEXED else set()
        return Stored(len(keys), len(rows) - len(keys), owners)

    async def _settle(self, ids: Sequence[UUID]) -> None:
        """Where another value was current here under a key, one of the two closes the other, as with any write."""
        if not ids:
            return
        at = clock.now()
        settlement = KeySettlement(self.tx, self.actor, at)
        rows = await self.tx.memories.by_ids(ids)
        for owner in sorted({row["owner"] for row in rows}):
            await self.tx.owners.lock_and_change(owner, OwnerChange())
        for row in rows:
            if row["status"] != "active" or row["uncertain"]:
                continue
            rivals = await self.tx.facts.rivals(row, at)
            if any(rival["id"] not in self.brought for rival in rivals):
                await settlement.settle(row, newest_wins=False)

    async def _same_as_stored(self, kind: str, rows: Sequence[Numbered]) -> None:
        """Rows that were not stored must be there already, in the same place of the whole."""
        if not rows:
            return
        names = keys_of(TABLES[kind])
        found = await self.tx.ties.standing(TABLES[kind], [row for _, row in rows])
        standing = {tuple(one[name] for name in names): one for one in found}
        for number, row in rows:
            there = standing.get(tuple(row[name] for name in names))
            if there is None:
                raise bad_line(number, f"another row of {kind} has the place of this one")
            if any(row[name] != value for name, value in there.items() if name in row and _tells_apart(kind, name)):
                raise bad_line(number, f"another row of {kind} has the key of this one")

    def _memory(self, row: dict[str, Any]) -> dict[str, Any]:
        """Its hash, and the seal of this installation."""
        if not row.get("sensitive"):
            return row | {"content_hash": text_hash(row["text"]), "sealed": None}
        try:
            return row | self.tx.sealed_columns(row)
        except Unsealable as error:
            raise no_sealing() from error

    async def _with_sessions_that_are_there(self, rows: Sequence[Numbered]) -> None:
        """What names a session that is not there, or another user's, stays without it."""
        named = {row["session_id"] for _, row in rows if row.get("session_id") is not None}
        owners = await self.tx.ties.owners_of(SESSION, named)
        for _, row in rows:
            owner = owners.get(row.get("session_id"))
            whose = None if owner is None else Scope.of_owner(owner).user_id
            if owner is None or (self.user_id is not None and whose not in {None, self.user_id}):
                row["session_id"] = None

    async def _index(self, kind: str, rows: Sequence[dict[str, Any]]) -> None:
        """Words at once, vectors by jobs."""
        if kind == "sessions":
            for row in rows:
                await self.tx.jobs.enqueue("embed_messages", row["id"], clock.now(), user_id=row.get("user_id"))
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
            ids: list[UUID] = [row["id"] for row in plain]
            await embed_later(self.tx, ids, clock.now(), whose)


def _owner_by_scope(kind: str, row: Mapping[str, Any]) -> str:
    session_id = row["id"] if kind == "sessions" else row.get("session_id")
    return Scope(row.get("user_id"), row.get("agent_id"), row.get("app_id"), session_id).owner


def _tells_apart(kind: str, name: str) -> bool:
    return name in PLACE or (kind == "messages" and name == "session_id")


def _last(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The highest number of a message by session."""
    last: dict[str, int] = {}
    for row in rows:
        last[row["session_id"]] = max(row["seq"], last.get(row["session_id"], 0))
    return last
