"""Facts by exact key: one row that programs read and people search, every value it had, the registry of keys."""

import httpx
import pytest

from tests.conftest import Tenant
from tests.routers.calls import add, body_of, every, problem_of, texts_found

VALUES = {"zh": ["北京", "上海", "杭州"], "en": ["Oslo", "Berlin", "Lisbon"]}
LANGUAGES = pytest.mark.parametrize("language", ["zh", "en"])


@LANGUAGES
async def test_a_key_tells_every_value_that_it_had(api: httpx.AsyncClient, language: str) -> None:
    for value in VALUES[language]:
        await api.put("/v1/users/ada/facts/居住地", json={"value": value})
        assert body_of(await api.get("/v1/users/ada/facts/user.city"))["value"] == value
    rows = await every(api, "/v1/users/ada/facts/home.location/history", limit=2)
    assert [row["value"] for row in rows] == VALUES[language][::-1]
    assert [row["status"] for row in rows] == ["active", "superseded", "superseded"]
    assert rows[1]["valid_to"] == rows[0]["valid_from"]
    assert (await api.delete("/v1/users/ada/facts/user.city")).status_code == 204
    problem_of(await api.get("/v1/users/ada/facts/user.city"), 404, "fact_not_found")
    assert (await every(api, "/v1/users/ada/facts/user.city/history"))[0]["status"] == "deleted"
    problem_of(await api.get("/v1/users/ada/facts/user.job/history"), 404, "fact_not_found")


@LANGUAGES
async def test_a_fact_is_one_row_for_programs_and_for_search(api: httpx.AsyncClient, language: str) -> None:
    text = {"zh": "艾达用 vim 写代码。", "en": "Ada writes code in vim."}[language]
    put = body_of(await api.put("/v1/users/ada/facts/tool.editor", json={"value": "vim", "text": text}), 201)
    assert await texts_found(api, "vim", user_id="ada") == [text]
    memory = body_of(await api.get(f"/v1/memories/{put['memory_id']}"))
    assert (memory["key"], memory["value"], memory["text"]) == (put["key"], "vim", text)
    assert [row["id"] for row in await every(api, "/v1/memories", user_id="ada")] == [put["memory_id"]]


@LANGUAGES
async def test_keys_are_listed_by_prefix_and_the_registry_is_browsed(api: httpx.AsyncClient, language: str) -> None:
    address = {"zh": "数据库在 10.0.0.5:5432", "en": "db.example:5432"}[language]
    for key in ("project.database", "project.owner", "tool.editor"):
        await api.put(f"/v1/users/ada/facts/{key}", json={"value": address})
    listed = await every(api, "/v1/users/ada/facts", prefix="project.", limit=1)
    assert [(fact["key"], fact["value"]) for fact in listed] == [
        ("project.database", address),
        ("project.owner", address),
    ]
    keys = {key["key"]: key for key in await every(api, "/v1/keys", limit=50)}
    assert "居住地" in keys["user.city"]["aliases"]


async def test_history_is_seen_by_those_who_see_the_user(tenant: Tenant, api: httpx.AsyncClient) -> None:
    await api.put("/v1/users/ada/facts/user.city", json={"value": "Oslo"})
    bound = await tenant.client("reader", ["ada"])
    assert len(await every(bound, "/v1/users/ada/facts/user.city/history")) == 1
    stranger = await tenant.client("member", ["bob"])
    problem_of(await stranger.get("/v1/users/ada/facts/user.city/history"), 404, "fact_not_found")


async def test_a_facts_version_goes_on_whichever_way_its_value_comes(api: httpx.AsyncClient) -> None:
    path = "/v1/users/ada/facts/user.city"
    for number, city in enumerate(("Lisbon", "里斯本", "Porto"), start=1):
        assert body_of(await api.put(path, json={"value": city}), 201 if number == 1 else 200)["version"] == number
    added = await add(api, "I live in Oslo.", key="user.city", value="Oslo")
    assert added["version"] == 4
    found = await api.get(path)
    assert (body_of(found)["version"], found.headers["etag"]) == (4, '"4"')
    problem_of(await api.put(path, json={"value": "Riga", "version": 1}), 412)
