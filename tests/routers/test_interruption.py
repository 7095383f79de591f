"""A session that is interrupted and taken up again: its state, its turns, its copies, the way back into it."""

import asyncio
from typing import Any

import httpx
import pytest

from app.core import ids
from tests.conftest import Tenant
from tests.routers.calls import body_of, every, open_session, problem_of, say

TASKS = {
    "zh": {"goal": "预订里斯本之行", "done_steps": ["订机票"], "pending_steps": ["订酒店", "买保险"]},
    "en": {"goal": "Book the trip to Lisbon", "done_steps": ["flight"], "pending_steps": ["hotel", "insurance"]},
}
SAID = {"zh": ("帮我找一家酒店。", "找到三家。"), "en": ("Find me a hotel.", "I found three.")}
LANGUAGES = pytest.mark.parametrize("language", ["zh", "en"])


def turn_of(language: str, **beside: Any) -> dict[str, Any]:
    asked, told = SAID[language]
    messages = [{"role": "user", "content": asked}, {"role": "assistant", "content": told}]
    return {"messages": messages, "state": {"patch": {"task": TASKS[language]}}, "user_id": "ada"} | beside


@LANGUAGES
async def test_a_turn_writes_messages_and_state_together(api: httpx.AsyncClient, language: str) -> None:
    turn = body_of(await api.post("/v1/sessions/s/turns", json=turn_of(language)), 201)
    assert [message["content"] for message in turn["results"]] == list(SAID[language])
    assert (turn["state"]["version"], turn["state"]["at_seq"]) == (1, 2)
    assert body_of(await api.get("/v1/sessions/s/state"))["state"]["task"] == TASKS[language]


@LANGUAGES
@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"expected_seq": 7}, 412),
        ({"state": {"patch": {"x": 1}, "version": 9}}, 412),
        ({"state": {"patch": {"task": {"done_steps": "all"}}}}, 422),
        ({"state": {"state": {"notes": "长" * 400_000}}}, 422),
    ],
    ids=["seq", "version", "shape", "size"],
)
async def test_a_turn_that_fails_writes_nothing(
    api: httpx.AsyncClient, language: str, wrong: dict[str, Any], status: int
) -> None:
    body_of(await api.post("/v1/sessions/s/turns", json=turn_of(language)), 201)
    before = (await every(api, "/v1/sessions/s/messages"), body_of(await api.get("/v1/sessions/s/state")))
    problem_of(await api.post("/v1/sessions/s/turns", json=turn_of(language) | wrong), status)
    assert (await every(api, "/v1/sessions/s/messages"), body_of(await api.get("/v1/sessions/s/state"))) == before
    assert body_of(await api.get("/v1/sessions/s"))["last_seq"] == 2


async def test_a_turn_without_messages_needs_a_session_and_one_without_anything_is_refused(
    api: httpx.AsyncClient,
) -> None:
    only_state = {"state": {"state": {"task": TASKS["en"]}}}
    problem_of(await api.post("/v1/sessions/s/turns", json=only_state), 404, "session_not_found")
    await open_session(api, "s")
    turn = body_of(await api.post("/v1/sessions/s/turns", json=only_state), 201)
    assert (turn["results"], turn["state"]["at_seq"]) == ([], 0)
    problem_of(await api.post("/v1/sessions/s/turns", json={}), 422)
    problem_of(await api.post("/v1/sessions/s/turns", json={"state": {"patch": {}, "state": {}}}), 422)
    await api.post("/v1/sessions/s/close")
    problem_of(await api.post("/v1/sessions/s/turns", json=only_state), 409, "session_closed")


async def test_a_turn_is_done_once_under_its_idempotency_key_and_loses_its_secrets(api: httpx.AsyncClient) -> None:
    body = turn_of("en")
    body["messages"][0]["content"] = "My password is hunter2000."
    body["state"]["patch"]["environment"] = {"api_key": "abcdefgh12345678"}
    once = {"Idempotency-Key": str(ids.new_id())}
    first = body_of(await api.post("/v1/sessions/s/turns", json=body, headers=once), 201)
    again = await api.post("/v1/sessions/s/turns", json=body, headers=once)
    assert (again.headers["idempotent-replayed"], again.json()) == ("true", first)
    assert first["redacted"] == ["api_key", "password"]
    assert first["results"][0]["redacted"] == ["password"]
    assert first["state"]["redacted"] == ["api_key"]
    assert "hunter2000" not in (await api.get("/v1/sessions/s/messages")).text
    assert "abcdefgh12345678" not in (await api.get("/v1/sessions/s/state")).text


