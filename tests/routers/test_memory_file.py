"""MEMORY.md: within its limits, without secrets, and taken back as the user's own word after it was edited."""

import re
from typing import Any

import httpx
import pytest

from tests.conftest import Tenant
from tests.routers.calls import add, body_of, problem_of, texts_found
from tests.routers.test_forgetting import ADA, everything

PATH = "/v1/users/ada/memory.md"
LANGUAGES = ("en", "zh")
HEADINGS = {
    "en": ["Project patterns", "User preferences", "Tool configuration", "Domain knowledge"],
    "zh": ["项目模式", "用户偏好", "工具配置", "领域知识"],
}
TEXTS = {
    "en": {
        "project": "The project Heron is released on Tuesdays.",
        "preference": "Ada prefers short answers with examples.",
        "tool_config": "The linter of this project is ruff with every rule.",
        "domain": "A settlement takes two banking days.",
    },
    "zh": {
        "project": "苍鹭项目每周二发布。",
        "preference": "艾达喜欢带例子的简短回答。",
        "tool_config": "这个项目的检查工具是 ruff，启用所有规则。",
        "domain": "结算需要两个银行工作日。",
    },
}


async def served(api: httpx.AsyncClient) -> tuple[str, str]:
    """The file and its ETag."""
    response = await api.get(PATH)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/markdown")
    return response.text, response.headers["etag"]


async def send(api: httpx.AsyncClient, text: str, etag: str | None = None) -> httpx.Response:
    headers = {"content-type": "text/markdown"} | ({} if etag is None else {"if-match": etag})
    return await api.put(PATH, content=text.encode(), headers=headers)


def entries(text: str) -> list[str]:
    return [line.removeprefix("- ") for line in text.splitlines() if line.startswith("- ")]


async def fill(api: httpx.AsyncClient, language: str) -> dict[str, dict[str, Any]]:
    return {category: await add(api, text, category=category) for category, text in TEXTS[language].items()}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_file_has_four_sections_in_the_users_language_and_only_facts(
    api: httpx.AsyncClient, language: str
) -> None:
    await fill(api, language)
    await add(api, "Guessed. 猜的。", source="inferred")
    await add(api, "Concluded. 推断。", source="derived")
    await add(api, "Hidden. 隐藏。", use="never_in_context")
    text, etag = await served(api)
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == HEADINGS[language]
    assert entries(text) == list(TEXTS[language].values())
    assert etag.strip('"') in text
    await add(api, "One more. 再加一条。", category="preference")
    later, _ = await served(api)
    kept = [line for line in later.splitlines() if line in text.splitlines()]
    assert kept == [line for line in text.splitlines() if "version" not in line]


async def test_a_file_keeps_its_limits_and_shows_what_matters_most(api: httpx.AsyncClient) -> None:
    items = [
        {"text": f"{n} 号事实：" + "长" * 200 if n % 2 else f"Fact {n} " + "long " * 40, "user_id": "ada"}
        for n in range(400)
    ]
    for start in range(0, 400, 100):
        body_of(await api.post("/v1/memories", json={"memories": items[start : start + 100]}), 201)
    await add(api, "The most important of all.", importance=10)
    text, _ = await served(api)
    assert len(text.splitlines()) <= 200
    assert len(text.encode()) <= 25 * 1024
    assert max(len(entry) for entry in entries(text)) <= 150
    assert "The most important of all." in text


