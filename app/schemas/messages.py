"""Messages in requests and answers."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from app.domain.session import MessageRole
from app.schemas.fields import (
    MAX_TEXT,
    Id,
    Instant,
    JsonObject,
    MessageText,
    Metadata,
    Redactions,
    RequestModel,
    ResponseModel,
    Timezone,
)

Parts = Annotated[list[JsonObject], Field(min_length=1, max_length=1000)]


def _said(given: object) -> object:
    return "" if given is None else given


Content = Annotated[MessageText | Parts, BeforeValidator(_said, json_schema_input_type=MessageText | Parts | None)]
"""Null is what providers send where a message only calls tools."""


def text_of(content: str | list[dict[str, Any]]) -> str:
    """What is searched and embedded of a message: the string itself, or its text parts, a line each."""
    if isinstance(content, str):
        return content
    texts = (part.get("text") for part in content)
    return "\n".join(text for text in texts if isinstance(text, str))


class MessageIn(RequestModel):
    """A message as an agent's program has it."""

    role: MessageRole
    content: Content = Field(
        "", description="Text, or a list of parts in the provider's own form; null where there are only tool_calls"
    )
    name: Id | None = None
    tool_calls: list[JsonObject] | None = Field(None, max_length=1000)
    tool_call_id: Id | None = None
    external_id: Id | None = Field(None, description="The client's own id: appending it twice stores it once")
    occurred_at: Instant | None = Field(None, description="When it was said; now if absent")
    timezone: Timezone | None = Field(None, description="The sender's zone; the session's, else the user's if absent")
    metadata: Metadata = Field(default_factory=dict)

    @model_validator(mode="after")
    def _says_something(self) -> "MessageIn":
        if not self.content and not self.tool_calls:
            raise ValueError("a message needs content or tool_calls")
        if len(text_of(self.content)) > MAX_TEXT:
            raise ValueError(f"the text parts exceed {MAX_TEXT} characters together")
        return self


class Beside(RequestModel):
    """What stands beside messages that are appended."""

    user_id: Id | None = Field(None, description="Whose session it is, where the append creates it")
    agent_id: Id | None = None
    app_id: Id | None = None
    expected_seq: int | None = Field(
        None, ge=0, le=2**63 - 1, description="The last seq ever assigned (0 if none); 412 where it is another"
    )


class MessageAppend(MessageIn, Beside):
    """One message."""

    model_config = RequestModel.model_config | {
        "json_schema_extra": {
            "examples": [{"role": "user", "content": "I moved to Lisbon last week.", "user_id": "ada"}]
        }
    }


class MessagesAppend(Beside):
    """Up to 1,000 messages, all stored or none."""

    messages: list[MessageIn] = Field(min_length=1, max_length=1000)
    timezone: Timezone | None = Field(None, description="For messages that name none")

    model_config = RequestModel.model_config | {
        "json_schema_extra": {
            "examples": [
                {
                    "user_id": "ada",
                    "messages": [
                        {"role": "user", "content": "我上周搬到了里斯本。"},
                        {"role": "assistant", "content": "恭喜!新家还习惯吗?"},
                    ],
                }
            ]
        }
    }


def _one_or_many(value: Any) -> str:  # noqa: ANN401 - whatever the client sent
    return "many" if isinstance(value, MessagesAppend) or (isinstance(value, dict) and "messages" in value) else "one"


AppendBody = Annotated[
    Annotated[MessageAppend, Tag("one")] | Annotated[MessagesAppend, Tag("many")], Discriminator(_one_or_many)
]


class Message(ResponseModel):
    """A stored message."""

    id: str
    session_id: str
    seq: int = Field(description="Its place in the session: ascending, never reused")
    role: MessageRole
    content: str | list[dict[str, Any]]
    name: str | None
    tool_calls: list[dict[str, Any]] | None
    tool_call_id: str | None
    external_id: str | None
    occurred_at: datetime
    timezone: str | None
    tokens: int = Field(description="An estimate of its length in a model's tokens")
    metadata: dict[str, Any]
    created_at: datetime
    redacted_at: datetime | None = Field(None, description="When its content was taken away")
    redacted: Redactions = Field(default_factory=list)


class AppendedMessage(Message):
    """One appended message."""

    remembered: list[str] = Field(default_factory=list, description="Memories that it created or renewed at once")
    forgotten: list[str] = Field(default_factory=list, description="Memories that it asked to forget, deleted at once")


class AppendedMessages(ResponseModel):
    """Appended messages in input order."""

    results: list[Message]
    remembered: list[str] = Field(default_factory=list, description="Memories that they created or renewed at once")
    forgotten: list[str] = Field(
        default_factory=list, description="Memories that they asked to forget, deleted at once"
    )
