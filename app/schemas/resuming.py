"""What a session is taken up again with."""

from typing import Any

from pydantic import Field

from app.schemas.fields import ResponseModel
from app.schemas.sessions import Session
from app.schemas.states import State


class LastSummary(ResponseModel):
    """The rolling summary, without its tree."""

    text: str
    tokens: int
    from_seq: int | None
    to_seq: int = Field(description="The last message in it; 0 if none")
    unfolded: int = Field(description="Messages after that one")


class Resume(ResponseModel):
    """Where a session stands."""

    session: Session
    state: State
    open_steps: list[Any] = Field(description="The task's pending steps")
    summary: LastSummary
