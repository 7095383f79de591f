"""The short way in: an ordinary request of a hot route reaches its endpoint without the framework's detours."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from inspect import signature
from typing import Any, Final, Self

from fastapi import APIRouter, Response
from pydantic import TypeAdapter, ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.composition import Services
from app.core import strict_json
from app.core.errors import ConfigurationError, Problem
from app.domain.calls import served
from app.domain.principal import Principal
from app.routers.problems import request_id_of, response_of, response_of_misconfiguration
from app.routers.requests import StrictRoute
from app.schemas.fields import SegmentId
from app.services.answers import Write

_GIVEN: Final = frozenset({"session_id", "body", "principal", "write", "services"})
_SESSIONS: Final = "/v1/sessions/"
_IN_SESSION: Final = "/sessions/{session_id}"
_SESSION_ID: Final[TypeAdapter[str]] = TypeAdapter(SegmentId)
_UNUSUAL: Final = frozenset({b"idempotency-key", b"content-encoding", b"x-consistency"})


class DirectRoute(StrictRoute):
    """A route that `DirectMiddleware` may call itself.

    It has a JSON body, the caller, at most a session in its path, and nothing else, and answers with a response that it
    wrote itself.
    """


@dataclass(frozen=True, slots=True)
class Direct:
    """How a direct route is called: with what kind of body, on whose behalf, in a session or not."""

    route: DirectRoute
    body: TypeAdapter[Any]
    writes: bool
    in_session: bool

    @classmethod
    def of(cls, route: DirectRoute) -> Self:
        """Read the endpoint's signature. Raises `TypeError` where it takes what a direct route cannot give."""
        named = signature(route.endpoint).parameters
        if set(named) - _GIVEN:
            raise TypeError(f"{route.endpoint.__name__} takes more than a direct route can give.")
        kind = named["body"].annotation
        return cls(route, TypeAdapter(kind), "write" in named, "session_id" in named)

    async def call(self, services: Services, principal: Principal, session_id: str | None, body: object) -> Response:
        """The endpoint's own answer."""
        given: dict[str, Any] = {"services": services, "body": body}
        given |= {"write": Write(principal)} if self.writes else {"principal": principal}
        if self.in_session:
            given["session_id"] = session_id
        answer: Response = await self.route.endpoint(**given)
        return answer


class DirectMiddleware:
    """Calls direct routes; whatever is unusual goes on to the application, which says what is wrong with it, if it is.

    Finding a route and solving its dependencies takes the framework longer than the service takes for many a call.
    Ordinary is a request with a bearer key, a JSON body that is what it must be, and neither parameters nor an
    Idempotency-Key.

    Args:
        app: What comes next.
        routers: Where the direct routes stand, all under /v1.
    """

    def __init__(self, app: ASGIApp, routers: Iterable[APIRouter]) -> None:
        self._app = app
        found = [route for router in routers for route in router.routes if isinstance(route, DirectRoute)]
        self._table = {(method, route.path): Direct.of(route) for route in found for method in route.methods or ()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        place = self._place(scope) if scope["type"] == "http" else None
        secret = None if place is None else _plain_secret(scope)
        if place is None or secret is None:
            await self._app(scope, receive, send)
            return
        direct, segment = place
        messages: list[Message] = []
        try:
            await _read(receive, messages)
            response = await _answer(direct, scope, secret, segment, messages)
        except Problem as problem:
            response = response_of(problem, scope)
        except ConfigurationError as error:
            response = response_of_misconfiguration(error, scope)
        if response is None:
            await self._app(scope, _again(messages, receive), send)
            return
        await response(scope, receive, send)

    def _place(self, scope: Scope) -> tuple[Direct, str | None] | None:
        """The direct route of a path, and the session that stands in it."""
        path: str = scope["path"].removeprefix(scope.get("root_path", ""))
        if path.startswith(_SESSIONS):
            session, slash, rest = path[len(_SESSIONS) :].partition("/")
            direct = self._table.get((scope["method"], f"{_IN_SESSION}{slash}{rest}"))
            return None if direct is None else (direct, session)
        direct = self._table.get((scope["method"], path.removeprefix("/v1"))) if path.startswith("/v1/") else None
        return None if direct is None else (direct, None)


async def _answer(
    direct: Direct, scope: Scope, secret: str, segment: str | None, messages: list[Message]
) -> Response | None:
    """What the route answers; None where the request is not an ordinary one."""
    services: Services = scope["app"].state.services
    scope["route"] = direct.route
    client = scope.get("client")
    principal = await services.access.authenticate(secret, None if client is None else client[0])
    content = b"".join(message.get("body", b"") for message in messages)
    if not content or messages[-1]["type"] != "http.request":
        return None
    try:
        body = direct.body.validate_python(strict_json.loads(content, max_depth=services.settings.max_json_depth))
        session_id = None if segment is None else _SESSION_ID.validate_python(segment)
    except ValidationError:
        return None
    call = direct.route.call_of({} if session_id is None else {"session_id": session_id}, request_id_of(scope))
    call.actor, call.tenant_id, call.user_id = principal.actor, principal.tenant_id, getattr(body, "user_id", None)
    with served(call):
        return await direct.call(services, principal, session_id, body)


def _plain_secret(scope: Scope) -> str | None:
    """The key of a request that has nothing unusual about it."""
    if scope["query_string"]:
        return None
    keys, is_json = [], False
    for name, value in scope["headers"]:
        if name == b"authorization":
            keys.append(value)
        elif name == b"content-type":
            is_json = value == b"application/json"
        elif name in _UNUSUAL:
            return None
    if len(keys) != 1 or not is_json:
        return None
    scheme, _, secret = keys[0].decode("latin-1").partition(" ")
    return secret if scheme.lower() == "bearer" and secret and secret == secret.strip() else None


async def _read(receive: Receive, messages: list[Message]) -> None:
    """Gather the messages of a body up to its end, or up to where its sender went away."""
    messages.append(await receive())
    while messages[-1]["type"] == "http.request" and messages[-1].get("more_body", False):
        messages.append(await receive())


def _again(messages: list[Message], receive: Receive) -> Callable[[], Any]:
    """Gives the messages that were read already, and then whatever comes."""
    waiting = iter(messages)

    async def once_more() -> Message:
        message = next(waiting, None)
        return await receive() if message is None else message

    return once_more
