"""The client: typed answers, pages, retries that never do a write twice, errors that carry the problem."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from mnemic_client import (
    AsyncMnemic,
    AsyncSessionMemory,
    Mnemic,
    NoAnswer,
    NotFoundError,
    ProblemError,
    Retries,
    SessionMemory,
    UnreadableAnswer,
    VersionMismatchError,
)
from mnemic_client.calls import Call
from mnemic_client.transport import AsyncTransport, Transport

FAST = Retries(attempts=3, pause_seconds=0.001)


@pytest.fixture
async def client(transport: AsyncTransport) -> AsyncMnemic:
    """A client with the admin's key."""
    return AsyncMnemic(transport=transport)


async def test_a_session_its_messages_and_its_memories(client: AsyncMnemic) -> None:
    session = await client.create_session(id="a/b", user_id="ada", title="旅行")
    assert (session.id, session.title) == ("a/b", "旅行")
    appended = await client.append(
        "a/b", {"role": "user", "content": "Hi."}, {"role": "assistant", "content": "你好。"}
    )
    assert [message.seq for message in appended.results] == [1, 2]
    assert [message.content async for message in client.list_messages("a/b")] == ["Hi.", "你好。"]
    popped = await client.pop_message("a/b")
    assert popped is not None
    assert popped.seq == 2
    assert await client.clear_messages("a/b") == 1
    memory = await client.add_memory("She drinks green tea.", user_id="ada")
    assert (await client.search("green tea", user_id="ada")).results[0].id == memory.id
    assert (await client.change_memory(memory.id, importance=9)).version == 2
    assert (await client.get_memory(memory.id)).text == "She drinks green tea."
    assert [one.id async for one in client.list_memories(user_id="ada")] == [memory.id]
    await client.put_fact("ada", "user.city", "Lisbon")
    assert (await client.get_fact("ada", "user.city")).value == "Lisbon"
    await client.delete_memory(memory.id)
    assert [one.id async for one in client.list_sessions(user_id="ada")] == ["a/b"]
    await client.delete_session("a/b")
    with pytest.raises(NotFoundError, match="session_not_found") as absent:
        await client.get_session("a/b")
    assert (absent.value.status, absent.value.code) == (404, "session_not_found")
    assert absent.value.detail
    assert absent.value.errors == []


async def test_states_and_checkpoints(client: AsyncMnemic) -> None:
    await client.create_session(id="s")
    state = await client.put_state("s", {"n": 1})
    assert (await client.patch_state("s", {"m": 2}, version=state.version)).state == {"n": 1, "m": 2}
    first = await client.create_checkpoint("s", label="good")
    second = await client.create_checkpoint("s", state={"n": 2})
    with pytest.raises(VersionMismatchError) as raced:
        await client.create_checkpoint("s", state={}, parent_id=first.id, compare_and_set=True)
    assert raced.value.problem["current_id"] == second.id
    assert (await client.get_checkpoint("s")).state == {"n": 2}
    assert [one.id async for one in client.list_checkpoints("s", limit=1)] == [second.id, first.id]
    diff = await client.diff_checkpoints("s", first.id, second.id)
    assert [(change.op, change.path) for change in diff.changes] == [("remove", "/m"), ("replace", "/n")]
    assert (await client.restore_checkpoint("s", first.id)).state == {"n": 1, "m": 2}
    assert (await client.get_state("s")).version == 3
    assert (await client.fork_checkpoint("s", first.id, id="f")).id == "f"
    step = await client.put_step("s", "a b", output=1)
    assert (await client.put_step("s", "a b", output=2)).output == step.output == 1
    assert (await client.get_step("s", "a b")).position == 3
    assert [entry.type async for entry in client.replay("s")] == ["checkpoint", "checkpoint", "step"]


async def test_the_sync_client_does_the_same_over_the_wire(live: str, api_key: str) -> None:
    def used() -> list[Any]:
        with Mnemic(live, api_key) as client:
            memory = SessionMemory(client, "chat", "ada", {"agent_id": "helper"})
            memory.append({"role": "user", "content": "One."}, {"role": "user", "content": "Two."})
            session = client.get_session("chat")
            said = [message.content for message in client.list_messages("chat", limit=1)]
            client.create_checkpoint("chat", state={"n": 1})
            return [session.user_id, session.agent_id, said, client.get_checkpoint("chat").state]  # type: ignore[attr-defined]

    assert await asyncio.to_thread(used) == ["ada", "helper", ["One.", "Two."], {"n": 1}]


