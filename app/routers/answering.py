"""How answers leave: in one piece, and in the order of what was asked. And what the server says by itself."""

import asyncio
import logging
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any, Final, Protocol

from uvicorn.protocols.http.flow_control import FlowControl

from app.core import ids
from app.core.errors import BadRequest, HeadTooLarge, Problem
from app.routers.problems import response_of

MAX_HEAD: Final = 64 * 1024
"""Bytes of a request's line and headers together, and of a body's trailers."""

_HEAD: Final = b"HTTP/1."
DETAIL: Final = "This is no HTTP request: its first line or a header is malformed."
TOO_LARGE: Final = f"The request's line and headers, or its trailers, exceed {MAX_HEAD} bytes."


def malformed() -> bytes:
    """The whole answer to what is no request, after which the connection is closed."""
    return _whole(BadRequest(DETAIL, code="malformed_request"))


def head_too_large() -> bytes:
    """The whole answer to a head that is not read to its end, after which the connection is closed."""
    return _whole(HeadTooLarge(TOO_LARGE))


def _whole(problem: Problem) -> bytes:
    request_id = str(ids.new_id())
    problem.headers |= {"X-Request-ID": request_id, "Connection": "close"}
    response = response_of(problem, {"state": {"request_id": request_id}})
    head = b"".join(name + b": " + value + b"\r\n" for name, value in response.raw_headers)
    first = f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}\r\n"
    return first.encode() + head + b"\r\n" + bytes(response.body)


def size_of(headers: Iterable[tuple[bytes, bytes]]) -> int:
    """Bytes of headers as they are sent, each with its colon, a space and a line's end."""
    return sum(len(name) + len(value) + len(": \r\n") for name, value in headers)


def size_of_head(method: bytes, target: bytes, headers: Iterable[tuple[bytes, bytes]]) -> int:
    """Bytes of a head as it is sent."""
    return len(method) + len(target) + len("  HTTP/1.1\r\n\r\n") + size_of(headers)


class InOnePiece:
    """A transport that sends the head of an answer together with the beginning of its body.

    uvicorn writes one after the other, and uvloop sends what is written at once: two calls of the system, and a client
    that is woken twice. A head without a body goes out at the loop's next turn.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._head = b""
        self.is_closing = transport.is_closing  # at hand: it is asked with each answer

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever else a transport can do
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send; what looks like a head waits for what comes next."""
        if self._head:
            data, self._head = self._head + data, b""
        elif data.startswith(_HEAD):
            self._head = data
            self._loop.call_soon(self._send_head)
            return
        self._transport.write(data)

    def write_eof(self) -> None:
        """Send what waits, and say that no more comes."""
        self._send_head()
        self._transport.write_eof()

    def close(self) -> None:
        """Send what waits, and close."""
        self._send_head()
        self._transport.close()

    def _send_head(self) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)


class Cycle(Protocol):
    """A request and its answer, as both of uvicorn's protocols keep them."""

    message_event: asyncio.Event
    disconnected: bool
    more_body: bool
    response_started: bool
    response_complete: bool


class Answering(asyncio.Protocol):
    """What both protocols do otherwise than uvicorn.

    Reading ends at what is no request, and where the other side sends no more. What was asked for in full until then
    is answered all the same, in its order; what was not is given up. Then come the server's own word, if it has one,
    and the end. An `Upgrade` is passed over (RFC 9110, 7.8): there is nothing to change to.
    """

    transport: asyncio.Transport
    flow: FlowControl
    loop: asyncio.AbstractEventLoop
    logger: logging.Logger
    cycle: Any
    timeout_keep_alive: int
    timeout_keep_alive_task: asyncio.TimerHandle | None

    _over = False
    """Whether reading has ended."""
    _hears_no_more = False
    """Whether it was the other side that ended it."""
    _left = False
    _last_word = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, on a transport that sends answers in one piece."""
        super().connection_made(InOnePiece(transport))  # type: ignore[arg-type]

    def eof_received(self) -> bool:
        """Keep the connection for what is still to be answered: who says no more may still listen."""
        self._hears_no_more = True
        self._read_no_more()
        return self._answers_are_due()

    def send_400_response(self, msg: str) -> None:
        """Say, when it is its turn, that this is no request."""
        del msg
        self._read_no_more(malformed())

    def on_response_complete(self) -> None:
        """Go on; after the last answer, leave."""
        super().on_response_complete()  # type: ignore[misc]
        if self._over:
            self._read_no_more()

    def _should_upgrade(self) -> bool:
        return False

    def _unread(self) -> Cycle | None:
        """The request that is being read, taken out of those that wait."""
        raise NotImplementedError

    def _answers_are_due(self) -> bool:
        """Whether a request that was read in full has not been answered to its end."""
        return self.cycle is not None and not (self.cycle.response_complete or self.cycle.disconnected)

    def _read_no_more(self, last_word: bytes = b"") -> None:
        self._over = True
        self._last_word = self._last_word or last_word
        unread = self._unread()
        if unread is not None:
            if unread.response_started:  # one request has one answer
                self._last_word = b""
            unread.disconnected = True
            unread.message_event.set()
        if not self._answers_are_due():
            self._leave()

    def _leave(self) -> None:
        if self._left or self.transport.is_closing():
            return
        self._left = True
        if self._last_word:
            self.transport.write(self._last_word)
        if not self._last_word or self._hears_no_more:
            self.transport.close()
            return
        # Closing while something comes in would take the answer away from who has not read it yet (RFC 9112, 9.6).
        self.transport.write_eof()
        self.flow.resume_reading()
        if self.timeout_keep_alive_task is not None:
            self.timeout_keep_alive_task.cancel()
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.transport.close)
