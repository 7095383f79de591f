"""Checkpoints of agents that keep their state as plain JSON."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest
import time_machine
from sqlalchemy import func, select

from app.core import clock
from app.db.models import checkpoint_blobs, checkpoint_threads, checkpoints
from tests.conftest import Tenant
from tests.routers.calls import body_of, every, open_session, problem_of, say

STATE = {"plan": ["订车票", "book a hotel"], "done": [], "n": 1.0, "nothing": None}
PATH = "/v1/sessions/trip/checkpoints"


@pytest.fixture
async def session(api: httpx.AsyncClient) -> httpx.AsyncClient:
    """A client of a tenant that has the session `trip`, ada's."""
    await open_session(api, "trip", user_id="ada")
    return api


async def take(api: httpx.AsyncClient, state: Any = None, path: str = PATH, **fields: Any) -> dict[str, Any]:
    body = fields | ({} if state is None else {"state": state})
    made: dict[str, Any] = body_of(await api.post(path, json=body), 201)
    return made


async def found(api: httpx.AsyncClient, checkpoint_id: str) -> dict[str, Any]:
    answer: dict[str, Any] = body_of(await api.get(f"{PATH}/{checkpoint_id}"))
    return answer


async def rows(tenant: Tenant, table: Any) -> int:
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        statement = select(func.count()).select_from(table).where(table.c.tenant_id == tenant.id)
        return int((await tx._bound.connection.execute(statement)).scalar_one())


async def test_a_checkpoint_gives_back_its_state_exactly(session: httpx.AsyncClient) -> None:
    made = await take(session, STATE, label="开始", run_id="r1", metadata={"node": "plan"})
    assert made.items() >= {"parent_id": None, "label": "开始", "run_id": "r1", "metadata": {"node": "plan"}}.items()
    latest = body_of(await session.get(f"{PATH}/latest"))
    assert (latest["id"], latest["state"], latest["pending_steps"]) == (made["id"], STATE, [])
    assert list(latest["state"]) == list(STATE)
    assert (await found(session, made["id"]))["state"] == STATE


async def test_without_a_state_the_sessions_own_is_kept(session: httpx.AsyncClient) -> None:
    assert (await found(session, (await take(session))["id"]))["state"] == {}
    await session.put("/v1/sessions/trip/state", json={"state": {"task": {"goal": "Lisbon"}}})
    await say(session, "trip", "Let us go.")
    made = await take(session)
    assert (await found(session, made["id"]))["state"] == {"task": {"goal": "Lisbon"}}
    assert made["message_seq"] == 1


async def test_the_parent_is_the_newest_unless_an_older_one_is_named(session: httpx.AsyncClient) -> None:
    first = await take(session, {"n": 1})
    second = await take(session, {"n": 2})
    branch = await take(session, {"n": 3}, parent_id=first["id"])
    after = await take(session, {"n": 4})
    assert [one["parent_id"] for one in (first, second, branch, after)] == [
        None,
        first["id"],
        first["id"],
        branch["id"],
    ]
    tree = body_of(await session.get(f"{PATH}/tree"))
    assert (tree["roots"], tree["heads"], tree["truncated"]) == ([first["id"]], [second["id"], after["id"]], False)
    assert [node["depth"] for node in tree["nodes"]] == [0, 1, 1, 2]
    assert tree["nodes"][0]["children"] == [second["id"], branch["id"]]
    problem_of(await session.post(PATH, json={"state": {}, "parent_id": "none"}), 404, "checkpoint_not_found")


async def test_of_32_writers_that_compare_and_set_one_parent_exactly_one_wins(session: httpx.AsyncClient) -> None:
    parent = None
    for _ in range(3):
        body = {"state": {}, "parent_id": parent, "compare_and_set": True}
        answers = await asyncio.gather(*(session.post(PATH, json=body) for _ in range(32)))
        assert sorted(answer.status_code for answer in answers) == [201] + [412] * 31
        (won,) = [answer.json() for answer in answers if answer.status_code == 201]
        lost = next(answer for answer in answers if answer.status_code == 412)
        assert problem_of(lost, 412, "parent_mismatch")["current_id"] == won["id"]
        assert won["parent_id"] == parent
        parent = won["id"]
    assert len(await every(session, PATH)) == 3


