"""The one write path of procedures: the card, which is a memory, and the rest of it, together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from app.core.errors import Conflict
from app.core.text.digest import text_hash
from app.domain.front_matter import slug
from app.domain.memory import EventAction, reinforced
from app.domain.principal import Principal
from app.domain.procedure import LOWERED, Outcome, ProcedureStatus
from app.domain.scope import Scope
from app.repositories.base import Row, RowLike
from app.repositories.owners import OwnerChange
from app.repositories.vectors import Embedded
from app.schemas.memories import MemoryIn
from app.schemas.procedures import ProcedureScope
from app.services.analysis import analyse_all
from app.services.closing import uncount
from app.services.embedding import Embedder, TextToEmbed
from app.services.history import event_row
from app.services.memories import rewritten
from app.services.writing import Draft, MemoryWriter, draft_of, embed_later
from app.uow import Transaction

CONTENT: Final = ("title", "when_to_use", "body", "steps", "examples", "tags")
"""What a procedure says, and each version keeps."""


@dataclass(frozen=True, slots=True)
class Filed:
    """Where a procedure is kept as a file; `file` is the very text, as long as it says what the procedure says."""

    path: str | None = None
    front_matter: Mapping[str, Any] = field(default_factory=dict)
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Fresh:
    """A procedure that is to be made, ready for its transaction."""

    card: Draft
    fields: Mapping[str, Any]
    filed: Filed = Filed()
    lesson_id: UUID | None = None


def card_text(fields: Mapping[str, Any] | RowLike) -> str:
    """What of a procedure is embedded and searched: its title in the first line, then when to use it."""
    return f"{fields['title']}\n{fields['when_to_use']}"


async def fresh_of(
    principal: Principal, whose: ProcedureScope, fields: Sequence[Mapping[str, Any]], at: datetime
) -> list[Fresh]:
    """Procedures that are to be made. Raises `Forbidden` where the key may not write there, `Invalid` for no scope."""
    analyses = await analyse_all([card_text(one) for one in fields])
    scope = whose.model_dump(include={"user_id", "agent_id", "app_id", "shared"})
    made = []
    for one, analysis in zip(fields, analyses, strict=True):
        memory = MemoryIn(text=card_text(one), kind="procedural", **scope)
        made.append(Fresh(draft_of(principal, memory, analysis, at), one))
    return made


async def embedded(embedder: Embedder, texts: Mapping[UUID, str]) -> list[Embedded]:
    """Vectors of cards; none where the model is down: a job makes them later."""
    return await embedder.passages_if_up([TextToEmbed(one, text, text_hash(text)) for one, text in texts.items()])


@dataclass(frozen=True, slots=True)
class ProcedureWriter:
    """Writes within a transaction. Locks: users, then the owner, then the card."""

    tx: Transaction
    actor: str
    at: datetime
    model_id: int
    vectors: Sequence[Embedded] = ()

    async def create(self, fresh: Fresh, status: ProcedureStatus) -> RowLike:
        """A new procedure. Raises `Conflict` where its scope has one of this title and use."""
        card = fresh.card
        if card.row["user_id"] is not None:
            await self.tx.users.touch([card.row["user_id"]], self.at)
        await self.tx.owners.lock_and_change(card.row["owner"], OwnerChange())
        path = fresh.filed.path or await self._free_path(card.row, fresh.fields["title"])
        mine = [vector for vector in self.vectors if vector.target == card.row["id"]]
        card.row["status"] = "archived" if status == "draft" else "active"
        (memory,) = await MemoryWriter(self.tx, self.actor, self.at).run([card], mine, self.model_id)
        if memory.id != str(card.row["id"]):
            raise Conflict(
                "A procedure with this title and use is there already: change that one.", code="duplicate_procedure"
            )
        if not mine:
            await embed_later(self.tx, [card.row["id"]], self.at, card.row["user_id"])
        row = {name: fresh.fields[name] for name in CONTENT} | {
            "id": card.row["id"],
            "owner": card.row["owner"],
            "path": path,
            "front_matter": dict(fresh.filed.front_matter),
            "file": fresh.filed.file,
            "lesson_id": fresh.lesson_id,
            "created_at": self.at,
            "updated_at": self.at,
        }
        await self.tx.procedures.create(row)
        if status == "draft":  # the writer has counted it, and nobody sees it
            await self.tx.owners.lock_and_change(card.row["owner"], OwnerChange(-1, -card.row["length"]))
        return await self._noted(card.row["id"])

    async def change(
        self,
        before: RowLike,
        card: Row,
        fields: Mapping[str, Any],
        filed: Mapping[str, Any],
        status: ProcedureStatus | None,
    ) -> RowLike:
        """A further version.

        Args:
            before: The procedure as it is.
            card: Its memory, locked.
            fields: All that it says from now on.
            filed: Columns of its file that change.
            status: What it becomes; None leaves that alone.
        """
        text, now = card_text(fields), card
        if text != card["text"]:
            now = await rewritten(self.tx, card, {"text": text}, self.at)
            await self.tx.memories.record([event_row("updated", card, now, self.actor, self.at, {"text"})])
        if text != card["text"] or status == "published":
            await self._index(now)
        if status == "published" and now["status"] == "archived":
            await self._publish(now)
        elif status == "draft" and now["status"] != "archived":
            await self._withdraw(now)
        values = {name: fields[name] for name in CONTENT} | dict(filed)
        values |= {"version": before["version"] + 1, "updated_at": self.at}
        await self.tx.procedures.change(before["id"], values)
        return await self._noted(before["id"])

    async def count(self, card: Row, outcome: Outcome, note: str | None) -> None:
        """Count how a use went, on a card that is locked; history tells it."""
        await self.tx.procedures.count_outcome(card["id"], outcome)
        await weigh(self.tx, card, outcome, note, self.actor, self.at)

    async def _noted(self, procedure_id: UUID) -> RowLike:
        row = await self.tx.procedures.get(procedure_id)
        assert row is not None  # noqa: S101 - it was written in this transaction
        document = {name: row[name] for name in CONTENT} | {"card": row["card"]}
        await self.tx.procedures.note(procedure_id, row["version"], document, self.actor, self.at)
        return row

    async def _index(self, card: Row) -> None:
        """Give a card its vector, if one was made of the text that it has."""
        wanted = text_hash(card["text"])
        mine = [one for one in self.vectors if one.target == card["id"] and one.text_hash == wanted]
        await self.tx.vectors.put_memories(self.model_id, mine)
        if not mine:
            await embed_later(self.tx, [card["id"]], self.at, card["user_id"])

    async def _publish(self, card: Row) -> None:
        if await self.tx.memories.twin(card) is not None:
            raise Conflict("A published procedure has this title and use already.", code="duplicate_procedure")
        await self.tx.owners.lock_and_change(card["owner"], OwnerChange(1, card["length"]))
        await self._set_status(card, "active")

    async def _withdraw(self, card: Row) -> None:
        await uncount(self.tx, card)
        await self._set_status(card, "archived")

    async def _set_status(self, card: Row, status: str) -> None:
        changed = await self.tx.memories.change(card["id"], {"status": status, "updated_at": self.at})
        await self.tx.memories.record([event_row("updated", card, changed, self.actor, self.at, {"status"})])

    async def _free_path(self, card: Mapping[str, Any], title: str) -> str:
        """A file name that no other procedure of the scope has. The owner is locked."""
        scope = Scope(card["user_id"], card["agent_id"], card["app_id"])
        name, number = slug(title), 1
        while await self.tx.procedures.by_path(scope, path := _path(name, number)) is not None:
            number += 1
        return path


def _path(name: str, number: int) -> str:
    return f"{name}/SKILL.md" if number == 1 else f"{name}-{number}/SKILL.md"


async def weigh(tx: Transaction, memory: Row, outcome: Outcome, note: str | None, actor: str, at: datetime) -> None:
    """Let how it went raise or lower the confidence of a memory that was followed; its row is locked."""
    raised = outcome == "success"
    confidence = reinforced(memory["confidence"]) if raised else memory["confidence"] * LOWERED
    changed = await tx.memories.change(memory["id"], {"confidence": confidence, "updated_at": at})
    action: EventAction = "feedback_used" if raised else "feedback_wrong"
    event = event_row(action, memory, changed, actor, at, {"confidence"})
    await tx.memories.record([event | {"reason": note}])
