"""Every request that the clients know: what is sent, and what the answer is. The clients only send them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from mnemic_client import models
from mnemic_client.calls import Call, named, path_of
from mnemic_client.errors import UnreadableAnswer

Model = TypeVar("Model", bound=models.Answer)


@dataclass(frozen=True, slots=True)
class Request(Generic[Model]):
    """A call and the model of its answer, or of each row of its list."""

    call: Call
    model: type[Model]

    def answer(self, body: Any) -> Model:
        """An answer's body, or a row of it, as its model. Raises `UnreadableAnswer`."""
        try:
            return self.model.model_validate(body)
        except ValidationError as error:
            raise UnreadableAnswer(f"{self.call.method} {self.call.path}: The answer has another shape.") from error


def create_session(fields: Mapping[str, Any]) -> Request[models.Session]:
    """Open a session."""
    return Request(Call("POST", "/v1/sessions", body=dict(fields), once=True), models.Session)


def get_session(session_id: str) -> Request[models.Session]:
    """One session."""
    return Request(Call("GET", path_of("sessions", session_id)), models.Session)


def list_sessions(filters: Mapping[str, Any]) -> Request[models.Session]:
    """Sessions, newest first."""
    return Request(Call("GET", "/v1/sessions", query=filters), models.Session)


def delete_session(session_id: str) -> Call:
    """Delete a session with its messages."""
    return Call("DELETE", path_of("sessions", session_id))


def append(
    session_id: str, messages: Sequence[Mapping[str, Any]], beside: Mapping[str, Any]
) -> Request[models.Appended]:
    """Append messages."""
    body = {"messages": [dict(message) for message in messages], **named(**beside)}
    return Request(Call("POST", path_of("sessions", session_id, "messages"), body=body, once=True), models.Appended)


def list_messages(session_id: str, query: Mapping[str, Any]) -> Request[models.Message]:
    """A session's messages."""
    return Request(Call("GET", path_of("sessions", session_id, "messages"), query=query), models.Message)


def pop_message(session_id: str) -> Request[models.Popped]:
    """Take the last message away."""
    return Request(Call("POST", path_of("sessions", session_id, "messages", "pop"), once=True), models.Popped)


def clear_messages(session_id: str) -> Request[models.Cleared]:
    """Take every message away."""
    return Request(Call("DELETE", path_of("sessions", session_id, "messages")), models.Cleared)


def context(session_id: str, fields: Mapping[str, Any]) -> Request[models.Context]:
    """What goes into the next prompt."""
    call = Call("POST", path_of("sessions", session_id, "context"), body=dict(fields), safe=True)
    return Request(call, models.Context)


def get_state(session_id: str) -> Request[models.State]:
    """The session's state."""
    return Request(Call("GET", path_of("sessions", session_id, "state")), models.State)


def write_state(session_id: str, fields: Mapping[str, Any], *, whole: bool) -> Request[models.State]:
    """Replace the state, or change it by merge patch."""
    method = "PUT" if whole else "PATCH"
    call = Call(method, path_of("sessions", session_id, "state"), body=dict(fields), once=True)
    return Request(call, models.State)


def add_memory(text: str, fields: Mapping[str, Any]) -> Request[models.Memory]:
    """Keep a memory."""
    return Request(Call("POST", "/v1/memories", body={"text": text, **fields}, once=True), models.Memory)


def get_memory(memory_id: str) -> Request[models.Memory]:
    """One memory."""
    return Request(Call("GET", path_of("memories", memory_id)), models.Memory)


def list_memories(filters: Mapping[str, Any]) -> Request[models.Memory]:
    """Memories."""
    return Request(Call("GET", "/v1/memories", query=filters), models.Memory)


def change_memory(memory_id: str, fields: Mapping[str, Any]) -> Request[models.Memory]:
    """Change a memory."""
    return Request(Call("PATCH", path_of("memories", memory_id), body=dict(fields), once=True), models.Memory)


def delete_memory(memory_id: str) -> Call:
    """Delete a memory."""
    return Call("DELETE", path_of("memories", memory_id))


def search(query: str, fields: Mapping[str, Any]) -> Request[models.Found]:
    """Find memories."""
    return Request(Call("POST", "/v1/memories/search", body={"query": query, **fields}, safe=True), models.Found)


def get_fact(user_id: str, key: str) -> Request[models.Fact]:
    """A user's value under a key."""
    return Request(Call("GET", path_of("users", user_id, "facts", key)), models.Fact)


def put_fact(user_id: str, key: str, value: Any, fields: Mapping[str, Any]) -> Request[models.Fact]:
    """Write a user's value under a key."""
    return Request(Call("PUT", path_of("users", user_id, "facts", key), body={"value": value, **fields}), models.Fact)


def create_checkpoint(session_id: str, fields: Mapping[str, Any]) -> Request[models.CheckpointInfo]:
    """Keep a state to go back to."""
    call = Call("POST", path_of("sessions", session_id, "checkpoints"), body=dict(fields), once=True)
    return Request(call, models.CheckpointInfo)


def get_checkpoint(session_id: str, checkpoint_id: str) -> Request[models.Checkpoint]:
    """A checkpoint with its state; `latest` is the newest."""
    return Request(Call("GET", path_of("sessions", session_id, "checkpoints", checkpoint_id)), models.Checkpoint)


def list_checkpoints(session_id: str, filters: Mapping[str, Any]) -> Request[models.CheckpointInfo]:
    """Checkpoints, newest first."""
    return Request(Call("GET", path_of("sessions", session_id, "checkpoints"), query=filters), models.CheckpointInfo)


def diff_checkpoints(session_id: str, from_id: str, to_id: str) -> Request[models.Diff]:
    """What differs between two."""
    query = {"from_id": from_id, "to_id": to_id}
    return Request(Call("GET", path_of("sessions", session_id, "checkpoints", "diff"), query=query), models.Diff)


def restore_checkpoint(session_id: str, checkpoint_id: str) -> Request[models.State]:
    """Make a checkpoint's state the session's."""
    path = path_of("sessions", session_id, "checkpoints", checkpoint_id, "restore")
    return Request(Call("POST", path, body={}, once=True), models.State)


def fork_checkpoint(session_id: str, checkpoint_id: str, fields: Mapping[str, Any]) -> Request[models.Session]:
    """Begin a session where a checkpoint stood."""
    path = path_of("sessions", session_id, "checkpoints", checkpoint_id, "fork")
    return Request(Call("POST", path, body=dict(fields), once=True), models.Session)


def put_step(session_id: str, step_id: str, fields: Mapping[str, Any]) -> Request[models.Step]:
    """Keep what a step gave, once."""
    path = path_of("sessions", session_id, "checkpoints", "steps", step_id)
    return Request(Call("PUT", path, body=dict(fields)), models.Step)


def get_step(session_id: str, step_id: str) -> Request[models.Step]:
    """What a step gave."""
    return Request(Call("GET", path_of("sessions", session_id, "checkpoints", "steps", step_id)), models.Step)


def replay(session_id: str, checkpoint_id: str | None) -> Request[models.TraceEntry]:
    """The trace of a run."""
    path = path_of("sessions", session_id, "checkpoints", "replay")
    return Request(Call("GET", path, query={"checkpoint_id": checkpoint_id}), models.TraceEntry)
