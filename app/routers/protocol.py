"""How answers leave: in one piece. And what the server says by itself to what is no HTTP request: a problem too."""

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from app.core import ids
from app.core.errors import BadRequest
from app.routers.problems import response_of

try:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
except ImportError:  # where httptools is not built
    HttpToolsProtocol = H11Protocol  # type: ignore[misc, assignment]

_HEAD: Final = b"HTTP/1."
DETAIL: Final = "This is no HTTP request: its first line or a header is malformed."


def malformed() -> bytes:
    """The whole answer to what is no request, after which the connection is closed."""
    request_id = str(ids.new_id())
    problem = BadRequest(DETAIL, code="malformed_request", headers={"X-Request-ID": request_id, "Connection": "close"})
    response = response_of(problem, {"state": {"request_id": request_id}})
    head = b"".join(name + b": " + value + b"\r\n" for name, value in response.raw_headers)
    return b"HTTP/1.1 400 Bad Request\r\n" + head + b"\r\n" + bytes(response.body)


class InOnePiece:
    """A transport that sends the head of an answer together with the beginning of its body.

    uvicorn writes one after the other, and uvloop sends what is written at once: two calls of the system, and a client
    that is woken twice. A head without a body goes out at the loop's next turn.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._head = b""

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

    def close(self) -> None:
        """Send what waits, and close."""
        self._send_head()
        self._transport.close()

    def _send_head(self) -> None:
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)


class _Answering(asyncio.Protocol):
    """What both protocols do otherwise than uvicorn."""

    transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, on a transport that sends answers in one piece."""
        super().connection_made(InOnePiece(transport))  # type: ignore[arg-type]

    def send_400_response(self, msg: str) -> None:
        """Answer and close."""
        del msg
        self.transport.write(malformed())
        self.transport.close()


class H11ProblemProtocol(_Answering, H11Protocol):
    """Written in Python."""


class ProblemProtocol(_Answering, HttpToolsProtocol):
    """The faster one, where it is built."""
