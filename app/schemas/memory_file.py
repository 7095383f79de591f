"""MEMORY.md in requests and answers."""

from pydantic import Field

from app.domain.redaction import SecretKind
from app.schemas.fields import MessageText, RequestModel, ResponseModel


class MemoryFileIn(RequestModel):
    """An edited file, once it is read."""

    text: MessageText


class EditedEntry(ResponseModel):
    """What became of a line."""

    memory_id: str
    text: str
    before: str | None = Field(None, description="What the memory said before, where the line was changed")


class MemoryFileEdited(ResponseModel):
    """What was taken over from an edited file."""

    version: str = Field(description="Of the file as it is now, the ETag's")
    added: list[EditedEntry]
    changed: list[EditedEntry] = Field(description="The new memory; the one that it replaces is history")
    removed: list[EditedEntry] = Field(description="Deleted; they can be brought back for 30 days")
    undo_id: str | None = Field(description="Undoes all of it: POST /v1/undo; null where nothing was changed")
    redacted: list[SecretKind] = Field(default_factory=list, description="Kinds of secrets that were taken out")
