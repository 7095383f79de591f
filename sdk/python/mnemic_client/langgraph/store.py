"""LangGraph's store on Mnemic, searched by meaning and by words by the service itself."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

from mnemic_client.calls import Call, member, named
from mnemic_client.closing import AsyncClosing, Closing
from mnemic_client.langgraph.waiting import from_outside
from mnemic_client.transport import DEFAULT_TIMEOUT_SECONDS, DEFAULT_URL, AsyncTransport, Transport

Fields = Sequence[str] | Literal[False] | None

MOST_OPS: Final = 1000


class _Wire:
    """Requests and answers of a store. `fields` is what is searched of items that do not say it themselves."""

    def __init__(self, user_id: str | None, fields: Fields) -> None:
        self.user_id = user_id
        self.fields: list[str] | Literal[False] | None = list(fields) if fields else fields  # type: ignore[assignment]

    def batch(self, ops: Sequence[Op]) -> Call:
        body = named(ops=[self._op(op) for op in ops], user_id=self.user_id)
        safe = not any(isinstance(op, PutOp) for op in ops)
        return Call("POST", "/v1/store/batch", body=body, safe=safe, once=not safe)

    def _op(self, op: Op) -> dict[str, Any]:
        validate_op_namespace(op)
        body: dict[str, Any]
        match op:
            case GetOp():
                return {"op": "get", "namespace": op.namespace, "key": str(op.key), "refresh_ttl": op.refresh_ttl}
            case PutOp():
                index = self.fields if op.index is None else op.index
                value = None if op.value is None else dict(op.value)
                body = {"op": "put", "namespace": op.namespace, "key": str(op.key), "value": value}
                return body | named(index=index, ttl=op.ttl)
            case SearchOp():
                body = {"op": "search", "namespace_prefix": op.namespace_prefix, "refresh_ttl": op.refresh_ttl}
                return body | named(filter=op.filter, limit=op.limit, offset=op.offset, query=op.query)
            case ListNamespacesOp():
                conditions = [
                    {"match_type": one.match_type, "path": list(one.path)} for one in op.match_conditions or ()
                ]
                body = {"op": "list_namespaces", "match_conditions": conditions, "limit": op.limit, "offset": op.offset}
                return body | named(max_depth=op.max_depth)
            case _:
                raise ValueError(f"Mnemic's store has no operation {type(op).__name__}.")

    @staticmethod
    def results(ops: Sequence[Op], given: Sequence[Any]) -> list[Result]:
        return [_result(op, result) for op, result in zip(ops, given, strict=True)]


def _result(op: Op, result: Any) -> Result:
    if isinstance(op, SearchOp):
        return [SearchItem(**{**item, "namespace": tuple(item["namespace"])}) for item in result]
    if isinstance(op, ListNamespacesOp):
        return [tuple(namespace) for namespace in result]
    return None if result is None else Item(**{**result, "namespace": tuple(result["namespace"])})


def _portions(ops: Iterable[Op]) -> list[list[Op]]:
    whole = list(ops)
    return [whole[start : start + MOST_OPS] for start in range(0, len(whole), MOST_OPS)]


class MnemicStore(Closing, BaseStore):
    """Keeps items in Mnemic. A context manager; its methods may be called from several threads.

    Args:
        base_url: Where the service is.
        api_key: Its key. One that is bound to a user sees that user's items only.
        user_id: Whose items are made.
        fields: What is searched of an item: `["text", "list[*].title"]`; None: all of it; False: nothing.
        ttl: LangGraph's TTL configuration: `default_ttl` in minutes, `refresh_on_read`. The service itself sweeps, and
            never serves what is past its time.
        timeout: Seconds to wait for an answer.
        transport: What sends the requests, to share its connections.
    """

    supports_ttl = True

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        api_key: str | None = None,
        *,
        user_id: str | None = None,
        fields: Fields = None,
        ttl: TTLConfig | None = None,
        timeout: float = DEFAULT_TIMEOUT_SECONDS,
        transport: Transport | None = None,
    ) -> None:
        self.ttl_config = ttl
        self._wire = _Wire(user_id, fields)
        self._transport = transport or Transport(base_url, api_key, timeout=timeout)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations one after the other; their results in the same order."""
        results: list[Result] = []
        for portion in _portions(ops):
            call = self._wire.batch(portion)
            results += self._wire.results(portion, member(call, self._transport.send(call), "results"))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch` in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()


class AsyncMnemicStore(AsyncClosing, BaseStore):
    """`MnemicStore` for one event loop; the methods without an `a` work from threads other than the loop's."""

    supports_ttl = True

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        api_key: str | None = None,
        *,
        user_id: str | None = None,
        fields: Fields = None,
        ttl: TTLConfig | None = None,
        timeout: float = DEFAULT_TIMEOUT_SECONDS,
        transport: AsyncTransport | None = None,
    ) -> None:
        self.ttl_config = ttl
        self._wire = _Wire(user_id, fields)
        self._transport = transport or AsyncTransport(base_url, api_key, timeout=timeout)
        self._loop = asyncio.get_running_loop()

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations one after the other; their results in the same order."""
        results: list[Result] = []
        for portion in _portions(ops):
            call = self._wire.batch(portion)
            results += self._wire.results(portion, member(call, await self._transport.send(call), "results"))
        return results

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """`abatch`, from another thread."""
        return from_outside(self._loop, self.abatch(ops))

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()
