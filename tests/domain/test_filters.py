"""The grammar of filters: what is understood, and what is refused with a reason."""

import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.errors import Invalid
from app.domain.filters import (
    LARGEST,
    MAX_CONDITIONS,
    MAX_DEPTH,
    MAX_PATH,
    MAX_VALUES,
    MAX_VALUES_IN_ALL,
    MEMORY_FIELDS,
    Condition,
    FieldType,
    Filter,
    Group,
    Operator,
    parse_filter,
)

AT = "2026-01-31T12:00:00+08:00"
VALUES: dict[FieldType, Any] = {
    FieldType.TEXT: "tea",
    FieldType.NUMBER: 3,
    FieldType.FLAG: True,
    FieldType.INSTANT: AT,
    FieldType.JSON: {"a": [None]},
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
WORDS = st.sampled_from([*Operator, *MEMORY_FIELDS, "AND", "OR", "NOT", "metadata.a", "metadata.", "metadata", "nope"])
FILTERS = st.recursive(
    JSON,
    lambda inner: st.dictionaries(WORDS, inner | st.lists(inner, max_size=3), max_size=3),
    max_leaves=10,
)


def refused(given_: Any) -> str:
    with pytest.raises(Invalid) as problem:
        parse_filter(given_)
    assert problem.value.code == "bad_filter"
    return problem.value.detail


def conditions(asked: Filter) -> list[Condition]:
    if isinstance(asked, Condition):
        return [asked]
    return [one for part in asked.parts for one in conditions(part)]


@given(FILTERS)
@settings(deadline=None)
def test_anything_is_understood_or_refused(asked: Any) -> None:
    try:
        found = conditions(parse_filter(asked))
    except Invalid:
        refused(asked)
    else:
        assert 1 <= len(found) <= MAX_CONDITIONS
        assert all(one.field == "metadata" if one.path else one.field in MEMORY_FIELDS for one in found)


@pytest.mark.parametrize(("field", "kind"), [*MEMORY_FIELDS.items(), ("metadata.a.b", FieldType.JSON)])
def test_every_field_is_asked_with_values_of_its_kind_and_no_other(field: str, kind: FieldType) -> None:
    for operator in (Operator.EQ, Operator.NE):
        (one,) = conditions(parse_filter({field: {operator: VALUES[kind]}}))
        assert (one.type, one.operator) == (kind, operator)
        for other, value in VALUES.items():
            if (
                kind is not FieldType.JSON
                and {kind, other} != {FieldType.TEXT, FieldType.INSTANT}
                and other is not kind
            ):
                refused({field: {operator: value}})
    assert conditions(parse_filter({field: {"in": [VALUES[kind]]}}))[0].value != ()
    assert conditions(parse_filter({field: {"exists": False}}))[0].value is False
    refused({field: {"exists": None}})


def test_a_metadata_path_is_taken_apart_at_its_dots() -> None:
    assert parse_filter({"metadata.a.b c": {"eq": 1}}) == Condition(
        "metadata", ("a", "b c"), FieldType.JSON, Operator.EQ, 1
    )
    for path in ("metadata", "metadata.", "metadata.a..b", "metadata" + ".a" * (MAX_PATH + 1)):
        refused({path: {"eq": 1}})
    parse_filter({"metadata" + ".a" * MAX_PATH: {"eq": 1}})


def test_several_names_of_one_object_are_joined_by_and() -> None:
    found = parse_filter({"kind": {"eq": "event"}, "importance": {"gte": 3, "lt": 5}})
    assert isinstance(found, Group)
    assert found.connective == "AND"
    assert [one.operator for one in conditions(found)] == ["eq", "gte", "lt"]


@pytest.mark.parametrize("connective", ["AND", "OR", "NOT"])
def test_a_connective_takes_a_list_of_filters(connective: str) -> None:
    found = parse_filter({connective: [{"kind": {"eq": "event"}}]})
    assert isinstance(found, Group)
    assert found.connective == connective
    wrongs: list[Any] = [[], {}, None, {"kind": {"eq": "event"}}, [[]], [{}], ["kind"]]
    for wrong in wrongs:
        refused({connective: wrong})


@pytest.mark.parametrize(
    "asked",
    [None, [], {}, "kind", {"kind": "event"}, {"kind": {}}, {"kind": {"like": "x"}}, {"nope": {"eq": 1}},
     {"kind": {"in": []}}, {"kind": {"in": "event"}}, {"kind": {"in": ["x"] * (MAX_VALUES + 1)}},
     {"importance": {"contains": "3"}}, {"text": {"icontains": 3}}, {"pinned": {"gt": False}},
     {"metadata.a": {"gt": [1]}}, {"metadata.a": {"lte": True}}, {"metadata.a": {"lt": None}},
     {"importance": {"eq": True}}, {"created_at": {"gt": "yesterday"}}, {"created_at": {"gt": "2026-01-31T12:00:00"}},
     {"text": {"eq": "a\0b"}}, {"metadata.a": {"eq": math.nan}}],
)  # fmt: skip
def test_what_is_not_understood_is_refused(asked: Any) -> None:
    refused(asked)


def test_a_reason_does_not_repeat_a_long_name() -> None:
    assert len(refused({"x" * 5000: {"eq": 1}})) < 300
    assert len(refused({"kind": {"x" * 5000: 1}})) < 300


def test_numbers_beyond_all_columns_compare_like_the_largest() -> None:
    (one,) = conditions(parse_filter({"importance": {"lt": 10**400}}))
    assert one.value == LARGEST
    (one,) = conditions(parse_filter({"importance": {"gt": -(10**400)}}))
    assert one.value == -LARGEST


def test_times_keep_their_instant_whatever_their_offset() -> None:
    (one,) = conditions(parse_filter({"created_at": {"gt": AT}}))
    assert one.value == datetime(2026, 1, 31, 4, tzinfo=UTC)


def test_texts_and_numbers_of_metadata_have_an_order_and_substrings() -> None:
    for value in (1, 1.5, "b"):
        assert conditions(parse_filter({"metadata.a": {"gt": value}}))[0].value == value
    assert conditions(parse_filter({"metadata.a": {"contains": "b"}}))[0].value == "b"


def nested(depth: int) -> dict[str, Any]:
    asked: dict[str, Any] = {"kind": {"eq": "event"}}
    for _ in range(depth):
        asked = {"NOT": [asked]}
    return asked


def test_depth_conditions_and_values_have_limits() -> None:
    parse_filter(nested(MAX_DEPTH))
    assert "nests deeper" in refused(nested(MAX_DEPTH + 1))
    one: dict[str, Any] = {"kind": {"eq": "event"}}
    parse_filter({"OR": [one] * MAX_CONDITIONS})
    assert f"{MAX_CONDITIONS} conditions" in refused({"OR": [one] * (MAX_CONDITIONS + 1)})
    full: dict[str, Any] = {"kind": {"in": ["event"] * MAX_VALUES}}
    most = [full] * (MAX_VALUES_IN_ALL // MAX_VALUES)
    parse_filter({"OR": most})
    assert f"{MAX_VALUES_IN_ALL} values" in refused({"OR": [*most, one]})
