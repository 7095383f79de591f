"""Core memory blocks in requests and answers."""

from datetime import datetime

from pydantic import Field, model_validator

from app.schemas.fields import MessageText, Redactions, RequestModel, ResponseModel, ShortText

DEFAULT_LIMIT = 5_000


class BlockPut(RequestModel):
    """A whole block."""

    text: MessageText
    description: ShortText | None = Field(None, description="What the block is for, as agents read it")
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=100_000, description="Characters that the text may have")
    read_only: bool = Field(default=False, description="Only keys with the scope admin may change it then")
    version: int | None = Field(None, ge=0, description="Compare-and-set, like If-Match; 0: there must be none yet")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"text": "Ada, lives in Lisbon, prefers short answers."}]}
    }


class Replacement(RequestModel):
    """A part of the text and what comes in its place."""

    old: MessageText = Field(min_length=1, description="Must occur exactly once")
    new: MessageText


class BlockPatch(RequestModel):
    """A change: append a line, replace a part, or name new values."""

    append: MessageText | None = Field(None, min_length=1, description="Added as a line of its own")
    replace: Replacement | None = None
    text: MessageText | None = None
    description: ShortText | None = None
    limit: int | None = Field(None, ge=1, le=100_000)
    read_only: bool | None = None
    version: int | None = Field(None, ge=1, description="Compare-and-set, like If-Match")

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"append": "Prefers tea."}]}}

    @model_validator(mode="after")
    def _changes_one_way(self) -> "BlockPatch":
        if not self.model_fields_set - {"version"}:
            raise ValueError("name something to change")
        for name in ("limit", "read_only"):
            if name in self.model_fields_set and getattr(self, name) is None:
                raise ValueError(f"{name} cannot be null")
        if sum(value is not None for value in (self.append, self.replace, self.text)) > 1:
            raise ValueError("give one of append, replace and text")
        return self


class Block(ResponseModel):
    """A block of core memory: always in the context of its agent."""

    label: str
    text: str
    description: str | None
    user_id: str | None
    agent_id: str | None
    limit: int
    characters: int
    read_only: bool
    version: int
    created_at: datetime
    updated_at: datetime
    redacted: Redactions = Field(default_factory=list)


class BlockVersion(ResponseModel):
    """A text that a block had."""

    version: int
    text: str
    actor: str
    created_at: datetime