async def test_writers_without_a_comparison_are_all_kept_in_one_order(session: httpx.AsyncClient) -> None:
    answers = await asyncio.gather(*(take(session, {"n": number}) for number in range(20)))
    listed = await every(session, PATH, limit=7)
    assert [one["position"] for one in listed] == list(range(20, 0, -1))
    assert {one["id"] for one in listed} == {one["id"] for one in answers}
    assert [one["parent_id"] for one in listed[:-1]] == [one["id"] for one in listed[1:]]


async def test_a_list_is_filtered_by_label_run_and_metadata(session: httpx.AsyncClient) -> None:
    await take(session, {}, label="a", run_id="r1", metadata={"node": "plan", "try": 1})
    await take(session, {}, label="a", run_id="r2", metadata={"node": "act"})
    await take(session, {})
    assert len(await every(session, PATH, label="a")) == 2
    assert len(await every(session, PATH, run_id="r2")) == 1
    (one,) = await every(session, PATH, metadata='{"node": "plan"}')
    assert one["run_id"] == "r1"
    assert body_of(await session.get(PATH, params={"label": "a", "count": "true"}))["total"] == 2
    problem_of(await session.get(PATH, params={"metadata": "{"}), 422, "bad_filter")
    problem_of(await session.get(PATH, params={"metadata": "[1]"}), 422, "bad_filter")


async def test_a_diff_says_place_by_place_what_differs(session: httpx.AsyncClient) -> None:
    one = await take(session, {"a": {"b/c": 1, "gone": True}, "list": [1, 2, 3], "same": "同"})
    other = await take(session, {"a": {"b/c": 2}, "list": [1, 5], "same": "同", "new": None})
    diff = body_of(await session.get(f"{PATH}/diff", params={"from_id": one["id"], "to_id": other["id"]}))
    assert diff["changes"] == [
        {"op": "remove", "path": "/a/gone", "before": True, "after": None},
        {"op": "replace", "path": "/a/b~1c", "before": 1, "after": 2},
        {"op": "remove", "path": "/list/2", "before": 3, "after": None},
        {"op": "replace", "path": "/list/1", "before": 2, "after": 5},
        {"op": "add", "path": "/new", "before": None, "after": None},
    ]
    problem_of(await session.get(f"{PATH}/diff", params={"from_id": one["id"], "to_id": "x"}), 404)


async def test_a_restore_makes_a_checkpoints_state_the_sessions(session: httpx.AsyncClient) -> None:
    good = await take(session, {"task": {"goal": "Lisbon"}, "n": 1})
    await session.put("/v1/sessions/trip/state", json={"state": {"n": 2}})
    answer = await session.post(f"{PATH}/{good['id']}/restore", json={"version": 1})
    assert answer.headers["etag"] == '"2"'
    assert body_of(answer)["state"] == {"task": {"goal": "Lisbon"}, "n": 1}
    assert body_of(await session.get("/v1/sessions/trip/state"))["version"] == 2
    problem_of(await session.post(f"{PATH}/{good['id']}/restore", json={"version": 1}), 412)
    assert body_of(await session.post(f"{PATH}/{good['id']}/restore"))["version"] == 3
    odd = await take(session, {"task": "none that the session's state can have"})
    problem_of(await session.post(f"{PATH}/{odd['id']}/restore"), 422)


async def test_a_restore_does_not_move_the_latest(session: httpx.AsyncClient) -> None:
    older, newest = await take(session, {"n": 1}), await take(session, {"n": 2})
    assert body_of(await session.post(f"{PATH}/{older['id']}/restore"))["state"] == {"n": 1}
    latest = body_of(await session.get(f"{PATH}/latest"))
    assert (latest["id"], latest["state"]) == (newest["id"], {"n": 2})
    assert len(body_of(await session.get(PATH))["results"]) == 2
    after = await take(session, {"n": 3})
    assert after["parent_id"] == newest["id"]


