"""What comes in over a socket gets its own answer in its order, whatever else comes in; what has no end is ended."""

import asyncio
import json
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn

from app.routers.answering import MAX_HEAD, Answering
from app.routers.protocol import H11ProblemProtocol, ProblemProtocol
from tests.conftest import wait_until

HOST = b"Host: x\r\n"
GET = b"GET /%s HTTP/1.1\r\n" + HOST + b"\r\n"
CHUNKED = b"POST /%s HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"
GARBAGE = b"\x00\x01 no request\r\n\r\n"
SECONDS = 20.0


@dataclass
class Service:
    """Answers with what it was asked. `/slow` waits until it may, `/watch` until the other side is gone."""

    port: int = 0
    may: threading.Event = field(default_factory=threading.Event)
    gone: threading.Event = field(default_factory=threading.Event)
    begun: list[str] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """The application."""
        self.begun.append(scope["path"])
        body, more = b"", True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.gone.set()
                return
            body, more = body + message["body"], message["more_body"]
        if scope["path"] == "/slow":
            await asyncio.to_thread(self.may.wait, SECONDS)
        if scope["path"] == "/watch":
            await receive()
            self.gone.set()
        headers = {name.decode(): value.decode() for name, value in scope["headers"] if len(value) < 100}
        answer = json.dumps({"path": scope["path"], "size": len(body), "headers": headers}).encode()
        length = (b"content-length", b"%d" % len(answer))
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": answer})

    def connect(self) -> socket.socket:
        """A connection to it."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


@contextmanager
def serving(protocol: type[Answering], loop: str) -> Iterator[Service]:
    service = Service()
    config = uvicorn.Config(
        service,
        port=0,
        http=protocol,
        loop=loop,
        log_config=None,
        access_log=False,
        lifespan="off",  # type: ignore[arg-type]
    )
    with socket.create_server(("127.0.0.1", 0)) as listening:
        service.port = listening.getsockname()[1]
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            wait_until(lambda: server.started, SECONDS)
            yield service
        finally:
            service.may.set()
            server.should_exit = server.force_exit = True
            thread.join(SECONDS)


@pytest.fixture(
    scope="module",
    params=[(ProblemProtocol, "uvloop"), (ProblemProtocol, "asyncio"), (H11ProblemProtocol, "asyncio")],
    ids=["httptools on uvloop", "httptools", "h11"],
)
def kept(request: pytest.FixtureRequest) -> Iterator[Service]:
    """A server of each protocol."""
    with serving(*request.param) as service:
        yield service


@pytest.fixture
def service(kept: Service) -> Service:
    """The server, with nothing in its memory."""
    kept.may.clear()
    kept.gone.clear()
    kept.begun.clear()
    return kept


def answers_in(received: bytes) -> list[tuple[int, dict[str, Any]]]:
    """Status and JSON of each answer."""
    answers = []
    while received:
        head, _, rest = received.partition(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        length = next(int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length"))
        answers.append((int(lines[0].split()[1]), json.loads(rest[:length])))
        received = rest[length:]
    return answers


def read_to_end(connection: socket.socket) -> bytes:
    received = b""
    while part := connection.recv(65536):
        received += part
    return received


def told(service: Service, *sent: bytes, ends: bool = True) -> list[Any]:
    """The path, or the problem's code, of each answer to what is sent; `ends`: after which no more is sent."""
    with service.connect() as connection:
        for part in sent:
            connection.sendall(part)
        if ends:
            connection.shutdown(socket.SHUT_WR)
        answers = answers_in(read_to_end(connection))
    for status, body in answers:
        assert status == body.get("status", 200)
    return [body.get("code") or body["path"] for _, body in answers]


def head_of(size: int, path: bytes = b"a", method: bytes = b"GET") -> bytes:
    """A head of so many bytes, most of them in one header."""
    frame = method + b" /" + path + b" HTTP/1.1\r\n" + HOST + b"X-Long: \r\n\r\n"
    return frame[:-4] + b"a" * (size - len(frame)) + frame[-4:]


TOO_LARGE = "request_header_fields_too_large"


def pieces(words: bytes, size: int) -> list[bytes]:
    return [words[start : start + size] for start in range(0, len(words), size)]


