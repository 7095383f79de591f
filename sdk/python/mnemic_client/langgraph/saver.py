"""A LangGraph checkpointer for graphs that are run without an event loop."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import islice
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from mnemic_client.calls import Call, member
from mnemic_client.closing import Closing
from mnemic_client.langgraph.wire import Wire, next_version
from mnemic_client.transport import DEFAULT_TIMEOUT_SECONDS, DEFAULT_URL, Transport


class MnemicSaver(Closing, BaseCheckpointSaver[str]):
    """Keeps a graph's checkpoints in Mnemic. A context manager; its methods may be called from several threads.

    Args:
        base_url: Where the service is.
        api_key: Its key. One that is bound to a user sees that user's threads only.
        user_id: Whose threads are made; a config's `configurable.mnemic_user_id` says it for a single thread.
        serde: How values are serialised; LangGraph's own way if absent.
        timeout: Seconds to wait for an answer.
        transport: What sends the requests, to share its connections; the three above are then its own.
    """

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        api_key: str | None = None,
        *,
        user_id: str | None = None,
        serde: SerializerProtocol | None = None,
        timeout: float = DEFAULT_TIMEOUT_SECONDS,
        transport: Transport | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self._user_id = user_id
        self._transport = transport or Transport(base_url, api_key, timeout=timeout)

    def get_next_version(self, current: str | None, channel: None) -> str:
        """A version above the current one."""
        return next_version(current)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the config names, or the newest of its namespace; None where there is none."""
        call = self._wire.get(config)
        found = member(call, self._transport.send(call), "checkpoint")
        return None if found is None else self._wire.loaded(found)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first. A config without checkpoint_ns means all namespaces."""
        rows = self._transport.pages(self._wire.list(config, filter, before, limit))
        return (self._wire.loaded(row) for row in islice(rows, limit))

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint with those of its values that are new."""
        call, place = self._wire.put(config, checkpoint, metadata, new_versions)
        self._transport.send(call)
        return place

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task has written."""
        self._transport.send(self._wire.put_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        """Delete a thread; one that is absent is gone already."""
        self._post("delete-thread", thread_id=str(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints and writes of some runs."""
        self._post("delete-runs", run_ids=[str(run_id) for run_id in run_ids])

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with everything in it."""
        self._post("copy", source_thread_id=str(source_thread_id), target_thread_id=str(target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Keep the newest checkpoint of each namespace (`keep_latest`) or nothing (`delete`)."""
        self._post("prune", thread_ids=[str(thread_id) for thread_id in thread_ids], strategy=strategy)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """`get_tuple` in a thread."""
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """`list`, each page in a thread."""
        rows = self.list(config, filter=filter, before=before, limit=limit)
        while (row := await asyncio.to_thread(next, rows, None)) is not None:
            yield row

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """`put` in a thread."""
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """`put_writes` in a thread."""
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """`delete_thread` in a thread."""
        await asyncio.to_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """`delete_for_runs` in a thread."""
        await asyncio.to_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """`copy_thread` in a thread."""
        await asyncio.to_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """`prune` in a thread."""
        await asyncio.to_thread(self.prune, thread_ids, strategy=strategy)

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    @property
    def _wire(self) -> Wire:
        return Wire(self.serde, self._user_id)  # anew: LangGraph may put another serde into a copy of this

    def _post(self, name: str, **body: Any) -> None:
        self._transport.send(Call("POST", f"/v1/checkpoints/{name}", body=body, safe=True))
