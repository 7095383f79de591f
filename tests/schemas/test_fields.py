"""The kinds of values that requests are made of."""

import importlib
import pkgutil
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, TypeAdapter, ValidationError

from app import schemas
from app.schemas.fields import (
    MAX_METADATA_BYTES,
    SLASH_IN_SEGMENT,
    Id,
    Instant,
    Json,
    MemoryText,
    MessageText,
    Metadata,
    RequestModel,
    SegmentId,
    Timezone,
    Ttl,
)


def read(kind: Any, value: Any) -> Any:
    return TypeAdapter(kind).validate_python(value)


def refused(kind: Any, value: Any) -> None:
    with pytest.raises(ValidationError):
        read(kind, value)


@pytest.mark.parametrize("value", ["a", "a/b", "...", " ", "汇" * 255, "\U0001f600", "%2F", "a\u200bb", "é"])
def test_an_id_is_any_unicode(value: str) -> None:
    assert read(Id, value) == value


@pytest.mark.parametrize(
    "value",
    ["", ".", "..", "x" * 256, "a\0", "a\n", "\x1f", "\x7f", "\x80", "\x9f", "\ud800", 1, None, True, ["a"], b"a\xff"],
)
def test_an_id_has_no_control_characters_and_is_no_dot(value: Any) -> None:
    refused(Id, value)


@given(st.text(min_size=1, max_size=255))
def test_an_id_is_kept_as_it_is_or_refused(value: str) -> None:
    try:
        kept = read(Id, value)
    except ValidationError:
        assert value in {".", ".."} or any(ord(char) < 32 or 127 <= ord(char) < 160 for char in value)
    else:
        assert kept == value


def test_a_slash_within_a_segment_comes_back() -> None:
    assert read(SegmentId, f"a{SLASH_IN_SEGMENT}b") == "a/b"
    refused(SegmentId, f".{SLASH_IN_SEGMENT}".replace(SLASH_IN_SEGMENT, "."))
    refused(SegmentId, 5)