@pytest.mark.parametrize("at_once", [1000, 10_000_000])
def test_a_head_may_be_as_long_as_the_limit_and_no_longer(service: Service, at_once: int) -> None:
    assert told(service, *pieces(head_of(MAX_HEAD), at_once)) == ["/a"]
    assert told(service, *pieces(head_of(MAX_HEAD + 1), at_once)) == [TOO_LARGE]
    assert told(service, *pieces(head_of(3 * MAX_HEAD), at_once)) == [TOO_LARGE]
    assert told(service, *pieces(GET % (b"a" * 2 * MAX_HEAD), at_once)) == [TOO_LARGE]
    many = head_of(100)[:-2] + b"a:b\r\n" * (MAX_HEAD // 5) + b"\r\n"
    assert told(service, *pieces(many, at_once)) == [TOO_LARGE]


def test_the_limit_is_each_requests_own(service: Service) -> None:
    long = head_of(MAX_HEAD - 100)
    assert told(service, long * 4) == ["/a"] * 4
    assert told(service, *pieces(long * 4, 5000)) == ["/a"] * 4
    assert told(service, GET % b"b", long, head_of(MAX_HEAD + 100, b"c"), long) == ["/b", "/a", TOO_LARGE]
    assert told(service, (GET % b"b") * 40 + head_of(2 * MAX_HEAD, b"c")) == ["/b"] * 40 + [TOO_LARGE]


def test_a_body_does_not_count(service: Service) -> None:
    posted = b"POST /b HTTP/1.1\r\n" + HOST + b"Content-Length: 2000000\r\n\r\n" + b"x" * 2_000_000
    assert told(service, posted, GET % b"a") == ["/b", "/a"]
    assert told(service, CHUNKED % b"b", *[b"1\r\nx\r\n" * 1000] * 40, b"0\r\n\r\n", GET % b"a") == ["/b", "/a"]


@pytest.mark.parametrize("at_once", [1000, 10_000_000])
def test_trailers_have_the_same_limit(service: Service, at_once: int) -> None:
    assert told(service, CHUNKED % b"b" + b"0\r\nX-T: " + b"a" * 1000 + b"\r\n\r\n", GET % b"a") == ["/b", "/a"]
    for trailers in (b"X-T: " + b"a" * 2 * MAX_HEAD, b"X-T: a\r\n" * MAX_HEAD):
        sent = CHUNKED % b"b" + b"0\r\n" + trailers + b"\r\n\r\n"
        assert told(service, GET % b"a", *pieces(sent, at_once)) == ["/a", TOO_LARGE]
        assert told(service, *pieces(sent, at_once)) == [TOO_LARGE]
    wait_until(service.gone.is_set, SECONDS)  # the request is given up


def test_a_trailer_is_no_header(service: Service) -> None:
    with service.connect() as connection:
        connection.sendall(CHUNKED % b"b" + b"0\r\nX-Late: 1\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        [(_, body)] = answers_in(read_to_end(connection))
    assert sorted(body["headers"]) == ["host", "transfer-encoding"]


@pytest.mark.parametrize("begun", [b"GET /a HTTP/1.1\r\n" + HOST + b"X-A: ", b"GET /", CHUNKED % b"b" + b"0\r\nX-A: "])
def test_what_has_no_end_is_ended_soon_and_keeps_nobody_waiting(service: Service, begun: bytes) -> None:
    waited = []
    with service.connect() as endless, service.connect() as other:
        endless.sendall(begun)
        for _ in range(100):
            endless.sendall(b"a" * 65536)
            started = time.perf_counter()
            other.sendall(GET % b"c")
            assert other.recv(65536).startswith(b"HTTP/1.1 200")
            waited.append(time.perf_counter() - started)
        endless.shutdown(socket.SHUT_WR)
        [(status, problem)] = answers_in(read_to_end(endless))
    assert (status, problem["code"], problem["title"]) == (431, TOO_LARGE, "Request header fields too large")
    assert sorted(waited)[90] < 0.05


def test_what_was_asked_for_in_full_is_answered_to_who_says_no_more(service: Service) -> None:
    posted = b"POST /slow HTTP/1.1\r\n" + HOST + b"Content-Length: 2\r\n\r\n{}"
    for sent, paths in (
        (GET % b"slow", ["/slow"]),
        (posted, ["/slow"]),
        (CHUNKED % b"slow" + b"0\r\n\r\n", ["/slow"]),
        (GET % b"slow" + posted + GET % b"a", ["/slow", "/slow", "/a"]),
        (GET % b"slow" + GET[:20], ["/slow"]),
        (GET % b"slow" + posted[:-1], ["/slow"]),
        (GET % b"slow" + CHUNKED % b"b", ["/slow"]),
    ):
        service.may.clear()
        service.begun.clear()
        with service.connect() as connection:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            wait_until(lambda: "/slow" in service.begun, SECONDS)
            service.may.set()
            assert [body["path"] for _, body in answers_in(read_to_end(connection))] == paths, sent


def test_what_was_not_asked_for_in_full_is_given_up(service: Service) -> None:
    posted = b"POST /b HTTP/1.1\r\n" + HOST + b"Content-Length: 20\r\n\r\n{}"
    for sent in (b"", GET[:20], GET % b"a" + GET[:20], posted, CHUNKED % b"b"):
        assert told(service, sent) == (["/a"] if b"/a" in sent else [])
    assert service.gone.wait(SECONDS)


def test_who_is_gone_is_noticed(service: Service) -> None:
    connection = service.connect()
    connection.sendall(GET % b"watch")
    wait_until(lambda: service.begun == ["/watch"], SECONDS)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
    assert service.gone.wait(SECONDS)


@pytest.mark.parametrize("wish", [b"h2c", b"websocket", b"h2c, websocket", b"anything"])
def test_an_upgrade_is_passed_over(service: Service, wish: bytes) -> None:
    upgrade = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: " + wish + b"\r\nHTTP2-Settings: AAMA\r\n"
    upgrade += b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    got = b"GET /a HTTP/1.1\r\n" + HOST + upgrade + b"\r\n"
    posted = b"POST /b HTTP/1.1\r\n" + HOST + upgrade + b"Content-Length: 100000\r\n\r\n" + b"x" * 100_000
    parts = b"POST /c HTTP/1.1\r\n" + HOST + upgrade + b"Transfer-Encoding: chunked\r\n\r\n3\r\nxxx\r\n0\r\n\r\n"
    everything = got + posted + parts + got + GET % b"d"
    for at_once in (777, 10_000_000):
        with service.connect() as connection:
            for part in pieces(everything, at_once):
                connection.sendall(part)
            connection.shutdown(socket.SHUT_WR)
            answers = answers_in(read_to_end(connection))
        found = [(status, body["path"], body["size"]) for status, body in answers]
        assert found == [(200, "/a", 0), (200, "/b", 100_000), (200, "/c", 3), (200, "/a", 0), (200, "/d", 0)]
    assert told(service, got[:-2] + b"Connection: close, Upgrade\r\n\r\n", ends=False) == ["/a"]
    assert told(service, got * 2000)[1999:] == ["/a"]


def test_garbage_behind_a_request_does_not_take_its_answer(service: Service) -> None:
    for sent, codes in (
        (GET % b"slow" + GARBAGE, ["/slow", "malformed_request"]),
        (GET % b"slow" + GET % b"a" + GARBAGE + GET % b"b", ["/slow", "/a", "malformed_request"]),
        (GET % b"slow" + CHUNKED % b"b" + b"no size\r\n", ["/slow", "malformed_request"]),
        (GET % b"slow" + head_of(2 * MAX_HEAD), ["/slow", TOO_LARGE]),
    ):
        for ends in (False, True):
            service.may.clear()
            service.begun.clear()
            with service.connect() as connection:
                connection.sendall(sent)
                if ends:
                    connection.shutdown(socket.SHUT_WR)
                wait_until(lambda: "/slow" in service.begun, SECONDS)
                service.may.set()
                answers = answers_in(read_to_end(connection))
            assert [body.get("code") or body["path"] for _, body in answers] == codes, sent


def test_garbage_in_a_body_is_the_answer_to_its_request_which_is_given_up(service: Service) -> None:
    assert told(service, CHUNKED % b"b" + b"no size\r\n", ends=False) == ["malformed_request"]
    assert told(service, CHUNKED % b"b", b"no size\r\n", GET % b"a", ends=False) == ["malformed_request"]
    assert service.gone.wait(SECONDS)


def test_a_request_names_its_host_once(service: Service) -> None:
    assert told(service, b"GET /a HTTP/1.1\r\n\r\n", ends=False) == ["malformed_request"]
    assert told(service, b"GET /a HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", ends=False) == ["malformed_request"]
    assert told(service, b"GET /a HTTP/1.1\r\nHost:\r\n\r\n") == ["/a"]
    assert told(service, b"GET /a HTTP/1.0\r\n\r\n", ends=False) == ["/a"]
