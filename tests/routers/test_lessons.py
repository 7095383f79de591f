"""What attempts teach, through HTTP: by a template, and by a language model that says what it is told to say."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from app.composition import services as composed
from app.core import ids
from app.main import create_app
from app.settings import Settings
from tests.conftest import Tenant
from tests.doubles.language_model import LanguageModelHost, language_model_host, said
from tests.doubles.scripted_host import Turn
from tests.routers.calls import body_of, every, open_session, problem_of, search, texts_found
from tests.routers.test_providers import Lent

SCRAPING: dict[str, Any] = {
    "en": {
        "task": "Scrape the product prices from a shop's web page",
        "steps": [{"action": "GET /prices", "result": "403 Forbidden", "outcome": "failure"}],
        "outcome": "failure",
        "evaluation": "The server refuses clients without a browser's name: set a User-Agent.",
    },
    "zh": {
        "task": "抓取电商网站上的商品价格",
        "steps": [{"action": "GET /prices", "result": "403 Forbidden", "outcome": "failure"}],
        "outcome": "failure",
        "evaluation": "服务器拒绝没有浏览器标识的请求：要设置 User-Agent。",
    },
}
OTHERS: dict[str, list[dict[str, Any]]] = {
    "en": [
        {"task": "Deploy the billing service", "outcome": "failure", "evaluation": "Run the migration first."},
        {
            "task": "Scrape the weather from a website",
            "steps": [{"action": "read the JSON behind the page", "outcome": "success"}],
            "outcome": "success",
        },
        {"task": "Translate the manual into German", "outcome": "success", "evaluation": "Give the glossary first."},
    ],
    "zh": [
        {"task": "部署计费服务", "outcome": "failure", "evaluation": "先做数据库迁移。"},
        {
            "task": "从网站上抓取天气数据",
            "steps": [{"action": "读取网页背后的 JSON", "outcome": "success"}],
            "outcome": "success",
        },
        {"task": "把手册翻译成德语", "outcome": "success", "evaluation": "先给出术语表。"},
    ],
}
LATER = {
    "en": "Collect the opening hours from restaurant websites with a crawler",
    "zh": "写一个爬虫采集餐厅网页上的营业时间",
}
REWORDED = {
    "en": [
        "Crawl a news site for headlines",
        "Scrape job postings",
        "Gather ratings from movie pages with Python",
        "Harvest e-mail addresses from a directory page",
        "Get the listings from a real-estate portal",
    ],
    "zh": [
        "爬取新闻网站的标题",
        "从网页上提取职位信息",
        "下载图库网站的所有图片",
        "抓取房产门户的房源信息",
        "把博客文章正文抓下来",
    ],
}
LANGUAGES = pytest.mark.parametrize("language", ["zh", "en"])


async def learn(api: httpx.AsyncClient, experience: dict[str, Any], **more: Any) -> dict[str, Any]:
    scope = {} if {"user_id", "agent_id", "app_id", "shared"} & more.keys() else {"agent_id": "researcher"}
    learnt: dict[str, Any] = body_of(await api.post("/v1/experiences", json=experience | scope | more), 201)
    return learnt


async def match(api: httpx.AsyncClient, task: str, **more: Any) -> dict[str, Any]:
    body = {"task": task, "agent_id": "researcher"} | more
    found: dict[str, Any] = body_of(await api.post("/v1/procedures/match", json=body))
    return found


@asynccontextmanager
async def with_model(
    tenant: Tenant, settings: Settings, turn: Turn
) -> AsyncIterator[tuple[httpx.AsyncClient, LanguageModelHost]]:
    """A client of a service whose language model answers so, and the model's host."""
    with language_model_host() as host:
        host.otherwise = turn
        changes = {"llm_base_url": f"{host.url}/v1", "llm_model": "double", "llm_attempts": 1}
        lent: Any = Lent(tenant.services.embedder.model)
        async with composed(settings.model_copy(update=changes), lent) as running:
            app = create_app(settings)
            app.state.services = running
            one = Tenant(tenant.id, running, app)
            yield await one.client(), host
            await one.close()


