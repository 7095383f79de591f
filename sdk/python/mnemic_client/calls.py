"""One call to the service, described apart from how it is sent: the sync and the async client share it."""

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote
from uuid import uuid4

import httpx

from mnemic_client.answers import Answer
from mnemic_client.errors import UnreadableAnswer, problem_of

RETRIED_STATUSES: Final = frozenset({429, 502, 503, 504})
PAUSE_SECONDS: Final = 0.1
LONGEST_PAUSE_SECONDS: Final = 5.0
KEPT_URLS: Final = 256
_ENDS_A_HEADER: Final = re.compile(r"[\0\r\n]")


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a call is made before it is given up. A call that is not safe to repeat is made once."""

    attempts: int = 4
    pause_seconds: float = PAUSE_SECONDS

    def pause(self, attempt: int, retry_after: float | None) -> float:
        """Seconds before the next attempt: doubled each time, spread, and no less than the service asked for."""
        grown = min(LONGEST_PAUSE_SECONDS, self.pause_seconds * 2.0**attempt)
        return float(max(retry_after or 0.0, grown * random.uniform(0.5, 1.0)))  # noqa: S311 - no secret: who goes first


@dataclass(frozen=True, slots=True)
class Call:
    """A request.

    Args:
        method: GET, POST, PUT, PATCH or DELETE.
        path: With every id in it escaped, see `path_of`.
        query: Parameters; None is left out.
        body: JSON; None sends none.
        once: Repeating it is made safe by an Idempotency-Key of its own.
        safe: Repeating it changes nothing, because it reads or because what it writes is told by its key.
        headers: Further headers.
    """

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    once: bool = False
    safe: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def repeatable(self) -> bool:
        """Whether it may be sent again when nobody knows what became of it."""
        return self.safe or self.once or self.method in {"GET", "PUT", "DELETE"}

    def outgoing(self, frame: "Frame") -> "Outgoing":
        """What is sent. An idempotency key is made once for all attempts: keep the result."""
        headers = {**frame.headers, **self.headers}
        if self.once:
            headers.setdefault("Idempotency-Key", str(uuid4()))
        content = b""
        if self.body is not None:
            content = json.dumps(self.body, ensure_ascii=False, separators=(",", ":")).encode()
            headers["Content-Type"] = "application/json"
        given = {name: _written(value) for name, value in self.query.items() if value is not None}
        url = frame.url(self.path)
        if given:
            url = url.copy_merge_params(given)
        return Outgoing(self.method, url, headers, content)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request, ready to be sent; without content where there is no body."""

    method: str
    url: httpx.URL
    headers: Mapping[str, str]
    content: bytes

    def request(self, frame: "Frame") -> httpx.Request:
        """The same for httpx."""
        return httpx.Request(
            self.method, self.url, headers=self.headers, content=self.content or None, extensions=frame.extensions
        )

    def written(self) -> bytes:
        """The same as bytes. Raises `ValueError` where a header would not stay one."""
        lines = [
            f"{self.method} {self.url.raw_path.decode('ascii')} HTTP/1.1",
            f"Host: {self.url.netloc.decode('ascii')}",
            "Accept-Encoding: identity",
            *(f"{name}: {value}" for name, value in self.headers.items()),
        ]
        if self.content or self.method not in {"GET", "DELETE"}:
            lines.append(f"Content-Length: {len(self.content)}")
        if any(_ENDS_A_HEADER.search(line) for line in lines):
            raise ValueError("A header has a line's end or a NUL in it.")
        return "\r\n".join([*lines, "\r\n"]).encode("ascii") + self.content


class Frame:
    """What every request has: the service's address, the key, the time to wait."""

    def __init__(self, base_url: str, api_key: str | None, timeout: float) -> None:
        self._base = base_url.rstrip("/")
        self._urls: dict[str, httpx.URL] = {}
        self.headers = {"User-Agent": "mnemic-client", "Accept": "application/json"}
        if api_key is not None:
            self.headers["Authorization"] = f"Bearer {api_key}"
        self.extensions = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), timeout)}

    def url(self, path: str) -> httpx.URL:
        """The address of a path: parsed once for those that are asked again and again."""
        known = self._urls.get(path)
        if known is None:
            known = httpx.URL(self._base + path)
            if len(self._urls) < KEPT_URLS:
                self._urls[path] = known
        return known


def path_of(*parts: str) -> str:
    """A path under /v1 whose parts may be any id: a / in one is escaped."""
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


def read(answer: Answer) -> Any:
    """The body of an answer. Raises `ProblemError`, and `httpx.DecodingError` where a success cannot be read."""
    if answer.is_success:
        try:
            return json.loads(answer.content) if answer.content else None
        except (ValueError, RecursionError) as error:
            raise httpx.DecodingError("The answer is no JSON.") from error
    try:
        document = json.loads(answer.content)
    except (ValueError, RecursionError):
        document = answer.content.decode("utf-8", "replace")
    raise problem_of(answer.status, document, answer.retry_after)


def member(call: Call, body: Any, name: str) -> Any:
    """A member that an answer's body has. Raises `UnreadableAnswer`."""
    try:
        return body[name]
    except (TypeError, KeyError) as error:
        raise UnreadableAnswer(f"{call.method} {call.path}: The answer has no {name}.") from error


def answer_of(response: httpx.Response) -> Answer:
    """An answer that httpx has read."""
    return Answer(response.status_code, response.content, response.headers.get("retry-after"))


def named(**given: Any) -> dict[str, Any]:
    """The members that are not None."""
    return {name: value for name, value in given.items() if value is not None}


def _written(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