async def test_a_fork_begins_a_session_where_the_checkpoint_stood(session: httpx.AsyncClient) -> None:
    await say(session, "trip", "By train, please.")
    kept = await take(session, {"by": "train"}, label="chosen", metadata={"node": "choose"})
    await say(session, "trip", "No, by car. 还是开车吧。")
    await take(session, {"by": "car"})
    forked = body_of(await session.post(f"{PATH}/{kept['id']}/fork", json={"id": "by-train", "title": "铁路"}), 201)
    assert (forked["user_id"], forked["title"], forked["last_seq"]) == ("ada", "铁路", 1)
    messages = await every(session, "/v1/sessions/by-train/messages")
    assert [message["content"] for message in messages] == ["By train, please."]
    assert body_of(await session.get("/v1/sessions/by-train/state"))["state"] == {"by": "train"}
    latest = body_of(await session.get("/v1/sessions/by-train/checkpoints/latest"))
    assert (latest["state"], latest["label"], latest["parent_id"]) == ({"by": "train"}, "chosen", None)
    assert latest["metadata"] == {"node": "choose", "forked_from": {"session_id": "trip", "checkpoint_id": kept["id"]}}
    problem_of(await session.post(f"{PATH}/{kept['id']}/fork", json={"id": "by-train"}), 409, "id_taken")


async def test_a_step_is_put_once_and_read_back(session: httpx.AsyncClient) -> None:
    path = f"{PATH}/steps/search%2Ftrains"
    first = body_of(await session.put(path, json={"input": {"q": "火车"}, "output": ["IC 32"]}), 201)
    again = body_of(await session.put(path, json={"output": "computed anew"}), 200)
    assert again == first
    assert body_of(await session.get(path)).items() >= {"step_id": "search/trains", "output": ["IC 32"]}.items()
    answers = await asyncio.gather(*(session.put(f"{PATH}/steps/x", json={"output": n}) for n in range(12)))
    assert sorted(answer.status_code for answer in answers) == [200] * 11 + [201]
    assert len({answer.json()["output"] for answer in answers}) == 1
    problem_of(await session.get(f"{PATH}/steps/none"), 404, "step_not_found")
    listed = await every(session, f"{PATH}/steps", limit=1)
    assert [step["step_id"] for step in listed] == ["search/trains", "x"]
    assert body_of(await session.get(f"{PATH}/steps", params={"count": "true"}))["total"] == 2


async def test_steps_since_the_newest_checkpoint_are_pending(session: httpx.AsyncClient) -> None:
    await session.put(f"{PATH}/steps/before", json={"output": 1})
    made = await take(session, {})
    await session.put(f"{PATH}/steps/after", json={"output": 2})
    (step,) = body_of(await session.get(f"{PATH}/latest"))["pending_steps"]
    assert (step["step_id"], step["checkpoint_id"]) == ("after", made["id"])


async def test_a_finished_step_makes_a_checkpoint_if_it_is_told_to(session: httpx.AsyncClient) -> None:
    await session.put("/v1/sessions/trip/state", json={"state": {"n": 1}})
    plain = body_of(await session.put(f"{PATH}/steps/a", json={"output": 1}), 201)
    assert plain["checkpoint"] is None
    body = {"output": 2, "auto_checkpoint": True, "state": {"n": 2}}
    made = body_of(await session.put(f"{PATH}/steps/b", json=body), 201)["checkpoint"]
    assert (await found(session, made["id"]))["state"] == {"n": 2}
    body_of(await session.put(f"{PATH}/settings", json={"auto_checkpoint": True}))
    third = body_of(await session.put(f"{PATH}/steps/c", json={"output": 3}), 201)["checkpoint"]
    kept = await found(session, third["id"])
    assert (kept["state"], kept["metadata"], kept["parent_id"]) == ({"n": 1}, {"step_id": "c"}, made["id"])
    assert body_of(await session.put(f"{PATH}/steps/c", json={"output": 3}))["checkpoint"] is None
    body_of(await session.put(f"{PATH}/steps/d", json={"auto_checkpoint": False}), 201)
    assert len(await every(session, PATH)) == 2


