"""Connections of the sync client, on plain sockets: a checkpoint waits for every microsecond.

They do what a call to this service needs and no more: no proxy, no redirect, no stream.
"""

import os
import select
import socket
import ssl
from collections import deque
from contextlib import suppress
from http.client import HTTPException
from threading import BoundedSemaphore
from typing import Any, Final

import httpx

from mnemic_client.answers import Answer, Reading
from mnemic_client.calls import Outgoing
from mnemic_client.closing import Closing

Address = tuple[str, str, int]
"""Scheme, host, port."""

_PORTS: Final = {"http": 80, "https": 443}
_TIMED_OUT: Final = {True: httpx.ReadTimeout, False: httpx.ConnectTimeout}


class _Pool:
    """What one process has. Nothing here is a lock that another thread could hold while the process forks."""

    def __init__(self, most: int) -> None:
        self.free = BoundedSemaphore(most)
        self.idle: dict[Address, deque[socket.socket]] = {}


class Connections(Closing):
    """Kept open and shared by threads; one that the other side has closed meanwhile is not used again.

    Args:
        most: Connections at once; whoever comes then waits.
        timeout: Seconds to wait for a free one, for a new one, and for each piece of an answer.
    """

    def __init__(self, most: int, timeout: float) -> None:
        self._most = most
        self._timeout = timeout
        self._pools: dict[int, _Pool] = {}
        self._security: Any = None

    def exchange(self, outgoing: Outgoing) -> Answer:
        """The answer, read to its end. Raises `httpx.TransportError`."""
        # A forked process has connections of its own, and none of those is in use yet.
        process = os.getpid()
        pool = self._pools.get(process) or self._pools.setdefault(process, _Pool(self._most))
        if not pool.free.acquire(timeout=self._timeout):
            raise httpx.PoolTimeout("All connections are in use.")
        try:
            return self._exchanged(pool, outgoing)
        finally:
            pool.free.release()

    def close(self) -> None:
        """Close those that nobody uses."""
        for pool in list(self._pools.values()):
            for idle in list(pool.idle.values()):
                with suppress(IndexError):
                    while True:
                        idle.pop().close()

    def _exchanged(self, pool: _Pool, outgoing: Outgoing) -> Answer:
        url = outgoing.url
        address = url.scheme, url.host, url.port or _PORTS.get(url.scheme, 80)
        idle = pool.idle.get(address)
        if idle is None:
            idle = pool.idle.setdefault(address, deque())
        sent = outgoing.written()
        connection = _alive(idle) or self._opened(address)
        reading = Reading(connection)
        try:
            connection.sendall(sent)  # head and body at once: the other side is woken once, and reads once
            answer = reading.answer()
        except BaseException as error:  # also what interrupts a thread: half an answer must not be the next one's
            connection.close()
            raise _told(error, connected=True) from error
        if reading.stays:
            idle.append(connection)
        else:
            connection.close()
        return answer

    def _opened(self, address: Address) -> socket.socket:
        scheme, host, port = address
        try:
            connection = socket.create_connection((host, port), self._timeout)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if scheme != "https":
                return connection
            self._security = self._security or httpx.create_ssl_context()
            return self._secured(connection, host)
        except (OSError, UnicodeError) as error:  # also a name that is none
            raise _told(error, connected=False) from error

    def _secured(self, connection: socket.socket, host: str) -> socket.socket:
        try:
            secured: socket.socket = self._security.wrap_socket(connection, server_hostname=host)
        except BaseException:
            connection.close()
            raise
        return secured


def _alive(idle: "deque[socket.socket]") -> socket.socket | None:
    """The connection that was used last; what can be read from an idle one is its end."""
    with suppress(IndexError):
        while True:
            connection = idle.pop()
            if not _readable(connection):
                return connection
            connection.close()
    return None


def _readable(sock: socket.socket) -> bool:
    if isinstance(sock, ssl.SSLSocket) and sock.pending():
        return True
    poller = select.poll()
    poller.register(sock, select.POLLIN)
    return bool(poller.poll(0))


def _told(error: BaseException, *, connected: bool) -> BaseException:
    """What happened, in httpx's words; what is neither a fault of the network nor of the answer is left as it is."""
    message = str(error) or type(error).__name__
    if isinstance(error, TimeoutError):
        return _TIMED_OUT[connected](message)
    if isinstance(error, HTTPException):
        return httpx.RemoteProtocolError(message)
    if isinstance(error, OSError | UnicodeError):
        return httpx.ReadError(message) if connected else httpx.ConnectError(message)
    return error
