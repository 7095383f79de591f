"""JSON as RFC 8259 has it: no NaN, no bottomless nesting, nothing that PostgreSQL's jsonb cannot hold."""

import json
import math
import re
from typing import Any, Final, NoReturn

from app.core.errors import BadRequest, Invalid

_STRING_OR_BRACKET: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{}]', re.DOTALL)


def loads(body: bytes, *, max_depth: int) -> Any:  # noqa: ANN401 - JSON is anything
    """Parse a request body.

    Raises:
        BadRequest: It is not JSON, or not UTF-8.
        Invalid: It nests deeper than `max_depth`, or names a member of an object twice.
    """
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_members)
    except UnicodeDecodeError as error:
        raise BadRequest("The body is not valid UTF-8.", code="bad_utf8") from error
    except RecursionError as error:
        raise too_deep(max_depth) from error
    except ValueError as error:
        raise BadRequest("The body is not valid JSON.", code="bad_json") from error
    if _depth_exceeds(body, max_depth):
        raise too_deep(max_depth)
    return value


def fault_of(value: Any) -> str | None:  # noqa: ANN401 - JSON is anything
    """Why a JSON value cannot be stored; None where it can.

    PostgreSQL holds no NUL in text and no lone surrogate, and JSON knows no infinity.
    """
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            fault = text_fault(item)
            if fault is not None:
                return fault
        elif isinstance(item, float) and not math.isfinite(item):
            return "numbers must be finite"
        elif isinstance(item, dict):
            stack.extend(item.keys())
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return None


def text_fault(text: str) -> str | None:
    """Why a string cannot be stored; None where it can."""
    if "\0" in text:
        return "NUL characters are not allowed"
    if text.isascii():
        return None
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "lone surrogates are not allowed"
    return None


def too_deep(max_depth: int) -> Invalid:
    """The answer to bottomless JSON."""
    return Invalid(f"The JSON nests deeper than {max_depth} levels.", code="json_too_deep")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; which of two members of one name is meant, nobody can know."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Invalid("An object of the JSON names a member twice.", code="duplicate_key")
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _depth_exceeds(body: bytes, limit: int) -> bool:
    """Count brackets outside of strings, in a body that is JSON."""
    if body.count(b"[") + body.count(b"{") <= limit:
        return False
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(body):
        token = match.group()
        if token in {b"[", b"{"}:
            depth += 1
            if depth > limit:
                return True
        elif token in {b"]", b"}"}:
            depth -= 1
    return False