@LANGUAGES
async def test_a_task_told_in_other_words_gets_the_lesson_of_the_403_first(
    api: httpx.AsyncClient, language: str
) -> None:
    for experience in OTHERS[language]:
        await learn(api, experience)
    learnt = await learn(api, SCRAPING[language])
    assert (learnt["reflection"], learnt["degraded"], learnt["lesson"]["outcome"]) == ("template", [], "failure")
    assert "User-Agent" in learnt["lesson"]["text"]
    found = await match(api, LATER[language])
    assert found["lessons"][0]["id"] == learnt["lesson"]["id"]
    assert found["procedures"] == []


@LANGUAGES
async def test_a_lesson_is_found_by_its_task_in_whatever_words(
    tenant: Tenant, api: httpx.AsyncClient, language: str
) -> None:
    for experience in OTHERS[language]:
        await learn(api, experience)
    learnt = (await learn(api, SCRAPING[language]))["lesson"]
    for task in REWORDED[language]:
        assert [one["id"] for one in (await match(api, task))["lessons"]][:1] == [learnt["id"]], task
    corrected = learnt["text"] + {"en": " A cookie may be needed as well.", "zh": "还可能需要 Cookie。"}[language]
    body_of(await api.patch(f"/v1/memories/{learnt['id']}", json={"text": corrected}))
    await tenant.work()
    assert (await match(api, REWORDED[language][1]))["lessons"][0]["text"] == corrected


@LANGUAGES
async def test_a_language_model_reflects_and_its_lesson_is_found_first(
    tenant: Tenant, settings: Settings, language: str
) -> None:
    lesson = {
        "en": "Set a User-Agent header before requesting pages.",
        "zh": "请求网页之前要设置 User-Agent 请求头。",
    }[language]
    told = {name: value for name, value in SCRAPING[language].items() if name != "evaluation"}
    async with with_model(tenant, settings, said(json.dumps({"lesson": lesson}))) as (api, _):
        learnt = await learn(api, told)
        assert (learnt["reflection"], learnt["degraded"]) == ("llm", [])
        assert learnt["lesson"]["text"].endswith(lesson)
        assert learnt["lesson"]["source"] == "derived"
        assert (await match(api, LATER[language]))["lessons"][0]["id"] == learnt["lesson"]["id"]


USELESS = {
    "no lesson": said("I cannot help with that."),
    "invented number": said(json.dumps({"lesson": "Call 555-0199 and ask for the data."})),
    "other language": said(json.dumps({"lesson": "要设置请求头。"})),
    "too long": said(json.dumps({"lesson": "very " * 200})),
    "down": Turn(status=503),
}


async def test_a_useless_model_costs_nothing_but_its_words(tenant: Tenant, settings: Settings) -> None:
    async with with_model(tenant, settings, USELESS["no lesson"]) as (api, host):
        for name, answer in USELESS.items():
            host.otherwise = answer
            learnt = await learn(api, SCRAPING["en"], agent_id=name)
            assert (learnt["reflection"], learnt["degraded"]) == ("template", ["llm"]), name
            assert "User-Agent" in learnt["lesson"]["text"]
    assert len(host.requests) >= len(USELESS)


@LANGUAGES
async def test_a_success_says_what_worked_better_than_what(api: httpx.AsyncClient, language: str) -> None:
    actions = {"en": ("COPY from a file", "INSERT row by row"), "zh": ("用 COPY 读文件", "逐条 INSERT")}[language]
    steps = [{"action": actions[1], "outcome": "failure"}, {"action": actions[0], "outcome": "success"}]
    learnt = await learn(
        api, {"task": {"en": "Load a CSV", "zh": "导入 CSV"}[language], "steps": steps, "outcome": "success"}
    )
    better = {"en": "COPY from a file worked better than INSERT row by row", "zh": "用 COPY 读文件比逐条 INSERT更有效"}
    assert better[language] in learnt["lesson"]["text"]
    assert (learnt["lesson"]["success_count"], learnt["lesson"]["success_rate"]) == (1, 0.667)


