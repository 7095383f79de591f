"""Procedures as a folder of Markdown files with front matter: what was imported is exported byte for byte."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from pydantic import ValidationError

from app.core import clock
from app.core.errors import Conflict, Invalid
from app.core.strict_json import fault_of
from app.domain.front_matter import Document, FrontMatterFault, read, slug, written
from app.domain.principal import Principal
from app.domain.procedure import ProcedureStatus
from app.domain.scope import Scope
from app.repositories.base import RowLike
from app.repositories.owners import OwnerChange
from app.repositories.vectors import Embedded
from app.schemas.lists import Page, decode_cursor, encode_cursor
from app.schemas.procedures import (
    ExportedFile,
    ImportedProcedure,
    ImportedProcedures,
    ProcedureContent,
    ProcedureFile,
    ProcedureImport,
)
from app.services.answers import Answer, Write, write_once
from app.services.embedding import Embedder
from app.services.proceduring import CONTENT, Filed, Fresh, ProcedureWriter, card_text, embedded, fresh_of
from app.services.redacting import Cleaned, Redacting
from app.services.writing import locked_memory
from app.uow import Transaction, UnitOfWork

OWN: Final = ("title", "when_to_use", "description", "tags", "steps", "examples", "status")
"""Fields of the front matter that are a procedure's own; `name` and all others are kept as they are."""


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file, and what it says."""

    fresh: Fresh
    status: ProcedureStatus


@dataclass(frozen=True, slots=True)
class ProcedureFiles:
    """The use cases of files."""

    uow: UnitOfWork
    embedder: Embedder
    redacting: Redacting

    async def import_files(self, write: Write, request: ProcedureImport) -> Answer:
        """Make each file a procedure, or a further version of the one that has its path; all files, or none.

        Raises:
            Invalid: A file is none that can be read; `errors` name each.
        """
        principal = write.principal
        principal.require("memories:write")
        cleaned = await self.redacting.clean(principal, request)
        at = clock.now()
        documents = await asyncio.to_thread(_read_all, cleaned.request.files)
        contents = [content for content, _ in documents]
        fields = [content.model_dump(include=set(CONTENT)) for content in contents]
        made = await fresh_of(principal, request, fields, at)
        vectors = await embedded(self.embedder, {one.card.row["id"]: one.card.row["text"] for one in made})
        model_id = (await self.embedder.record()).id
        files = [
            ReadFile(_filed(fresh, file, extra), content.status)
            for fresh, file, (content, extra) in zip(made, cleaned.request.files, documents, strict=True)
        ]

        async def work(tx: Transaction) -> Answer:
            writer = ProcedureWriter(tx, principal.actor, at, model_id, vectors)
            told = [await _import(tx, principal, writer, file) for file in files]
            return Answer(201, ImportedProcedures(results=_redacted(told, cleaned), degraded=_degraded(vectors)))

        return await write_once(self.uow, write, ImportedProcedures, work)

    async def export(self, principal: Principal, scope: Scope, cursor: str | None, limit: int) -> Page[ExportedFile]:
        """The procedures of exactly a scope as files, by age."""
        principal.require("memories:read")
        after = decode_cursor(cursor, UUID)
        async with self.uow.begin(principal) as tx:
            rows = await tx.procedures.of_scope(scope, None if after is None else after[0], limit + 1)
        more = len(rows) > limit
        return Page(
            results=[ExportedFile(path=row["path"], content=file_of(row)) for row in rows[:limit]],
            next_cursor=encode_cursor(rows[limit - 1]["id"]) if more else None,
        )


def file_of(row: RowLike) -> str:
    """A procedure as its file: as it was imported where nothing has changed since, else written anew."""
    if row["file"] is not None:
        return str(row["file"])
    fields = {"name": slug(row["title"]), **row["front_matter"]}
    fields |= {"description": row["when_to_use"]}
    if fields["name"] != row["title"]:
        fields["title"] = row["title"]
    fields |= {name: row[name] for name in ("tags", "steps", "examples") if row[name]}
    if row["card"] == "archived":
        fields["status"] = "draft"
    return written(Document(fields, row["body"]))


async def _import(tx: Transaction, principal: Principal, writer: ProcedureWriter, file: ReadFile) -> ImportedProcedure:
    fresh = file.fresh
    row, path = fresh.card.row, fresh.filed.path or ""
    if row["user_id"] is not None:
        await tx.users.touch([row["user_id"]], writer.at)
    await tx.owners.lock_and_change(row["owner"], OwnerChange())
    known = await tx.procedures.by_path(Scope(row["user_id"], row["agent_id"], row["app_id"]), path)
    if known is None:
        try:
            made = await writer.create(fresh, file.status)
        except Conflict as error:
            raise Conflict(f"{path}: {error.detail}", code=error.code) from error
        return ImportedProcedure(path=path, id=str(made["id"]), version=1, result="created")
    if file_of(known) == fresh.filed.file:
        return ImportedProcedure(path=path, id=str(known["id"]), version=known["version"], result="unchanged")
    card = await locked_memory(tx, principal, known["id"])
    vectors = [_for(known["id"], one) for one in writer.vectors if one.target == row["id"]]
    filed = {"file": fresh.filed.file, "front_matter": dict(fresh.filed.front_matter)}
    own = ProcedureWriter(tx, writer.actor, writer.at, writer.model_id, vectors)
    changed = await own.change(known, card, fresh.fields, filed, file.status)
    return ImportedProcedure(path=path, id=str(known["id"]), version=changed["version"], result="updated")


def _for(procedure_id: UUID, vector: Embedded) -> Embedded:
    return replace(vector, target=procedure_id)


def _filed(fresh: Fresh, file: ProcedureFile, extra: Mapping[str, Any]) -> Fresh:
    return Fresh(fresh.card, fresh.fields, Filed(file.path, extra, file.content))


def _read_all(files: Sequence[ProcedureFile]) -> list[tuple[ProcedureContent, dict[str, Any]]]:
    """What the files say, and what of their front matter is not ours."""
    documents: list[tuple[ProcedureContent, dict[str, Any]]] = []
    faults: list[dict[str, Any]] = []
    seen: dict[str, str] = {}
    for place, file in enumerate(files):
        try:
            content, extra = _read_one(file)
        except FrontMatterFault as error:
            faults.append({"loc": ["body", "files", place, "content"], "msg": f"{file.path}: {error}", "type": "file"})
            continue
        text = card_text(content.model_dump())
        if text in seen:
            message = f"{file.path}: says the title and the use of {seen[text]} again"
            faults.append({"loc": ["body", "files", place, "content"], "msg": message, "type": "file"})
        seen[text] = file.path
        documents.append((content, extra))
    if faults:
        raise Invalid("Some files cannot be read as procedures.", code="bad_procedure_file", errors=faults)
    return documents


def _read_one(file: ProcedureFile) -> tuple[ProcedureContent, dict[str, Any]]:
    document = read(file.content)
    fields = dict(document.fields)
    given: dict[str, Any] = {
        "title": fields.get("title") or fields.get("name") or "",
        "when_to_use": fields.get("when_to_use") or fields.get("description") or "",
        "body": document.body,
        **{name: fields[name] for name in ("tags", "steps", "examples", "status") if fields.get(name)},
    }
    if isinstance(given.get("tags"), str):
        given["tags"] = [tag for tag in given["tags"].replace(",", " ").split() if tag]
    try:
        content = ProcedureContent.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise FrontMatterFault(f"{where}: {first['msg']}") from error
    extra = {name: value for name, value in fields.items() if name not in OWN}
    fault = fault_of(extra)
    if fault is not None:
        raise FrontMatterFault(fault)
    return content, extra


def _redacted(told: Sequence[ImportedProcedure], cleaned: Cleaned[ProcedureImport]) -> list[ImportedProcedure]:
    return [one.model_copy(update={"redacted": cleaned.kinds("files", place)}) for place, one in enumerate(told)]


def _degraded(vectors: Sequence[Embedded]) -> list[str]:
    return [] if vectors else ["embedding"]
