"""What speaks HTTP/1.1: uvicorn's two protocols, with the limits and the last words of this service."""

import asyncio
import sys
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.routers.answering import (
    MAX_HEAD,
    Answering,
    Cycle,
    head_too_large,
    size_of,
    size_of_head,
)

_TOO_LARGE: Final = 431


class _Connection(h11.Connection):
    """Looks also at a head that came whole: h11 itself counts only what it waits for."""

    def next_event(self) -> Any:  # noqa: ANN401 - as h11 has it
        """What was read. Raises `h11.RemoteProtocolError`."""
        event = super().next_event()
        size = 0
        if isinstance(event, h11.Request):
            size = size_of_head(event.method, event.target, event.headers)
        elif isinstance(event, h11.EndOfMessage):
            size = size_of(event.headers)
        if size > MAX_HEAD:
            raise h11.RemoteProtocolError("Headers too long", error_status_hint=_TOO_LARGE)
        return event


class H11ProblemProtocol(Answering, H11Protocol):  # type: ignore[misc]  # eof_received says whether to stay
    """Written in Python."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, with the limit of this service."""
        self.conn = _Connection(h11.SERVER, MAX_HEAD)
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Read a block."""
        if not self._over:
            super().data_received(data)

    def send_400_response(self, msg: str) -> None:
        """Say, when it is its turn, what is wrong with what was read."""
        if getattr(sys.exception(), "error_status_hint", 0) == _TOO_LARGE:
            self._read_no_more(head_too_large())
        else:
            super().send_400_response(msg)

    def _unread(self) -> Cycle | None:
        return self.cycle if self.cycle is not None and self.cycle.more_body else None


try:
    from app.routers.httptools_protocol import HttpToolsProblemProtocol as ProblemProtocol
except ImportError:  # where httptools is not built
    ProblemProtocol = H11ProblemProtocol  # type: ignore[misc, assignment]

__all__ = ["H11ProblemProtocol", "ProblemProtocol"]