@LANGUAGES
async def test_what_failed_comes_before_what_worked_and_success_orders_the_rest(
    api: httpx.AsyncClient, language: str
) -> None:
    tasks = {"en": "Scrape prices from a web shop", "zh": "从网店抓取价格"}
    ways = {
        "en": ["Slow requests help.", "A proxy helps.", "Never scrape without a User-Agent."],
        "zh": ["放慢请求有帮助。", "使用代理有帮助。", "不设置 User-Agent 会失败。"],
    }[language]
    outcomes = ["success", "success", "failure"]
    slow, proxy, agent = [
        (await learn(api, {"task": tasks[language], "outcome": outcome, "evaluation": way}))["lesson"]["id"]
        for way, outcome in zip(ways, outcomes, strict=True)
    ]
    for lesson, outcome in [(slow, "failure"), (slow, "failure"), (proxy, "success"), (proxy, "success")]:
        body_of(await api.post(f"/v1/lessons/{lesson}/outcome", json={"outcome": outcome}))
    assert [one["id"] for one in (await match(api, tasks[language]))["lessons"]] == [agent, proxy, slow]


async def test_outcomes_raise_and_lower_a_lesson_and_its_history_says_so(api: httpx.AsyncClient) -> None:
    lesson = (await learn(api, SCRAPING["zh"]))["lesson"]
    at = f"/v1/lessons/{lesson['id']}"
    raised = body_of(await api.post(f"{at}/outcome", json={"outcome": "success", "note": "worked in Lisbon"}))
    lowered = body_of(await api.post(f"{at}/outcome", json={"outcome": "failure"}))
    assert raised["confidence"] > lesson["confidence"] > lowered["confidence"]
    assert (lowered["success_count"], lowered["failure_count"], lowered["success_rate"]) == (1, 1, 0.5)
    history = body_of(await api.get(f"/v1/memories/{lesson['id']}/history"))["results"]
    assert [event["action"] for event in history] == ["added", "feedback_used", "feedback_wrong"]
    assert history[1]["reason"] == "worked in Lisbon"
    problem_of(await api.post(f"/v1/lessons/{ids.new_id()}/outcome", json={"outcome": "success"}), 404)


@LANGUAGES
async def test_repeated_success_drafts_a_procedure_that_only_a_person_publishes(
    api: httpx.AsyncClient, language: str
) -> None:
    task = {"en": "Load a large CSV file into PostgreSQL", "zh": "把很大的 CSV 文件导入 PostgreSQL"}[language]
    step = {"en": "COPY the file", "zh": "用 COPY 导入文件"}[language]
    way = {"task": task, "steps": [step], "outcome": "success"}
    told = [await learn(api, way) for _ in range(4)]
    assert [one["known"] for one in told] == [False, True, True, True]
    assert [one["procedure_draft_id"] is not None for one in told] == [False, False, True, False]
    assert len({one["lesson"]["id"] for one in told}) == 1
    drafted = body_of(await api.get(f"/v1/procedures/{told[2]['procedure_draft_id']}"))
    assert (drafted["status"], drafted["title"], drafted["lesson_id"]) == ("draft", task, told[0]["lesson"]["id"])
    assert f"1. {step}" in drafted["body"]
    assert (await match(api, task))["procedures"] == []
    shown = body_of(await api.get(f"/v1/lessons/{told[0]['lesson']['id']}"))
    assert (shown["procedure_id"], len(shown["experiences"])) == (drafted["id"], 4)
    body_of(await api.patch(f"/v1/procedures/{drafted['id']}", json={"status": "published"}))
    assert [one["id"] for one in (await match(api, task))["procedures"]] == [drafted["id"]]


@LANGUAGES
async def test_the_same_way_counts_for_like_tasks_and_other_advice_is_another_lesson(
    api: httpx.AsyncClient, language: str
) -> None:
    tasks = {
        "en": ("Load a large CSV file into PostgreSQL", "Import a big CSV into the PostgreSQL database"),
        "zh": ("把很大的 CSV 文件导入 PostgreSQL", "将一个大的 CSV 导入 PostgreSQL 数据库"),
    }[language]
    first, again = [
        await learn(api, {"task": task, "steps": ["COPY the file", "ANALYZE"], "outcome": "success"}) for task in tasks
    ]
    assert (again["known"], again["lesson"]["id"]) == (True, first["lesson"]["id"])
    assert again["lesson"]["success_count"] == 2
    other = await learn(api, {"task": tasks[0], "steps": ["use a foreign table"], "outcome": "success"})
    failed = await learn(api, {"task": tasks[0], "steps": ["COPY the file", "ANALYZE"], "outcome": "failure"})
    assert (other["known"], failed["known"]) == (False, False)
    assert len(await every(api, "/v1/lessons")) == 3


