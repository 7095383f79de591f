"""MEMORY.md: served from what is known now, and taken back after somebody has edited it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from app.core import clock, ids
from app.core.errors import Invalid, PreconditionFailed
from app.domain.memory_file import (
    MOST_BYTES,
    MOST_LINES,
    Edits,
    Entry,
    edits_between,
    fitting,
    laid_out,
    lines_in,
    section_of,
    version_in,
    version_of,
)
from app.domain.principal import Principal
from app.domain.profile import tongue_of
from app.domain.scope import Scope
from app.domain.unrevealing import unrevealing
from app.repositories.base import Row
from app.repositories.owners import OwnerChange
from app.repositories.vectors import Embedded
from app.schemas.memory_file import EditedEntry, MemoryFileEdited, MemoryFileIn
from app.services.analysis import analyse_all
from app.services.answers import Answer, Write, write_once
from app.services.embedding import Embedder, TextToEmbed
from app.services.memory_file_writing import FileWriter, stated
from app.services.profiles import servable
from app.services.redacting import Redacting
from app.services.users import known_user
from app.services.writing import Draft, draft_of
from app.uow import Transaction, UnitOfWork

MOST_READ: Final = 1_000
"""Memories that are looked at for a file: those that matter most. A file has room for a fifth of them."""


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """The file as it is served."""

    text: str
    version: str
    entries: list[Entry]
    rows: dict[UUID, Row]


@dataclass(frozen=True, slots=True)
class MemoryFileService:
    """The use cases of `GET` and `PUT /v1/users/{id}/memory.md`."""

    uow: UnitOfWork
    embedder: Embedder
    redacting: Redacting

    async def get(self, principal: Principal, user_id: str) -> MemoryFile:
        """The file as of now."""
        principal.require("memories:read")
        async with self.uow.begin(principal) as tx:
            await known_user(tx, user_id)
            return await _current(tx, user_id)

    async def put(self, write: Write, user_id: str, text: str, if_match: str | None) -> Answer:
        """Take an edited file back: what it adds, changes and leaves out is the user's own word.

        Raises:
            Invalid: It is too long, or says nowhere which version was edited.
            PreconditionFailed: That is not the current version.
        """
        principal, at = write.principal, clock.now()
        principal.require("memories:write")
        served = await self.get(principal, user_id)
        _check_size(text)
        given = if_match or version_in(text)
        if given is None:
            raise Invalid("Send the ETag as If-Match, or keep the version's line in the file.", code="version_required")
        cleaned = await self.redacting.clean(principal, MemoryFileIn(text=text))
        _check_version(served, given)
        edits = edits_between(served.entries, lines_in(cleaned.request.text))
        said = stated(user_id, edits, served.rows)
        analyses = await analyse_all([one.text for one in said])
        drafts = [draft_of(principal, one, analysis, at) for one, analysis in zip(said, analyses, strict=True)]
        vectors = await self._vectors(drafts)
        model_id = (await self.embedder.record()).id

        async def work(tx: Transaction) -> Answer:
            await tx.owners.lock_and_change(Scope(user_id).owner, OwnerChange())
            now = await _current(tx, user_id)
            _check_version(now, given)
            body = MemoryFileEdited(version=now.version, added=[], changed=[], removed=[], undo_id=None)
            if edits:
                undo_id = ids.new_id()
                writer = FileWriter(tx, principal.actor, at, undo_id, model_id)
                written = await writer.run(edits, drafts, vectors)
                body = _told(edits, written, (await _current(tx, user_id)).version, undo_id)
            return Answer(200, body.model_copy(update={"redacted": cleaned.kinds()}))

        return await write_once(self.uow, write, MemoryFileEdited, work)

    async def _vectors(self, drafts: Sequence[Draft]) -> list[Embedded]:
        texts = [TextToEmbed(one.row["id"], one.row["text"], one.analysis.content_hash) for one in drafts]
        return await self.embedder.passages_if_up(texts) if texts else []


async def _current(tx: Transaction, user_id: str) -> MemoryFile:
    rows = await tx.profiles.known(Scope(user_id).owner, clock.now(), MOST_READ)
    mine: dict[UUID, Row] = {row["id"]: row for row in rows if servable(row, None) and not row["flags"]}
    shown = [(row, unrevealing(row["text"])) for row in mine.values()]
    found = [
        Entry(row["id"], section_of(row["category"]), text, " ".join(row["text"].split()), row["status"] == "disputed")
        for row, text in shown
        if text is not None
    ]
    tongue = tongue_of([one.text for one in found])
    entries = fitting(found, tongue)
    version = version_of(entries)
    return MemoryFile(laid_out(entries, tongue, version), version, entries, mine)


def _check_size(text: str) -> None:
    if not text.strip():  # whoever wants to empty it leaves the headings
        raise Invalid("Send the file: there is nothing in it, not even a heading.", code="memory_file_empty")
    if len(text.encode()) > MOST_BYTES or len(text.splitlines()) > MOST_LINES:
        raise Invalid(
            f"The file has more than {MOST_LINES} lines or {MOST_BYTES:,} bytes: keep what is worth it.",
            code="memory_file_too_long",
        )


def _check_version(served: MemoryFile, given: str) -> None:
    if given not in {served.version, "*"}:
        raise PreconditionFailed(
            f"The current version is {served.version}, not {given[:64]}: read it again and repeat the change.",
            extra={"current_version": served.version},
        )


def _told(edits: Edits, written: Sequence[Any], version: str, undo_id: UUID) -> MemoryFileEdited:
    """The answer; `written` are the memories of what was added, then of what was changed."""
    added = written[: len(edits.added)]
    changed = zip(written[len(edits.added) :], edits.changed, strict=True)
    moved = [(one, section) for one, section in edits.moved]
    return MemoryFileEdited(
        version=version,
        added=[EditedEntry(memory_id=one.id, text=one.text) for one in added],
        changed=[
            *(EditedEntry(memory_id=one.id, text=one.text, before=entry.whole) for one, (entry, _) in changed),
            *(EditedEntry(memory_id=str(one.memory_id), text=one.whole, before=one.whole) for one, _ in moved),
        ],
        removed=[EditedEntry(memory_id=str(one.memory_id), text=one.whole) for one in edits.removed],
        undo_id=str(undo_id),
    )
