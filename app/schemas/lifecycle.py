"""What is done to sessions and their messages beyond reading and appending."""

from pydantic import Field

from app.schemas.fields import Id, RequestModel, ResponseModel, ShortText
from app.schemas.messages import Message


class SessionFork(RequestModel):
    """A copy of a session up to a message."""

    id: Id | None = Field(None, description="The copy's id; made up if absent")
    up_to_seq: int | None = Field(
        None, ge=0, le=2**63 - 1, description="The last message that is copied; all if absent"
    )
    title: ShortText | None = None
    as_known_then: bool = Field(
        default=False, description="Its contexts have memories as they were known when the last copied message came"
    )

    model_config = RequestModel.model_config | {
        "json_schema_extra": {"examples": [{"id": "trip-planning-2", "up_to_seq": 1}]}
    }


class PoppedMessage(ResponseModel):
    """The message that was last, and is no longer there; null where there was none."""

    message: Message | None


class ClearedMessages(ResponseModel):
    """How many messages were removed."""

    deleted: int
