"""The sync client."""

from collections.abc import Iterator, Mapping
from typing import Any

from mnemic_client import models, requests
from mnemic_client.calls import Retries
from mnemic_client.closing import Closing
from mnemic_client.requests import Model, Request
from mnemic_client.transport import DEFAULT_TIMEOUT_SECONDS, DEFAULT_URL, Transport


class Mnemic(Closing):
    """A context manager; its methods may be called from several threads.

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
        transport: Transport | None = None,
    ) -> None:
        self.transport = transport or Transport(base_url, api_key, timeout=timeout, retries=retries)

    def create_session(self, **fields: Any) -> models.Session:
        """Open a session: `id`, `user_id`, `title`, `metadata` and the like."""
        return self._one(requests.create_session(fields))

    def get_session(self, session_id: str) -> models.Session:
        """One session."""
        return self._one(requests.get_session(session_id))

    def list_sessions(self, **filters: Any) -> Iterator[models.Session]:
        """Every session that the filters leave, newest first."""
        return self._rows(requests.list_sessions(filters))

    def delete_session(self, session_id: str) -> None:
        """Delete a session with its messages."""
        self.transport.send(requests.delete_session(session_id))

    def append(self, session_id: str, *messages: Mapping[str, Any], **beside: Any) -> models.Appended:
        """Append messages to a session, which is made if it is absent: all of them or none."""
        return self._one(requests.append(session_id, messages, beside))

    def list_messages(self, session_id: str, **query: Any) -> Iterator[models.Message]:
        """Every message of a session, by number; `order="desc"` begins with the last."""
        return self._rows(requests.list_messages(session_id, query))

    def get_context(self, session_id: str, **fields: Any) -> models.Context:
        """What goes into the next prompt, within `token_budget`."""
        return self._one(requests.context(session_id, fields))

    def get_state(self, session_id: str) -> models.State:
        """The session's state."""
        return self._one(requests.get_state(session_id))

    def put_state(self, session_id: str, state: Mapping[str, Any], **fields: Any) -> models.State:
        """Replace the session's state; `version` compares and sets."""
        return self._one(requests.write_state(session_id, {"state": dict(state), **fields}, whole=True))

    def patch_state(self, session_id: str, patch: Mapping[str, Any], **fields: Any) -> models.State:
        """Change the session's state by merge patch."""
        return self._one(requests.write_state(session_id, {"patch": dict(patch), **fields}, whole=False))

    def add_memory(self, text: str, **fields: Any) -> models.Memory:
        """Keep a memory: name a scope (`user_id`, `agent_id`, `app_id`) or `shared=True`."""
        return self._one(requests.add_memory(text, fields))

    def get_memory(self, memory_id: str) -> models.Memory:
        """One memory."""
        return self._one(requests.get_memory(memory_id))

    def list_memories(self, **filters: Any) -> Iterator[models.Memory]:
        """Every memory that the filters leave."""
        return self._rows(requests.list_memories(filters))

    def change_memory(self, memory_id: str, **fields: Any) -> models.Memory:
        """Change a memory's fields."""
        return self._one(requests.change_memory(memory_id, fields))

    def delete_memory(self, memory_id: str) -> None:
        """Delete a memory."""
        self.transport.send(requests.delete_memory(memory_id))

    def search(self, query: str, **fields: Any) -> models.Found:
        """Find memories by meaning and by words, best first."""
        return self._one(requests.search(query, fields))

    def get_fact(self, user_id: str, key: str) -> models.Fact:
        """A user's value under a key."""
        return self._one(requests.get_fact(user_id, key))

    def put_fact(self, user_id: str, key: str, value: Any, **fields: Any) -> models.Fact:
        """Write a user's value under a key."""
        return self._one(requests.put_fact(user_id, key, value, fields))

    def create_checkpoint(self, session_id: str, **fields: Any) -> models.CheckpointInfo:
        """Keep a state to go back to: `state`, or the session's own; `parent_id`, `compare_and_set`, `label`."""
        return self._one(requests.create_checkpoint(session_id, fields))

    def get_checkpoint(self, session_id: str, checkpoint_id: str = "latest") -> models.Checkpoint:
        """A checkpoint with its state, the newest if none is named."""
        return self._one(requests.get_checkpoint(session_id, checkpoint_id))

    def list_checkpoints(self, session_id: str, **filters: Any) -> Iterator[models.CheckpointInfo]:
        """Every checkpoint of a session, newest first."""
        return self._rows(requests.list_checkpoints(session_id, filters))

    def diff_checkpoints(self, session_id: str, from_id: str, to_id: str) -> models.Diff:
        """What differs between two checkpoints."""
        return self._one(requests.diff_checkpoints(session_id, from_id, to_id))

    def restore_checkpoint(self, session_id: str, checkpoint_id: str) -> models.State:
        """Make a checkpoint's state the session's."""
        return self._one(requests.restore_checkpoint(session_id, checkpoint_id))

    def fork_checkpoint(self, session_id: str, checkpoint_id: str, **fields: Any) -> models.Session:
        """Begin a new session where a checkpoint stood."""
        return self._one(requests.fork_checkpoint(session_id, checkpoint_id, fields))

    def put_step(self, session_id: str, step_id: str, **fields: Any) -> models.Step:
        """Keep what a step gave, once: later puts are answered with the first."""
        return self._one(requests.put_step(session_id, step_id, fields))

    def get_step(self, session_id: str, step_id: str) -> models.Step:
        """What a step gave."""
        return self._one(requests.get_step(session_id, step_id))

    def replay(self, session_id: str, checkpoint_id: str | None = None) -> Iterator[models.TraceEntry]:
        """The trace of a run: checkpoints and steps in order."""
        return self._rows(requests.replay(session_id, checkpoint_id))

    def pop_message(self, session_id: str) -> models.Message | None:
        """Take the last message away; of two callers at once each gets another one."""
        return (self._one(requests.pop_message(session_id))).message

    def clear_messages(self, session_id: str) -> int:
        """Take every message away; how many there were."""
        return (self._one(requests.clear_messages(session_id))).deleted

    def close(self) -> None:
        """Close the connections."""
        self.transport.close()

    def _one(self, request: Request[Model]) -> Model:
        return request.answer(self.transport.send(request.call))

    def _rows(self, request: Request[Model]) -> Iterator[Model]:
        for row in self.transport.pages(request.call):
            yield request.answer(row)
