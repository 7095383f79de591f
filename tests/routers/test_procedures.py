"""Procedures: written, found by the task, loaded on demand, kept as files."""

import json
from typing import Any

import httpx
import pytest

from app.core import ids
from tests.conftest import Tenant
from tests.routers.calls import body_of, every, problem_of, search, texts_found

PROCEDURES: dict[str, dict[str, Any]] = {
    "en": {
        "title": "Scrape a web page",
        "when_to_use": "Prices or texts are to be read from websites.",
        "body": "1. Set a User-Agent.\n2. Wait a second between requests.\n",
        "steps": ["Set a User-Agent", "Wait"],
        "examples": [{"input": "prices of a shop", "output": "a table"}],
        "tags": ["web"],
    },
    "zh": {
        "title": "抓取网页",
        "when_to_use": "需要从网站上读取价格或文章时使用。",
        "body": "1. 设置 User-Agent。\n2. 每次请求之间等一秒。\n",
        "steps": ["设置 User-Agent", "等待"],
        "examples": [{"input": "商店的价格", "output": "表格"}],
        "tags": ["网页"],
    },
}
TASKS = {"en": "Read the opening hours from websites", "zh": "从网站上读取餐厅的营业时间"}
LANGUAGES = pytest.mark.parametrize("language", ["zh", "en"])


async def create(api: httpx.AsyncClient, language: str, **more: Any) -> dict[str, Any]:
    body = PROCEDURES[language] | ({} if "shared" in more or "user_id" in more else {"agent_id": "researcher"}) | more
    made: dict[str, Any] = body_of(await api.post("/v1/procedures", json=body), 201)
    return made


async def matched(api: httpx.AsyncClient, task: str, **scope: Any) -> list[str]:
    body = {"task": task, **(scope or {"agent_id": "researcher"})}
    found = body_of(await api.post("/v1/procedures/match", json=body))
    return [one["id"] for one in found["procedures"]]


@LANGUAGES
async def test_a_procedure_is_found_by_the_task_and_its_body_is_read_by_id(
    api: httpx.AsyncClient, language: str
) -> None:
    made = await create(api, language)
    found = body_of(await api.post("/v1/procedures/match", json={"task": TASKS[language], "agent_id": "researcher"}))
    assert [one["id"] for one in found["procedures"]] == [made["id"]]
    listed = await every(api, "/v1/procedures", agent_id="researcher")
    for card in (*found["procedures"], *listed):
        assert card["title"] == PROCEDURES[language]["title"]
        assert not {"body", "steps", "examples"} & card.keys()
    whole = body_of(await api.get(f"/v1/procedures/{made['id']}"))
    assert {name: whole[name] for name in PROCEDURES[language]} == PROCEDURES[language]


@LANGUAGES
async def test_procedures_never_stand_among_facts_unless_asked_for(api: httpx.AsyncClient, language: str) -> None:
    made = await create(api, language, user_id="ada")
    query = PROCEDURES[language]["title"]
    assert await texts_found(api, query, user_id="ada") == []
    found = await search(api, query, user_id="ada", kinds=["procedural"])
    assert [hit["id"] for hit in found["results"]] == [made["id"]]


@LANGUAGES
async def test_a_change_is_a_further_version_compared_and_found_by_its_new_words(
    api: httpx.AsyncClient, language: str
) -> None:
    made = await create(api, language)
    at = f"/v1/procedures/{made['id']}"
    new = {"en": ("Water the plants", "The plants in the office are dry."), "zh": ("给植物浇水", "办公室的植物干了。")}
    change = {"title": new[language][0], "when_to_use": new[language][1], "version": 1}
    changed = await api.patch(at, json=change)
    assert (body_of(changed)["version"], changed.headers["etag"]) == (2, '"2"')
    problem_of(await api.patch(at, json=change), 412, "version_mismatch")
    assert await matched(api, new[language][1]) == [made["id"]]
    assert await matched(api, TASKS[language]) == []
    versions = await every(api, f"{at}/history", limit=1)
    assert [(one["version"], one["title"]) for one in versions] == [(2, new[language][0]), (1, made["title"])]
    problem_of(await api.patch(f"/v1/memories/{made['id']}", json={"text": "x"}), 409, "procedure_card")