async def test_no_secret_and_no_personal_number_stands_in_a_file(api: httpx.AsyncClient, tenant: Tenant) -> None:
    body_of(await api.patch("/v1/admin/settings", json={"redaction": "allow"}))
    secret = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3
    await add(api, f"OPENAI_API_KEY={secret} is for the translation job, in .env", category="tool_config")
    await add(api, f"翻译任务用的 DEEPSEEK_API_KEY={secret}，放在 .env 里", category="tool_config")
    for text in (
        f"The key is {secret}.",
        "Ada's card is 4111 1111 1111 1111.",
        "艾达的手机号是 13812345678。",
        "Call Ada at +351 912 345 678.",
        "艾达的身份证号是 11010519491231002X。",
        "Her account number is 88214409.",
    ):
        await add(api, text)
    await add(api, "The release is on 2026-07-15 at 12:30.")
    text, _ = await served(api)
    assert entries(text) == [
        "OPENAI_API_KEY is for the translation job, in .env",
        "翻译任务用的 DEEPSEEK_API_KEY，放在 .env 里",
        "The release is on 2026-07-15 at 12:30.",
    ]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_an_edited_file_is_applied_as_the_users_word_and_undone_exactly(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    known = await fill(api, language)
    names = [one["id"] for one in known.values()]
    before = await everything(tenant, *names)
    text, etag = await served(api)
    texts = TEXTS[language]
    other = texts["project"].replace("Tuesdays", "Fridays").replace("周二", "周五")
    new = {"en": "Never deploy on a Friday evening.", "zh": "周五晚上绝不上线。"}[language]
    edited = text.replace(texts["project"], other).replace(f"- {texts['tool_config']}", f"- {new}")
    edited = edited.replace(f"- {texts['domain']}\n", "")
    done = body_of(await send(api, edited, etag))
    assert [(one["text"], one["before"]) for one in done["changed"]] == [(other, texts["project"])]
    assert [one["text"] for one in done["added"]] == [new]
    assert {one["text"] for one in done["removed"]} == {texts["tool_config"], texts["domain"]}
    now, tag = await served(api)
    assert entries(now) == [other, texts["preference"], new]
    assert tag.strip('"') == done["version"]
    (changed,), (added,) = done["changed"], done["added"]
    memory = body_of(await api.get(f"/v1/memories/{changed['memory_id']}"))
    assert (memory["source"], memory["category"], memory["uncertain"]) == ("user_stated", "project", False)
    old = body_of(await api.get(f"/v1/memories/{known['project']['id']}"))
    assert (old["status"], old["superseded_by"]) == ("superseded", memory["id"])
    assert new in await texts_found(api, new, **ADA)
    assert body_of(await api.get(f"/v1/memories/{added['memory_id']}"))["category"] == "tool_config"
    undone = body_of(await api.post("/v1/undo", json={"undo_id": done["undo_id"]}))
    assert set(undone["memory_ids"]) == {*names, memory["id"], added["memory_id"]} - {known["preference"]["id"]}
    assert await everything(tenant, *names) == before
    assert (await served(api))[0] == text


@pytest.mark.parametrize(
    ("text", "value", "after", "now"),
    [
        ("Ada lives in Lisbon with her cat.", "Lisbon", "Ada lives in Porto with her cat.", "Porto"),
        ("艾达和她的猫住在里斯本。", "里斯本", "艾达和她的猫住在波尔图。", "波尔图"),
    ],
)
async def test_a_fact_that_is_edited_has_its_new_value_under_its_key(
    api: httpx.AsyncClient, text: str, value: str, after: str, now: str
) -> None:
    old = await add(api, text, key="user.city", value=value, category="identity")
    file, etag = await served(api)
    done = body_of(await send(api, file.replace(text, after), etag))
    fact = body_of(await api.get("/v1/users/ada/facts/user.city"))
    assert (fact["value"], fact["text"]) == (now, after)
    assert body_of(await api.get(f"/v1/memories/{old['id']}"))["status"] == "superseded"
    body_of(await api.post("/v1/undo", json={"undo_id": done["undo_id"]}))
    assert body_of(await api.get("/v1/users/ada/facts/user.city"))["value"] == value


async def test_a_file_that_is_not_current_changes_nothing(api: httpx.AsyncClient) -> None:
    await fill(api, "en")
    text, etag = await served(api)
    assert body_of(await send(api, text))["undo_id"] is None
    await add(api, "Came between. 中间来的。")
    for response in (await send(api, text, etag), await send(api, text)):
        problem = problem_of(response, 412, "version_mismatch")
        assert f'"{problem["current_version"]}"' == (await served(api))[1]
    problem_of(await send(api, "- nothing"), 422, "version_required")
    problem_of(await send(api, "- x\n" * 201, etag), 422, "memory_file_too_long")
    problem_of(await api.put(PATH, content=b"\xff", headers={"if-match": etag}), 400, "bad_encoding")
    problem_of(await send(api, "- \0", etag), 422, "bad_text")
    assert "Came between" in (await served(api))[0]


async def test_a_long_entry_that_is_edited_keeps_its_end_and_one_can_move(api: httpx.AsyncClient) -> None:
    long = "The project Heron is released on Tuesdays, " + "after the tests of every team " * 5 + "have passed."
    await add(api, long, category="project")
    await add(api, "Ruff is used.", category="domain")
    text, etag = await served(api)
    assert entries(text)[0].endswith("…")
    edited = text.replace("Tuesdays", "Mondays").replace("- Ruff is used.\n", "")
    edited = edited.replace("## Tool configuration\n", "## Tool configuration\n* Ruff is used.\n")
    done = body_of(await send(api, edited, etag))
    assert done["changed"][0]["text"] == long.replace("Tuesdays", "Mondays")
    moved = body_of(await api.get(f"/v1/memories/{done['changed'][1]['memory_id']}"))
    assert (moved["text"], moved["category"]) == ("Ruff is used.", "tool_config")


async def test_a_secret_in_an_edited_file_is_taken_out_and_a_reader_may_only_read(
    api: httpx.AsyncClient, tenant: Tenant
) -> None:
    await fill(api, "en")
    text, etag = await served(api)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    done = body_of(await send(api, f"{text}- The GITHUB_TOKEN is {secret}.\n", etag))
    assert done["redacted"]
    assert secret not in done["added"][0]["text"]
    reader = await tenant.client("reader")
    assert (await reader.get(PATH)).status_code == 200
    problem_of(await send(reader, text, etag), 403, "missing_scope")


async def test_a_mark_of_byte_order_is_no_entry_and_what_an_edit_contradicts_is_disputed(
    api: httpx.AsyncClient, learning_tenant: Tenant
) -> None:
    api = await learning_tenant.client()
    known = await add(api, "Deploys are allowed on Fridays.")
    await learning_tenant.work()
    text, etag = await served(api)
    done = body_of(await send(api, f"\ufeff{text}", etag))
    assert (done["added"], done["changed"], done["removed"]) == ([], [], [])
    done = body_of(await send(api, f"{text}- Deploys are not allowed on Fridays.\n", etag))
    await learning_tenant.work()
    assert body_of(await api.get(f"/v1/memories/{known['id']}"))["status"] == "disputed"
    body_of(await api.post("/v1/undo", json={"undo_id": done["undo_id"]}))
    assert body_of(await api.get(f"/v1/memories/{known['id']}"))["status"] == "active"


async def test_a_file_wrapped_in_json_is_refused_and_deletes_nothing(api: httpx.AsyncClient) -> None:
    await add(api, "I live in Lisbon. 我住在里斯本。")
    served = await api.get(PATH)
    wrapped = await api.put(PATH, json={"content": served.text}, headers={"If-Match": served.headers["etag"]})
    problem_of(wrapped, 415)
    assert (await api.get(PATH)).text == served.text


async def test_an_empty_body_deletes_nothing(api: httpx.AsyncClient) -> None:
    await add(api, "Ada likes tea.")
    for etag in (None, "*", "0" * 16):
        problem_of(await send(api, " \n", etag), 422, "memory_file_empty")
    assert entries((await served(api))[0]) == ["Ada likes tea."]
