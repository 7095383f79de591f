"""Every string of every route of the OpenAPI document, replaced by what no program expects: never a 5xx.

What stands in a request is told by PROBES; each of its strings, its path's ids and a key of its metadata are replaced.
"""

import itertools
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final
from urllib.parse import quote

import httpx
import pytest

from app.composition import Services
from tests.conftest import Tenant, tenant_of
from tests.contract.conftest import CANARY, plant
from tests.contract.test_canaries import OPEN, OPERATIONS, PROBES

HOSTILE: Final = {
    "nul": "a\0b",
    "lone surrogate": "a\ud800b",
    "right to left": "\u202etxt.exe\u2066 مرحبا \u2069",
    "zero width": "a\u200b\u200d\ufeff\u2060b",
    "only zero width": "\u200b\ufeff",
    "emoji": "👩\u200d👩\u200d👧\u200d👦🏳️\u200d🌈",
    "combining": "Z" + "\u0335\u0337" * 300,
    "sql": "'; DROP TABLE memories; --",
    "sql in dollars": "$$); DELETE FROM messages; $$ \\'; :name %(x)s %s $1",
    "jsonpath": '$.** ? (@ == "x" || @.type() == "object") \\"] #>> {a,b}',
    "like": "%_%\\",
    "path": "../../etc/passwd",
    "headers": "x\r\nSet-Cookie: a=b",
    "format": "{0.__class__} {{}} ${jndi:x} <script>alert(1)</script>",
    "noncharacter": "\uffff\ufdd0\U0010ffff",
}
WORD: Final = "长" * 350_000
"""A word of one megabyte in UTF-8."""

DEEP: Final = b"[" * 10_000 + b"]" * 10_000
LAST: Final = ("erase_user", "merge_users", "delete_", "clear_", "pop_", "prune_")
"""These take away what the others are about."""

ALL: Final = sorted(set(OPERATIONS) - OPEN, key=lambda name: (name.startswith(LAST), name))


@pytest.fixture(scope="module")
async def ruined(services: Services, app: Any) -> AsyncIterator[tuple[Tenant, httpx.AsyncClient, dict[str, str]]]:
    """A tenant whose data may be ruined, its client and the ids of what is there."""
    tenant = await tenant_of(services, app)
    api = await tenant.client()
    yield tenant, api, await plant(services, tenant, api, "ada", CANARY)
    await tenant.close()


def _replaced(value: Any, hostile: str) -> Iterator[Any]:
    """The value once for each of its strings and names, with that one replaced."""
    if isinstance(value, str):
        yield hostile
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from ({**value, name: other} for other in _replaced(inner, hostile))
        yield {**value, "metadata": {hostile: hostile}}
        yield {**value, "filters": {f"metadata.{hostile}": {"eq": hostile}}}
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from ([*value[:place], other, *value[place + 1 :]] for other in _replaced(inner, hostile))


def _requests(operation: str, ids: dict[str, str], hostile: str) -> Iterator[tuple[str, dict[str, str], Any]]:
    """Path, query and body, with one thing replaced at a time."""
    _, template = OPERATIONS[operation]
    query, body, *_ = PROBES[operation]
    path = _path(template, ids)
    text = json.dumps(body)
    for name, value in ids.items():
        text = text.replace("{" + name + "}", value)
    body = json.loads(text)
    for other in _replaced(body, hostile):
        yield path, query, other
    for name in query:
        yield path, {**query, name: hostile}, body
    for name in ids:
        if "{" + name + "}" in template:
            yield _path(template, {**ids, name: hostile}), query, body


def _path(template: str, ids: dict[str, str]) -> str:
    for name, value in ids.items():
        template = template.replace("{" + name + "}", _quoted(value))
    return template


def _quoted(value: str) -> str:
    return quote(value.encode("utf-8", "surrogatepass"), safe="")


async def _is_no_fault(api: httpx.AsyncClient, operation: str, path: str, query: dict[str, str], body: Any) -> None:
    content = None if body is None else json.dumps(body).encode()
    line = "&".join(f"{name}={_quoted(value)}" for name, value in query.items())
    answer = await api.request(
        OPERATIONS[operation][0],
        f"{path}?{line}" if line else path,
        content=content,
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code < 500, f"{operation}: {answer.status_code} {query!a} {json.dumps(body)[:300]}"
    assert "set-cookie" not in answer.headers
    if answer.is_error:
        assert answer.headers["content-type"] == "application/problem+json", operation


@pytest.mark.timeout(1500)
async def test_no_string_in_any_place_of_any_route_is_a_fault_of_ours(
    ruined: tuple[Tenant, httpx.AsyncClient, dict[str, str]], full_size: bool
) -> None:
    _, api, ids = ruined
    turns = itertools.cycle(HOSTILE.values())
    for operation in ALL:
        places = len(list(_requests(operation, ids, "x")))
        for place in range(places):
            for hostile in HOSTILE.values() if full_size else (next(turns),):
                path, query, body = next(itertools.islice(_requests(operation, ids, hostile), place, None))
                await _is_no_fault(api, operation, path, query, body)
    ready = await api.get("/readyz")
    assert ready.is_success, ready.text


@pytest.mark.timeout(1500)
async def test_a_word_of_a_megabyte_and_ten_thousand_brackets_are_refused_by_every_route_with_a_body(
    ruined: tuple[Tenant, httpx.AsyncClient, dict[str, str]], full_size: bool
) -> None:
    _, api, ids = ruined
    with_body = [name for name in ALL if PROBES[name][1] is not None]
    for number, operation in enumerate(with_body):
        method, template = OPERATIONS[operation]
        answer = await api.request(
            method, _path(template, ids), content=DEEP, headers={"Content-Type": "application/json"}
        )
        assert 400 <= answer.status_code < 500, f"{operation}: {answer.text}"
        if full_size or number % 8 == 0:
            for path, query, body in _requests(operation, ids, WORD):
                # No client sends a line of a megabyte: what stands in it is cut.
                short = {name: value[:2_000] for name, value in query.items()}
                await _is_no_fault(api, operation, path[:8_000], short, body)


async def test_a_body_above_the_limit_is_a_413_on_every_route(
    ruined: tuple[Tenant, httpx.AsyncClient, dict[str, str]],
) -> None:
    tenant, api, ids = ruined
    too_large = str(tenant.services.settings.max_body_bytes + 1)
    for operation in ALL:
        method, template = OPERATIONS[operation]
        if "import" in operation and "procedures" not in operation:
            continue  # read line by line, however long
        headers = {"Content-Type": "application/json", "Content-Length": too_large}
        answer = await api.request(method, _path(template, ids), content=b"{}", headers=headers)
        assert answer.status_code == 413, operation
