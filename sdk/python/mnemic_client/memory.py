"""The memory of one conversation, ready to use: append what is said, ask for what the next prompt needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mnemic_client.aclient import AsyncMnemic
from mnemic_client.client import Mnemic
from mnemic_client.models import Appended, Context


@dataclass(frozen=True, slots=True)
class SessionMemory:
    """What an agent needs of Mnemic in a loop.

    Args:
        client: The client.
        session_id: Which conversation; it is made at the first append.
        user_id: Whose.
        scope: Further fields of the session's scope: `agent_id`, `app_id`.
    """

    client: Mnemic
    session_id: str
    user_id: str | None = None
    scope: Mapping[str, Any] = field(default_factory=dict)

    def append(self, *messages: Mapping[str, Any]) -> Appended:
        """Keep what was said: `{"role": "user", "content": "..."}`. What is worth knowing is drawn from it."""
        return self.client.append(self.session_id, *messages, user_id=self.user_id, **self.scope)

    def context(self, query: str | None = None, *, token_budget: int = 4_000, **options: Any) -> Context:
        """What goes into the next prompt: what is known about the user, and what was said last."""
        asked = {"token_budget": token_budget, **({} if query is None else {"query": query}), **options}
        return self.client.get_context(self.session_id, **asked)


@dataclass(frozen=True, slots=True)
class AsyncSessionMemory:
    """`SessionMemory` for an event loop."""

    client: AsyncMnemic
    session_id: str
    user_id: str | None = None
    scope: Mapping[str, Any] = field(default_factory=dict)

    async def append(self, *messages: Mapping[str, Any]) -> Appended:
        """Keep what was said: `{"role": "user", "content": "..."}`. What is worth knowing is drawn from it."""
        return await self.client.append(self.session_id, *messages, user_id=self.user_id, **self.scope)

    async def context(self, query: str | None = None, *, token_budget: int = 4_000, **options: Any) -> Context:
        """What goes into the next prompt: what is known about the user, and what was said last."""
        asked = {"token_budget": token_budget, **({} if query is None else {"query": query}), **options}
        return await self.client.get_context(self.session_id, **asked)
