"""What the clients of models behind HTTP have in common: addresses, keys, patience, and answers of a bounded size."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, Final

import httpx

from app.core import clock
from app.core.errors import ConfigurationError

TRY_AGAIN: Final = frozenset({408, 409, 425, 429})
"""Statuses after which waiting helps, as after every 5xx."""

LONGEST_PAUSE: Final = 30.0
"""A host that asks for a longer pause, in seconds, is given up for now."""

CONNECTIONS: Final = 32
CONNECT_SECONDS: Final = 10.0
KEEPALIVE_SECONDS: Final = 30.0

LARGEST_ANSWER: Final = 8 * 1024 * 1024
"""Bytes of an answer; no more of it is held."""


class MayPass(Exception):  # noqa: N818 - a trait that a client's failures may have
    """A failure after which the same request may succeed.

    Args:
        words: What happened, without anything that was sent or received.
        pause: The host's own wish, in seconds.
    """

    def __init__(self, words: str, pause: float | None = None) -> None:
        super().__init__(words)
        self.pause = pause


class AnswerTooLarge(Exception):  # noqa: N818 - a state of the answer
    """The host sends more than is read."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a host said.

    Args:
        status: The HTTP status.
        headers: Its headers, names in any case.
        content: Its decoded body, `LARGEST_ANSWER` bytes at most.
    """

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def passing(self) -> bool:
        """Whether the status is one after which waiting helps."""
        return self.status in TRY_AGAIN or self.status >= httpx.codes.INTERNAL_SERVER_ERROR


def pause_before_retry(error: Exception) -> bool | float:
    """Whether to repeat a request after this failure, or after how many seconds: stamina's hook."""
    if not isinstance(error, MayPass):
        return False
    if error.pause is None:
        return True
    return error.pause if error.pause <= LONGEST_PAUSE else False


def retry_after(header: str | None) -> float | None:
    """Seconds, from a number or a date (RFC 9110, 10.2.3); None where there is no such header or it is nonsense."""
    if header is None:
        return None
    try:
        seconds = float(header) if header.strip().isdigit() else _until(header)
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, seconds)


def address(base_url: str, path: str, *, setting: str, key_setting: str) -> httpx.URL:
    """The address of `path` below a configured one.

    Raises:
        ConfigurationError: It is none, or carries a user or a password.
    """
    try:
        url = httpx.URL(base_url.rstrip("/") + path)
    except httpx.InvalidURL:
        url = httpx.URL()
    if url.scheme not in {"http", "https"} or not url.host or url.userinfo:
        raise ConfigurationError(
            f"{setting} is http(s)://host/v1, without a user or password: a key goes into {key_setting}."
        )
    return url


def authorization(api_key: str | None, *, setting: str) -> dict[str, str]:
    """The header that carries a key; none for none.

    Raises:
        ConfigurationError: No header can carry it.
    """
    if api_key is None:
        return {}
    if not (api_key.isascii() and api_key.isprintable()):
        raise ConfigurationError(f"{setting} has characters that no HTTP header can carry.")
    return {"Authorization": f"Bearer {api_key.strip()}"}


def client(headers: dict[str, str], timeout: float | None, connections: int = CONNECTIONS) -> httpx.AsyncClient:
    """A pool of connections that ignores proxies of the environment and follows no redirect.

    Args:
        headers: Sent with every request.
        timeout: Seconds that each step of a request may take; None where the caller bounds the whole.
        connections: At most so many.
    """
    return httpx.AsyncClient(
        headers=headers,
        timeout=timeout if timeout is not None else httpx.Timeout(None, connect=CONNECT_SECONDS),
        limits=httpx.Limits(max_connections=connections, keepalive_expiry=KEEPALIVE_SECONDS),
        trust_env=False,
        follow_redirects=False,
        verify=_authorities(),
    )


@cache
def _authorities() -> ssl.SSLContext:
    """Whose certificates are believed: read once, which takes 25 ms."""
    return httpx.create_ssl_context(trust_env=False)


async def post(connections: httpx.AsyncClient, url: httpx.URL, body: Any) -> Answer:  # noqa: ANN401 - JSON is anything
    """Send JSON and read the answer, whatever its status. A cancelled call closes its connection.

    Raises:
        AnswerTooLarge: It goes on after `LARGEST_ANSWER` bytes.
        httpx.HTTPError: There is no complete answer.
    """
    content = bytearray()
    async with connections.stream("POST", url, json=body) as response:
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > LARGEST_ANSWER:
                raise AnswerTooLarge
        return Answer(response.status_code, response.headers, bytes(content))


def _until(date: str) -> float:
    at = parsedate_to_datetime(date)
    return (at.replace(tzinfo=at.tzinfo or UTC) - clock.now()).total_seconds()