@LANGUAGES
async def test_resume_says_where_a_session_stood(api: httpx.AsyncClient, language: str) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "book", "arguments": "{}"}}
    answered = {"id": "c0", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    await api.post("/v1/sessions/s/turns", json=turn_of(language))
    await say(api, "s", "", role="assistant", tool_calls=[answered, call])
    await say(api, "s", "three rooms", role="tool", tool_call_id="c0")
    resumed = body_of(await api.get("/v1/sessions/s/resume", params={"messages": 2}))
    assert resumed["next_step"] == TASKS[language]["pending_steps"][0]
    assert resumed["task"] == TASKS[language]
    assert [message["seq"] for message in resumed["messages"]] == [3, 4]
    assert resumed["open_tool_calls"] == [call]
    assert (resumed["session"]["status"], resumed["state"]["version"], resumed["summary"]["text"]) == ("open", 1, "")
    await say(api, "s", "booked", role="tool", tool_call_id="c1")
    assert body_of(await api.get("/v1/sessions/s/resume"))["open_tool_calls"] == []


async def test_resume_of_a_session_that_says_nothing_has_no_next_step(api: httpx.AsyncClient) -> None:
    await open_session(api, "s")
    resumed = body_of(await api.get("/v1/sessions/s/resume", params={"messages": 0}))
    assert (resumed["next_step"], resumed["messages"], resumed["state"]["version"]) == (None, [], 0)


@LANGUAGES
async def test_state_is_compared_patched_kept_in_history_and_restored(api: httpx.AsyncClient, language: str) -> None:
    await open_session(api, "s")
    await api.put("/v1/sessions/s/state", json={"state": {"task": TASKS[language], "note": "第一"}, "version": 0})
    done = {"task": {"done_steps": TASKS[language]["pending_steps"], "pending_steps": []}, "note": None}
    patched = body_of(await api.patch("/v1/sessions/s/state", json={"patch": done}, headers={"If-Match": '"1"'}))
    assert patched["state"] == {"task": TASKS[language] | done["task"]}
    stale = await api.patch("/v1/sessions/s/state", json={"patch": {}}, headers={"If-Match": '"1"'})
    assert problem_of(stale, 412, "version_mismatch")["current_version"] == 2
    restored = body_of(await api.post("/v1/sessions/s/state/restore", json={"to_version": 1}))
    assert (restored["version"], restored["state"]["task"]) == (3, TASKS[language])
    assert [state["version"] for state in await every(api, "/v1/sessions/s/state/history", limit=2)] == [3, 2, 1]
    large = await api.patch("/v1/sessions/s/state", json={"patch": {"log": "字" * 350_000}})
    assert "1048576" in problem_of(large, 422, "state_too_large")["detail"]


@LANGUAGES
async def test_a_fork_has_messages_state_and_summary_of_then_and_memories_keep_their_owner(
    tenant: Tenant, api: httpx.AsyncClient, language: str
) -> None:
    await api.post("/v1/sessions/s/turns", json=turn_of(language))
    memory = body_of(
        await api.post(
            "/v1/memories",
            json={"text": SAID[language][1], "user_id": "ada", "sources": [{"session_id": "s", "seqs": [2]}]},
        ),
        201,
    )
    then = body_of(await api.post("/v1/sessions/s/summary", json={"keep_turns": 0}))
    done = {"task": {"done_steps": ["all"], "pending_steps": []}}
    later = {"messages": [{"role": "user", "content": "more"}], "state": {"patch": done}}
    body_of(await api.post("/v1/sessions/s/turns", json=later), 201)
    body_of(await api.post("/v1/sessions/s/summary", json={"keep_turns": 0}))
    body_of(await api.post("/v1/sessions/s/fork", json={"id": "copy", "up_to_seq": 2}), 201)
    resumed_of_all = body_of(await api.get("/v1/sessions/s/resume"))
    resumed = body_of(await api.get("/v1/sessions/copy/resume"))
    assert [message["content"] for message in resumed["messages"]] == list(SAID[language])
    assert resumed["next_step"] == TASKS[language]["pending_steps"][0]
    assert resumed["summary"]["text"] == then["text"]
    assert resumed["summary"]["to_seq"] == 2
    assert body_of(await api.get(f"/v1/memories/{memory['id']}"))["sources"][0]["session_id"] == "s"
    assert [row["id"] for row in await every(api, "/v1/memories", user_id="ada")] == [memory["id"]]
    whole = body_of(await api.post("/v1/sessions/s/fork", json={"id": "whole"}), 201)
    assert whole["last_message_at"] == resumed_of_all["messages"][-1]["created_at"]
    now = body_of(await api.get("/v1/sessions/s/resume"))["summary"]
    assert body_of(await api.get("/v1/sessions/whole/resume"))["summary"] == now
    assert body_of(await api.get("/v1/sessions/whole/state"))["state"]["task"]["done_steps"] == ["all"]


@LANGUAGES
async def test_a_closed_session_takes_no_turn_until_it_is_reopened(api: httpx.AsyncClient, language: str) -> None:
    await api.post("/v1/sessions/s/turns", json=turn_of(language))
    body_of(await api.post("/v1/sessions/s/close"))
    problem_of(await api.post("/v1/sessions/s/turns", json=turn_of(language)), 409, "session_closed")
    assert body_of(await api.get("/v1/sessions/s/resume"))["next_step"] == TASKS[language]["pending_steps"][0]
    body_of(await api.post("/v1/sessions/s/reopen"))
    assert body_of(await api.post("/v1/sessions/s/turns", json=turn_of(language)), 201)["results"][0]["seq"] == 3


@pytest.mark.parametrize("what", ["state", "turn", "block"])
async def test_of_two_writers_with_the_same_version_one_is_told_and_nothing_is_lost(
    api: httpx.AsyncClient, full_size: bool, what: str
) -> None:
    await open_session(api, "s")
    await api.put("/v1/sessions/s/state", json={"state": {"n": []}})
    await api.put("/v1/blocks/notes?user_id=ada", json={"text": "笔记"})
    rounds = 50 if full_size else 6
    for number in range(rounds):
        answers = await asyncio.gather(*(_written(api, what, number + 1, f"{number}.{who}") for who in "ab"))
        assert sorted(answer.status_code for answer in answers) in ([200, 412], [201, 412])
        beaten = next(answer for answer in answers if answer.status_code == 412)
        assert problem_of(beaten, 412, "version_mismatch")["current_version"] == number + 2
    if what == "block":
        text = body_of(await api.get("/v1/blocks/notes?user_id=ada"))["text"]
        assert [line.split(".")[0] for line in text.splitlines()[1:]] == [str(number) for number in range(rounds)]
        assert len(await every(api, "/v1/blocks/notes/history", user_id="ada")) == rounds + 1
    else:
        assert body_of(await api.get("/v1/sessions/s/state"))["version"] == rounds + 1
        assert len(await every(api, "/v1/sessions/s/state/history")) == rounds + 1
    said = await every(api, "/v1/sessions/s/messages")
    assert [message["content"].split(".")[0] for message in said] == [
        str(n) for n in range(rounds if what == "turn" else 0)
    ]


async def _written(api: httpx.AsyncClient, what: str, version: int, text: str) -> httpx.Response:
    if what == "block":
        return await api.patch("/v1/blocks/notes?user_id=ada", json={"append": text, "version": version})
    if what == "state":
        return await api.patch("/v1/sessions/s/state", json={"patch": {"last": text}, "version": version})
    body = {"messages": [{"role": "user", "content": text}], "state": {"patch": {"last": text}, "version": version}}
    return await api.post("/v1/sessions/s/turns", json=body)