@pytest.mark.parametrize(
    ("value", "instant"),
    [
        ("2026-01-31T12:00:00Z", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ("2026-01-31t12:00:00z", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ("2026-01-31 20:00:00+08:00", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ("2026-01-31T12:00:00.123456Z", datetime(2026, 1, 31, 12, 0, 0, 123456, tzinfo=UTC)),
        ("2026-01-31T06:30:00-05:30", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        (datetime(2026, 1, 31, 12, tzinfo=UTC), datetime(2026, 1, 31, 12, tzinfo=UTC)),
    ],
)
def test_a_time_is_rfc_3339_with_any_offset(value: Any, instant: datetime) -> None:
    assert read(Instant, value) == instant


@pytest.mark.parametrize(
    "value",
    [
        "2026-01-31T12:00:00",
        "2026-01-31",
        "",
        "now",
        1_700_000_000,
        1.5,
        "1700000000",
        True,
        None,
        "2026-02-30T00:00:00Z",
        "2026-01-31T24:30:00Z",
        "2026-01-31T12:00:00+25:00",
        "0001-01-01T00:00:00Z",
        "9999-01-01T00:00:00Z",
        "２026-01-31T12:00:00Z",
        datetime(2026, 1, 31),  # noqa: DTZ001 - naive is the point
    ],
)
def test_a_time_without_offset_a_number_and_a_far_year_are_refused(value: Any) -> None:
    refused(Instant, value)


@pytest.mark.parametrize("name", ["Asia/Shanghai", "UTC", "Europe/London"])
def test_a_zone_is_an_iana_name(name: str) -> None:
    assert read(Timezone, name) == name


@pytest.mark.parametrize("name", ["", "Mars/Base", "+08:00", "../etc/passwd", "asia/shanghai ", "\0", "x" * 65])
def test_any_other_zone_is_refused(name: str) -> None:
    refused(Timezone, name)


def test_texts_have_a_length_and_memories_are_trimmed() -> None:
    assert read(MessageText, "  a ") == "  a "
    assert read(MemoryText, "\n 汇率 ") == "汇率"
    assert len(read(MessageText, "汇" * 100_000)) == 100_000
    for kind in (MemoryText, MessageText):
        refused(kind, "x" * 100_001)
        refused(kind, "a\0b")
        refused(kind, "\ud800")
    for blank in ("", " ", "\n\t", "\u3000"):
        refused(MemoryText, blank)


def test_metadata_is_an_object_of_some_size() -> None:
    frame = len('{"k": ""}')
    assert read(Metadata, {"k": "x" * (MAX_METADATA_BYTES - frame)})
    for bad in ({"k": "x" * (MAX_METADATA_BYTES - frame + 1)}, {"k": "汇" * (MAX_METADATA_BYTES // 3)}, [], "x", None,
                {"k": float("inf")}, {"\0": 1}, {"k": [{"v": "\ud800"}]}):  # fmt: skip
        refused(Metadata, bad)


def test_json_is_anything_that_can_be_stored() -> None:
    for value in (None, 0, -1.5, "汇", [], {}, {"a": [1, {"b": None}]}):
        assert read(Json, value) == value
    for bad in (float("nan"), "\0", ["\ud800"]):
        refused(Json, bad)


@pytest.mark.parametrize("seconds", [0, -1, 10**12, 1.5, "x", None])
def test_a_ttl_is_a_number_of_seconds_above_none(seconds: Any) -> None:
    refused(Ttl, seconds)


def test_a_request_refuses_fields_it_does_not_know() -> None:
    class Body(RequestModel):
        a: int = 1

    with pytest.raises(ValidationError):
        Body.model_validate({"b": 1})


def of_requests(model: type[RequestModel] = RequestModel) -> Iterator[type[RequestModel]]:
    for below in model.__subclasses__():
        yield below
        yield from of_requests(below)


def loose(schema: Any) -> Iterator[str]:
    """Numbers and truth values in a model's schema that take what is none."""
    if isinstance(schema, dict):
        if str(schema.get("type")) in {"int", "float", "bool"} and schema.get("strict") is not True:
            yield str(schema)
        for name, part in schema.items():
            if name != "metadata":
                yield from loose(part)
    elif isinstance(schema, list | tuple):
        for part in schema:
            yield from loose(part)


def test_no_number_or_truth_value_of_any_request_is_read_from_something_else() -> None:
    for module in pkgutil.iter_modules(schemas.__path__):
        importlib.import_module(f"app.schemas.{module.name}")
    models = list(of_requests())
    assert len(models) > 20
    assert [(model.__name__, found) for model in models for found in loose(model.__pydantic_core_schema__)] == []


class Numbers(RequestModel):
    whole: int = 1
    broken: float | None = None
    flag: bool = False
    seqs: list[int] = Field(default_factory=list)
    at: Instant | None = None
    ids: list[UUID] = Field(default_factory=list)


@pytest.mark.parametrize(
    "given",
    [{"whole": True}, {"whole": "1"}, {"whole": 1.0}, {"whole": None}, {"broken": True}, {"broken": "1.5"},
     {"flag": 1}, {"flag": "true"}, {"flag": 0.0}, {"seqs": [1, True]}, {"seqs": ["1"]}],
)  # fmt: skip
def test_what_json_does_not_call_a_number_or_a_truth_value_is_none(given: dict[str, Any]) -> None:
    refused(Numbers, given)


def test_an_integer_is_a_number_and_times_and_ids_are_strings() -> None:
    at, one = "2026-01-31T12:00:00Z", "01980000-0000-7000-8000-000000000000"
    found = read(Numbers, {"broken": 3, "flag": True, "seqs": [2**60], "at": at, "ids": [one]})
    assert (found.broken, found.flag, found.seqs, found.ids) == (3.0, True, [2**60], [UUID(one)])
