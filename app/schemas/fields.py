"""The kinds of values that requests are made of, each checked once and everywhere alike."""

import json
import operator
import re
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, Final
from zoneinfo import available_timezones

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    StringConstraints,
)

from app.core.strict_json import fault_of, text_fault
from app.domain.redaction import SecretKind

MAX_TEXT: Final = 100_000
MAX_ID: Final = 255
MAX_METADATA_BYTES: Final = 64 * 1024
SLASH_IN_SEGMENT: Final = "\x1f"
"""Stands for a %2F inside a path segment until the segment is read: see `app.routers.segments`."""

CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
"""C0, DEL and C1."""

_RFC3339: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?\s?(?:[Zz]|[+-]\d{2}:?\d{2})", re.ASCII
)
MIN_YEAR: Final = 2
MAX_YEAR: Final = 9998
"""A time zone's offset must not carry an instant out of what dates can express."""


def _storable(text: str) -> str:
    fault = text_fault(text)
    if fault is not None:
        raise ValueError(fault)
    return text


def _identifier(text: str) -> str:
    _storable(text)
    if text in {".", ".."}:
        raise ValueError("an id must not be . or ..")
    if CONTROL.search(text) is not None:
        raise ValueError("control characters are not allowed in ids")
    return text


def _from_segment(value: object) -> object:
    return value.replace(SLASH_IN_SEGMENT, "/") if isinstance(value, str) else value


def _json_fault(value: Any) -> Any:  # noqa: ANN401 - JSON is anything
    fault = fault_of(value)
    if fault is not None:
        raise ValueError(fault)
    return value


def _small(value: dict[str, Any]) -> dict[str, Any]:
    if len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")) > MAX_METADATA_BYTES:
        raise ValueError(f"metadata must not exceed {MAX_METADATA_BYTES} bytes")
    return value


def _zone(name: str) -> str:
    if name not in _zones():
        raise ValueError("an IANA time zone such as Asia/Shanghai is needed")
    return name


@lru_cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def _trimmed(text: str) -> str:
    trimmed = text.strip()
    if not trimmed:
        raise ValueError("must not be blank")
    return trimmed


def _rfc3339(value: object) -> object:
    """Numbers and bare dates are read by pydantic in ways that nobody who sends them can foresee."""
    if isinstance(value, datetime) or (isinstance(value, str) and _RFC3339.fullmatch(value)):
        return value
    raise ValueError("a time with its offset is needed, such as 2026-01-31T12:00:00+08:00 or 2026-01-31T04:00:00Z")


def _in_range(instant: datetime) -> datetime:
    if not MIN_YEAR <= instant.year <= MAX_YEAR:
        raise ValueError(f"years from {MIN_YEAR} to {MAX_YEAR} are kept")
    return instant


Id = Annotated[str, StringConstraints(min_length=1, max_length=MAX_ID), AfterValidator(_identifier)]
"""A client's id: 1-255 characters of any script; no control characters, not `.` or `..`."""

SegmentId = Annotated[Id, BeforeValidator(_from_segment)]
"""An id that stands in the path, where `/` is written %2F."""

ShortText = Annotated[str, StringConstraints(max_length=1000), AfterValidator(_storable)]
MemoryText = Annotated[
    str, StringConstraints(min_length=1, max_length=MAX_TEXT), AfterValidator(_storable), AfterValidator(_trimmed)
]
MessageText = Annotated[str, StringConstraints(max_length=MAX_TEXT), AfterValidator(_storable)]
Json = Annotated[Any, AfterValidator(_json_fault)]
JsonObject = Annotated[dict[str, Any], AfterValidator(_json_fault)]
Metadata = Annotated[dict[str, Any], AfterValidator(_json_fault), AfterValidator(_small)]
Timezone = Annotated[str, StringConstraints(max_length=64), AfterValidator(_zone)]
Instant = Annotated[AwareDatetime, BeforeValidator(_rfc3339), AfterValidator(_in_range)]
Ttl = Annotated[int, Field(ge=1, le=100 * 366 * 86_400, description="Seconds to live")]


_STRICT: Final = frozenset({"int", "float", "bool"})


def _make_strict(schema: Any) -> None:  # noqa: ANN401 - pydantic's own tree
    stack = [schema]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            kind = part.get("type")  # in the table of a model's fields it is the field that is called so
            if isinstance(kind, str) and kind in _STRICT:
                part["strict"] = True
            stack.extend(value for name, value in part.items() if name != "metadata")
        elif isinstance(part, list | tuple):
            stack.extend(part)


class RequestModel(BaseModel):
    """A request body: an unknown field is an error, because a mistyped one must never widen what is done.

    Numbers and truth values are what JSON calls so: `true`, `"1"` and `1.0` are no integers.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> Any:  # noqa: ANN401
        """Make every number and truth value strict; a strict model would refuse times and ids, which are strings."""
        schema = handler(source)
        _make_strict(schema)
        return schema


Redactions = Annotated[
    list[SecretKind],
    Field(
        exclude_if=operator.not_,
        description="In the answer to a write: the kinds of secrets that were taken out of it; absent if none",
    ),
]


class ResponseModel(BaseModel):
    """A response body."""

    model_config = ConfigDict(extra="forbid", from_attributes=True)