def scripted(*answers: Any) -> tuple[list[httpx.Request], httpx.MockTransport]:
    """A transport that gives these answers in turn and keeps what it was sent."""
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        given = answers[min(len(sent), len(answers)) - 1]
        if isinstance(given, Exception):
            raise given
        if isinstance(given, bytes):
            return httpx.Response(200, content=given)
        return httpx.Response(given, json={"id": "s", "code": "busy", "detail": "Later."}, headers={"Retry-After": "0"})

    return sent, httpx.MockTransport(answer)


@pytest.mark.parametrize("first", [503, 429, httpx.ConnectError("down"), httpx.ReadTimeout("slow")])
async def test_a_write_is_repeated_under_one_idempotency_key(first: Any) -> None:
    sent, transport = scripted(first, 201)
    client = AsyncMnemic(transport=AsyncTransport("http://test", "key", retries=FAST, transport=transport))
    assert (await client.create_session(id="s")).id == "s"
    keys = {request.headers["Idempotency-Key"] for request in sent}
    assert (len(sent), len(keys)) == (2, 1)
    assert json.loads(sent[0].content) == json.loads(sent[1].content) == {"id": "s"}
    assert sent[0].headers["Authorization"] == "Bearer key"


PAGE = b"<html>Sign in</html>"


@pytest.mark.parametrize(
    ("call", "attempts"),
    [(Call("GET", "/v1/me"), 3), (Call("POST", "/v1/x", once=True), 3), (Call("POST", "/v1/x"), 1)],
)
async def test_what_cannot_be_read_is_as_good_as_lost(call: Call, attempts: int) -> None:
    sent, transport = scripted(PAGE)
    with pytest.raises(UnreadableAnswer, match="no JSON"):
        Transport("http://test", retries=FAST, transport=transport).send(call)
    assert len(sent) == attempts
    sent, transport = scripted(PAGE)
    with pytest.raises(UnreadableAnswer, match="no JSON"):
        await AsyncTransport("http://test", retries=FAST, transport=transport).send(call)
    assert len(sent) == attempts
    assert len({request.headers.get("Idempotency-Key") for request in sent}) == 1


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"7", b'{"results": [{}], "next_cursor": null}'])
async def test_an_answer_of_another_shape_is_an_error_of_the_client(body: bytes) -> None:
    _, given = scripted(body)
    client = AsyncMnemic(transport=AsyncTransport("http://test", retries=FAST, transport=given))
    sync = Mnemic(transport=Transport("http://test", retries=FAST, transport=given))
    for name in ("get_session", "pop_message", "clear_messages"):
        with pytest.raises(UnreadableAnswer):
            await getattr(client, name)("s")
        with pytest.raises(UnreadableAnswer):
            getattr(sync, name)("s")
    with pytest.raises(UnreadableAnswer):
        await anext(client.list_memories())
    with pytest.raises(UnreadableAnswer):
        next(sync.list_memories())


async def test_a_refusal_is_not_repeated_and_endless_trouble_ends() -> None:
    sent, transport = scripted(422)
    client = Mnemic(transport=Transport("http://test", retries=FAST, transport=transport))
    with client, pytest.raises(ProblemError, match="422 busy: Later"):
        client.create_session()
    assert len(sent) == 1
    for trouble, error in ((503, ProblemError), (httpx.ConnectError("down"), NoAnswer)):
        sent, transport = scripted(trouble)
        client = Mnemic(transport=Transport("http://test", retries=FAST, transport=transport))
        with client, pytest.raises(error):
            client.get_session("s")
        assert len(sent) == FAST.attempts


async def test_the_memory_of_a_session_asks_for_its_context_within_a_budget() -> None:
    sent, transport = scripted(200)
    client = AsyncMnemic(transport=AsyncTransport("http://test", retries=FAST, transport=transport))
    await AsyncSessionMemory(client, "a/b", "ada").context("tea", token_budget=500, format="text")
    assert sent[0].url.raw_path == b"/v1/sessions/a%2Fb/context"
    assert json.loads(sent[0].content) == {"query": "tea", "token_budget": 500, "format": "text"}