async def test_a_draft_is_found_by_nobody_until_it_is_published_and_again_when_it_is_withdrawn(
    api: httpx.AsyncClient,
) -> None:
    made = await create(api, "zh", status="draft")
    at = f"/v1/procedures/{made['id']}"
    assert (made["status"], await matched(api, TASKS["zh"])) == ("draft", [])
    assert await texts_found(api, "网页", agent_id="researcher", kinds=["procedural"]) == []
    assert [one["id"] for one in await every(api, "/v1/procedures", status="draft")] == [made["id"]]
    assert body_of(await api.patch(at, json={"status": "published"}))["status"] == "published"
    assert await matched(api, TASKS["zh"]) == [made["id"]]
    assert await every(api, "/v1/procedures", status="draft") == []
    body_of(await api.patch(at, json={"status": "draft"}))
    assert await matched(api, TASKS["zh"]) == []
    assert [one["status"] for one in await every(api, f"{at}/history")] == ["draft", "published", "draft"]


async def test_the_same_title_and_use_is_kept_once_in_a_scope(api: httpx.AsyncClient) -> None:
    await create(api, "en")
    again = PROCEDURES["en"] | {"agent_id": "researcher", "body": "other"}
    problem_of(await api.post("/v1/procedures", json=again), 409, "duplicate_procedure")
    other = await create(api, "en", user_id="ada")
    draft = await create(api, "en", status="draft")
    published = await api.patch(f"/v1/procedures/{draft['id']}", json={"status": "published"})
    problem_of(published, 409, "duplicate_procedure")
    assert other["path"] == "scrape-a-web-page/SKILL.md"
    assert draft["path"] == "scrape-a-web-page-2/SKILL.md"


async def test_outcomes_move_a_procedure_among_others_that_fit(api: httpx.AsyncClient) -> None:
    first = await create(api, "zh")
    second = await create(api, "zh", title="抓取网页的办法")
    ids_ = await matched(api, TASKS["zh"])
    assert set(ids_) == {first["id"], second["id"]}
    for _ in range(6):
        body_of(await api.post(f"/v1/procedures/{ids_[0]}/outcome", json={"outcome": "failure"}))
    told = body_of(await api.post(f"/v1/procedures/{ids_[1]}/outcome", json={"outcome": "success"}))
    assert (told["success_count"], told["failure_count"], told["version"]) == (1, 0, 1)
    assert await matched(api, TASKS["zh"]) == ids_[::-1]


@LANGUAGES
async def test_a_deleted_procedure_is_gone_and_can_be_restored(api: httpx.AsyncClient, language: str) -> None:
    made = await create(api, language)
    at = f"/v1/procedures/{made['id']}"
    problem_of(await api.delete(at, headers={"If-Match": '"9"'}), 412)
    assert (await api.delete(at)).status_code == 204
    problem_of(await api.get(at), 404, "procedure_not_found")
    problem_of(await api.delete(at), 404, "procedure_not_found")
    assert await matched(api, TASKS[language]) == []
    assert await every(api, "/v1/procedures") == []
    body_of(await api.post(f"/v1/memories/{made['id']}/restore"))
    assert await matched(api, TASKS[language]) == [made["id"]]


async def test_levels_above_are_matched_and_other_users_are_not(tenant: Tenant, api: httpx.AsyncClient) -> None:
    mine = await create(api, "zh", user_id="ada")
    agents = await create(api, "zh")
    everybodys = await create(api, "zh", shared=True)
    await create(api, "zh", user_id="bob")
    found = await matched(api, TASKS["zh"], user_id="ada", agent_id="researcher")
    assert set(found) == {mine["id"], agents["id"], everybodys["id"]}
    bound = await tenant.client("member", ["ada"])
    assert set(await matched(bound, TASKS["zh"], user_id="ada")) == {mine["id"], everybodys["id"]}
    problem_of(await bound.patch(f"/v1/procedures/{everybodys['id']}", json={"tags": []}), 403, "foreign_user")
    problem_of(await bound.post("/v1/procedures", json=PROCEDURES["en"] | {"shared": True}), 403)
    assert [one["id"] for one in await every(bound, "/v1/procedures", user_id="ada", tag="网页")] == [mine["id"]]
    problem_of(await api.post("/v1/procedures", json=PROCEDURES["en"]), 422, "scope_required")


