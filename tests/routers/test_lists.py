"""Cursors: each row is visited exactly once, however the list grows and shrinks meanwhile."""

import asyncio
import base64
import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import httpx
import pytest

from app.schemas.lists import decode_cursor, encode_cursor
from tests.routers.calls import add, body_of, every, open_session, problem_of, say


async def fill(client: httpx.AsyncClient, count: int, first: int = 0) -> list[str]:
    """So many memories of Ada's, by the thousand; their ids in order."""
    made: list[str] = []
    for start in range(first, first + count, 1000):
        texts = [f"note {number}" for number in range(start, min(start + 1000, first + count))]
        memories = [{"text": text, "user_id": "ada"} for text in texts]
        added = await client.post("/v1/memories", json={"memories": memories})
        assert added.status_code == 202, added.text
        made += [one["id"] for one in added.json()["results"]]
    return made


@pytest.mark.timeout(600)
async def test_each_of_many_rows_is_visited_once_while_others_come_and_go(
    api: httpx.AsyncClient, full_size: bool
) -> None:
    count = 25_000 if full_size else 3_000
    kept = await fill(api, count)
    doomed = [(await add(api, f"doomed {number}"))["id"] for number in range(5)]
    page = body_of(await api.get("/v1/memories", params={"limit": 200, "count": True}))
    assert page["total"] == count + len(doomed)
    seen = [one["id"] for one in page["results"]]
    newcomer = 0
    while page["next_cursor"] is not None:
        newcomer += 1
        await add(api, f"newcomer {newcomer}")
        if doomed:
            assert (await api.delete(f"/v1/memories/{doomed.pop()}")).status_code == 204
        page = body_of(await api.get("/v1/memories", params={"limit": 200, "cursor": page["next_cursor"]}))
        seen += [one["id"] for one in page["results"]]
    assert len(seen) == len(set(seen))
    assert set(kept) <= set(seen)
    assert [one for one in seen if one in set(kept)] == sorted(kept, reverse=True)


async def test_the_row_that_a_cursor_stands_on_may_be_deleted(api: httpx.AsyncClient) -> None:
    made = [(await add(api, f"note {number}"))["id"] for number in range(6)]
    page = body_of(await api.get("/v1/memories", params={"limit": 2}))
    assert (await api.delete(f"/v1/memories/{page['results'][-1]['id']}")).status_code == 204
    rest = await every(api, "/v1/memories", limit=2, cursor=page["next_cursor"])
    assert [one["id"] for one in rest] == made[3::-1]


async def test_sessions_are_paged_newest_first_with_odd_ids(api: httpx.AsyncClient) -> None:
    ids = [f"会话/{number}" for number in range(7)]
    for session_id in ids:
        await open_session(api, session_id)
    assert [one["id"] for one in await every(api, "/v1/sessions", limit=3)] == ids[::-1]


