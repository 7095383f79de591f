"""Steps of a run that are put when they begin and again when they are done, and what their checkpoints hold."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.routers.calls import body_of, every, open_session

PATH = "/v1/sessions/trip/checkpoints"
SAID = pytest.mark.parametrize(
    ("asked", "given"), [({"to": "Lisbon"}, ["IC 32"]), ({"目的地": "里斯本"}, ["火车三十二次"])]
)


@pytest.fixture
async def session(api: httpx.AsyncClient) -> httpx.AsyncClient:
    """A client of a tenant that has the session `trip`, ada's."""
    await open_session(api, "trip", user_id="ada")
    return api


async def put(api: httpx.AsyncClient, step: str, body: dict[str, Any], status: int = 200) -> dict[str, Any]:
    answer: dict[str, Any] = body_of(await api.put(f"{PATH}/steps/{step}", json=body), status)
    return answer


async def latest(api: httpx.AsyncClient) -> dict[str, Any]:
    answer: dict[str, Any] = body_of(await api.get(f"{PATH}/latest"))
    return answer


@SAID
async def test_a_step_put_with_its_input_is_done_by_the_first_output(
    session: httpx.AsyncClient, asked: Any, given: Any
) -> None:
    begun = await put(session, "search", {"input": asked}, 201)
    assert (begun["input"], begun["output"]) == (asked, None)
    assert (await put(session, "search", {"input": asked}))["output"] is None
    body_of(await session.post(PATH, json={"state": {"n": 1}}), 201)
    assert (await latest(session))["pending_steps"] == []
    done = await put(session, "search", {"output": given})
    assert (done["input"], done["output"], done["checkpoint"]) == (asked, given, None)
    assert (await put(session, "search", {"input": 0, "output": "another"})) == done
    (pending,) = (await latest(session))["pending_steps"]
    assert pending["output"] == given
    assert [entry["type"] for entry in await every(session, f"{PATH}/replay")] == ["checkpoint", "step"]


async def test_of_writers_that_are_done_with_a_step_at_once_the_first_output_stands(
    session: httpx.AsyncClient,
) -> None:
    await put(session, "x", {"input": 1}, 201)
    answers = await asyncio.gather(*(put(session, "x", {"output": n, "auto_checkpoint": True}) for n in range(12)))
    assert len({answer["output"] for answer in answers}) == 1
    assert len([answer for answer in answers if answer["checkpoint"] is not None]) == 1
    assert len(await every(session, PATH)) == 1


async def test_a_step_makes_its_checkpoint_when_it_is_done_not_when_it_begins(session: httpx.AsyncClient) -> None:
    body_of(await session.put(f"{PATH}/settings", json={"auto_checkpoint": True}))
    assert (await put(session, "a", {"input": 1}, 201))["checkpoint"] is None
    made = (await put(session, "a", {"output": 2, "state": {"n": 2}}))["checkpoint"]
    assert made["metadata"] == {"step_id": "a"}
    now = await latest(session)
    assert (now["id"], now["state"], now["pending_steps"]) == (made["id"], {"n": 2}, [])
    assert (await put(session, "b", {"input": 1, "output": None}, 201))["checkpoint"] is not None


@pytest.mark.parametrize("plan", [["book a train"], ["订火车票"]])
async def test_an_automatic_checkpoint_keeps_the_state_before_it_where_the_session_has_none(
    session: httpx.AsyncClient, plan: list[str]
) -> None:
    state = {"plan": plan, "long": "里斯本 Lisbon " * 400}
    before = body_of(await session.post(PATH, json={"state": state}), 201)
    made = await put(session, "search", {"output": 1, "auto_checkpoint": True}, 201)
    now = await latest(session)
    assert (now["id"], now["parent_id"], now["state"]) == (made["checkpoint"]["id"], before["id"], state)
    body_of(await session.put("/v1/sessions/trip/state", json={"state": {"n": 1}}))
    await put(session, "choose", {"output": 1, "auto_checkpoint": True}, 201)
    assert (await latest(session))["state"] == {"n": 1}
