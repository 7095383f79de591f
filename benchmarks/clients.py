"""Clients of an HTTP API, in a process of their own: connections that are kept, one request after another on each.

They do as little as they can, because they share the machine with the server: requests are ready before the first is
sent, answers are read and dropped.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import httptools

ANSWER_SECONDS: Final = 120.0


@dataclass(frozen=True)
class Call:
    """One request."""

    method: str
    path: str
    body: Any = None


@dataclass(frozen=True)
class Timings:
    """Seconds of each request that succeeded, of all together, and how many others there were."""

    seconds: list[float]
    wall: float
    failed: int = 0

    def figures(self) -> dict[str, float]:
        """Milliseconds and requests a second."""
        cuts = statistics.quantiles(self.seconds, n=100, method="inclusive")
        return {
            "p50_ms": round(cuts[49] * 1000, 2),
            "p95_ms": round(cuts[94] * 1000, 2),
            "p99_ms": round(cuts[98] * 1000, 2),
            "per_second": round(len(self.seconds) / self.wall, 1),
            "failed": self.failed,
        }


def drive(
    url: str,
    calls: Sequence[Call],
    concurrency: int,
    *,
    warm_up: int = 0,
    headers: Mapping[str, str] | None = None,
    may_fail: bool = False,
) -> Timings:
    """Send the calls from another process, so many at once; the first `warm_up` of them are not counted.

    Args:
        may_fail: Answers that are no success are counted, not timed.

    Raises:
        RuntimeError: An answer was no success, and none may be.
    """
    plan = {
        "url": url,
        "headers": dict(headers or {}),
        "calls": [asdict(call) for call in calls],
        "concurrency": concurrency,
        "warm_up": warm_up,
        "may_fail": may_fail,
    }
    done = subprocess.run(  # noqa: S603 - this file
        [sys.executable, "-P", __file__], input=json.dumps(plan).encode(), capture_output=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode()[-2_000:])
    return Timings(**json.loads(done.stdout))


class RefusedError(RuntimeError):
    """An answer that is no success."""


class Connection(asyncio.Protocol):
    """A connection that carries one request at a time."""

    def __init__(self) -> None:
        self._answered: asyncio.Future[bytes] | None = None
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._body: list[bytes] = []

    async def ask(self, request: bytes) -> None:
        """Send, and wait for the whole answer. Raises `RefusedError` if it is no success."""
        if self._transport is None:
            raise RuntimeError("The server has closed the connection.")
        self._answered = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        async with asyncio.timeout(ANSWER_SECONDS):
            body = await self._answered
        if not 200 <= self._status < 300:
            raise RefusedError(f"{self._status} {body.decode('utf-8', 'replace')}")

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(exc or RuntimeError("The server has closed the connection."))

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    # What the parser calls.

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        self._status = self._parser.get_status_code()
        body, self._body = b"".join(self._body), []
        self._parser = httptools.HttpResponseParser(self)
        if self._answered is not None and not self._answered.done():
            self._answered.set_result(body)


async def _send(
    host: str, port: int, requests: Sequence[bytes], concurrency: int, warm_up: int, *, may_fail: bool
) -> Timings:
    loop = asyncio.get_running_loop()
    connections = [(await loop.create_connection(Connection, host, port))[1] for _ in range(concurrency)]
    waiting = iter(requests[:warm_up])
    await asyncio.gather(*(_work(connection, waiting, [], may_fail=may_fail) for connection in connections))
    seconds: list[float] = []
    waiting = iter(requests[warm_up:])
    began = time.perf_counter()
    failed = await asyncio.gather(
        *(_work(connection, waiting, seconds, may_fail=may_fail) for connection in connections)
    )
    wall = time.perf_counter() - began
    for connection in connections:
        connection.close()
    return Timings(seconds, wall, sum(failed))


async def _work(connection: Connection, waiting: Iterator[bytes], seconds: list[float], *, may_fail: bool) -> int:
    """Send what waits; how many answers were no success."""
    failed = 0
    for request in waiting:
        began = time.perf_counter()
        try:
            await connection.ask(request)
        except RefusedError:
            if not may_fail:
                raise
            failed += 1
        else:
            seconds.append(time.perf_counter() - began)
    return failed


def _request(call: Mapping[str, Any], host: str, headers: Mapping[str, str]) -> bytes:
    body = b"" if call["body"] is None else json.dumps(call["body"]).encode()
    lines = [f"{call['method']} {call['path']} HTTP/1.1", f"Host: {host}", f"Content-Length: {len(body)}"]
    lines += ["Content-Type: application/json", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


def main() -> int:
    """Read a plan, carry it out, write what was timed."""
    plan = json.load(sys.stdin)
    where = urlsplit(plan["url"])
    requests = [_request(call, where.netloc, plan["headers"]) for call in plan["calls"]]
    work = _send(
        where.hostname or "127.0.0.1",
        where.port or 80,
        requests,
        plan["concurrency"],
        plan["warm_up"],
        may_fail=plan["may_fail"],
    )
    if sys.platform == "win32":
        print(json.dumps(asdict(asyncio.run(work))))
        return 0
    import uvloop  # noqa: PLC0415 - is not on every platform

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(asdict(runner.run(work))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