@LANGUAGES
async def test_a_draft_tells_a_way_once_however_often_it_worked(api: httpx.AsyncClient, language: str) -> None:
    task = {"en": "Load a large CSV file into PostgreSQL", "zh": "把很大的 CSV 文件导入 PostgreSQL"}[language]
    steps = {"en": ["COPY the file", "run ANALYZE"], "zh": ["用 COPY 导入文件", "运行 ANALYZE"]}[language]
    spelt = [steps, [step.upper() for step in steps], [step.lower() for step in steps]]
    told = [await learn(api, {"task": task, "steps": way, "outcome": "success"}) for way in spelt]
    drafted = body_of(await api.get(f"/v1/procedures/{told[2]['procedure_draft_id']}"))
    assert drafted["body"].count("\n1. ") == 1
    assert f"1. {spelt[2][0]}\n2. {spelt[2][1]}" in drafted["body"]
    assert drafted["when_to_use"] == task


@LANGUAGES
async def test_a_failure_again_under_a_like_task_reinforces_its_lesson(api: httpx.AsyncClient, language: str) -> None:
    tasks = {
        "en": ("Load a large CSV file into PostgreSQL", "Import a big CSV into the PostgreSQL database"),
        "zh": ("把很大的 CSV 文件导入 PostgreSQL", "将一个大的 CSV 导入 PostgreSQL 数据库"),
    }[language]
    said = {
        "en": ("Raise the time-out first.", "raise the TIME-OUT first", "Free some disk space first."),
        "zh": ("要先调大 TIMEOUT。", "要先调大 timeout", "要先清理磁盘空间。"),
    }[language]
    first, again, other = [
        await learn(api, {"task": task, "steps": [step], "outcome": "failure", "evaluation": evaluation})
        for task, step, evaluation in zip((*tasks, tasks[1]), ("COPY", "INSERT", "INSERT"), said, strict=True)
    ]
    assert (first["known"], again["known"], other["known"]) == (False, True, False)
    assert again["lesson"]["id"] == first["lesson"]["id"] != other["lesson"]["id"]
    assert again["lesson"]["seen_count"] == 2
    assert again["lesson"]["confidence"] > first["lesson"]["confidence"]
    elsewhere = {"task": OTHERS[language][2]["task"], "outcome": "failure", "evaluation": said[0]}
    assert (await learn(api, elsewhere))["known"] is False


@LANGUAGES
async def test_what_a_user_says_ends_no_lesson_and_no_procedure_of_theirs(
    api: httpx.AsyncClient, language: str
) -> None:
    text = {"en": "Ada lives in Lisbon", "zh": "艾达住在里斯本"}[language]
    lesson = await learn(api, {"task": text, "outcome": "success", "evaluation": text}, user_id="ada")
    card = {"title": text, "when_to_use": text, "user_id": "ada"}
    procedure = body_of(await api.post("/v1/procedures", json=card), 201)
    forget = {"en": "Please forget that Ada lives in Lisbon.", "zh": "请忘掉艾达住在里斯本。"}[language]
    said = {"en": "Remember that I moved from Lisbon to Porto.", "zh": "请记住我从里斯本搬到了波尔图。"}[language]
    for content in (forget, said):
        message = {"role": "user", "content": content, "user_id": "ada"}
        body_of(await api.post("/v1/sessions/s/messages", json=message), 201)
    assert body_of(await api.get(f"/v1/lessons/{lesson['lesson']['id']}"))["version"] == 1
    assert body_of(await api.get(f"/v1/procedures/{procedure['id']}"))["version"] == 1


