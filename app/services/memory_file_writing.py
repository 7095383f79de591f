"""What an edited MEMORY.md changes among the memories it was made from, in one transaction that one id undoes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from app.core import ids
from app.core.errors import PreconditionFailed
from app.domain.memory_file import CATEGORIES, Edits, Entry, Line, section_of
from app.repositories.base import Row, RowLike
from app.repositories.vectors import Embedded
from app.schemas.memories import Memory, MemoryIn
from app.services.closing import remove, supersede
from app.services.context.facts import statements_of
from app.services.history import event_row
from app.services.presenting import is_current
from app.services.reviewing import review_later
from app.services.writing import Draft, MemoryWriter, embed_later
from app.uow import Transaction

REASON = "MEMORY.md was edited"


def stated(user_id: str, edits: Edits, rows: Mapping[UUID, Row]) -> list[MemoryIn]:
    """What the user states by the edits: of each line that was added, then of each that was changed."""
    added = [_added(user_id, line) for line in edits.added]
    return [*added, *(_changed(rows[entry.memory_id], entry, line) for entry, line in edits.changed)]


def _added(user_id: str, line: Line) -> MemoryIn:
    key, value = _keyed(line.text)
    return MemoryIn(text=line.text, user_id=user_id, category=CATEGORIES[line.section], key=key, value=value)


def _changed(row: RowLike, entry: Entry, line: Line) -> MemoryIn:
    """The old memory with another text; its key stays only where the new value is known."""
    key, value = None, None
    if row["key"] is not None:
        key, value = _keyed(line.text)
        if key != row["key"]:
            value = _replaced(row["value"], entry.whole, line.text)
            key = None if value is None else row["key"]
    kept = ("user_id", "agent_id", "app_id", "importance", "weight", "use", "pinned")
    same = section_of(row["category"]) == line.section
    category = row["category"] if same else CATEGORIES[line.section]
    return MemoryIn(text=line.text, key=key, value=value, category=category, **{name: row[name] for name in kept})


def _keyed(text: str) -> tuple[str | None, str | None]:
    """The key and the value that a line states by rule, if it states one thing."""
    found = [one for one in statements_of(text) if one.key is not None and one.change != "ends"]
    return (found[0].key, found[0].value) if len(found) == 1 and found[0].value is not None else (None, None)


def _replaced(value: Any, before: str, after: str) -> str | None:  # noqa: ANN401 - JSON is anything
    """What stands now where the value stood, if all around it is as it was."""
    if not isinstance(value, str) or before.count(value) != 1:
        return None
    head, tail = before.split(value)
    if not (after.startswith(head) and after.endswith(tail)) or len(after) <= len(head) + len(tail):
        return None
    return after[len(head) : len(after) - len(tail)]


@dataclass(frozen=True, slots=True)
class FileWriter:
    """Writes within a transaction that holds the owner's lock; every line of history has the id that undoes it."""

    tx: Transaction
    actor: str
    at: datetime
    undo_id: UUID
    model_id: int

    async def run(self, edits: Edits, drafts: Sequence[Draft], vectors: Sequence[Embedded]) -> list[Memory]:
        """Write; `drafts` are of what `stated` gave. The memories of the drafts."""
        first = ids.new_id()
        old = [one.memory_id for one, _ in (*edits.changed, *edits.moved)] + [one.memory_id for one in edits.removed]
        rows = {row["id"]: row for row in await self.tx.memories.any_for_update(old)}
        if any(name not in rows or not is_current(rows[name], self.at) for name in old):
            raise PreconditionFailed("A memory has changed at this moment: read the file again.")
        writer = MemoryWriter(self.tx, self.actor, self.at, newest_wins=True)
        written = await writer.run(drafts, vectors, self.model_id) if drafts else []
        fresh = written[len(edits.added) :]
        for memory, (entry, _) in zip(fresh, edits.changed, strict=True):
            await self._replace(entry.memory_id, memory)
        for entry, section in edits.moved:
            await self._move(rows[entry.memory_id], CATEGORIES[section])
        for entry in edits.removed:
            await remove(self.tx, rows[entry.memory_id], self.actor, self.at)
        new = [UUID(one.id) for one in written]
        if new and not vectors:
            await embed_later(self.tx, new, self.at, drafts[0].row["user_id"])
        await review_later(self.tx, written, None if not drafts else drafts[0].row["user_id"])
        displaced = [one for each in new for one in await self.tx.history.displaced_by(each)]
        await self.tx.history.gather([*old, *new, *displaced], self.actor, first, self.undo_id, REASON)
        return written

    async def _replace(self, memory_id: UUID, by: Memory) -> None:
        """Make the old memory history, unless its key has done that or the new text is the old one's."""
        if by.id == str(memory_id):
            return
        rows = [row for row in await self.tx.memories.by_ids([memory_id]) if is_current(row, self.at)]
        (new,) = await self.tx.memories.by_ids([UUID(by.id)])
        await supersede(self.tx, rows, new, self.actor, self.at)

    async def _move(self, row: Row, category: str) -> None:
        changed = await self.tx.memories.change(row["id"], {"category": category, "updated_at": self.at})
        await self.tx.memories.record([event_row("updated", row, changed, self.actor, self.at, {"category"})])
