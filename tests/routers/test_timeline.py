"""The timeline: sessions, and memories born, changed, replaced, expired and deleted, newest first."""

from datetime import timedelta
from typing import Any

import httpx

from app.core import clock
from tests.conftest import Tenant
from tests.routers.calls import add, body_of, every, open_session, problem_of

PATH = "/v1/users/ada/timeline"


def told(entries: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    return [(one["event"], one["session_id"] or one["text"]) for one in entries]


async def test_a_timeline_tells_sessions_and_what_became_of_memories_newest_first(
    api: httpx.AsyncClient, tenant: Tenant
) -> None:
    await open_session(api, "s", user_id="ada", title="Trip")
    await open_session(api, "b", user_id="bob")
    old = await add(api, "Ada lives in Lisbon.", key="user.city", value="Lisbon")
    new = await add(api, "艾达住在奥斯陆。", key="user.city", value="Oslo")
    await add(api, "Bob's own.", user_id="bob")
    body_of(await api.patch(f"/v1/memories/{new['id']}", json={"importance": 9}))
    body_of(await api.post("/v1/sessions/s/close", json={}))
    gone = await add(api, "Deleted soon.")
    assert (await api.delete(f"/v1/memories/{gone['id']}")).status_code == 204
    everything = await every(api, PATH, limit=3)
    assert told(everything) == [
        ("memory_deleted", None),
        ("memory_added", None),
        ("session_closed", "s"),
        ("memory_changed", new["text"]),
        ("memory_replaced", old["text"]),
        ("memory_added", new["text"]),
        ("memory_added", old["text"]),
        ("session_opened", "s"),
    ]
    times = [one["at"] for one in everything]
    assert times == sorted(times, reverse=True)
    assert told(await every(api, PATH, events=["session_opened"])) == [("session_opened", "s")]
    assert told(await every(api, PATH, until=times[-2])) == [("session_opened", "s")]
    assert told(await every(api, PATH, since=times[1], events=["memory_added"])) == [("memory_added", None)]
    assert told(await every(api, PATH, category="identity")) == []
    problem_of(await api.get(PATH, params={"events": "nonsense"}), 422)
    problem_of(await api.get(PATH, params={"cursor": "nonsense"}), 422, "bad_cursor")


async def test_every_entry_of_many_is_visited_once(api: httpx.AsyncClient) -> None:
    items = [{"text": f"Number {n} 号", "user_id": "ada"} for n in range(90)]
    body_of(await api.post("/v1/memories", json={"memories": items}), 201)
    entries = await every(api, PATH, limit=20)
    assert len({one["memory_id"] for one in entries}) == len(entries) == 90


async def test_what_has_expired_is_told(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await add(api, "A code 验证码", expires_at=(clock.now() - timedelta(days=1)).isoformat())
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        await tx.jobs.enqueue("expire", "tenant", clock.now())
    await tenant.work()
    assert told(await every(api, PATH, events=["memory_expired"])) == [("memory_expired", "A code 验证码")]
