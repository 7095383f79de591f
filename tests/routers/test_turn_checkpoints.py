"""A checkpoint of a turn is taken with its messages and its state, or none of them is written."""

import httpx
import pytest

from tests.routers.calls import add, body_of, every, problem_of

ADA = {"user_id": "ada"}


@pytest.mark.parametrize(
    ("said", "goal"), [("Book the trip to Kyoto.", "Trip to Kyoto"), ("帮我订去京都的行程。", "京都之行")]
)
async def test_a_turn_takes_a_checkpoint_of_the_state_after_it(api: httpx.AsyncClient, said: str, goal: str) -> None:
    turn = {
        **ADA,
        "messages": [{"role": "user", "content": said}],
        "state": {"patch": {"task": {"goal": goal, "pending_steps": ["flight"]}}},
        "checkpoint": {"label": "planned"},
    }
    made = body_of(await api.post("/v1/sessions/s/turns", json=turn), 201)
    latest = body_of(await api.get("/v1/sessions/s/checkpoints/latest"))
    assert latest["id"] == made["checkpoint"]["id"]
    assert (latest["label"], latest["message_seq"], latest["state"]["task"]["goal"]) == ("planned", 1, goal)


async def test_a_checkpoint_that_is_refused_takes_messages_and_state_with_it(api: httpx.AsyncClient) -> None:
    first = {**ADA, "messages": [{"role": "user", "content": "one"}], "checkpoint": {}}
    body_of(await api.post("/v1/sessions/s/turns", json=first), 201)
    turn = {
        "messages": [{"role": "user", "content": "two"}],
        "state": {"state": {"x": 1}},
        "checkpoint": {"compare_and_set": True},
    }
    problem_of(await api.post("/v1/sessions/s/turns", json=turn), 412)
    assert [message["content"] for message in await every(api, "/v1/sessions/s/messages")] == ["one"]
    assert body_of(await api.get("/v1/sessions/s/state"))["version"] == 0
    assert len(await every(api, "/v1/sessions/s/checkpoints")) == 1


async def test_a_turn_may_be_a_checkpoint_alone_with_a_state_of_its_own(api: httpx.AsyncClient) -> None:
    body_of(await api.post("/v1/sessions", json={"id": "s", **ADA}), 201)
    made = body_of(await api.post("/v1/sessions/s/turns", json={"checkpoint": {"state": {"mine": [1, 2]}}}), 201)
    kept = body_of(await api.get(f"/v1/sessions/s/checkpoints/{made['checkpoint']['id']}"))
    assert kept["state"] == {"mine": [1, 2]}
    problem_of(await api.post("/v1/sessions/s/turns", json={}), 422)


@pytest.mark.parametrize(
    ("old", "new", "question"),
    [
        ("The plan is to go by train.", "The plan is to go by ship.", "What is the plan?"),
        ("计划是坐火车去。", "计划是坐船去。", "计划是什么?"),
    ],
)
async def test_a_fork_may_know_what_was_known_then(api: httpx.AsyncClient, old: str, new: str, question: str) -> None:
    memory = await add(api, old, **ADA)
    turn = {**ADA, "messages": [{"role": "user", "content": question}], "checkpoint": {}}
    made = body_of(await api.post("/v1/sessions/s/turns", json=turn), 201)["checkpoint"]
    body_of(await api.patch(f"/v1/memories/{memory['id']}", json={"text": new}))
    for path, name in ((f"checkpoints/{made['id']}/fork", "then"), ("fork", "also")):
        fork = body_of(await api.post(f"/v1/sessions/s/{path}", json={"id": name, "as_known_then": True}), 201)
        assert fork["known_at"] is not None
        told = body_of(await api.post(f"/v1/sessions/{name}/context", json={"query": question}))
        assert old in str(told["sections"])
        assert new not in str(told["sections"])
    plain = body_of(await api.post("/v1/sessions/s/fork", json={"id": "now"}), 201)
    assert plain["known_at"] is None
    told = body_of(await api.post("/v1/sessions/now/context", json={"query": question}))
    assert new in str(told["sections"])