async def test_sessions_of_one_instant_are_each_visited_once(
    api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    instant = datetime(2026, 1, 1, tzinfo=UTC)
    monkeypatch.setattr("app.core.clock.now", lambda: instant)
    await asyncio.gather(*(open_session(api, f"s{number}") for number in range(9)))
    assert {one["created_at"] for one in await every(api, "/v1/sessions", limit=2)} == {"2026-01-01T00:00:00Z"}
    assert [one["id"] for one in await every(api, "/v1/sessions", limit=2)] == [f"s{n}" for n in range(8, -1, -1)]


async def test_messages_are_paged_in_both_orders_and_in_a_range(api: httpx.AsyncClient) -> None:
    messages = [{"role": "user", "content": f"m{number}"} for number in range(1, 11)]
    body_of(await api.post("/v1/sessions/s/messages", json={"messages": messages}), 201)
    path = "/v1/sessions/s/messages"
    assert [one["seq"] for one in await every(api, path, limit=3)] == list(range(1, 11))
    assert [one["seq"] for one in await every(api, path, limit=3, order="desc")] == list(range(10, 0, -1))
    ranged = {"from_seq": 3, "to_seq": 8}
    assert [one["seq"] for one in await every(api, path, limit=2, **ranged)] == [3, 4, 5, 6, 7, 8]
    assert [one["seq"] for one in await every(api, path, limit=2, order="desc", **ranged)] == [8, 7, 6, 5, 4, 3]
    assert await every(api, path, from_seq=8, to_seq=3) == []
    assert await every(api, path, from_seq=11) == []


async def test_count_says_how_many_there_are_in_all_under_the_same_filters(api: httpx.AsyncClient) -> None:
    for number in range(5):
        await say(api, "s", f"m{number}")
        await add(api, f"note {number}", user_id="ada" if number else "bob")
    for path, total in (
        ("/v1/memories?limit=2&count=true", 5),
        ("/v1/memories?limit=2&count=true&user_id=ada", 4),
        ("/v1/sessions?count=true", 1),
        ("/v1/sessions?count=true&user_id=nobody", 0),
        ("/v1/sessions/s/messages?limit=1&count=true", 5),
        ("/v1/sessions/s/messages?limit=1&count=true&from_seq=2&to_seq=4", 3),
        ("/v1/jobs?count=true", 1),
        ("/v1/jobs?count=true&state=dead", 0),
    ):
        assert body_of(await api.get(path))["total"] == total, path
    assert body_of(await api.get("/v1/memories"))["total"] is None


async def test_the_last_page_has_no_cursor_even_when_it_is_full(api: httpx.AsyncClient) -> None:
    for number in range(4):
        await add(api, f"note {number}")
    first = body_of(await api.get("/v1/memories", params={"limit": 2}))
    second = body_of(await api.get("/v1/memories", params={"limit": 2, "cursor": first["next_cursor"]}))
    assert len(second["results"]) == 2
    assert second["next_cursor"] is None
    empty = body_of(await api.get("/v1/memories?user_id=nobody"))
    assert (empty["results"], empty["next_cursor"]) == ([], None)


def made_up(position: Any) -> str:
    plain = position if isinstance(position, bytes) else json.dumps(position).encode()
    return base64.urlsafe_b64encode(plain).decode().rstrip("=")


BAD_CURSORS = [
    "", "x", "====", "汇率", "a b", "%00", made_up(b"\xff"), made_up(b"[" * 1490), made_up([]), made_up({}),
    made_up(None), made_up([1]), made_up([None]), made_up([["x"]]), made_up(["a", "b", "c"]), made_up(["\0"]),
    made_up(["\ud800", "\ud800"]), made_up(["9" * 1400]), made_up(["2026-01-01", "s"]), made_up(["nan"]),
    made_up(["2026-01-01T00:00:00", "s"]), made_up(["2026-01-01T00:00:00Z", "\0"]), made_up(["-1e9"]),
    made_up([str(2**63)]),
]  # fmt: skip


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/sessions", "/v1/sessions/s/messages", "/v1/jobs"])
async def test_a_cursor_that_no_list_gave_is_a_422(api: httpx.AsyncClient, path: str) -> None:
    await open_session(api, "s")
    for cursor in BAD_CURSORS:
        problem_of(await api.get(path, params={"cursor": cursor}), 422)


async def test_a_cursor_at_the_end_of_time_is_no_fault_of_ours(api: httpx.AsyncClient) -> None:
    for instant in ("9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59"):
        response = await api.get("/v1/sessions", params={"cursor": made_up([instant, "s"])})
        assert response.status_code in {200, 422}, response.text


async def test_a_cursor_of_another_list_is_a_422(api: httpx.AsyncClient) -> None:
    for number in range(3):
        await add(api, f"note {number}")
        await open_session(api, f"s{number}")
    cursor = body_of(await api.get("/v1/memories?limit=1"))["next_cursor"]
    problem_of(await api.get("/v1/sessions", params={"cursor": cursor}), 422, "bad_cursor")
    problem_of(await api.get("/v1/sessions/s0/messages", params={"cursor": cursor}), 422, "bad_cursor")


def test_a_cursor_reads_back_as_the_position_it_was_made_of() -> None:
    instant = datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert decode_cursor(encode_cursor(instant.isoformat(), "会话/1"), datetime, str) == (instant, "会话/1")
    assert decode_cursor(encode_cursor(UUID(int=5)), UUID) == (UUID(int=5),)
    assert decode_cursor(encode_cursor(7), int) == (7,)
    assert decode_cursor(None, int) is None
