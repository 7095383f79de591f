"""What routes depend on: the use cases, the caller, the conditions of the call."""

import hashlib
import json
from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

from fastapi import Depends, Header, Path, Query, Request, Response
from fastapi.security import APIKeyHeader, HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials
from pydantic import BaseModel

from app.composition import Services
from app.core import strict_json
from app.core.errors import BadRequest, Invalid
from app.core.strict_json import text_fault
from app.domain.calls import serving
from app.domain.filters import Filter, parse_filter
from app.domain.principal import Principal
from app.repositories.idempotency import IdempotencyClaim
from app.schemas.blocks import Block
from app.schemas.facts import Fact
from app.schemas.fields import SegmentId
from app.schemas.lessons import LessonWithExperiences
from app.schemas.lists import DEFAULT_LIMIT
from app.schemas.procedures import Procedure
from app.schemas.states import State
from app.services.answers import Answer, Write

Versioned = TypeVar("Versioned", State, Block, Fact, Procedure, LessonWithExperiences)
MAX_VERSION_DIGITS = 9

_bearer = HTTPBearer(auto_error=False, scheme_name="Bearer", description="An API key, as a bearer token")
_header = APIKeyHeader(name="X-API-Key", auto_error=False, scheme_name="APIKey", description="An API key")


async def get_services(request: Request) -> Services:
    """The use cases of this process. Async, though it waits for nothing: else it would run in a thread."""
    services: Services = request.app.state.services
    return services


ServicesDep = Annotated[Services, Depends(get_services)]


async def get_principal(
    request: Request,
    services: ServicesDep,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
    header: Annotated[str | None, Depends(_header)],
) -> Principal:
    """The holder of the key: `Authorization: Bearer KEY`, `Authorization: Token KEY` or `X-API-Key: KEY`."""
    secret = bearer.credentials if bearer is not None else header
    if secret is None:
        scheme, _, rest = request.headers.get("authorization", "").partition(" ")
        secret = rest.strip() if scheme.lower() == "token" else None
    principal = await services.access.authenticate(secret, None if request.client is None else request.client.host)
    if (call := serving()) is not None:
        call.actor, call.tenant_id = principal.actor, principal.tenant_id
    return principal


PrincipalDep = Annotated[Principal, Depends(get_principal)]


async def allow_lag(
    x_consistency: Annotated[
        Literal["strong", "eventual"],
        Header(include_in_schema=False),  # described once, in docs/api.md: at 150 operations it would be in the way
    ] = "strong",
) -> None:
    """Note whether the caller is content with a replica."""
    if (call := serving()) is not None:
        call.may_lag = x_consistency == "eventual"


async def get_claim(
    request: Request,
    principal: PrincipalDep,
    idempotency_key: Annotated[
        str | None,
        Header(max_length=255, description="The same key with the same request gives the first answer again, for 24 h"),
    ] = None,
) -> IdempotencyClaim | None:
    """Which call this is, if the caller wants it done once."""
    if idempotency_key is None:
        return None
    if not idempotency_key.strip() or text_fault(idempotency_key) is not None:
        raise Invalid("The Idempotency-Key is blank or cannot be stored.", code="bad_idempotency_key")
    body = await _body_of(request)
    same = [request.url.path, request.url.query, json.dumps(body, sort_keys=True)]
    digest = hashlib.sha256(json.dumps(same).encode()).digest()
    return IdempotencyClaim(principal.key_id, request.method, request.scope["route"].path, idempotency_key, digest)


async def _body_of(request: Request) -> Any:  # noqa: ANN401 - JSON is anything
    raw = await request.body()
    if request.headers.get("content-type", "").startswith("text/"):
        return raw.hex()
    return await request.json() if raw else None


ClaimDep = Annotated[IdempotencyClaim | None, Depends(get_claim)]


async def get_filter(
    services: ServicesDep,
    filter_: Annotated[
        str | None,
        Query(
            alias="filter",
            max_length=10_000,
            description='What else must hold, as JSON: {"metadata.topic": {"eq": "tea"}}; AND, OR, NOT join',
        ),
    ] = None,
) -> Filter | None:
    """The filter of a list."""
    if filter_ is None:
        return None
    try:
        given = strict_json.loads(filter_.encode("utf-8", "surrogatepass"), max_depth=services.settings.max_json_depth)
    except BadRequest as error:
        raise Invalid("The filter is not valid JSON.", code="bad_filter") from error
    return parse_filter(given)


FilterDep = Annotated[Filter | None, Depends(get_filter)]


async def get_if_match(
    if_match: Annotated[
        str | None, Header(max_length=64, description='The version that must be current, as in the ETag: "3"')
    ] = None,
) -> int | None:
    """The version of a compare-and-set."""
    if if_match is None or if_match.strip() == "*":
        return None
    plain = if_match.strip().removeprefix("W/").strip('"')
    if not (plain.isascii() and plain.isdigit()) or len(plain) > MAX_VERSION_DIGITS:
        raise Invalid('If-Match takes a version as the ETag gave it, such as "3".', code="bad_if_match")
    return int(plain)


IfMatchDep = Annotated[int | None, Depends(get_if_match)]


async def get_write(principal: PrincipalDep, claim: ClaimDep) -> Write:
    """A write, done once where the caller wants it so."""
    return Write(principal, claim)


async def get_versioned_write(principal: PrincipalDep, claim: ClaimDep, if_match: IfMatchDep) -> Write:
    """A write to something that has versions."""
    return Write(principal, claim, if_match)


WriteDep = Annotated[Write, Depends(get_write)]
VersionedWriteDep = Annotated[Write, Depends(get_versioned_write)]

SessionId = Annotated[
    SegmentId, Path(description="The session's id; a / in it is written %2F", examples=["trip-planning"])
]
UserId = Annotated[SegmentId, Path(description="The user's id; a / in it is written %2F", examples=["ada"])]
MemoryId = Annotated[UUID, Path(description="The memory's id")]
ConflictId = Annotated[UUID, Path(description="The conflict's id")]
JobId = Annotated[UUID, Path(description="The job's id")]
LimitQuery = Annotated[int, Query(ge=1, le=200, description="Rows of one page")]
CursorQuery = Annotated[str | None, Query(max_length=2000, description="next_cursor of the page before")]
CountQuery = Annotated[bool, Query(description="Say how many there are in all")]

WaitQuery = Annotated[
    float, Query(ge=0, le=60, description="Where a job goes on after the answer: seconds to wait for its end first")
]

DEFAULT_PAGE = DEFAULT_LIMIT


def tag(response: Response, version: int) -> None:
    """Give the version as an ETag, for If-Match."""
    response.headers["ETag"] = f'"{version}"'


def versioned(answer: Answer, response: Response, model: type[Versioned]) -> Versioned:
    """The body of an answer that has a version, with its status and ETag."""
    reply(answer, response)
    body = model.model_validate(answer.body)
    tag(response, body.version)
    return body


def as_json(body: BaseModel) -> Response:
    """An answer written out at once: the framework would validate it a second time."""
    return Response(body.model_dump_json(), media_type="application/json")


def answer_as_json(answer: Answer) -> Response:
    """An answer with a body, written out at once, with its status and whether it was given before."""
    content = "" if answer.body is None else answer.body.model_dump_json()
    response = Response(content, media_type="application/json")
    reply(answer, response)
    return response


def reply(answer: Answer, response: Response) -> None:
    """The status of an answer, and whether it was given before."""
    response.status_code = answer.status
    if answer.replayed:
        response.headers["Idempotent-Replayed"] = "true"
