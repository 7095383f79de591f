"""What surrounds every request: an id, a log line, a limit to its size."""

import re
from typing import Final

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core import clock, ids
from app.core.errors import Problem, TooLarge
from app.core.metrics import Metrics
from app.routers.problems import send_problem
from app.routers.requests import StrictRoute

log = structlog.get_logger()

_SANE_ID: Final = re.compile(r"[A-Za-z0-9._:\-]{1,128}")
_LENGTH: Final = re.compile(r"0*([0-9]+)", re.ASCII)
MAX_LENGTH_DIGITS: Final = 18
_QUIET: Final = frozenset({"/healthz", "/readyz", "/metrics"})
_UNBOUNDED: Final = re.compile(r"/v1/(?:users/[^/]+|admin)/import$")
"""Imports are read line by line, however long they are."""

CUT_OFF: Final = 499
"""What is noted of a request whose caller went away before an answer began."""
_UNSEEN: Final = Metrics()
"""Takes what happens before the application has started."""

_FAILED: Final = "Something went wrong inside the service; the request id finds it in the log."


class RequestMiddleware:
    """Gives each request an id (the caller's if it is sane), sends it back, logs one line without contents."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Surround one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        offered = Headers(scope=scope).get("x-request-id", "")
        request_id = offered if _SANE_ID.fullmatch(offered) else str(ids.new_id())
        scope.setdefault("state", {})["request_id"] = request_id
        started, status = clock.monotonic(), 0
        metrics = _metrics_of(scope)

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = request_id
            await send(message)

        with (
            structlog.contextvars.bound_contextvars(request_id=request_id),
            metrics.requests_in_flight.track_inprogress(),
        ):
            try:
                await self._app(scope, receive, send_with_id)
            except ClientDisconnect:
                log.info("cut_off")  # nobody is there to be answered
            except Exception:  # the last resort: told here, once, while the request's id is at hand
                log.exception("request_failed")
                if not status:  # a response that has begun is cut off by the server
                    await send_problem(Problem(_FAILED), scope, receive, send_with_id)
            finally:
                took, route = clock.monotonic() - started, scope.get("route")
                path = _template(route)
                metrics.answered(method=scope["method"], route=path, status=status or CUT_OFF, seconds=took)
                if path not in _QUIET:
                    name, ms = getattr(route, "operation_id", None), round(took * 1000, 1)
                    log.info("request", method=scope["method"], route=name, status=status or CUT_OFF, ms=ms)


class BodyLimitMiddleware:
    """Refuses bodies above a size, told by Content-Length or found while reading."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Surround one request."""
        if scope["type"] != "http" or _UNBOUNDED.search(scope["path"]):
            await self._app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        if _LENGTH.fullmatch(length) and (len(length) > MAX_LENGTH_DIGITS or int(length) > self._limit):
            await send_problem(self._problem(), scope, receive, send)
            return
        read = 0

        async def receive_counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._limit:
                raise self._problem()
            return message

        await self._app(scope, receive_counted, send)

    def _problem(self) -> TooLarge:
        return TooLarge(f"The body exceeds {self._limit} bytes.")


def _template(route: object) -> str | None:
    """A route's path with its parameters unfilled. A strict route knows itself without the version in front of it."""
    path: str | None = getattr(route, "path", None)
    return f"/v1{path}" if isinstance(route, StrictRoute) else path


def _metrics_of(scope: Scope) -> Metrics:
    services = getattr(scope["app"].state, "services", None)
    return _UNSEEN if services is None else services.metrics
