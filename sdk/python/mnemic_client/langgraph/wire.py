"""Between LangGraph's objects and the service's requests: no I/O, so the sync and the async saver share it."""

import random
from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from mnemic_client.calls import Call, named

EMPTY: Final = "empty"
"""The type of a channel that has no value."""

PAGE: Final = 20
"""Checkpoints that a list fetches at once: each comes with the values of its channels."""

USER_KEY: Final = "mnemic_user_id"
"""The member of a config's `configurable` that says whose thread it is, where the saver was not told."""


@dataclass(frozen=True, slots=True)
class Wire:
    """Writes requests and reads answers; `user_id` is whose threads are made."""

    serde: SerializerProtocol
    user_id: str | None = None

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> tuple[Call, RunnableConfig]:
        """The request that stores a checkpoint, and the config of what it stores."""
        place = config["configurable"]
        thread_id, ns = str(place["thread_id"]), place.get("checkpoint_ns") or ""
        values = checkpoint["channel_values"]
        kind, document = self._dumped({name: value for name, value in checkpoint.items() if name != "channel_values"})
        body = named(
            thread_id=thread_id,
            ns=ns,
            checkpoint_id=checkpoint["id"],
            parent_id=place.get("checkpoint_id"),
            user_id=self._user(config),
            type=kind,
            document=document,
            channel_versions={channel: str(version) for channel, version in checkpoint["channel_versions"].items()},
            values=[self._value(channel, version, values) for channel, version in new_versions.items()],
            metadata=_plain(get_serializable_checkpoint_metadata(config, metadata)),
        )
        return Call("PUT", "/v1/checkpoints", body=body), _config(thread_id, ns, checkpoint["id"])

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> Call:
        """The request that stores what a task has written."""
        place = config["configurable"]
        replace = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        rows: dict[int, dict[str, Any]] = {}
        for number, (channel, value) in enumerate(writes):
            idx = WRITES_IDX_MAP.get(channel, number)
            if replace or idx not in rows:  # as if they were written one by one
                kind, data = self._dumped(value)
                rows[idx] = {"idx": idx, "channel": channel, "type": kind, "data": data}
        body = named(
            thread_id=str(place["thread_id"]),
            ns=place.get("checkpoint_ns") or "",
            checkpoint_id=place["checkpoint_id"],
            user_id=self._user(config),
            task_id=task_id,
            task_path=task_path,
            writes=list(rows.values()),
            replace=replace,
        )
        return Call("POST", "/v1/checkpoints/writes", body=body, safe=True)

    def get(self, config: RunnableConfig) -> Call:
        """The request for a checkpoint."""
        place = config["configurable"]
        body = named(
            thread_id=str(place["thread_id"]),
            ns=place.get("checkpoint_ns") or "",
            checkpoint_id=place.get("checkpoint_id") or None,
        )
        return Call("POST", "/v1/checkpoints/get", body=body, safe=True)

    def list(
        self,
        config: RunnableConfig | None,
        filter: Mapping[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> Call:
        """The request for a page of checkpoints."""
        place = {} if config is None else config["configurable"]
        thread_id = place.get("thread_id")
        body = named(
            thread_id=None if thread_id is None else str(thread_id),
            ns=place.get("checkpoint_ns"),
            checkpoint_id=place.get("checkpoint_id") or None,
            filter=_plain(dict(filter)) if filter else None,
            before=None if before is None else before["configurable"].get("checkpoint_id"),
            limit=PAGE if limit is None else max(1, min(PAGE, limit)),
        )
        return Call("POST", "/v1/checkpoints/list", body=body, safe=True)

    def loaded(self, found: Mapping[str, Any]) -> CheckpointTuple:
        """A checkpoint as LangGraph has it."""
        document = self._loaded(found["type"], found["document"])
        document["channel_values"] = {
            value["channel"]: self._loaded(value["type"], value["data"])
            for value in found["values"]
            if value["type"] != EMPTY
        }
        parent = found["parent_id"]
        return CheckpointTuple(
            config=_config(found["thread_id"], found["ns"], found["checkpoint_id"]),
            checkpoint=cast("Checkpoint", document),
            metadata=cast("CheckpointMetadata", found["metadata"]),
            parent_config=None if parent is None else _config(found["thread_id"], found["ns"], parent),
            pending_writes=[
                (write["task_id"], write["channel"], self._loaded(write["type"], write["data"]))
                for write in found["writes"]
            ],
        )

    def _value(self, channel: str, version: str | float, values: Mapping[str, Any]) -> dict[str, Any]:
        if channel not in values:
            return {"channel": channel, "version": str(version), "type": EMPTY}
        kind, data = self._dumped(values[channel])
        return {"channel": channel, "version": str(version), "type": kind, "data": data}

    def _dumped(self, value: Any) -> tuple[str, str]:
        kind, data = self.serde.dumps_typed(value)
        return kind, b2a_base64(data, newline=False).decode("ascii")

    def _loaded(self, kind: str, data: str) -> Any:
        return self.serde.loads_typed((kind, a2b_base64(data)))

    def _user(self, config: RunnableConfig) -> str | None:
        if self.user_id is not None:
            return self.user_id
        named_user = config["configurable"].get(USER_KEY)
        return None if named_user is None else str(named_user)


def next_version(current: str | float | None) -> str:
    """A version above `current`, unlike any that another branch of the thread takes.

    A value is kept once for each version: two branches that both count to 5 would share the first one's value.
    """
    number = 0 if current is None else int(str(current).partition(".")[0])
    return f"{number + 1:032}.{random.getrandbits(64):020}"


def _config(thread_id: str, ns: str, checkpoint_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint_id}}


def _plain(value: Any) -> Any:
    """Metadata as JSON that PostgreSQL holds: no NUL, no lone surrogate, and words for what JSON has no form for."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, str):
        return value.replace("\0", "").encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_plain(str(name)): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(part) for part in value]
    return _plain(str(value))
