"""Lessons and procedures in a context: those of failures first, within their share, never stale."""

from typing import Any

import httpx
import pytest

from app.domain.fence import is_genuine
from tests.conftest import Tenant
from tests.context.test_context import ASKED, FACT, HELLO, LANGUAGES, RULE, context, section
from tests.context.test_summaries import ADA
from tests.routers.calls import add, body_of, open_session, problem_of, say
from tests.routers.test_lessons import LATER, OTHERS, SCRAPING, learn

MINE = {"user_id": "ada"}
HOW: dict[str, dict[str, Any]] = {
    "en": {
        "title": "Scrape a website",
        "when_to_use": "Prices, opening hours or other data are collected from web pages with a crawler.",
        "body": "# Steps\n\nSECRET BODY: read robots.txt first.",
    },
    "zh": {
        "title": "抓取网站",
        "when_to_use": "用爬虫从网页上采集价格、营业时间等数据时使用。",
        "body": "# 步骤\n\nSECRET BODY：先读 robots.txt。",
    },
}


async def hints(api: httpx.AsyncClient, **fields: Any) -> list[dict[str, Any]]:
    return list(section(await context(api, **fields), "lessons")["items"])


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_task_gets_the_lesson_of_what_failed_first_then_what_worked_then_procedures(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    _, worked, _ = [(await learn(api, one, **MINE))["lesson"] for one in OTHERS[language]]
    failed = (await learn(api, SCRAPING[language], **MINE))["lesson"]
    made = body_of(await api.post("/v1/procedures", json=HOW[language] | MINE), 201)
    await add(api, FACT[language])
    await say(api, "s", LATER[language], **ADA)
    found = await context(api, memory_share=0.5)
    told = section(found, "lessons")
    named = [(item["memory_id"], item["sort"], item["outcome"]) for item in told["items"]]
    assert named[0] == (failed["id"], "lesson", "failure")
    assert (worked["id"], "lesson", "success") in named[1:-1]
    assert named[-1] == (made["id"], "procedure", None)
    assert "User-Agent" in told["items"][0]["text"]
    assert {"en": "failed before", "zh": "以前失败过"}[language] in told["items"][0]["text"]
    assert HOW[language]["when_to_use"] in told["items"][-1]["text"]
    assert made["id"] in told["items"][-1]["text"]
    assert "SECRET BODY" not in str(found)
    principal = await tenant.principal()
    assert is_genuine(told["text"], key=principal.defaults.fence_key)
    assert "] lessons | " in told["text"].replace("]] ", "] ")
    assert {one[0] for one in named} <= set(found["memory_ids"])
    assert not {one[0] for one in named} & {item["memory_id"] for item in section(found, "facts")["items"]}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_small_talk_another_subject_and_sessions_without_memory_get_no_lessons(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    await learn(api, SCRAPING[language], **MINE)
    body_of(await api.post("/v1/procedures", json=HOW[language] | MINE), 201)
    await say(api, "s", HELLO[language], **ADA)
    assert await hints(api) == []
    assert await hints(api, query=ASKED[language]) == []
    assert await hints(api, query=LATER[language], retrieval="never") == []
    assert await hints(api, query=LATER[language])
    await open_session(api, "off", user_id="ada", memory="off")
    await say(api, "off", LATER[language])
    assert section(await context(api, "off"), "lessons")["items"] == []


@pytest.mark.parametrize("language", LANGUAGES)
async def test_only_lessons_that_this_context_may_hold_stand_in_it(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    await open_session(api, "s", user_id="ada", agent_id="planner")
    text = str(SCRAPING[language]["evaluation"]).rstrip(".。")
    given: dict[str, dict[str, Any]] = {
        "plain": {"user_id": "ada"},
        "of the agent": {"agent_id": "planner"},
        "of all": {"shared": True},
        "never": {"user_id": "ada", "use": "never_in_context"},
        "of another user": {"user_id": "bob"},
        "of another agent": {"agent_id": "cook"},
    }
    lesson = {"kind": "procedural", "category": "lesson"}
    ids = {
        (await add(api, f"{SCRAPING[language]['task']}: {text} {place}.", **lesson, **scope))["id"]: case
        for place, (case, scope) in enumerate(given.items())
    }
    await say(api, "s", SCRAPING[language]["task"])
    shown = {ids[item["memory_id"]] for item in await hints(api, memory_share=0.9)}
    assert shown == {"plain", "of the agent", "of all"}
    stranger = await tenant.client("member", ["bob"])
    problem_of(await stranger.post("/v1/sessions/s/context", json={}), 404, "session_not_found")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_facts_leave_lessons_a_third_of_the_share_and_constraints_go_before_both(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    await learn(api, SCRAPING[language], **MINE)
    for number in range(5):
        await add(api, f"{FACT[language]} " + " ".join(str(number * 37 + word) for word in range(40)), importance=9)
    await add(api, RULE[language], category="constraint", pinned=True)
    await say(api, "s", LATER[language], **ADA)

    async def spent(share: float) -> dict[str, int]:
        found = await context(api, token_budget=1_500, memory_share=share)
        names = ("facts", "lessons", "constraints")
        return {name: sum(item["tokens"] for item in section(found, name)["items"]) for name in names}

    for share in (0.25, 0.6):
        cost = await spent(share)
        assert sum(cost.values()) <= 1_500 * share
        assert min(cost.values()) > 0, cost
    nothing = await spent(0.0)
    assert set(nothing.values()) == {0}
    narrow = await spent(0.03)
    assert (narrow["lessons"], narrow["constraints"] > 0) == (0, True)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "change",
    [
        *("a lesson", "an outcome of it", "a shared lesson", "a deleted lesson", "an ended one"),
        *("a procedure", "a new version of it", "a withdrawn one"),
    ],
)
async def test_a_prefetch_is_not_served_once_a_lesson_or_a_procedure_in_reach_has_changed(
    api: httpx.AsyncClient, tenant: Tenant, language: str, change: str
) -> None:
    lesson = (await learn(api, SCRAPING[language], **MINE))["lesson"]["id"]
    made = body_of(await api.post("/v1/procedures", json=HOW[language] | MINE), 201)["id"]
    await say(api, "s", LATER[language], **ADA)
    await tenant.work()
    ready = await context(api)
    assert ready["prefetched"]
    assert {item["memory_id"] for item in section(ready, "lessons")["items"]} == {lesson, made}
    other = HOW[language] | {"title": HOW[language]["title"] + " 2"}
    match change:
        case "a lesson":
            await learn(api, OTHERS[language][1], **MINE)
        case "an outcome of it":
            body_of(await api.post(f"/v1/lessons/{lesson}/outcome", json={"outcome": "success"}))
        case "a shared lesson":
            await learn(api, OTHERS[language][1], shared=True)
        case "a deleted lesson":
            assert (await api.delete(f"/v1/memories/{lesson}")).status_code == 204
        case "an ended one":
            body_of(await api.patch(f"/v1/memories/{lesson}", json={"use": "never_in_context"}))
        case "a procedure":
            body_of(await api.post("/v1/procedures", json=other | MINE), 201)
        case "a new version of it":
            body_of(await api.patch(f"/v1/procedures/{made}", json={"title": other["title"]}))
        case "a withdrawn one":
            body_of(await api.patch(f"/v1/procedures/{made}", json={"status": "draft"}))
    now = await context(api)
    assert not now["prefetched"]
    items = section(now, "lessons")["items"]
    shown = {item["memory_id"] for item in items}
    assert (lesson in shown) == (change not in {"a deleted lesson", "an ended one"})
    assert (made in shown) == (change != "a withdrawn one")
    if change == "a new version of it":
        assert any(other["title"] in item["text"] for item in items)
    await tenant.work()


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_prefetched_context_has_the_lessons_of_one_that_is_not(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    await learn(api, SCRAPING[language], **MINE)
    body_of(await api.post("/v1/procedures", json=HOW[language] | MINE), 201)
    await say(api, "s", LATER[language], **ADA)
    cold = await context(api)
    await tenant.work()
    ready = await context(api)
    assert (cold["prefetched"], ready["prefetched"]) == (False, True)
    assert len(section(ready, "lessons")["items"]) == 2
    assert {**ready, "prefetched": False} == cold
