"""A real HTTP server on loopback that answers by a script: also what no host should."""

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DEADLINE = 20.0
TRICKLE_SECONDS = 0.05
Body = dict[str, Any]


@dataclass
class Request:
    """What the host was asked."""

    path: str
    authorization: str | None
    body: Body


class Turn:
    """One answer: ordinary, if nothing else is said.

    `change` makes another of the ordinary one, `raw` is sent as it stands, `hang` says nothing until the test's end,
    `drop` closes without an answer, `short` closes within it, `trickle` sends it byte by byte.
    """

    def __init__(
        self,
        *,
        status: int = 200,
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
        change: Callable[[Any], Any] | None = None,
        hang: bool = False,
        drop: bool = False,
        short: bool = False,
        trickle: bool = False,
    ) -> None:
        self.status, self.headers, self.raw = status, headers or {}, raw
        self.change, self.hang, self.drop, self.short, self.trickle = change, hang, drop, short, trickle


ORDINARY = Turn()


@dataclass
class ScriptedHost:
    """A running host. `script` has its next answers, `otherwise` all that follow; `open` its connections."""

    url: str = ""
    script: deque[Turn] = field(default_factory=deque)
    otherwise: Turn = ORDINARY
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    open: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)
    released: threading.Event = field(default_factory=threading.Event)

    def answer(self, request: Request) -> Turn:
        """Note a request and look up what to do."""
        with self.changed:
            self.requests.append(request)
            self.changed.notify_all()
        return self.script.popleft() if self.script else self.otherwise

    def ordinary(self, request: Request) -> Any:
        """What a sound host would answer: JSON, or the part of it that `Turn.change` is about."""
        raise NotImplementedError

    def wrapped(self, answer: Any) -> Any:
        """The whole answer around what `Turn.change` was about."""
        return answer

    def wait_for(self, true: Callable[[], bool]) -> bool:
        """Whether `true` was within the deadline, looked at whenever a request or a connection comes or goes."""
        with self.changed:
            return self.changed.wait_for(true, DEADLINE)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, host: ScriptedHost) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.host = host

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller who left in the middle is what the tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        with self.server.host.changed:
            self.server.host.connections += 1
            self.server.host.open += 1
            self.server.host.changed.notify_all()

    def finish(self) -> None:
        with self.server.host.changed:
            self.server.host.open -= 1
            self.server.host.changed.notify_all()
        super().finish()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = Request(self.path, self.headers["Authorization"], body)
        turn = self.server.host.answer(request)
        if turn.hang:
            self._wait_for_the_caller_to_leave()
        if turn.hang or turn.drop:
            self.close_connection = True
            return
        self._send(turn, request)

    def _wait_for_the_caller_to_leave(self) -> None:
        self.connection.settimeout(TRICKLE_SECONDS)
        while not self.server.host.released.is_set():
            try:
                if not self.connection.recv(1):
                    return
            except TimeoutError:
                continue

    def _send(self, turn: Turn, request: Request) -> None:
        raw = turn.raw
        if raw is None:
            ordinary = self.server.host.ordinary(request)
            answer = turn.change(ordinary) if turn.change else ordinary
            raw = json.dumps(self.server.host.wrapped(answer)).encode()
        self.send_response(turn.status)
        for name, value in {"Content-Type": "application/json", **turn.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw) + 100 if turn.short else len(raw)))
        self.end_headers()
        if turn.trickle:
            self._trickle(raw)
        else:
            self.wfile.write(raw)
        self.close_connection = self.close_connection or turn.short

    def _trickle(self, raw: bytes) -> None:
        for byte in raw:
            if self.server.host.released.wait(TRICKLE_SECONDS):
                return
            self.wfile.write(bytes([byte]))
            self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Keep quiet."""


@contextmanager
def serving(host: ScriptedHost, prefix: str = "/v1") -> Iterator[None]:
    """Run the host for the length of a test; its `url` is what a client is configured with."""
    server = _Server(host)
    host.url = f"http://127.0.0.1:{server.server_address[1]}{prefix}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        host.released.set()
        server.shutdown()
        server.server_close()
        thread.join(DEADLINE)
