"""/v1/users/{user_id}: the profile, MEMORY.md and the timeline"""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Request, Response

from app.core.errors import BadRequest, Invalid, UnsupportedMediaType
from app.core.strict_json import text_fault
from app.domain.memory import Category, Kind
from app.domain.timeline import TimelineEvent
from app.routers.deps import DEFAULT_PAGE, CursorQuery, LimitQuery, PrincipalDep, ServicesDep, UserId, WriteDep, reply
from app.routers.problems import documented
from app.routers.requests import StrictRoute
from app.schemas.fields import Instant
from app.schemas.lists import Page
from app.schemas.memory_file import MemoryFileEdited
from app.schemas.profiles import Profile
from app.schemas.timeline import TimelineEntry, TimelineFilter

router = APIRouter(prefix="/users", tags=["Users"], route_class=StrictRoute)

MARKDOWN: Final = "text/markdown"
_EXAMPLE: Final = """# Memory
<!-- version 0123456789abcdef; edit the entries, keep this line -->

## User preferences
- Prefers short answers.
"""
_FILE: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {MARKDOWN: {"schema": {"type": "string"}, "example": _EXAMPLE}}, "description": "The file"}
}
_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {kind: {"schema": {"type": "string"}, "example": _EXAMPLE} for kind in (MARKDOWN, "text/plain")},
    }
}
FileMatch = Annotated[
    str | None,
    Header(alias="If-Match", max_length=64, description="The ETag of the version that was edited"),
]


@router.get("/{user_id}/profile", responses=documented(403, 404), operation_id="get_user_profile")
async def get_user_profile(user_id: UserId, principal: PrincipalDep, services: ServicesDep) -> Profile:
    """Who a user is: what the user stated or somebody confirmed, each fact with its sources, by subject.

    What reflection concluded stands apart under `insights`, with the memories it was concluded from: it is no fact.
    `text` is the whole as Markdown, in the language of most of the user's memories. It is made when it is asked for.
    """
    return await services.profiles.get(principal, user_id)


@router.get(
    "/{user_id}/memory.md",
    responses=documented(403, 404) | _FILE,
    response_class=Response,
    operation_id="get_memory_file",
)
async def get_memory_file(user_id: UserId, principal: PrincipalDep, services: ServicesDep) -> Response:
    """What is known about a user as a Markdown file for people and agents, at most 200 lines and 25 KB.

    Facts in four sections, those that matter most; each line stands for one memory, and a long one ends in an ellipsis.
    Secrets, personal numbers and sealed memories are never in it. Edit it and send it back by PUT.
    """
    file = await services.memory_file.get(principal, user_id)
    return Response(file.text, media_type=MARKDOWN, headers={"ETag": f'"{file.version}"'})


@router.put(
    "/{user_id}/memory.md",
    responses=documented(403, 404, 409, 412),
    openapi_extra=_BODY,
    operation_id="put_memory_file",
)
async def put_memory_file(
    user_id: UserId,
    request: Request,
    write: WriteDep,
    services: ServicesDep,
    response: Response,
    if_match: FileMatch = None,
) -> MemoryFileEdited:
    """Take an edited MEMORY.md back. It is compared with the version that was served, line by line.

    A new line is a new memory, a changed one replaces its memory, one that is missing deletes it: all as the user's own
    word, and `undo_id` undoes all of it. If-Match, or the version's line in the file, says which version was edited.
    """
    answer = await services.memory_file.put(write, user_id, await _text(request), _version(if_match))
    reply(answer, response)
    body = MemoryFileEdited.model_validate(answer.body)
    response.headers["ETag"] = f'"{body.version}"'
    return body


async def _text(request: Request) -> str:
    kind = request.headers.get("content-type", MARKDOWN).partition(";")[0].strip().lower()
    if kind not in {"text/markdown", "text/plain"}:
        raise UnsupportedMediaType("Send the file itself, as text/markdown.", code="unsupported_media_type")
    try:
        text = (await request.body()).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequest("The file is not valid UTF-8.", code="bad_encoding") from error
    if fault := text_fault(text):
        raise Invalid(f"The file cannot be stored: {fault}.", code="bad_text")
    return text


def _version(if_match: str | None) -> str | None:
    return None if if_match is None else if_match.strip().removeprefix("W/").strip('"')


@router.get("/{user_id}/timeline", responses=documented(403, 404), operation_id="get_user_timeline")
async def get_user_timeline(
    user_id: UserId,
    principal: PrincipalDep,
    services: ServicesDep,
    events: Annotated[
        list[TimelineEvent] | None, Query(description="What to show; several may be named; all if absent")
    ] = None,
    since: Annotated[Instant | None, Query(description="Nothing before it")] = None,
    until: Annotated[Instant | None, Query(description="Nothing from it on")] = None,
    kind: Annotated[Kind | None, Query(description="Of the memories")] = None,
    category: Annotated[Category | None, Query(description="Of the memories")] = None,
    limit: LimitQuery = DEFAULT_PAGE,
    cursor: CursorQuery = None,
) -> Page[TimelineEntry]:
    """What happened with a user, newest first: sessions opened and closed, memories born, changed, expired, gone.

    A memory's entries show it as it is now; its history tells each change in full. With `kind` or `category` sessions
    are left out.
    """
    asked = TimelineFilter(events=events, since=since, until=until, kind=kind, category=category)
    return await services.timeline.page(principal, user_id, asked, cursor, limit)