async def test_a_replay_is_the_trace_of_inputs_and_outputs_in_order(session: httpx.AsyncClient) -> None:
    await session.put(f"{PATH}/steps/a", json={"input": 1, "output": 2})
    first = await take(session, {"n": 1})
    await session.put(f"{PATH}/steps/b", json={"input": 2, "output": 3})
    second = await take(session, {"n": 2})
    await session.put(f"{PATH}/steps/c", json={"input": 3, "output": 4})
    branch = await take(session, {"n": 3}, parent_id=first["id"])
    trace = await every(session, f"{PATH}/replay", limit=2)
    assert [entry["position"] for entry in trace] == [1, 2, 3, 4, 5, 6]
    shown = [entry["step"]["step_id"] if entry["step"] else entry["checkpoint"]["id"] for entry in trace]
    assert shown == ["a", first["id"], "b", second["id"], "c", branch["id"]]
    assert [(entry["step"]["input"], entry["step"]["output"]) for entry in trace if entry["step"]] == [
        (1, 2),
        (2, 3),
        (3, 4),
    ]
    line = await every(session, f"{PATH}/replay", checkpoint_id=second["id"])
    assert [entry["position"] for entry in line] == [1, 2, 3, 4]
    problem_of(await session.get(f"{PATH}/replay", params={"checkpoint_id": "x"}), 404, "checkpoint_not_found")


async def test_a_label_can_be_given_later_and_taken_away(session: httpx.AsyncClient) -> None:
    made = await take(session, {}, ttl=60)
    changed = body_of(await session.patch(f"{PATH}/{made['id']}", json={"label": "已知良好"}))
    assert (changed["label"], changed["expires_at"]) == ("已知良好", None)
    assert [one["id"] for one in await every(session, PATH, label="已知良好")] == [made["id"]]
    assert body_of(await session.patch(f"{PATH}/{made['id']}", json={"label": None}))["label"] is None
    problem_of(await session.patch(f"{PATH}/none", json={"label": "x"}), 404, "checkpoint_not_found")
    problem_of(await session.patch(f"{PATH}/{made['id']}", json={}), 422)


async def test_the_newest_so_many_are_kept_and_those_with_labels(tenant: Tenant, session: httpx.AsyncClient) -> None:
    settings = {"keep_last": 3, "keep_labelled": True, "ttl": None, "auto_checkpoint": False}
    assert body_of(await session.put(f"{PATH}/settings", json={"keep_last": 3})) == settings
    assert body_of(await session.get(f"{PATH}/settings")) == settings
    large = {f"k{n}": f"{n} 字" * 200 for n in range(20)}
    first = await take(session, large, label="kept")
    for number in range(8):
        await take(session, large | {"n": f"{number} " * 900})
    kept = await every(session, PATH)
    assert [one["label"] for one in kept] == [None, None, None, "kept"]
    for one in kept[:-1]:
        state = (await found(session, one["id"]))["state"]
        assert {name: state[name] for name in large} == large
    assert (await found(session, first["id"]))["state"] == large
    assert await rows(tenant, checkpoints) == 4


async def test_a_prune_says_first_what_would_go(tenant: Tenant, session: httpx.AsyncClient) -> None:
    made = [await take(session, {"text": f"{n} " * 900, "same": "s" * 900}) for n in range(5)]
    body = {"keep_last": 2, "dry_run": True}
    tried = body_of(await session.post(f"{PATH}/prune", json=body))
    assert tried == {"deleted": [one["id"] for one in made[:3]], "parts": 0}
    assert len(await every(session, PATH)) == 5
    done = body_of(await session.post(f"{PATH}/prune", json=body | {"dry_run": False}))
    assert done["deleted"] == tried["deleted"]
    assert done["parts"] == 3
    assert (await found(session, made[-1]["id"]))["state"]["same"] == "s" * 900
    tree = body_of(await session.get(f"{PATH}/tree"))
    assert tree["roots"] == [made[3]["id"]]


async def test_a_checkpoint_past_its_time_is_not_served_and_the_sweep_removes_it(
    tenant: Tenant, session: httpx.AsyncClient
) -> None:
    await session.put(f"{PATH}/settings", json={"ttl": 600})
    short = await take(session, {"text": "short " * 400})
    labelled = await take(session, {"text": "labelled " * 400}, label="kept")
    with time_machine.travel(clock.now() + timedelta(hours=1), tick=False):
        problem_of(await session.get(f"{PATH}/{short['id']}"), 404, "checkpoint_not_found")
        assert [one["id"] for one in await every(session, PATH)] == [labelled["id"]]
        async with tenant.services.uow.begin_tenant(tenant.id) as tx:
            await tx.jobs.enqueue("sweep", "tenant", clock.now())
        await tenant.work()
    assert await rows(tenant, checkpoints) == 1
    assert await rows(tenant, checkpoint_blobs) == 1


