"""The words a session and its messages are described with."""

from typing import Final, Literal, get_args

MemoryMode = Literal["on", "read_only", "off"]
MEMORY_MODES: Final[tuple[MemoryMode, ...]] = get_args(MemoryMode)

SessionStatus = Literal["open", "closed"]
SESSION_STATUSES: Final[tuple[SessionStatus, ...]] = get_args(SessionStatus)

MessageRole = Literal["system", "user", "assistant", "tool"]
MESSAGE_ROLES: Final[tuple[MessageRole, ...]] = get_args(MessageRole)
