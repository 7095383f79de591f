"""The sync client's connections: kept, not used when they are stale, and clear about what went wrong."""

import asyncio
import gzip
import json
import os
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from mnemic_client import NoAnswer, ProblemError, UnreadableAnswer
from mnemic_client.answers import Reading
from mnemic_client.calls import Call, Retries
from mnemic_client.transport import AsyncTransport, Transport

ONCE = Retries(attempts=1)
BEFORE = (
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nX: y\r\nContent-Length: 7\r\n\r\n"
    b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 199 X\r\n\r\n"
)
"""Answers before an answer."""
PUT = Call("PUT", "/v1/checkpoints", query={"了": "解", "flag": True}, body={"text": "旅行🚆"})


class Host(BaseHTTPRequestHandler):
    """Tells what it was asked, and by which of its connections, after what is no answer yet."""

    protocol_version = "HTTP/1.1"
    connections: set[Any]
    leaves: bool
    status: int

    def do_PUT(self) -> None:
        self.connections.add(self.client_address)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = b'{"path": "%s", "body": %s, "code": "c", "detail": "d"}' % (self.path.encode(), body)
        self.wfile.write(BEFORE)
        self.send_response(self.status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        self.close_connection = self.leaves

    def log_message(self, *_: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    """Lets wait until it has closed a connection."""

    def __init__(self, handler: Any) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.closed = threading.Event()

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        self.closed.set()


@contextmanager
def host(*, leaves: bool = False, status: int = 200) -> Iterator[tuple[str, set[Any], threading.Event]]:
    """A host that closes a connection without a word after its answer, or keeps it."""
    connections: set[Any] = set()
    server = Server(type("Given", (Host,), {"connections": connections, "leaves": leaves, "status": status}))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", connections, server.closed
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_connection_is_kept_and_what_is_sent_arrives() -> None:
    with host() as (url, connections, _), Transport(url, "key") as transport:
        for _ in range(3):
            answer = transport.send(PUT)
        assert answer["body"] == PUT.body
        assert answer["path"] == "/v1/checkpoints?%E4%BA%86=%E8%A7%A3&flag=true"
        assert len(connections) == 1


def test_threads_have_a_connection_each_and_no_more_than_there_may_be() -> None:
    with host() as (url, connections, _), Transport(url, connections=4) as transport:
        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(transport.send, [Call("PUT", "/", body=n) for n in range(200)]))
        assert [answer["body"] for answer in answers] == list(range(200))
        assert 1 <= len(connections) <= 4


def test_a_connection_that_was_closed_meanwhile_is_not_used_again() -> None:
    with host(leaves=True) as (url, connections, closed), Transport(url, retries=ONCE) as transport:
        for count in range(1, 4):
            assert transport.send(PUT)["body"] == PUT.body
            assert len(connections) == count
            assert closed.wait(30)
            closed.clear()


def test_a_problem_is_told_and_the_connection_stays() -> None:
    with host(status=422) as (url, connections, _), Transport(url) as transport:
        for _ in range(2):
            with pytest.raises(ProblemError, match="422 c: d"):
                transport.send(PUT)
        assert len(connections) == 1


class Slow:
    """A socket that gives so many bytes at a time."""

    def __init__(self, words: bytes, at_once: int) -> None:
        self._words, self._at_once = words, at_once

    def recv(self, size: int, /) -> bytes:
        given = self._words[: min(size, self._at_once)]
        self._words = self._words[len(given) :]
        return given


@contextmanager
def saying(words: bytes) -> Iterator[str]:
    """A host that says this to whoever comes, and then nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        came: list[socket.socket] = []

        def serve() -> None:
            one, _ = listening.accept()
            came.append(one)
            one.recv(65536)
            one.sendall(words)
            if words:
                one.shutdown(socket.SHUT_WR)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            thread.join(5)
            came[0].close()


@pytest.mark.parametrize(
    "words",
    [
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{",
        b"HTTP/1.1 200 OK\r\nContent-",
        b"HTTP/1.1 103 Early Hints\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        b"",
    ],
)
def test_nonsense_half_an_answer_and_silence_are_no_answer(words: bytes) -> None:
    with (
        saying(words) as url,
        Transport(url, timeout=0.2, retries=ONCE) as transport,
        pytest.raises(NoAnswer, match="PUT /v1/checkpoints"),
    ):
        transport.send(PUT)


@pytest.mark.parametrize("pieces", [1, 7, 65536])
def test_an_answer_in_parts_is_put_together_however_it_arrives(pieces: int) -> None:
    words = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b'4\r\n{"a"\r\n' + b'5; x="y"\r\n: [1]\r\n1\r\n}\r\n0\r\nTrailer: t\r\n\r\n'
    )
    reading = Reading(Slow(words, pieces))
    assert json.loads(reading.answer().content) == {"a": [1]}
    assert reading.stays


@pytest.mark.parametrize(
    ("words", "status", "stays"),
    [
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, True),
        (BEFORE + b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}", 201, True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}" + BEFORE, 200, False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}", 200, False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", 200, False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 500 Surplus\r\n\r\n", 200, False),
    ],
)
def test_a_connection_is_used_again_only_where_nothing_is_left_on_it(words: bytes, status: int, stays: bool) -> None:
    reading = Reading(Slow(words, 4096))
    assert (reading.answer().status, reading.stays) == (status, stays)


@pytest.mark.parametrize(
    "words",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nno header\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n{}",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nmany\r\n{}\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"a" * 200_000,
    ],
)
def test_what_does_not_say_where_it_ends_is_no_answer(words: bytes) -> None:
    with pytest.raises(HTTPException):
        Reading(Slow(words, 4096)).answer()


def test_a_header_with_a_line_end_in_it_is_not_sent() -> None:
    with host() as (url, connections, _), Transport(url, retries=ONCE) as transport:
        with pytest.raises(ValueError, match="line"):
            transport.send(replace(PUT, headers={"If-Match": "1\r\nX-Other: 2"}))
        assert not connections


def test_a_host_that_is_not_there_is_no_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    for url in (f"http://127.0.0.1:{port}", f"https://127.0.0.1:{port}"):
        with Transport(url, retries=ONCE) as transport, pytest.raises(NoAnswer):
            transport.send(PUT)


def test_a_host_without_a_certificate_is_not_spoken_to() -> None:
    with host() as (url, connections, _), Transport(url.replace("http:", "https:"), retries=ONCE) as transport:
        with pytest.raises(NoAnswer, match=r"(?i)ssl"):
            transport.send(PUT)
        assert not connections


def test_a_forked_process_has_connections_of_its_own() -> None:
    with host() as (url, connections, _), Transport(url) as transport:
        transport.send(PUT)
        child = os.fork()
        if child == 0:
            os._exit(0 if transport.send(PUT)["body"] == PUT.body else 1)
        transport.send(PUT)
        assert os.waitpid(child, 0)[1] == 0
        assert len(connections) == 2


def test_a_process_forked_while_all_connections_are_in_use_has_all_of_its_own() -> None:
    said = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as pool:
        listening.settimeout(10)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with Transport(url, connections=1, timeout=10, retries=ONCE) as transport:
            waiting = pool.submit(transport.send, PUT)
            of_parent, _ = listening.accept()
            child = os.fork()
            if child == 0:
                with suppress(NoAnswer):
                    os._exit(0 if transport.send(PUT) == {} else 1)
                os._exit(2)
            of_child, _ = listening.accept()
            for connection in (of_child, of_parent):
                with connection:
                    connection.recv(65536)
                    connection.sendall(said)
            assert os.waitpid(child, 0)[1] == 0
            assert waiting.result(10) == {}


async def sent_by(kind: str, url: str) -> Any:
    """What a call gives, sent once by the sync or the async transport."""
    if kind == "sync":
        with Transport(url, timeout=5, retries=ONCE) as transport:
            return await asyncio.to_thread(transport.send, PUT)
    async with AsyncTransport(url, timeout=5, retries=ONCE) as transport:
        return await transport.send(PUT)


def answer_of(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    return b"\r\n".join((b"HTTP/1.1 " + status, b"Content-Length: %d" % len(body), *headers, b"", body))


BOTH = pytest.mark.parametrize("kind", ["sync", "async"])


@BOTH
@pytest.mark.parametrize(
    ("words", "error"),
    [
        (answer_of(b"<html>Sign in</html>", b"Content-Type: text/html"), UnreadableAnswer),
        (answer_of(b"\xff\xfe{}"), UnreadableAnswer),
        (answer_of(b"[" * 100_000), UnreadableAnswer),
        (answer_of(b"9" * 5_000), UnreadableAnswer),
        (answer_of(b"\x1f\x8b\x08 no gzip", b"Content-Encoding: gzip"), UnreadableAnswer),
        (b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\n{}", NoAnswer),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}", NoAnswer),
    ],
)
async def test_what_the_service_does_not_answer_is_an_error_of_the_client(
    kind: str, words: bytes, error: type[NoAnswer]
) -> None:
    with saying(words) as url:
        with pytest.raises(error, match="PUT /v1/checkpoints: ") as raised:
            await sent_by(kind, url)
        assert raised.value.__cause__ is not None


async def test_the_sync_client_reads_no_other_encoding_than_it_asks_for() -> None:
    with saying(answer_of(gzip.compress(b"{}"), b"Content-Encoding: gzip")) as url:
        with pytest.raises(UnreadableAnswer, match="no JSON") as raised:
            await sent_by("sync", url)
        assert isinstance(raised.value.__cause__.__cause__, UnicodeDecodeError)  # type: ignore[union-attr]


@BOTH
@pytest.mark.parametrize(
    ("asked", "seconds"), [(b"7", 7.0), (b"\xb2", None), (b"9" * 400, None), (b"-1", None), (b"tomorrow", None)]
)
async def test_a_pause_that_is_no_number_of_seconds_is_none(kind: str, asked: bytes, seconds: float | None) -> None:
    words = answer_of(b'{"code": "busy"}', b"Retry-After: " + asked, status=b"503 Service Unavailable")
    with saying(words) as url, pytest.raises(ProblemError, match="503 busy") as raised:
        await sent_by(kind, url)
    assert raised.value.retry_after == seconds


@BOTH
async def test_a_name_that_is_none_is_no_answer(kind: str) -> None:
    with pytest.raises(NoAnswer, match="PUT /v1/checkpoints: ") as raised:
        await sent_by(kind, f"http://{'a' * 70}.test:1")
    assert raised.value.__cause__ is not None
