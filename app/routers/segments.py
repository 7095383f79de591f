"""Path segments stay what they are: `DELETE /v1/users/a%2Ffacts` can only mean the user `a/facts`."""

import re
from typing import Final
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Receive, Scope, Send

from app.core.errors import BadRequest, Problem
from app.routers.problems import send_problem
from app.schemas.fields import CONTROL, SLASH_IN_SEGMENT

_PLAIN: Final = re.compile(rb"(?:/(?:[A-Za-z0-9_~:@-][A-Za-z0-9_.~:@-]*)?)+")
"""A path that is what it says: nothing in it is escaped, and no segment is . or .."""


class SegmentMiddleware:
    """Decodes the raw path segment by segment; a %2F comes out as a mark that path parameters turn back into `/`.

    Control characters and the segments `.` and `..` are refused, in whatever spelling.

    Args:
        app: What comes next.
        root_path: The prefix under which a proxy serves us, whether it takes it off the path or not.
    """

    def __init__(self, app: ASGIApp, root_path: str = "") -> None:
        self._app = app
        self._root_path = root_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Rewrite `path` from `raw_path`."""
        raw = scope.get("raw_path")
        if scope["type"] != "http" or not raw:
            await self._app(scope, receive, send)
            return
        raw = raw.partition(b"?")[0]
        try:
            path = raw.decode() if _PLAIN.fullmatch(raw) else "/".join(_segment(part) for part in raw.split(b"/"))
        except Problem as problem:
            await send_problem(problem, scope, receive, send)
            return
        prefix = scope["root_path"] = self._root_path or scope.get("root_path", "")
        if prefix and path != prefix and not path.startswith(f"{prefix}/"):
            path = prefix + path
        scope["path"] = path
        await self._app(scope, receive, send)


def _segment(raw: bytes) -> str:
    try:
        text = unquote_to_bytes(raw).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequest("The path is not valid UTF-8.", code="bad_path") from error
    if text in {".", ".."} or CONTROL.search(text) is not None:
        raise BadRequest("The path has a control character, or a segment . or .. in it.", code="bad_path")
    return text.replace("/", SLASH_IN_SEGMENT)
