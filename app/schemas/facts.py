"""Facts (exact key and value) and the registry of keys, in requests and answers."""

import json
from datetime import datetime
from typing import Any, Final

from pydantic import Field, model_validator

from app.domain.memory import Status
from app.schemas.fields import (
    MAX_TEXT,
    Id,
    Instant,
    Json,
    MemoryText,
    Redactions,
    RequestModel,
    ResponseModel,
    ShortText,
    Ttl,
)
from app.schemas.memories import Importance

LONGEST_WORDED: Final = MAX_TEXT - 300
"""Characters of a value that is searched by its own words, which stand behind the key."""


def worded(value: Any) -> str:  # noqa: ANN401 - JSON is anything
    """A value as words: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class FactPut(RequestModel):
    """The value that a key has from now on."""

    value: Json = Field(None, description="Any JSON; the text if absent")
    text: MemoryText | None = Field(None, description="What is searched; made of key and value if absent")
    importance: Importance | None = None
    occurred_at: Instant | None = Field(None, description="Since when it is so; now if absent")
    ttl: Ttl | None = None
    sensitive: bool = Field(default=False, description="Encrypt text and value; read with the scope sensitive")
    version: int | None = Field(None, ge=0, description="Compare-and-set, like If-Match; 0: there must be none yet")

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"value": "vim"}]}}

    @model_validator(mode="after")
    def _says_something(self) -> "FactPut":
        if self.value is None and self.text is None:
            raise ValueError("give a value or a text")
        if self.text is None and len(worded(self.value)) > LONGEST_WORDED:
            raise ValueError(f"a value of more than {LONGEST_WORDED} characters needs a text of its own")
        return self


class Fact(ResponseModel):
    """A fact: the current value under a canonical key. It is a memory, too: `memory_id`."""

    key: str
    value: Any
    text: str
    memory_id: str
    user_id: str
    sensitive: bool = Field(description="Value and text are encrypted, and shown to keys with the scope sensitive")
    confidence: float
    valid_from: datetime | None
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    version: int
    redacted: Redactions = Field(default_factory=list)


class FactVersion(ResponseModel):
    """A value that a key had, or has."""

    memory_id: str
    value: Any
    text: str
    status: Status = Field(description="active: it is the current one; deleted: it was taken back")
    valid_from: datetime | None
    valid_to: datetime | None
    created_at: datetime
    superseded_at: datetime | None


class KeyPut(RequestModel):
    """A canonical key of this tenant."""

    aliases: list[Id] = Field(default_factory=list, max_length=100, description="Other spellings, in any language")
    multi_valued: bool = Field(default=False, description="Whether several values are true at once")
    description: ShortText | None = None

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"aliases": ["car", "座驾"], "description": "What the user drives"}]}
    }


class MemoryKey(ResponseModel):
    """A canonical key."""

    key: str
    aliases: list[str]
    multi_valued: bool
    description: str | None
    built_in: bool
    redacted: Redactions = Field(default_factory=list)
