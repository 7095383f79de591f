"""Answers as the sync client reads them: HTTP/1.1 (RFC 9112), the part of it that a call to this service needs.

The standard library reads an answer's head as it reads mail, which takes longer than all else that a call does here.
"""

import re
from dataclasses import dataclass
from http.client import HTTPException, IncompleteRead
from typing import Final, Protocol

MAX_HEAD: Final = 64 * 1024
RECEIVED_AT_ONCE: Final = 64 * 1024
FIRST_FINAL: Final = 200
SWITCHING: Final = 101
MOST_BEFORE: Final = 100
"""Answers before an answer."""
BODILESS: Final = frozenset({204, 304})
END: Final = b"\r\n"
_STATUS: Final = re.compile(rb"HTTP/1\.([01]) ([0-9]{3})(?: [^\r\n]*)?")
_LENGTH: Final = re.compile(rb"[0-9]{1,15}")
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?")


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: `retry_after` is the header of this name."""

    status: int
    content: bytes
    retry_after: str | None = None

    @property
    def is_success(self) -> bool:
        """Whether the service did what it was asked."""
        return FIRST_FINAL <= self.status < 300  # noqa: PLR2004 - 2xx


class Source(Protocol):
    """A socket, as far as it is read."""

    def recv(self, size: int, /) -> bytes:
        """Some bytes; none at the end."""


class Reading:
    """One answer on its way in. `stays` tells, after `answer`, whether the connection can be used again."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._waiting = b""
        self.stays = False

    def answer(self) -> Answer:
        """The whole of it. Raises `HTTPException` where it is none, or where half of one would look whole."""
        minor, status, headers = self._final_head()
        content = self._body(status, headers)
        closes = b"close" in headers.get(b"connection", b"").lower()
        self.stays = minor == b"1" and not closes and not self._waiting
        retry_after = headers.get(b"retry-after")
        return Answer(status, content, None if retry_after is None else retry_after.decode("latin-1"))

    def _final_head(self) -> tuple[bytes, int, dict[bytes, bytes]]:
        """The head of the answer itself: what may come before it asks for nothing (RFC 9110, 15.2)."""
        for _ in range(MOST_BEFORE):
            head = self._head()
            if head[1] >= FIRST_FINAL:
                return head
            if head[1] == SWITCHING:
                break
        raise HTTPException("There are answers before the answer, and no answer.")

    def _head(self) -> tuple[bytes, int, dict[bytes, bytes]]:
        lines = self._until(END + END).split(END)
        told = _STATUS.fullmatch(lines[0])
        if told is None:
            raise HTTPException("This is no answer of HTTP/1.1.")
        headers = {}
        for line in lines[1:]:
            name, colon, value = line.partition(b":")
            if not colon:
                raise HTTPException("A header of the answer is none.")
            headers[name.lower()] = value.strip()
        return told[1], int(told[2]), headers

    def _body(self, status: int, headers: dict[bytes, bytes]) -> bytes:
        if status in BODILESS:
            return b""
        if headers.get(b"transfer-encoding", b"").lower() == b"chunked":
            return self._chunks()
        length = headers.get(b"content-length", b"")
        if not _LENGTH.fullmatch(length):
            raise HTTPException("An answer that does not say where it ends may be half of one.")
        return self._exactly(int(length))

    def _chunks(self) -> bytes:
        parts = []
        while True:
            size = _SIZE.fullmatch(self._until(END))
            if size is None:
                raise HTTPException("A part of the answer does not say how long it is.")
            length = int(size[1], 16)
            if not length:
                break
            parts.append(self._exactly(length))
            if self._until(END):
                raise HTTPException("A part of the answer is longer than it says.")
        while self._until(END):  # what else is told after the last part
            pass
        return b"".join(parts)

    def _until(self, end: bytes) -> bytes:
        """What comes before some bytes, which go with it."""
        while end not in self._waiting:
            if len(self._waiting) > MAX_HEAD:
                raise HTTPException("The head of the answer does not end.")
            self._waiting += self._more()
        before, _, self._waiting = self._waiting.partition(end)
        return before

    def _exactly(self, length: int) -> bytes:
        parts, missing = [self._waiting[:length]], length - len(self._waiting)
        self._waiting = self._waiting[length:]
        while missing > 0:
            parts.append(self._more(missing))
            missing -= len(parts[-1])
        return b"".join(parts)

    def _more(self, most: int = RECEIVED_AT_ONCE) -> bytes:
        received = self._source.recv(min(most, 1024 * 1024))
        if not received:
            raise IncompleteRead(self._waiting)
        return received
