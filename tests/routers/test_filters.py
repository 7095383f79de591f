"""Filters against PostgreSQL: lists of values of every kind, and as many as the grammar allows."""

import json
from typing import Any

import httpx
import pytest

from app.domain.filters import MAX_VALUES, MAX_VALUES_IN_ALL
from tests.routers.calls import add, body_of, every, problem_of, search


async def texts(api: httpx.AsyncClient, asked: dict[str, Any]) -> set[str]:
    """What a list finds under a filter."""
    return {one["text"] for one in await every(api, "/v1/memories", filter=json.dumps(asked))}


async def test_in_and_nin_take_values_of_every_kind_of_field(api: httpx.AsyncClient) -> None:
    at = "2026-01-31T12:00:00Z"
    await add(api, "one", importance=3, confidence=0.5, pinned=True, occurred_at=at, key="user.city")
    await add(api, "two", importance=4, confidence=1.0, pinned=False, app_id="kitchen")
    for field, value in (
        ("text", "one"), ("importance", 3), ("confidence", 0.5), ("pinned", True), ("occurred_at", at),
        ("key", "user.city"),
    ):  # fmt: skip
        assert await texts(api, {field: {"in": [value]}}) == {"one"}, field
        assert await texts(api, {field: {"nin": [value]}}) == {"two"}, field
    assert await texts(api, {"importance": {"in": [2.5, 3.5]}}) == set()
    assert await texts(api, {"importance": {"in": [1e300, 4.0]}}) == {"two"}
    assert await texts(api, {"app_id": {"in": ["kitchen", "汇"]}}) == {"two"}


@pytest.mark.parametrize("value", [None, True, 0, 1.5, "", '汇"\\', [1, [None]], {"a": {"b": None}}, 10**30])
async def test_in_and_nin_take_any_json_of_metadata(api: httpx.AsyncClient, value: Any) -> None:
    await add(api, "has it", metadata={"it": value})
    await add(api, "has another", metadata={"it": "another"})
    await add(api, "has none")
    assert await texts(api, {"metadata.it": {"in": ["x", value]}}) == {"has it"}
    assert await texts(api, {"metadata.it": {"nin": ["x", value]}}) == {"has another", "has none"}


async def test_a_filter_of_as_many_values_as_are_allowed_is_answered(api: httpx.AsyncClient) -> None:
    await add(api, "The office closes at six.", metadata={"n": 7})
    lists = MAX_VALUES_IN_ALL // MAX_VALUES // 2
    words, numbers = [f"w{n}" for n in range(MAX_VALUES)], list(range(MAX_VALUES))
    asked = {"AND": [{"metadata.n": {"in": numbers}}] * lists + [{"text": {"nin": words}}] * lists}
    found = await search(api, "office", user_id="ada", filters=asked)
    assert [hit["text"] for hit in found["results"]] == ["The office closes at six."]
    body_of(await api.post("/v1/memories/delete", json={"filters": asked, "dry_run": True}))
    more = {"AND": [*asked["AND"], {"kind": {"eq": "event"}}]}
    problem_of(await api.post("/v1/memories/search", json={"query": "x", "filters": more}), 422, "bad_filter")
    problem_of(await api.post("/v1/memories/delete", json={"filters": more, "dry_run": True}), 422, "bad_filter")
