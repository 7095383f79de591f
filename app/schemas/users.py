"""Users in requests and answers."""

from datetime import datetime
from typing import Any

from pydantic import Field, model_validator

from app.schemas.fields import Id, Metadata, Redactions, RequestModel, ResponseModel, Timezone


class UserChange(RequestModel):
    """What may be changed of a user; absent fields stay as they are."""

    timezone: Timezone | None = Field(None, description="IANA zone that decides what 昨天 means to this user")
    metadata: Metadata | None = None

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"timezone": "Asia/Shanghai"}]}}

    @model_validator(mode="after")
    def _changes_something(self) -> "UserChange":
        if not self.model_fields_set:
            raise ValueError("name at least one field to change")
        if "metadata" in self.model_fields_set and self.metadata is None:
            raise ValueError("metadata cannot be null")
        return self


class UserMerge(RequestModel):
    """The other id under which the same person is known."""

    from_user_id: Id = Field(description="Everything of this user becomes the path's user's; the id is free then")

    model_config = RequestModel.model_config | {"json_schema_extra": {"examples": [{"from_user_id": "ada-old"}]}}


class User(ResponseModel):
    """A person whom agents speak with."""

    id: str
    timezone: str | None
    metadata: dict[str, Any]
    first_seen_at: datetime
    updated_at: datetime
    redacted: Redactions = Field(default_factory=list)


class MergedUser(User):
    """The user after a merge, and how many rows of each kind moved."""

    moved: dict[str, int]
    superseded: int = Field(description="Memories that gave way: both had them, or a newer value of their key")
