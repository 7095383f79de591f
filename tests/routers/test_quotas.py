"""Quotas: exact under parallel writers, free by default, and nothing half written."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import pytest
import time_machine

from app.composition import Services
from app.core import clock
from app.services.allowance import next_month
from app.workers.runner import JobRunner
from tests.conftest import Tenant, tenant_of
from tests.routers.calls import add, body_of, open_session, problem_of, say

PARALLEL = 50
LIMIT = 20
ZH, EN = "我住在杭州西湖边", "I live by the river Spree"


@pytest.fixture
async def operator(tenant: Tenant) -> httpx.AsyncClient:
    return await tenant.client("operator")


async def limit(operator: httpx.AsyncClient, **limits: int | None) -> dict[str, Any]:
    return dict(body_of(await operator.patch("/v1/admin/quotas", json=limits)))


async def quotas(api: httpx.AsyncClient) -> dict[str, Any]:
    return dict(body_of(await api.get("/v1/admin/quotas")))


@pytest.mark.parametrize("text", [ZH, EN])
async def test_a_memory_beyond_the_quota_is_refused_and_a_deleted_one_makes_room(
    api: httpx.AsyncClient, operator: httpx.AsyncClient, text: str
) -> None:
    first = await add(api, text)
    shown = await limit(operator, memories=2)
    assert shown["memories"] == {"limit": 2, "used": 1}, "what was there before counts"
    await add(api, text + " 2")
    problem = problem_of(
        await api.post("/v1/memories", json={"text": text + " 3", "user_id": "ada"}), 403, "quota_exceeded"
    )
    assert (problem["quota"], problem["limit"], problem["used"]) == ("memories", 2, 2)
    await add(api, text)  # said again: no new row
    body_of(await api.patch(f"/v1/memories/{first['id']}", json={"text": text + " 4"}))
    assert (await api.delete(f"/v1/memories/{first['id']}")).status_code == 204
    assert (await quotas(api))["memories"] == {"limit": 2, "used": 1}
    await add(api, text + " 3")
    problem_of(await api.post(f"/v1/memories/{first['id']}/restore"), 403, "quota_exceeded")
    await limit(operator, memories=None)
    body_of(await api.post(f"/v1/memories/{first['id']}/restore"))
    assert (await quotas(api))["memories"] == {"limit": None, "used": 3}


async def test_a_list_beyond_the_quota_leaves_nothing_behind(
    api: httpx.AsyncClient, operator: httpx.AsyncClient
) -> None:
    await limit(operator, memories=2)
    many = [{"text": f"{text} {n}", "user_id": "ada"} for n in range(2) for text in (ZH, EN)]
    headers = {"Idempotency-Key": "k"}
    refused = await api.post("/v1/memories", json={"memories": many}, headers=headers)
    problem_of(refused, 403, "quota_exceeded")
    assert body_of(await api.get("/v1/memories?user_id=ada&count=true"))["total"] == 0
    assert (await quotas(api))["memories"]["used"] == 0
    await limit(operator, memories=4)
    assert (await api.post("/v1/memories", json={"memories": many}, headers=headers)).status_code == 201
    assert (await quotas(api))["memories"]["used"] == 4


@pytest.mark.parametrize("kind", ["memories", "messages"])
async def test_parallel_writers_never_go_beyond_the_quota_together(
    api: httpx.AsyncClient, operator: httpx.AsyncClient, kind: str
) -> None:
    await limit(operator, **{kind: LIMIT})

    def write(n: int) -> Any:
        if kind == "memories":
            return api.post("/v1/memories", json={"text": f"{ZH} {EN} {n}", "user_id": f"u{n}"})
        return api.post(f"/v1/sessions/s{n}/messages", json={"role": "user", "content": f"{ZH} {EN} {n}"})

    answers = await asyncio.gather(*(write(n) for n in range(PARALLEL)))
    statuses = [answer.status_code for answer in answers]
    assert (statuses.count(201), statuses.count(403)) == (LIMIT, PARALLEL - LIMIT), statuses
    stats = body_of(await api.get("/v1/admin/stats"))
    assert (sum(stats["memories"].values()) if kind == "memories" else stats["messages"]) == LIMIT
    assert (await quotas(api))[kind] == {"limit": LIMIT, "used": LIMIT}


async def test_a_quota_set_in_the_middle_of_writes_counts_every_row(
    api: httpx.AsyncClient, operator: httpx.AsyncClient
) -> None:
    writes = [api.post("/v1/memories", json={"text": f"{ZH} {n}", "user_id": f"u{n % 7}"}) for n in range(30)]
    *answers, _ = await asyncio.gather(*writes, limit(operator, memories=1000, bytes=10**9))
    assert {answer.status_code for answer in answers} == {201}
    counted = await quotas(api)
    await limit(operator, memories=None, bytes=None)
    by_row = await quotas(api)
    assert counted["memories"]["used"] == by_row["memories"]["used"] == 30
    assert counted["bytes"]["used"] == by_row["bytes"]["used"]


async def test_bytes_are_those_of_utf_8_and_follow_every_change(
    api: httpx.AsyncClient, operator: httpx.AsyncClient
) -> None:
    await limit(operator, bytes=10_000)
    empty = (await quotas(api))["bytes"]["used"]
    assert empty == 0
    memory = await add(api, ZH)
    overhead = (await quotas(api))["bytes"]["used"] - len(ZH.encode())
    assert overhead == len("{}"), "metadata is stored beside it"
    body_of(await api.patch(f"/v1/memories/{memory['id']}", json={"text": EN}))
    assert (await quotas(api))["bytes"]["used"] == len(EN.encode()) + overhead
    await say(api, "s", EN)
    body_of(await api.put("/v1/sessions/s/state", json={"state": {"note": ZH}}))
    put = {"op": "put", "namespace": ["notes"], "key": "k", "value": {"text": ZH}}
    body_of(await api.post("/v1/store/batch", json={"ops": [put]}))
    checkpoint = await api.post("/v1/sessions/s/checkpoints", json={"state": {"text": ZH}})
    assert checkpoint.status_code == 201, checkpoint.text
    before = await quotas(api)
    await limit(operator, bytes=None)
    assert (await quotas(api))["bytes"]["used"] == before["bytes"]["used"], "counted row by row it is the same"
    await limit(operator, bytes=before["bytes"]["used"])
    problem = problem_of(
        await api.post("/v1/sessions/s/messages", json={"role": "user", "content": ZH}), 403, "quota_exceeded"
    )
    assert problem["quota"] == "bytes"
    assert (await api.delete("/v1/sessions/s")).status_code == 204
    assert (await quotas(api))["bytes"]["used"] < before["bytes"]["used"]
    await say(api, "s2", ZH)


async def test_what_is_to_be_remembered_does_not_cost_the_message_where_memories_are_full(
    api: httpx.AsyncClient, operator: httpx.AsyncClient
) -> None:
    await add(api, EN)
    await limit(operator, memories=1)
    for n, text in enumerate(("Remember that my desk is in room 12.", "记住：我的工位在12号房间。")):
        said = await say(api, f"s{n}", text, user_id="ada")
        assert said["seq"] == 1
        assert said["remembered"] == []
    turn = {"messages": [{"role": "user", "content": "Remember that I park in row 7."}], "state": {"patch": {"a": 1}}}
    assert body_of(await api.post("/v1/sessions/s0/turns", json=turn), 201)["remembered"] == []
    await limit(operator, memories=None)
    assert (await say(api, "s3", "请记住，我对花生过敏。", user_id="ada"))["remembered"]


async def test_erasing_a_user_makes_room(api: httpx.AsyncClient, operator: httpx.AsyncClient, tenant: Tenant) -> None:
    await limit(operator, memories=1, messages=1)
    await add(api, ZH, user_id="ada")
    await open_session(api, "s", user_id="ada")
    await say(api, "s", EN)
    await api.delete("/v1/users/ada?wait=0")
    await tenant.work()
    shown = await quotas(api)
    assert (shown["memories"]["used"], shown["messages"]["used"], shown["bytes"]["used"]) == (0, 0, 0)


async def test_only_an_operator_sets_quotas(
    api: httpx.AsyncClient, operator: httpx.AsyncClient, tenant: Tenant, services: Services, app: Any
) -> None:
    problem_of(await api.patch("/v1/admin/quotas", json={"memories": 5}), 403, "operator_only")
    problem_of(await (await tenant.client("member")).get("/v1/admin/quotas"), 403, "missing_scope")
    problem_of(await operator.patch("/v1/admin/quotas", json={}), 422)
    problem_of(await operator.patch("/v1/admin/quotas", json={"memories": -1}), 422)
    other = await tenant_of(services, app)
    async with services.uow.begin_global() as tx:
        row = await tx.access.tenant(other.id)
    assert row is not None
    await operator.patch(f"/v1/admin/quotas?tenant={row['name']}", json={"memories": 0})
    problem_of(
        await (await other.client()).post("/v1/memories", json={"text": ZH, "user_id": "u"}), 403, "quota_exceeded"
    )
    await add(api, ZH)
    settings = body_of(await api.patch("/v1/admin/settings", json={"timezone": "Asia/Shanghai"}))
    assert "memories" not in settings
    await other.close()


async def test_learning_waits_where_memories_are_full_and_goes_on_when_there_is_room(
    learning_tenant: Tenant,
) -> None:
    api, operator = await learning_tenant.client(), await learning_tenant.client("operator")
    kept = await add(api, EN)
    await limit(operator, memories=1)
    await say(api, "s", "我对花生过敏。", user_id="ada")
    await say(api, "t", "I am allergic to shellfish.", user_id="bob")
    await run_due(learning_tenant)
    failed = body_of(await api.get("/v1/jobs?state=failed&kind=extract"))["results"]
    assert len(failed) == 2
    assert all(job["error"].startswith("QuotaExceeded: ") for job in failed)
    assert (await quotas(api))["memories"] == {"limit": 1, "used": 1}
    await api.delete(f"/v1/memories/{kept['id']}")
    await limit(operator, memories=5)
    with time_machine.travel(clock.now() + timedelta(minutes=15), tick=False):
        await run_due(learning_tenant)
    learnt = body_of(await api.get("/v1/memories?limit=50"))["results"]
    assert {memory["user_id"] for memory in learnt} == {"ada", "bob"}


async def run_due(tenant: Tenant) -> None:
    """Run the jobs that are due now, once."""
    async with tenant.services.uow.begin_tenant(tenant.id) as tx:
        waiting = await tx.jobs.page({"state": "queued"}, None, 100)
    for job in waiting:
        if job["run_after"] is None or job["run_after"] <= clock.now():
            await JobRunner(tenant.services).run(tenant.id, job["id"])


async def test_the_month_begins_anew_at_midnight_utc(api: httpx.AsyncClient, operator: httpx.AsyncClient) -> None:
    shown = await limit(operator, llm_tokens=1_000)
    assert shown["llm_tokens"]["limit"] == 1_000
    assert shown["llm_tokens"]["used"] == 0
    assert shown["llm_tokens"]["renewed_at"] == next_month(clock.now()).isoformat().replace("+00:00", "Z")
    assert (await limit(operator, llm_tokens=None))["llm_tokens"]["limit"] is None


@pytest.mark.parametrize("big", ["x" * 3_000, "长" * 1_000], ids=["en", "zh"])
async def test_bytes_are_counted_whatever_they_are_written_as(
    api: httpx.AsyncClient, operator: httpx.AsyncClient, big: str
) -> None:
    body_of(await api.post("/v1/sessions", json={"id": "s", "user_id": "ada"}), 201)
    await limit(operator, bytes=10**9)
    card = {"title": "t", "when_to_use": "w", "user_id": "ada"}
    writes = [
        ("PUT", "/v1/sessions/s/checkpoints/steps/one", {"input": {"a": 1}, "output": {"b": big}}),
        ("PUT", "/v1/sessions/s/state", {"state": {"a": big}}),
        ("PUT", "/v1/blocks/persona?user_id=ada", {"text": big, "limit": 10_000}),
        ("POST", "/v1/procedures", {**card, "body": big}),
        ("POST", "/v1/sessions/s/messages", {"role": "user", "content": big, "user_id": "ada"}),
    ]
    for method, path, body in writes:
        before = (await quotas(api))["bytes"]["used"]
        answer = await api.request(method, path, json=body)
        assert answer.status_code in {200, 201}, answer.text
        assert (await quotas(api))["bytes"]["used"] >= before + 3_000, path
