"""Connections of the sync client, on the standard library: a checkpoint waits for every microsecond.

They do what a call to this service needs and no more: no proxy, no redirect, no stream.
"""

import os
import select
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from queue import Empty, LifoQueue
from threading import BoundedSemaphore
from types import TracebackType
from typing import Any, Final, Self

import httpx

from mnemic_client.closing import Closing

Address = tuple[int, str, str, int | None]
"""Process, scheme, host, port."""

_TIMED_OUT: Final = {True: httpx.ReadTimeout, False: httpx.ConnectTimeout}


class _InOnePiece(HTTPConnection):
    """Sends a request's head and body at once: the other side is woken once, and reads once."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._pieces: list[bytes] = []

    def send(self, data: Any) -> None:
        """Keeps what is to be sent until the answer is asked for."""
        self._pieces.append(data)

    def getresponse(self) -> HTTPResponse:
        """Sends, and waits for the answer's head. Raises `HTTPException` where half of one would look whole."""
        super().send(b"".join(self._pieces))
        self._pieces.clear()
        response = super().getresponse()
        if response.status < httpx.codes.OK:
            raise HTTPException("An answer before the answer is not waited for.")
        if response.length is None and not response.chunked:
            raise HTTPException("An answer that does not say where it ends may be half of one.")
        return response


class _Secured(_InOnePiece, HTTPSConnection):
    """The same under TLS."""


class Connections(Closing, httpx.BaseTransport):
    """Kept open and shared by threads; one that the other side has closed meanwhile is not used again.

    Args:
        most: Connections at once; whoever comes then waits.
    """

    def __init__(self, most: int) -> None:
        self._free = BoundedSemaphore(most)
        self._idle: dict[Address, LifoQueue[HTTPConnection]] = {}
        self._security: Any = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The answer, read to its end. Raises `httpx.TransportError`."""
        timeout = request.extensions["timeout"]
        if not self._free.acquire(timeout=timeout["pool"]):
            raise httpx.PoolTimeout("All connections are in use.")
        try:
            return self._exchanged(request, timeout["read"])
        finally:
            self._free.release()

    def close(self) -> None:
        """Close those that nobody uses."""
        for idle in list(self._idle.values()):
            with suppress(Empty):
                while True:
                    idle.get_nowait().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        self.close()

    def _exchanged(self, request: httpx.Request, timeout: float) -> httpx.Response:
        url = request.url
        address = os.getpid(), url.scheme, url.host, url.port  # a forked process opens connections of its own
        connection = self._alive(address) or self._opened(address, timeout)
        try:
            connection.request(request.method, url.raw_path.decode("ascii"), request.content, dict(request.headers))
            response = connection.getresponse()
            content = response.read()
        except BaseException as error:  # also what interrupts a thread: half an answer must not be the next one's
            connection.close()
            raise _told(error, connected=True) from error
        if response.will_close:
            connection.close()
        else:
            self._idle.setdefault(address, LifoQueue()).put(connection)
        return _response(response, content)

    def _alive(self, address: Address) -> HTTPConnection | None:
        """The connection that was used last; what can be read from an idle one is its end."""
        idle = self._idle.get(address)
        with suppress(Empty):
            while idle is not None:
                connection = idle.get_nowait()
                if connection.sock is not None and not _readable(connection.sock):
                    return connection
                connection.close()
        return None

    def _opened(self, address: Address, timeout: float) -> HTTPConnection:
        _, scheme, host, port = address
        if scheme == "https":
            self._security = self._security or httpx.create_ssl_context()
            connection: HTTPConnection = _Secured(host, port, timeout=timeout, context=self._security)
        else:
            connection = _InOnePiece(host, port, timeout=timeout)
        try:
            connection.connect()
        except OSError as error:
            raise _told(error, connected=False) from error
        return connection


def _readable(sock: Any) -> bool:
    poller = select.poll()
    poller.register(sock, select.POLLIN)
    return bool(poller.poll(0))


def _response(response: HTTPResponse, content: bytes) -> httpx.Response:
    return httpx.Response(response.status, headers=response.getheaders(), content=content)


def _told(error: BaseException, *, connected: bool) -> BaseException:
    """What happened, in httpx's words; what is neither a fault of the network nor of the answer is left as it is."""
    message = str(error) or type(error).__name__
    if isinstance(error, TimeoutError):
        return _TIMED_OUT[connected](message)
    if isinstance(error, HTTPException):
        return httpx.RemoteProtocolError(message)
    if isinstance(error, OSError):
        return httpx.ReadError(message) if connected else httpx.ConnectError(message)
    return error