async def test_merged_users_keep_their_procedures_and_an_erased_memory_takes_its_own(api: httpx.AsyncClient) -> None:
    made = await create(api, "en", user_id="ada-old")
    await api.patch("/v1/users/ada", json={"timezone": "UTC"})
    body_of(await api.post("/v1/users/ada/merge", json={"from_user_id": "ada-old"}))
    assert [one["id"] for one in await every(api, "/v1/procedures", user_id="ada")] == [made["id"]]
    assert (await api.delete(f"/v1/memories/{made['id']}", params={"erase": True})).status_code == 204
    problem_of(await api.get(f"/v1/procedures/{made['id']}"), 404)


async def test_a_procedure_written_twice_under_one_key_is_one_and_loses_its_secrets(api: httpx.AsyncClient) -> None:
    body = PROCEDURES["en"] | {"agent_id": "a", "body": "Log in: password is hunter2000."}
    once = {"Idempotency-Key": str(ids.new_id())}
    first = body_of(await api.post("/v1/procedures", json=body, headers=once), 201)
    again = await api.post("/v1/procedures", json=body, headers=once)
    assert (again.json(), again.headers["idempotent-replayed"]) == (first, "true")
    assert first["redacted"] == ["password"]
    assert "hunter2000" not in (await api.get(f"/v1/procedures/{first['id']}")).text


def _file(number: int) -> dict[str, str]:
    """A file as people write them: in both languages, with comments, quotes, unknown fields, other line ends."""
    zh = number % 2 == 0
    title, use = (
        (f"流程{number}", f"第{number}号任务：部署") if zh else (f"Procedure {number}", f"Task no. {number}, deploy")
    )
    heads = [
        f"name: p{number}\ndescription: {use}\ntitle: {title}\n",
        f"# 注释 comment\ntitle: '{title}'\nwhen_to_use: \"{use}\"\ntags: [a, '{number}']\nlicense: Apache-2.0\n",
        f"title: {title}\ndescription: >\n  {use},\n  folded\nallowed-tools:\n  - Read\nversion: 1.10\n",
        f"name:   {title}\nwhen_to_use:  {use}\nsteps:\n- one\n- 第二步\nexamples:\n- input: x\n  output: '1'\n",
        f"title: {title}\ndescription: {use}\ntags: a, b\nmetadata: {{x: [1, 2], y: ~}}\nstatus: published\n",
    ]
    body = f"# {title}\n\n---\n\n```yaml\n---\nnot: front matter\n---\n```\n\ttail  \n" + (
        "" if number % 3 else "no line end"
    )
    text = f"---\n{heads[number % 5]}---\n{body}"
    return {"path": f"skills/{number}/SKILL.md", "content": text.replace("\n", "\r\n") if number % 7 == 0 else text}


async def test_fifty_files_come_back_byte_for_byte_and_again_from_where_they_were_taken(
    tenant: Tenant, api: httpx.AsyncClient
) -> None:
    files = [_file(number) for number in range(50)]
    told = body_of(await api.post("/v1/procedures/import", json={"files": files, "agent_id": "a"}), 201)["results"]
    assert {one["result"] for one in told} == {"created"}
    exported = await every(api, "/v1/procedures/export", agent_id="a", limit=20)
    assert exported == files
    again = body_of(await api.post("/v1/procedures/import", json={"files": exported, "agent_id": "a"}), 201)
    assert {(one["result"], one["version"]) for one in again["results"]} == {("unchanged", 1)}
    whole = body_of(await api.get(f"/v1/procedures/{told[3]['id']}"))
    assert (whole["title"], whole["steps"], whole["examples"]) == (
        "Procedure 3",
        ["one", "第二步"],
        [{"input": "x", "output": "1"}],
    )
    assert (await every(api, "/v1/procedures", tag="49")) == []
    await tenant.work()