async def test_what_an_attempt_followed_is_counted_with_its_outcome(api: httpx.AsyncClient) -> None:
    lesson = (await learn(api, SCRAPING["en"]))["lesson"]["id"]
    made = {"title": "Scrape", "when_to_use": "Reading web pages", "body": "…", "agent_id": "researcher"}
    procedure = body_of(await api.post("/v1/procedures", json=made), 201)["id"]
    used = {"task": "Read a page", "outcome": "success", "evaluation": "It worked.", "used": [lesson, procedure]}
    await learn(api, used)
    assert body_of(await api.get(f"/v1/lessons/{lesson}"))["success_count"] == 1
    assert body_of(await api.get(f"/v1/procedures/{procedure}"))["success_count"] == 1
    unknown = used | {"used": [str(ids.new_id())], "agent_id": "researcher"}
    problem_of(await api.post("/v1/experiences", json=unknown), 422, "used_not_found")


@LANGUAGES
async def test_lessons_never_stand_among_facts_unless_asked_for(api: httpx.AsyncClient, language: str) -> None:
    learnt = await learn(api, SCRAPING[language], user_id="ada")
    assert await texts_found(api, SCRAPING[language]["task"], user_id="ada") == []
    found = await search(api, SCRAPING[language]["task"], user_id="ada", kinds=["procedural"])
    assert [hit["id"] for hit in found["results"]] == [learnt["lesson"]["id"]]
    assert (found["results"][0]["kind"], found["results"][0]["category"]) == ("procedural", "lesson")


async def test_a_lesson_written_as_a_memory_is_matched_too(api: httpx.AsyncClient) -> None:
    text = "Scraping web pages: wait a second between requests."
    memory = {"text": text, "kind": "procedural", "category": "lesson", "agent_id": "researcher"}
    body_of(await api.post("/v1/memories", json=memory), 201)
    (lesson,) = (await match(api, "Scraping web pages"))["lessons"]
    assert (lesson["text"], lesson["outcome"]) == (text, None)


async def test_lessons_belong_to_their_scope(tenant: Tenant, api: httpx.AsyncClient) -> None:
    await learn(api, SCRAPING["en"], user_id="ada")
    everybodys = await learn(api, SCRAPING["zh"], shared=True)
    bound = await tenant.client("member", ["bob"])
    assert [one["id"] for one in await every(bound, "/v1/lessons")] == [everybodys["lesson"]["id"]]
    found = await match(bound, SCRAPING["en"]["task"], agent_id=None)
    assert [one["user_id"] for one in found["lessons"]] in ([], [None])
    problem_of(await bound.post("/v1/experiences", json=SCRAPING["en"] | {"user_id": "ada"}), 403, "foreign_user")
    shared = f"/v1/lessons/{everybodys['lesson']['id']}/outcome"
    problem_of(await bound.post(shared, json={"outcome": "success"}), 403, "foreign_user")
    page = body_of(await api.get("/v1/lessons", params={"outcome": "success", "count": True}))
    assert (page["results"], page["total"]) == ([], 0)


async def test_an_experience_names_its_session_and_loses_its_secrets(api: httpx.AsyncClient) -> None:
    await open_session(api, "s", user_id="ada")
    secret = SCRAPING["en"] | {"evaluation": "The password is hunter2000.", "session_id": "s"}
    learnt = await learn(api, secret, user_id="ada")
    assert learnt["redacted"] == ["password"]
    assert "hunter2000" not in json.dumps(learnt)
    shown = body_of(await api.get(f"/v1/lessons/{learnt['lesson']['id']}"))
    assert (shown["experiences"][0]["session_id"], "hunter2000" in json.dumps(shown)) == ("s", False)
    sources = body_of(await api.get(f"/v1/memories/{learnt['lesson']['id']}"))["sources"]
    assert [source["session_id"] for source in sources] == ["s"]
    assert (await api.delete("/v1/sessions/s")).status_code == 204
    assert body_of(await api.get(f"/v1/lessons/{shown['id']}"))["experiences"][0]["session_id"] is None
    problem_of(await api.post("/v1/experiences", json=secret | {"user_id": "ada", "session_id": "x"}), 422)
    problem_of(await api.post("/v1/experiences", json={"task": "x", "outcome": "failure", "user_id": "ada"}), 422)


async def test_what_is_shared_is_nobodys_experience(api: httpx.AsyncClient) -> None:
    attempt = {"task": "Scrape", "evaluation": "Set a User-Agent.", "outcome": "failure", "shared": True}
    for scope in ("user_id", "agent_id", "app_id"):
        problem_of(await api.post("/v1/experiences", json={**attempt, scope: "x"}), 422, "invalid")
