"""A message as an extractor sees it."""

from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Literal

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a session.

    Args:
        seq: Its number in the session.
        role: Who speaks.
        text: What was said: redacted, the fence already cut.
        occurred_at: When, aware, in UTC.
        zone: The sender's: 昨天 at 23:30 is yesterday there.
        name: Of the sender, where several take part.
    """

    seq: int
    role: Role
    text: str
    occurred_at: datetime
    zone: tzinfo
    name: str | None = None
