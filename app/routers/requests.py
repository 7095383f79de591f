"""How a request is read: strict JSON, and each query parameter once and only if the route knows it."""

from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, Final

from fastapi import Request, Response, params
from fastapi._compat import field_annotation_is_sequence
from fastapi.dependencies.utils import get_flat_params
from fastapi.routing import APIRoute

from app.core import strict_json
from app.core.errors import Invalid, UnsupportedMediaType
from app.domain.calls import Call, served, serving
from app.schemas.fields import SLASH_IN_SEGMENT

TOLD: Final = frozenset({"export_user", "export_tenant", "get_erasure"})
"""Reads that the audit log tells of, beside those under /admin."""


class StrictRequest(Request):
    """Reads JSON as RFC 8259 has it."""

    async def json(self) -> Any:  # noqa: ANN401 - JSON is anything
        """The body, parsed once."""
        if not hasattr(self, "_strict"):
            _refuse_encoded(self)
            depth = self.app.state.services.settings.max_json_depth
            self._strict = strict_json.loads(await self.body(), max_depth=depth)
            _name_user(self._strict)
        return self._strict


class StrictRoute(APIRoute):
    """A route whose requests are strict."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap FastAPI's handler."""
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            with served(self._call(request)):
                return await handle(StrictRequest(request.scope, request.receive))

        return handle_strictly

    def call_of(self, ids: dict[str, str], request_id: str | None) -> Call:
        """What the audit log tells of a request; whose it is, is known when its key has been read."""
        parts = self.path.strip("/").split("/")
        return Call(
            action=self.operation_id or self.name,
            resource="/".join(parts[:2] if parts[0] == "admin" else parts[:1]),
            ids=ids,
            user_id=ids.get("user_id"),
            request_id=request_id,
            is_told=parts[0] == "admin" or self.operation_id in TOLD,
        )

    def _call(self, request: Request) -> Call:
        ids = {name: str(value).replace(SLASH_IN_SEGMENT, "/") for name, value in request.path_params.items()}
        call = self.call_of(ids, request.scope.get("state", {}).get("request_id"))
        call.user_id = call.user_id or request.query_params.get("user_id")
        return call


def _name_user(body: Any) -> None:  # noqa: ANN401 - JSON is anything
    """Whom a call is about where neither path nor query says so."""
    call, named = serving(), body.get("user_id") if isinstance(body, dict) else None
    if call is not None and call.user_id is None and isinstance(named, str):
        call.user_id = named


def _refuse_encoded(request: Request) -> None:
    for value in request.headers.getlist("content-encoding"):
        if any(coding.strip().lower() not in {"", "identity"} for coding in value.split(",")):
            raise UnsupportedMediaType(
                "The body is compressed or encoded otherwise: send it plain.", code="unsupported_encoding"
            )


async def known_parameters(request: Request) -> None:
    """Refuse query parameters that the route does not declare: a mistyped filter must never widen what is done.

    Nor may one be given twice, unless it is a list: one of the two would be dropped without a word.
    """
    route = request.scope.get("route")
    if not isinstance(route, APIRoute):
        return
    known = _KNOWN.get(route.unique_id)
    if known is None:
        known = _KNOWN[route.unique_id] = _declared(route)
    counted = Counter(name for name, _ in request.query_params.multi_items())
    unknown = sorted(set(counted) - known.keys())
    if unknown:
        raise Invalid(
            "The request has parameters that this route does not know.",
            code="unknown_parameter",
            errors=[_fault(name, "this route has no such parameter", "unknown") for name in unknown],
        )
    repeated = sorted(name for name, times in counted.items() if times > 1 and not known[name])
    if repeated:
        raise Invalid(
            "The request gives a parameter more than once.",
            code="duplicate_parameter",
            errors=[_fault(name, "give this parameter once", "duplicate") for name in repeated],
        )


def _declared(route: APIRoute) -> dict[str, bool]:
    """The query parameters of a route, and whether each is a list."""
    return {
        field.alias: field_annotation_is_sequence(field.field_info.annotation)
        for field in get_flat_params(route.dependant)
        if isinstance(field.field_info, params.Query)
    }


def _fault(name: str, message: str, kind: str) -> dict[str, Any]:
    return {"loc": ["query", name], "msg": message, "type": kind}


_KNOWN: dict[str, dict[str, bool]] = {}
