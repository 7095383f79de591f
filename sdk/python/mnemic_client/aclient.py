"""The async client."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

from mnemic_client import models, requests
from mnemic_client.calls import Retries
from mnemic_client.closing import AsyncClosing
from mnemic_client.requests import Model, Request
from mnemic_client.transport import DEFAULT_TIMEOUT_SECONDS, DEFAULT_URL, AsyncTransport


class AsyncMnemic(AsyncClosing):
    """For one event loop; an async context manager.

    Calls are repeated where that is safe: reads, writes told by their key, and others under an Idempotency-Key of their
    own. What the service refuses is a `ProblemError`; where nobody answers it is `NoAnswer`.

    Args:
        base_url: Where the service is.
        api_key: Its key.
        timeout: Seconds to wait for an answer.
        retries: How often, and how long apart.
        transport: What sends the calls, to share its connections; the four above are then its own.
    """

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        api_key: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT_SECONDS,
        retries: Retries | None = None,
        transport: AsyncTransport | None = None,
    ) -> None:
        self.transport = transport or AsyncTransport(base_url, api_key, timeout=timeout, retries=retries)

    async def create_session(self, **fields: Any) -> models.Session:
        """Open a session: `id`, `user_id`, `title`, `metadata` and the like."""
        return await self._one(requests.create_session(fields))

    async def get_session(self, session_id: str) -> models.Session:
        """One session."""
        return await self._one(requests.get_session(session_id))

    def list_sessions(self, **filters: Any) -> AsyncIterator[models.Session]:
        """Every session that the filters leave, newest first."""
        return self._rows(requests.list_sessions(filters))

    async def delete_session(self, session_id: str) -> None:
        """Delete a session with its messages."""
        await self.transport.send(requests.delete_session(session_id))

    async def append(self, session_id: str, *messages: Mapping[str, Any], **beside: Any) -> models.Appended:
        """Append messages to a session, which is made if it is absent: all of them or none."""
        return await self._one(requests.append(session_id, messages, beside))

    def list_messages(self, session_id: str, **query: Any) -> AsyncIterator[models.Message]:
        """Every message of a session, by number; `order="desc"` begins with the last."""
        return self._rows(requests.list_messages(session_id, query))

    async def get_context(self, session_id: str, **fields: Any) -> models.Context:
        """What goes into the next prompt, within `token_budget`."""
        return await self._one(requests.context(session_id, fields))

    async def get_state(self, session_id: str) -> models.State:
        """The session's state."""
        return await self._one(requests.get_state(session_id))

    async def put_state(self, session_id: str, state: Mapping[str, Any], **fields: Any) -> models.State:
        """Replace the session's state; `version` compares and sets."""
        return await self._one(requests.write_state(session_id, {"state": dict(state), **fields}, whole=True))

    async def patch_state(self, session_id: str, patch: Mapping[str, Any], **fields: Any) -> models.State:
        """Change the session's state by merge patch."""
        return await self._one(requests.write_state(session_id, {"patch": dict(patch), **fields}, whole=False))

    async def add_memory(self, text: str, **fields: Any) -> models.Memory:
        """Keep a memory: name a scope (`user_id`, `agent_id`, `app_id`) or `shared=True`."""
        return await self._one(requests.add_memory(text, fields))

    async def get_memory(self, memory_id: str) -> models.Memory:
        """One memory."""
        return await self._one(requests.get_memory(memory_id))

    def list_memories(self, **filters: Any) -> AsyncIterator[models.Memory]:
        """Every memory that the filters leave."""
        return self._rows(requests.list_memories(filters))

    async def change_memory(self, memory_id: str, **fields: Any) -> models.Memory:
        """Change a memory's fields."""
        return await self._one(requests.change_memory(memory_id, fields))

    async def delete_memory(self, memory_id: str) -> None:
        """Delete a memory."""
        await self.transport.send(requests.delete_memory(memory_id))

    async def search(self, query: str, **fields: Any) -> models.Found:
        """Find memories by meaning and by words, best first."""
        return await self._one(requests.search(query, fields))

    async def get_fact(self, user_id: str, key: str) -> models.Fact:
        """A user's value under a key."""
        return await self._one(requests.get_fact(user_id, key))

    async def put_fact(self, user_id: str, key: str, value: Any, **fields: Any) -> models.Fact:
        """Write a user's value under a key."""
        return await self._one(requests.put_fact(user_id, key, value, fields))

    async def create_checkpoint(self, session_id: str, **fields: Any) -> models.CheckpointInfo:
        """Keep a state to go back to: `state`, or the session's own; `parent_id`, `compare_and_set`, `label`."""
        return await self._one(requests.create_checkpoint(session_id, fields))

    async def get_checkpoint(self, session_id: str, checkpoint_id: str = "latest") -> models.Checkpoint:
        """A checkpoint with its state, the newest if none is named."""
        return await self._one(requests.get_checkpoint(session_id, checkpoint_id))

    def list_checkpoints(self, session_id: str, **filters: Any) -> AsyncIterator[models.CheckpointInfo]:
        """Every checkpoint of a session, newest first."""
        return self._rows(requests.list_checkpoints(session_id, filters))

    async def diff_checkpoints(self, session_id: str, from_id: str, to_id: str) -> models.Diff:
        """What differs between two checkpoints."""
        return await self._one(requests.diff_checkpoints(session_id, from_id, to_id))

    async def restore_checkpoint(self, session_id: str, checkpoint_id: str) -> models.State:
        """Make a checkpoint's state the session's."""
        return await self._one(requests.restore_checkpoint(session_id, checkpoint_id))

    async def fork_checkpoint(self, session_id: str, checkpoint_id: str, **fields: Any) -> models.Session:
        """Begin a new session where a checkpoint stood."""
        return await self._one(requests.fork_checkpoint(session_id, checkpoint_id, fields))

    async def put_step(self, session_id: str, step_id: str, **fields: Any) -> models.Step:
        """Keep what a step gave, once: later puts are answered with the first."""
        return await self._one(requests.put_step(session_id, step_id, fields))

    async def get_step(self, session_id: str, step_id: str) -> models.Step:
        """What a step gave."""
        return await self._one(requests.get_step(session_id, step_id))

    def replay(self, session_id: str, checkpoint_id: str | None = None) -> AsyncIterator[models.TraceEntry]:
        """The trace of a run: checkpoints and steps in order."""
        return self._rows(requests.replay(session_id, checkpoint_id))

    async def pop_message(self, session_id: str) -> models.Message | None:
        """Take the last message away; of two callers at once each gets another one."""
        return (await self._one(requests.pop_message(session_id))).message

    async def clear_messages(self, session_id: str) -> int:
        """Take every message away; how many there were."""
        return (await self._one(requests.clear_messages(session_id))).deleted

    async def close(self) -> None:
        """Close the connections."""
        await self.transport.close()

    async def _one(self, request: Request[Model]) -> Model:
        return request.answer(await self.transport.send(request.call))

    async def _rows(self, request: Request[Model]) -> AsyncIterator[Model]:
        async for row in self.transport.pages(request.call):
            yield request.answer(row)
