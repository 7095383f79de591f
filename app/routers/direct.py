"""Routes in an agent's path at every step: an ordinary request reaches them without the framework's detours."""

from collections.abc import Callable, Coroutine
from inspect import signature
from typing import Any, Final

from fastapi import Request, Response
from pydantic import BaseModel, ValidationError

from app.core import strict_json
from app.domain.calls import served
from app.routers.requests import StrictRoute
from app.services.answers import Write

_GIVEN: Final = frozenset({"body", "principal", "write", "services"})


class DirectRoute(StrictRoute):
    """A route with a JSON body, the caller, and nothing else, that answers with a response it wrote itself.

    Solving its dependencies takes the framework longer than the service takes for the call. So a request with a bearer
    key, a JSON body and neither parameters nor an Idempotency-Key goes straight to the endpoint; any other one, and any
    whose body is not what it must be, goes the usual way, which says what is wrong with it.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap the strict handler."""
        usual = super().get_route_handler()
        endpoint = self.endpoint
        named = signature(endpoint).parameters
        if set(named) - _GIVEN:
            raise TypeError(f"{endpoint.__name__} takes more than a direct route can give.")
        model: type[BaseModel] = named["body"].annotation
        writes = "write" in named

        async def handle(request: Request) -> Response:
            secret = _plain_secret(request)
            if secret is None:
                return await usual(request)
            services = request.app.state.services
            principal = await services.access.authenticate(secret)
            content = await request.body()
            if not content:
                return await usual(Request(request.scope, _again(content)))
            try:
                body = model.model_validate(strict_json.loads(content, max_depth=services.settings.max_json_depth))
            except ValidationError:
                return await usual(Request(request.scope, _again(content)))
            caller = {"write": Write(principal)} if writes else {"principal": principal}
            call = self._call(request)
            call.actor, call.tenant_id, call.user_id = (
                principal.actor,
                principal.tenant_id,
                getattr(body, "user_id", None),
            )
            with served(call):
                answer: Response = await endpoint(body=body, services=services, **caller)
            return answer

        return handle


def _plain_secret(request: Request) -> str | None:
    """The key of a request that has nothing unusual about it."""
    headers = request.headers
    if request.scope["query_string"] or "idempotency-key" in headers or "content-encoding" in headers:
        return None
    if headers.get("content-type") != "application/json":
        return None
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return secret if scheme.lower() == "bearer" and secret and secret == secret.strip() else None


def _again(content: bytes) -> Any:  # noqa: ANN401 - ASGI's receive
    """Gives a body that was read already."""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": content, "more_body": False}

    return receive
