"""Mnemic's Python client: `Mnemic` and `AsyncMnemic`, `SessionMemory`, and homes for other frameworks' states."""

from mnemic_client.aclient import AsyncMnemic
from mnemic_client.calls import Retries
from mnemic_client.client import Mnemic
from mnemic_client.errors import (
    ConflictError,
    MnemicError,
    NoAnswer,
    NotFoundError,
    ProblemError,
    UnreadableAnswer,
    VersionMismatchError,
)
from mnemic_client.memory import AsyncSessionMemory, SessionMemory
from mnemic_client.openai_agents import MnemicSession

__all__ = [
    "AsyncMnemic",
    "AsyncSessionMemory",
    "ConflictError",
    "Mnemic",
    "MnemicError",
    "MnemicSession",
    "NoAnswer",
    "NotFoundError",
    "ProblemError",
    "Retries",
    "SessionMemory",
    "UnreadableAnswer",
    "VersionMismatchError",
]
