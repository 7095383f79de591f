"""What a search sees of the levels of scope."""

import httpx
import pytest


@pytest.fixture
async def filled(api: httpx.AsyncClient) -> httpx.AsyncClient:
    """The same word at every level."""
    await api.post("/v1/sessions", json={"id": "s", "user_id": "ada"})
    await api.post("/v1/sessions", json={"id": "t", "user_id": "ada"})
    for text, scope in (
        ("tea of ada", {"user_id": "ada"}),
        ("tea of ada with helper", {"user_id": "ada", "agent_id": "helper"}),
        ("tea of ada in s", {"user_id": "ada", "session_id": "s"}),
        ("tea of ada in t", {"user_id": "ada", "session_id": "t"}),
        ("tea of helper", {"agent_id": "helper"}),
        ("tea of all", {"shared": True}),
        ("tea of bob", {"user_id": "bob"}),
    ):
        answer = await api.post("/v1/memories", json={"text": text, **scope})
        assert answer.status_code == 201, answer.text
    return api


CASES = [
    ({"user_id": "ada"}, {"of ada", "of ada with helper"}),
    ({"user_id": "ada", "session_id": "s"}, {"of ada in s"}),
    ({"user_id": "ada", "session_id": "s", "include_shared": True}, {"of ada in s", "of ada", "of all"}),
    ({"user_id": "ada", "agent_id": "helper"}, {"of ada with helper"}),
    (
        {"user_id": "ada", "agent_id": "helper", "include_shared": True},
        {"of ada with helper", "of ada", "of helper", "of all"},
    ),
    ({}, {"of ada", "of ada with helper", "of helper", "of all", "of bob"}),
    ({"agent_id": "helper"}, {"of ada with helper", "of helper"}),
]


@pytest.mark.parametrize(("scope", "expected"), CASES)
async def test_a_search_sees_its_scope_and_a_sessions_memories_only_where_it_is_named(
    filled: httpx.AsyncClient, scope: dict[str, object], expected: set[str]
) -> None:
    found = await filled.post("/v1/memories/search", json={"query": "tea", **scope})
    assert {hit["text"].removeprefix("tea ") for hit in found.json()["results"]} == expected


async def test_a_list_shows_what_belongs_to_sessions_too(filled: httpx.AsyncClient) -> None:
    listed = await filled.get("/v1/memories", params={"user_id": "ada", "count": "true"})
    assert listed.json()["total"] == 4