async def test_what_has_not_changed_is_not_stored_again(tenant: Tenant, session: httpx.AsyncClient) -> None:
    state = {f"member {n}": {"text": f"{n * 7919} 的内容 " * 100, "n": n} for n in range(100)}
    await take(session, state)
    before = await rows(tenant, checkpoint_blobs)
    for number in range(10):
        state["member 50"] = {"text": f"changed {number} " * 100, "n": number}
        await take(session, state)
    added = await rows(tenant, checkpoint_blobs) - before
    assert 10 <= added <= 15  # the changed run of members, and rarely the one after it
    assert body_of(await session.get(f"{PATH}/latest"))["state"] == state


async def test_checkpoints_go_with_their_session(tenant: Tenant, session: httpx.AsyncClient) -> None:
    await take(session, {"a": "x" * 2000})
    await session.put(f"{PATH}/steps/a", json={"output": 1})
    assert (await session.delete("/v1/sessions/trip")).status_code == 204
    assert await rows(tenant, checkpoint_threads) == 0
    await open_session(session, "trip", user_id="bob")
    problem_of(await session.get(f"{PATH}/latest"), 404, "checkpoint_not_found")
    await take(session, {})


async def test_a_session_and_a_langgraph_thread_of_one_name_are_apart(session: httpx.AsyncClient) -> None:
    await take(session, {"n": 1})
    opaque = {"thread_id": "trip", "checkpoint_id": "1", "type": "json", "document": "e30="}
    body_of(await session.put("/v1/checkpoints", json=opaque))
    listed = body_of(await session.post("/v1/checkpoints/list", json={}))["results"]
    assert [one["checkpoint_id"] for one in listed] == ["1"]
    body_of(await session.post("/v1/checkpoints/delete-thread", json={"thread_id": "trip"}))
    assert body_of(await session.get(f"{PATH}/latest"))["state"] == {"n": 1}
    problem_of(await session.post("/v1/checkpoints/get", json={"thread_id": "\x1etrip"}), 422)


async def test_a_secret_is_taken_out_of_states_and_steps(session: httpx.AsyncClient) -> None:
    made = await take(session, {"password": "kestrel77pw", "note": "我的密码是 kestrel77pw"}, label="x")
    assert made["redacted"] == ["password"]
    assert "kestrel77" not in str(await found(session, made["id"]))
    step = body_of(await session.put(f"{PATH}/steps/a", json={"output": "my password is kestrel77pw"}), 201)
    assert step["redacted"] == ["password"]
    assert "kestrel77" not in str(step)


async def test_a_key_bound_to_another_user_finds_no_session(tenant: Tenant, session: httpx.AsyncClient) -> None:
    made = await take(session, {"n": 1})
    bob = await tenant.client("member", ["bob"])
    for path in (PATH, f"{PATH}/latest", f"{PATH}/tree", f"{PATH}/replay", f"{PATH}/{made['id']}"):
        problem_of(await bob.get(path), 404, "session_not_found")
    problem_of(await bob.post(PATH, json={"state": {}}), 404, "session_not_found")
    ada = await tenant.client("member", ["ada"])
    assert body_of(await ada.get(f"{PATH}/latest"))["state"] == {"n": 1}
    reader = await tenant.client("reader")
    problem_of(await reader.post(PATH, json={"state": {}}), 403)


async def test_a_create_is_done_once_under_its_idempotency_key(session: httpx.AsyncClient) -> None:
    headers = {"Idempotency-Key": "once"}
    first = body_of(await session.post(PATH, json={"state": {"n": 1}}, headers=headers), 201)
    again = await session.post(PATH, json={"state": {"n": 1}}, headers=headers)
    assert (again.headers["idempotent-replayed"], body_of(again, 201)) == ("true", first)
    assert len(await every(session, PATH)) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"state": []},
        {"state": {"a": "\0"}},
        {"state": {}, "label": ""},
        {"state": {}, "unknown": 1},
        {"state": {}, "ttl": 0},
        {"state": {}, "compare_and_set": "yes"},
    ],
)
async def test_a_body_that_cannot_be_meant_is_refused(session: httpx.AsyncClient, body: Any) -> None:
    problem_of(await session.post(PATH, json=body), 422)
