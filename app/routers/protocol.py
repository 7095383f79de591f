"""What the server answers by itself where bytes are no HTTP request and no application is asked: a problem too."""

import asyncio
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from app.core import ids
from app.core.errors import BadRequest
from app.routers.problems import response_of

try:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
except ImportError:  # where httptools is not built
    HttpToolsProtocol = H11Protocol  # type: ignore[misc, assignment]

DETAIL: Final = "This is no HTTP request: its first line or a header is malformed."


def malformed() -> bytes:
    """The whole answer to what is no request, after which the connection is closed."""
    request_id = str(ids.new_id())
    problem = BadRequest(DETAIL, code="malformed_request", headers={"X-Request-ID": request_id, "Connection": "close"})
    response = response_of(problem, {"state": {"request_id": request_id}})
    head = b"".join(name + b": " + value + b"\r\n" for name, value in response.raw_headers)
    return b"HTTP/1.1 400 Bad Request\r\n" + head + b"\r\n" + bytes(response.body)


class H11ProblemProtocol(H11Protocol):
    """Written in Python."""

    transport: asyncio.Transport

    def send_400_response(self, msg: str) -> None:
        """Answer and close."""
        del msg
        self.transport.write(malformed())
        self.transport.close()


class ProblemProtocol(HttpToolsProtocol):
    """The faster one, where it is built."""

    transport: asyncio.Transport

    def send_400_response(self, msg: str) -> None:
        """Answer and close."""
        del msg
        self.transport.write(malformed())
        self.transport.close()
