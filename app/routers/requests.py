"""How a request is read: strict JSON, and no query parameter that the route does not know."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response, params
from fastapi.dependencies.utils import get_flat_params
from fastapi.routing import APIRoute

from app.core import strict_json
from app.core.errors import Invalid


class StrictRequest(Request):
    """Reads JSON as RFC 8259 has it."""

    async def json(self) -> Any:  # noqa: ANN401 - JSON is anything
        """The body, parsed once."""
        if not hasattr(self, "_strict"):
            depth = self.app.state.services.settings.max_json_depth
            self._strict = strict_json.loads(await self.body(), max_depth=depth)
        return self._strict


class StrictRoute(APIRoute):
    """A route whose requests are strict."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap FastAPI's handler."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            return await handle(StrictRequest(request.scope, request.receive))

        return handle_strictly


async def known_parameters(request: Request) -> None:
    """Refuse query parameters that the route does not declare: a mistyped filter must never widen what is done."""
    route = request.scope.get("route")
    if not isinstance(route, APIRoute):
        return
    known = _KNOWN.get(route.unique_id)
    if known is None:
        declared = [field for field in get_flat_params(route.dependant) if isinstance(field.field_info, params.Query)]
        known = _KNOWN[route.unique_id] = frozenset(field.alias for field in declared)
    unknown = sorted(set(request.query_params) - known)
    if unknown:
        faults = [
            {"loc": ["query", name], "msg": "this route has no such parameter", "type": "unknown"} for name in unknown
        ]
        raise Invalid(
            "The request has parameters that this route does not know.", code="unknown_parameter", errors=faults
        )


_KNOWN: dict[str, frozenset[str]] = {}