async def test_procedures_made_by_hand_are_written_as_files_that_read_back_the_same(api: httpx.AsyncClient) -> None:
    for language in ("zh", "en"):
        await create(api, language)
    exported = await every(api, "/v1/procedures/export", agent_id="researcher")
    assert [one["path"] for one in exported] == ["抓取网页/SKILL.md", "scrape-a-web-page/SKILL.md"]
    body_of(await api.post("/v1/procedures/import", json={"files": exported, "agent_id": "copy"}), 201)
    assert await every(api, "/v1/procedures/export", agent_id="copy") == exported
    copies = [
        body_of(await api.get(f"/v1/procedures/{one['id']}"))
        for one in await every(api, "/v1/procedures", agent_id="copy")
    ]
    for copy, language in zip(copies, ("zh", "en"), strict=True):
        assert {name: copy[name] for name in PROCEDURES[language]} == PROCEDURES[language]


async def test_an_edited_file_is_a_further_version_and_unknown_fields_outlive_a_change(api: httpx.AsyncClient) -> None:
    file = {"path": "p.md", "content": "---\nname: p\ndescription: 部署时使用\nlicense: MIT # ours\n---\nold\n"}
    (made,) = body_of(await api.post("/v1/procedures/import", json={"files": [file], "agent_id": "a"}), 201)["results"]
    edited = file | {"content": file["content"].replace("old", "new")}
    (told,) = body_of(await api.post("/v1/procedures/import", json={"files": [edited], "agent_id": "a"}), 201)[
        "results"
    ]
    assert (told["id"], told["result"], told["version"]) == (made["id"], "updated", 2)
    body_of(await api.patch(f"/v1/procedures/{made['id']}", json={"tags": ["x"]}))
    (exported,) = await every(api, "/v1/procedures/export", agent_id="a")
    assert exported["content"] == "---\nname: p\nlicense: MIT\ndescription: 部署时使用\ntags:\n- x\n---\nnew\n"
    again = body_of(await api.post("/v1/procedures/import", json={"files": [exported], "agent_id": "a"}), 201)
    assert again["results"][0]["result"] == "unchanged"


@pytest.mark.parametrize(
    "content",
    [
        "no front matter",
        "---\ntitle: x\n",
        "---\n- a\n---\n",
        "---\ntitle: [\n---\n",
        "---\nname: x\n---\nno use",
        "---\nname: x\ndescription: y\nsteps: {a: b}\n---\n",
        "---\na: &a [x]\nb: *a\nname: x\ndescription: y\n---\n",
        "---\nname: x\ndescription: y\nstatus: secret\n---\n",
        "---\n" + "[" * 1500 + "\n---\n",
        '---\nname: x\ndescription: y\nlicense: "a\\0b"\n---\n',
        '---\nname: x\ndescription: "a\\0b"\n---\n',
        '---\nname: x\ndescription: y\n"\\ud83d": z\n---\n',
    ],
)
async def test_a_file_that_is_none_is_named_and_nothing_is_imported(api: httpx.AsyncClient, content: str) -> None:
    good = {"path": "good.md", "content": "---\nname: good\ndescription: works\n---\n"}
    files = [good, {"path": "bad.md", "content": content}]
    answer = await api.post("/v1/procedures/import", json={"files": files, "agent_id": "a"})
    problem = problem_of(answer, 422, "bad_procedure_file")
    assert [fault["loc"] for fault in problem["errors"]] == [["body", "files", 1, "content"]]
    assert "bad.md" in problem["errors"][0]["msg"]
    assert await every(api, "/v1/procedures") == []


@pytest.mark.parametrize(
    "much", [{"steps": ["步" * 900] * 20}, {"examples": [{"input": "x" * 9000, "output": "y" * 9000}]}]
)
async def test_what_is_too_long_for_front_matter_belongs_in_the_body(
    api: httpx.AsyncClient, much: dict[str, Any]
) -> None:
    answer = await api.post("/v1/procedures", json=PROCEDURES["zh"] | {"agent_id": "a"} | much)
    assert "body" in problem_of(answer, 422)["errors"][0]["msg"]


@pytest.mark.parametrize("path", ["../x.md", "/x.md", "x.txt", "a//b.md", "a\\b.md", "./x.md"])
async def test_a_path_that_leads_elsewhere_is_refused(api: httpx.AsyncClient, path: str) -> None:
    files = [{"path": path, "content": "---\nname: x\ndescription: y\n---\n"}]
    problem_of(await api.post("/v1/procedures/import", json={"files": files, "agent_id": "a"}), 422)
    assert json.dumps(await every(api, "/v1/procedures")) == "[]"
