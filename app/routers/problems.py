"""Every failure leaves as `application/problem+json`, whatever raised it."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from app.core.errors import ConfigurationError, Problem
from app.schemas.problems import ProblemDocument

log = structlog.get_logger()

MEDIA_TYPE: Final = "application/problem+json"
METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
MAX_FAULTS: Final = 50
MAX_MESSAGE: Final = 500

Responses = dict[int | str, dict[str, Any]]


def documented(*statuses: int) -> Responses:
    """The OpenAPI entries of the problems that a route can answer with, by number."""
    return {
        status: {
            "model": ProblemDocument,
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}},
        }
        for status in statuses
    }


def request_id_of(scope: Scope) -> str:
    """The id under which this request is logged."""
    return str(scope.get("state", {}).get("request_id", ""))


def response_of(problem: Problem, scope: Scope) -> Response:
    """The response that says what went wrong."""
    document = ProblemDocument.of(
        status=problem.status,
        title=problem.title,
        detail=problem.detail,
        code=problem.code,
        request_id=request_id_of(scope),
        errors=[dict(error) for error in problem.errors],
        extra=problem.extra,
    )
    return Response(
        document.model_dump_json(), status_code=problem.status, headers=problem.headers, media_type=MEDIA_TYPE
    )


def response_of_misconfiguration(error: ConfigurationError, scope: Scope) -> Response:
    """The response that says what the operator must put right."""
    log.error("misconfigured", reason=str(error))
    return response_of(_Misconfigured(str(error)), scope)


async def send_problem(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer from a middleware, where no exception handler stands above."""
    await response_of(problem, scope)(scope, receive, send)


def install(app: FastAPI) -> None:
    """Register the handlers."""

    @app.exception_handler(Problem)
    async def of_problem(request: Request, problem: Problem) -> Response:
        return response_of(problem, request.scope)

    @app.exception_handler(RequestValidationError)
    async def of_validation(request: Request, error: RequestValidationError) -> Response:
        return response_of(_Invalid(_faults(error.errors())), request.scope)

    @app.exception_handler(HTTPException)
    async def of_http(request: Request, error: HTTPException) -> Response:
        if isinstance(error.__cause__, Problem):
            return response_of(error.__cause__, request.scope)
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            error.headers = {"Allow": ", ".join(_allowed(app, request.scope))}
        return response_of(_of_status(error), request.scope)

    @app.exception_handler(ConfigurationError)
    async def of_configuration(request: Request, error: ConfigurationError) -> Response:
        return response_of_misconfiguration(error, request.scope)


def _allowed(app: FastAPI, scope: Scope) -> list[str]:
    """Every method that the path takes: each route knows only its own."""
    asked = (({**scope, "method": method}, method) for method in METHODS)
    return [method for one, method in asked if any(route.matches(one)[0] is Match.FULL for route in app.router.routes)]


class _Invalid(Problem):
    status, title, default_code = 422, "Unprocessable content", "invalid"

    def __init__(self, faults: list[dict[str, Any]]) -> None:
        first = faults[0] if faults else {"loc": [], "msg": "it cannot be read"}
        where = ".".join(str(part) for part in first["loc"])
        super().__init__(f"The request is not valid: {where}: {first['msg']}", errors=faults)


class _Misconfigured(Problem):
    status, title, default_code = 503, "Service unavailable", "misconfigured"


def _of_status(error: HTTPException) -> Problem:
    phrase = HTTPStatus(error.status_code).phrase
    detail = {404: "There is nothing at this path.", 405: "This path does not take this method."}.get(
        error.status_code, str(error.detail)
    )

    class _Http(Problem):
        status, title, default_code = error.status_code, phrase, phrase.lower().replace(" ", "_")

    return _Http(detail, headers=error.headers)


def _faults(errors: Sequence[Any]) -> list[dict[str, Any]]:
    """Where and what; never the value itself, which may be a secret and may not be encodable."""
    return [
        {
            "loc": [_plain(part) for part in error["loc"]],
            "msg": str(_plain(error["msg"]))[:MAX_MESSAGE],
            "type": error["type"],
        }
        for error in errors[:MAX_FAULTS]
    ]


def _plain(part: str | int) -> str | int:
    return part if isinstance(part, int) else part.encode("utf-8", "replace").decode()[:MAX_MESSAGE]
