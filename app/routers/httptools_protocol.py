"""HTTP as the faster of two parsers reads it, which knows no limit and takes any `Upgrade` for the end of HTTP."""

from typing import Final

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.routers.answering import MAX_HEAD, Answering, Cycle, head_too_large, malformed, size_of, size_of_head

_WITHOUT_HOST: Final = frozenset({"0.9", "1.0"})


class HttpToolsProblemProtocol(Answering, HttpToolsProtocol):  # type: ignore[misc]  # eof_received says whether to stay
    """Counts what it reads, and reads a head that wants to change the protocol once more without that wish.

    The parser does not tell where in a block of bytes a head begins. How much of one has come is therefore known within
    bounds, with its first block and without: more without it ends what has no end, more with it is worth a closer look.
    """

    _come = 0
    """Bytes since a head or a message ended or some body came, with the whole block in which that was."""
    _first = 0
    """Bytes of that block."""
    _moved = False
    """Whether a head or a message ended, or some body came, in this block."""
    _open: Cycle | None = None
    """The request whose body is being read."""
    _before: Cycle | None = None
    """The request before that one."""
    _too_large = False

    def data_received(self, data: bytes) -> None:
        """Read a block."""
        if self._over:
            return
        self._unset_keepalive_if_required()
        self._moved = False
        self._come += len(data)
        try:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                self._go_on(data, upgrade)
        except httptools.HttpParserError:
            self.logger.warning("Invalid HTTP request received.")
            self._read_no_more(head_too_large() if self._too_large else malformed())
            return
        if self._moved:
            self._come = self._first = len(data)
        elif self._come - self._first > MAX_HEAD:
            self._read_no_more(head_too_large())

    def on_headers_complete(self) -> None:
        """Begin to answer a request, unless its head is to be read again."""
        self._moved = True
        if self._come > MAX_HEAD:
            self._check(size_of_head(self.parser.get_method(), self.url, self.headers))
        hosts = 0
        for name, _ in self.headers:
            if name == b"host":
                hosts += 1
        if hosts != 1 and (hosts or self.parser.get_http_version() not in _WITHOUT_HOST):
            raise ValueError("RFC 9112, 3.2: one Host")
        if self.parser.should_upgrade() and self._wants_upgrade():
            return
        self._before = self.cycle
        super().on_headers_complete()
        self._open = self.cycle
        self.headers = []  # trailers are no headers of the request

    def on_body(self, body: bytes) -> None:
        """Keep a piece of a body."""
        self._moved = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._moved = True
        if self._open is None:  # its head is read again
            return
        if self._come > MAX_HEAD:
            self._check(size_of(self.headers))
        self._open = None
        super().on_message_complete()

    def _go_on(self, block: bytes, upgrade: httptools.HttpParserUpgrade | None) -> None:
        """Read on where the parser stopped in a block."""
        rest = memoryview(block)
        while upgrade is not None:
            rest = rest[upgrade.args[0] :]
            if self._wants_upgrade():
                self._read_again()
            try:
                self.parser.feed_data(rest)
                upgrade = None
            except httptools.HttpParserUpgrade as another:
                upgrade = another

    def _check(self, size: int) -> None:
        if size > MAX_HEAD:
            self._too_large = True
            raise ValueError(size)  # which the parser passes on as a fault of its own

    def _wants_upgrade(self) -> bool:
        """Whether there is a header that says so; a CONNECT is no request here and stays what it is."""
        return self.parser.get_method() != b"CONNECT" and self.parser.should_upgrade()

    def _read_again(self) -> None:
        """Give the head to a new parser, without that header."""
        lines = [b" ".join((self.parser.get_method(), self.url, b"HTTP/" + self.parser.get_http_version().encode()))]
        lines += [name + b": " + value for name, value in self.headers if name != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn does
        self.parser.feed_data(b"\r\n".join([*lines, b"", b""]))

    def _unread(self) -> Cycle | None:
        unread, self._open = self._open, None
        if unread is not None and self.pipeline and self.pipeline[0][0] is unread:
            self.pipeline.popleft()
            self.cycle = self._before
        return unread
