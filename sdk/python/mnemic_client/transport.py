"""How calls are sent: with a key, with retries where they are safe, and with errors that say what happened."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any, Final

import httpx

from mnemic_client.answers import Answer
from mnemic_client.calls import RETRIED_STATUSES, Call, Frame, Outgoing, Retries, answer_of, member, read
from mnemic_client.closing import AsyncClosing, Closing
from mnemic_client.connections import Connections
from mnemic_client.errors import NoAnswer, UnreadableAnswer, seconds_of

DEFAULT_URL: Final = "http://127.0.0.1:8000"
DEFAULT_TIMEOUT_SECONDS: Final = 30.0
DEFAULT_CONNECTIONS: Final = 100
_FAULTS: Final = (httpx.RequestError, ValueError)
"""Of httpx's transports: a name or a length that they cannot read comes through as a bare `ValueError`."""


def _limits(connections: int) -> httpx.Limits:
    return httpx.Limits(max_connections=connections, max_keepalive_connections=connections)


class _Given:
    """A transport of httpx that the caller brought, in the place of our own connections."""

    def __init__(self, transport: httpx.BaseTransport, frame: Frame) -> None:
        self._transport = transport
        self._frame = frame

    def exchange(self, outgoing: Outgoing) -> Answer:
        """The answer. Raises `httpx.RequestError`."""
        request = outgoing.request(self._frame)
        try:
            response = self._transport.handle_request(request)
            response.read()
        except ValueError as error:
            raise httpx.RemoteProtocolError(str(error)) from error
        return answer_of(response)

    def close(self) -> None:
        """Close its connections."""
        self._transport.close()


class Transport(Closing):
    """Sends calls, one after the other or from several threads at once."""

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        api_key: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT_SECONDS,
        retries: Retries | None = None,
        connections: int = DEFAULT_CONNECTIONS,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._retries = retries or Retries()
        self._frame = Frame(base_url, api_key, timeout)
        self._http: Connections | _Given = (
            Connections(connections, timeout) if transport is None else _Given(transport, self._frame)
        )

    def send(self, call: Call) -> Any:
        """The answer's body. Raises `ProblemError` or `NoAnswer`."""
        outgoing = call.outgoing(self._frame)
        for attempt in range(self._retries.attempts):
            last = attempt == self._retries.attempts - 1 or not call.repeatable
            try:
                answer = self._http.exchange(outgoing)
                if last or answer.status not in RETRIED_STATUSES:
                    return read(answer)
                asked = seconds_of(answer.retry_after)
            except httpx.RequestError as error:
                if last:
                    raise _lost(call, error) from error
                asked = None
            time.sleep(self._retries.pause(attempt, asked))
        raise AssertionError("unreachable: the last attempt returns or raises")

    def pages(self, call: Call) -> Iterator[dict[str, Any]]:
        """Every row of a list, page by page."""
        while True:
            page = self.send(call)
            yield from member(call, page, "results")
            cursor = member(call, page, "next_cursor")
            if cursor is None:
                return
            call = _next(call, cursor)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


class AsyncTransport(AsyncClosing):
    """Sends calls from one event loop."""

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        api_key: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT_SECONDS,
        retries: Retries | None = None,
        connections: int = DEFAULT_CONNECTIONS,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._retries = retries or Retries()
        self._frame = Frame(base_url, api_key, timeout)
        # Without httpx's own client, which does much that is not needed here: a checkpoint waits for every microsecond.
        self._http = transport or httpx.AsyncHTTPTransport(limits=_limits(connections), trust_env=False)

    async def send(self, call: Call) -> Any:
        """The answer's body. Raises `ProblemError` or `NoAnswer`."""
        request = call.outgoing(self._frame).request(self._frame)
        for attempt in range(self._retries.attempts):
            last = attempt == self._retries.attempts - 1 or not call.repeatable
            try:
                response = await self._http.handle_async_request(request)
                await response.aread()
                answer = answer_of(response)
                if last or answer.status not in RETRIED_STATUSES:
                    return read(answer)
                asked = seconds_of(answer.retry_after)
            except _FAULTS as error:
                if last:
                    raise _lost(call, error) from error
                asked = None
            await asyncio.sleep(self._retries.pause(attempt, asked))
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def pages(self, call: Call) -> AsyncIterator[dict[str, Any]]:
        """Every row of a list, page by page."""
        while True:
            page = await self.send(call)
            for row in member(call, page, "results"):
                yield row
            cursor = member(call, page, "next_cursor")
            if cursor is None:
                return
            call = _next(call, cursor)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def _next(call: Call, cursor: str) -> Call:
    """The same list from a cursor on, which stands in the body of a POST and in the query of a GET."""
    if call.method == "GET":
        return replace(call, query={**call.query, "cursor": cursor})
    return replace(call, body={**call.body, "cursor": cursor})


def _lost(call: Call, error: Exception) -> NoAnswer:
    kind = UnreadableAnswer if isinstance(error, httpx.DecodingError) else NoAnswer
    return kind(f"{call.method} {call.path}: {str(error) or type(error).__name__}")
