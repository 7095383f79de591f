"""JSON as RFC 8259 has it, and nothing that the database cannot hold."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import BadRequest, Invalid
from app.core.strict_json import fault_of, loads, text_fault

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth_of, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth_of, value), default=0)
    return 0


@given(PLAIN, st.booleans())
def test_what_json_can_say_is_read_as_it_was_written(value: Any, ascii_only: bool) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    try:
        body.decode()
    except UnicodeDecodeError:
        with pytest.raises(BadRequest):
            loads(body, max_depth=100)
    else:
        assert loads(body, max_depth=100) == value


@given(PLAIN, st.integers(min_value=0, max_value=8))
def test_depth_is_counted_as_the_value_has_it(value: Any, limit: int) -> None:
    body = json.dumps(value).encode()
    if depth_of(value) > limit:
        with pytest.raises(Invalid):
            loads(body, max_depth=limit)
    else:
        assert loads(body, max_depth=limit) == value


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    try:
        loads(body, max_depth=5)
    except (BadRequest, Invalid) as problem:
        assert problem.detail  # noqa: PT017 - either outcome is right


@pytest.mark.parametrize(
    "body", [b"", b"{", b"NaN", b"-Infinity", b"[1,]", b"'a'", b"01", b"\xef\xbb\xbf1", b"1 2", b"9" * 5000]
)
def test_what_is_not_json_is_a_bad_request(body: bytes) -> None:
    with pytest.raises(BadRequest) as caught:
        loads(body, max_depth=5)
    assert caught.value.code == "bad_json"


@pytest.mark.parametrize("body", [b'"\xff"', b'"\xed\xa0\x80"', b"\xfe\xff"])
def test_what_is_not_utf8_is_a_bad_request(body: bytes) -> None:
    with pytest.raises(BadRequest) as caught:
        loads(body, max_depth=5)
    assert caught.value.code == "bad_utf8"


@pytest.mark.parametrize("depth", [6, 1_000, 200_000])
def test_nesting_has_a_limit_at_any_size(depth: int) -> None:
    for body in (b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth):
        with pytest.raises(Invalid) as caught:
            loads(body, max_depth=5)
        assert caught.value.code == "json_too_deep"


def test_brackets_and_quotes_within_strings_do_not_nest() -> None:
    value = ["[[[[[{{{", '"[[[[', "\\", '\\"[[[', {"[[[[": "]]]]"}]
    assert loads(json.dumps(value).encode(), max_depth=2) == value


def test_a_large_body_is_measured_in_no_time() -> None:
    messages = [{"role": "user", "content": 'a "quoted" [text] \\ ' * 250} for _ in range(1_000)]
    body = json.dumps({"messages": messages}).encode()
    started = time.process_time()
    loads(body, max_depth=64)
    assert time.process_time() - started < 1.0


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("a\0", "NUL"),
        ({"a\0": 1}, "NUL"),
        ([[["\ud800"]]], "surrogate"),
        ({"a": {"\udfff": 1}}, "surrogate"),
        ([float("inf")], "finite"),
        ({"a": float("nan")}, "finite"),
    ],
)
def test_what_cannot_be_stored_is_named(value: Any, fault: str) -> None:
    assert fault in (fault_of(value) or "")


@given(PLAIN)
def test_what_has_no_fault_can_be_encoded(value: Any) -> None:
    if fault_of(value) is None:
        assert "\\u0000" not in json.dumps(value).replace("\\\\", "")
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")


def test_a_value_may_nest_as_deep_as_it_likes_without_a_fault() -> None:
    deep: Any = "x"
    for _ in range(50_000):
        deep = [deep]
    assert fault_of(deep) is None
    while isinstance(deep, list):  # taken apart, since a recursive destructor has limits of its own
        deep = deep[0]


@pytest.mark.parametrize("text", ["", "汇率", "\U0001f600", "\u200b", "\x01", "\ufffe"])
def test_other_text_has_no_fault(text: str) -> None:
    assert text_fault(text) is None


@pytest.mark.parametrize(
    "body", ['{"a": 1, "a": 1}', '{"a": {"b": null, "b": 2}}', '[[{"汇": 1, "\\u6c47": 2}]]', '{"": 0, "": 0}']
)
def test_a_name_that_an_object_has_twice_is_refused(body: str) -> None:
    with pytest.raises(Invalid) as refused:
        loads(body.encode(), max_depth=10)
    assert refused.value.code == "duplicate_key"


def test_one_name_in_several_objects_is_no_duplicate() -> None:
    assert loads(b'{"a": {"a": 1}, "b": [{"a": 2}, {"a": 3}]}', max_depth=10) == {
        "a": {"a": 1},
        "b": [{"a": 2}, {"a": 3}],
    }
