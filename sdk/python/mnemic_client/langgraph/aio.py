"""A LangGraph checkpointer for graphs that are run in an event loop."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from typing import Any, TypeVar

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
from mnemic_client.closing import AsyncClosing
from mnemic_client.langgraph.waiting import from_outside
from mnemic_client.langgraph.wire import Wire, next_version
from mnemic_client.transport import DEFAULT_TIMEOUT_SECONDS, DEFAULT_URL, AsyncTransport

Result = TypeVar("Result")


class AsyncMnemicSaver(AsyncClosing, BaseCheckpointSaver[str]):
    """Keeps a graph's checkpoints in Mnemic. An async context manager, for one event loop.

    The methods without an `a` work too, from threads other than the loop's: graphs call them from nodes that are not
    async.

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
        transport: AsyncTransport | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self._user_id = user_id
        self._transport = transport or AsyncTransport(base_url, api_key, timeout=timeout)
        self._loop = asyncio.get_running_loop()

    def get_next_version(self, current: str | None, channel: None) -> str:
        """A version above the current one."""
        return next_version(current)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the config names, or the newest of its namespace; None where there is none."""
        call = self._wire.get(config)
        found = member(call, await self._transport.send(call), "checkpoint")
        return None if found is None else self._wire.loaded(found)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Checkpoints, newest first. A config without checkpoint_ns means all namespaces."""
        count = 0
        if limit is not None and limit <= 0:
            return
        async for row in self._transport.pages(self._wire.list(config, filter, before, limit)):
            yield self._wire.loaded(row)
            count += 1
            if count == limit:
                return

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint with those of its values that are new."""
        call, place = self._wire.put(config, checkpoint, metadata, new_versions)
        await self._transport.send(call)
        return place

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task has written."""
        await self._transport.send(self._wire.put_writes(config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a thread; one that is absent is gone already."""
        await self._post("delete-thread", thread_id=str(thread_id))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints and writes of some runs."""
        await self._post("delete-runs", run_ids=[str(run_id) for run_id in run_ids])

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with everything in it."""
        await self._post("copy", source_thread_id=str(source_thread_id), target_thread_id=str(target_thread_id))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Keep the newest checkpoint of each namespace (`keep_latest`) or nothing (`delete`)."""
        await self._post("prune", thread_ids=[str(thread_id) for thread_id in thread_ids], strategy=strategy)

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """`aget_tuple`, from another thread."""
        return self._from_outside(self.aget_tuple(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """`alist`, from another thread."""
        rows = self.alist(config, filter=filter, before=before, limit=limit)
        while (row := self._from_outside(_following(rows))) is not None:
            yield row

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """`aput`, from another thread."""
        return self._from_outside(self.aput(config, checkpoint, metadata, new_versions))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """`aput_writes`, from another thread."""
        self._from_outside(self.aput_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        """`adelete_thread`, from another thread."""
        self._from_outside(self.adelete_thread(thread_id))

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    @property
    def _wire(self) -> Wire:
        return Wire(self.serde, self._user_id)  # anew: LangGraph may put another serde into a copy of this

    async def _post(self, name: str, **body: Any) -> None:
        await self._transport.send(Call("POST", f"/v1/checkpoints/{name}", body=body, safe=True))

    def _from_outside(self, work: Coroutine[Any, Any, Result]) -> Result:
        return from_outside(self._loop, work)


async def _following(rows: AsyncIterator[CheckpointTuple]) -> CheckpointTuple | None:
    return await anext(rows, None)
