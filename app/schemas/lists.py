"""Lists: `{"results": [...], "next_cursor": ...}`, each row visited once however many are added meanwhile."""

import base64
import binascii
import json
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

from pydantic import Field

from app.core.errors import Invalid
from app.schemas.fields import ResponseModel

Item = TypeVar("Item")

Limit = Annotated[int, Field(ge=1, le=200)]
DEFAULT_LIMIT = 50


class Page(ResponseModel, Generic[Item]):
    """One page of a list."""

    results: list[Item]
    next_cursor: str | None = Field(description="Pass it as `cursor` for the next page; null on the last one")
    total: int | None = Field(None, description="How many there are in all; only with count=true")


def encode_cursor(*position: object) -> str:
    """An opaque cursor of a keyset position."""
    plain = json.dumps([str(value) for value in position], ensure_ascii=False, separators=(",", ":"))
    return base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None, *kinds: type) -> tuple[Any, ...] | None:
    """The keyset position that a cursor of ours stands for; None without a cursor.

    Raises:
        Invalid: It is not one of ours.
    """
    if cursor is None:
        return None
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        values = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        if not isinstance(values, list) or len(values) != len(kinds):
            raise ValueError("not a position")  # noqa: TRY301 - one answer to all that is wrong
        return tuple(_read(value, kind) for value, kind in zip(values, kinds, strict=True))
    except (ValueError, binascii.Error, UnicodeError, TypeError, OverflowError, RecursionError) as error:
        raise Invalid("The cursor is not one that this list gave.", code="bad_cursor") from error


def _read(value: object, kind: type) -> Any:  # noqa: ANN401 - one of the kinds below
    if not isinstance(value, str) or "\0" in value:
        raise TypeError("not a position")
    if kind is UUID:
        return UUID(value)
    if kind is int:
        number = int(value)
        if not -(2**63) <= number < 2**63:
            raise ValueError("not a position")
        return number
    if kind is datetime:
        instant = datetime.fromisoformat(value)
        if instant.tzinfo is None:
            raise ValueError("not a position")
        return instant
    value.encode("utf-8")
    return value
