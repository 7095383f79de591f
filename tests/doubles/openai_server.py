"""A host of `/v1/embeddings` on loopback that does what it is told: also what no host should."""

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.doubles.embeddings import HashedModel

DEADLINE = 20.0
Body = dict[str, Any]


@dataclass
class Request:
    """What the host was asked."""

    path: str
    authorization: str | None
    body: Body


class Turn:
    """One answer: ordinary, if nothing else is said."""

    def __init__(
        self,
        *,
        status: int = 200,
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
        change: Callable[[list[Body]], list[Body]] | None = None,
        hang: bool = False,
        drop: bool = False,
    ) -> None:
        self.status, self.headers, self.raw = status, headers or {}, raw
        self.change, self.hang, self.drop = change, hang, drop


def _dimension(entries: list[Body], length: int) -> list[Body]:
    return [{**entry, "embedding": [1.0] * length} for entry in entries]


def other_dimension(length: int) -> Turn:
    """Vectors of this length instead of the host's."""
    return Turn(change=lambda entries: _dimension(entries, length))


def filled_with(value: float | str) -> Turn:
    """Vectors of nothing but this value."""
    return Turn(change=lambda entries: [{**one, "embedding": [value] * len(one["embedding"])} for one in entries])


ORDINARY = Turn()
BUSY = Turn(status=429, headers={"Retry-After": "0"})
DOWN = Turn(status=503)
HANGING = Turn(hang=True)
DROPPED = Turn(drop=True)
NONSENSE = Turn(raw=b"<html>a proxy's page</html>")
NO_LIST = Turn(raw=b'{"data": null}')
TOO_FEW = Turn(change=lambda entries: entries[:-1])
TOO_MANY = Turn(change=lambda entries: [*entries, {**entries[0], "index": len(entries)}])
MISNUMBERED = Turn(change=lambda entries: [{**entry, "index": 0} for entry in entries])
REVERSED = Turn(change=lambda entries: entries[::-1])
NOT_NUMBERS = filled_with(float("nan"))
INFINITE = filled_with(float("inf"))
ZEROS = filled_with(0.0)
REFUSED = Turn(status=401, raw=b'{"error": "who are you"}')
TOO_LARGE = Turn(status=413)


@dataclass
class EmbeddingHost:
    """A running host. `script` has its next answers, `otherwise` all that follow.

    Texts that are equal, or equal but for a prefix that ends in ': ', have equal vectors.
    """

    url: str = ""
    dimension: int = 32
    script: deque[Turn] = field(default_factory=deque)
    otherwise: Turn = ORDINARY
    longest: int | None = None
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def texts(self) -> list[list[str]]:
        """The texts of each request."""
        return [request.body["input"] for request in self.requests]

    def answer(self, request: Request) -> Turn:
        """Note a request and look up what to do."""
        self.requests.append(request)
        if self.longest is not None and max(map(len, request.body["input"])) > self.longest:
            return TOO_LARGE
        return self.script.popleft() if self.script else self.otherwise

    def entries(self, body: Body) -> list[Body]:
        """The ordinary answer's list."""
        model = HashedModel(body.get("dimensions", self.dimension))
        return [
            {"object": "embedding", "index": index, "embedding": [float(one) for one in model._vector(_bare(text))]}
            for index, text in enumerate(body["input"])
        ]


def _bare(text: str) -> str:
    return text.split(": ", 1)[-1]


def _handler(host: EmbeddingHost) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            host.connections += 1

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            turn = host.answer(Request(self.path, self.headers["Authorization"], body))
            if turn.hang:
                host.released.wait(DEADLINE)
            if turn.hang or turn.drop:
                self.close_connection = True
                return
            self._send(turn, host.entries(body))

        def _send(self, turn: Turn, entries: list[Body]) -> None:
            data = turn.change(entries) if turn.change else entries
            raw = turn.raw if turn.raw is not None else json.dumps({"object": "list", "data": data}).encode()
            self.send_response(turn.status)
            for name, value in {"Content-Type": "application/json", **turn.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Keep quiet."""

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller who left in the middle is what the tests are about."""


@contextmanager
def embedding_host(dimension: int = 32) -> Iterator[EmbeddingHost]:
    """A host for the length of a test."""
    host = EmbeddingHost(dimension=dimension)
    server = _Server(("127.0.0.1", 0), _handler(host))
    host.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield host
    finally:
        host.released.set()
        server.shutdown()
        server.server_close()
        thread.join(DEADLINE)
