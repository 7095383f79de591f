"""The OpenAI Agents SDK's session: order, the latest so many, atomic pops, first writes at once."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Protocol, runtime_checkable

import pytest

from mnemic_client import AsyncMnemic, MnemicSession
from mnemic_client.transport import AsyncTransport


@runtime_checkable
class AgentsSession(Protocol):
    """The protocol as the SDK has it (`agents.memory.session.Session`)."""

    session_id: str
    session_settings: Any

    async def get_items(self, limit: int | None = None) -> list[Any]: ...
    async def add_items(self, items: list[Any]) -> None: ...
    async def pop_item(self) -> Any | None: ...
    async def clear_session(self) -> None: ...


@pytest.fixture
async def session(transport: AsyncTransport) -> AsyncIterator[MnemicSession]:
    """A session of ada's that nobody has written to."""
    return MnemicSession("chat", AsyncMnemic(transport=transport), user_id="ada")


CALL = {"type": "function_call", "call_id": "c1", "name": "trains", "arguments": '{"to": "里斯本"}'}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": ""}
PARTS = {
    "role": "assistant",
    "type": "message",
    "content": [{"type": "output_text", "text": "九点。", "annotations": []}],
}


def said(number: int) -> dict[str, Any]:
    return {"role": "user", "content": f"Message {number}"}


async def test_it_is_what_the_sdk_calls_a_session(session: MnemicSession) -> None:
    assert isinstance(session, AgentsSession)
    assert session.session_id == "chat"


async def test_items_come_back_as_they_were_in_the_order_of_their_numbers(session: MnemicSession) -> None:
    items = [
        said(1),
        CALL,
        OUTPUT,
        PARTS,
        {"type": "reasoning", "id": "r", "summary": []},
        {"role": "developer", "content": ""},
    ]
    assert await session.get_items() == []
    await session.add_items(items)
    assert await session.get_items() == items
    assert await session.get_items(2) == items[-2:]
    assert await session.get_items(100) == items
    assert await session.get_items(0) == []
    await session.add_items([])
    assert len(await session.get_items()) == len(items)


async def test_the_latest_of_many_are_in_chronological_order(session: MnemicSession) -> None:
    items = [said(number) for number in range(230)]
    await session.add_items(items)
    assert await session.get_items() == items
    assert await session.get_items(205) == items[-205:]


async def test_each_of_several_pops_at_once_gets_another_item(session: MnemicSession) -> None:
    await session.add_items([said(number) for number in range(12)])
    popped = await asyncio.gather(*(session.pop_item() for _ in range(8)))
    assert sorted(item["content"] for item in popped if item) == sorted(f"Message {n}" for n in range(4, 12))
    assert await session.get_items() == [said(number) for number in range(4)]


async def test_an_empty_or_absent_session_has_nothing_to_pop_or_clear(session: MnemicSession) -> None:
    assert await session.pop_item() is None
    await session.clear_session()
    await session.add_items([said(1)])
    await session.clear_session()
    assert await session.pop_item() is None
    assert await session.get_items() == []
    await session.add_items([said(2)])
    assert await session.get_items() == [said(2)]


async def test_first_writes_at_once_are_all_kept_each_in_one_piece(session: MnemicSession) -> None:
    portions = [[said(10 * portion + number) for number in range(5)] for portion in range(10)]
    await asyncio.gather(*(session.add_items(portion) for portion in portions))
    items = await session.get_items()
    assert len(items) == 50
    for portion in portions:
        start = items.index(portion[0])
        assert items[start : start + 5] == portion


async def test_what_is_said_in_it_is_found_by_a_search(session: MnemicSession, transport: AsyncTransport) -> None:
    await session.add_items(
        [PARTS, {"role": "user", "content": [{"type": "input_text", "text": "The kingfisher sang."}]}]
    )
    found = await AsyncMnemic(transport=transport).search("kingfisher", user_id="ada", include_messages=True)
    best = found.results[0]
    assert (best.type, best.text) == ("message", "The kingfisher sang.")
