"""The profile: what the user stated or somebody confirmed, with its sources; insights apart; told once in a context."""

from typing import Any

import httpx
import pytest

from tests.conftest import Tenant
from tests.routers.calls import add, body_of, open_session, problem_of, say

FACTS = {
    "en": (
        "Ada lives in Lisbon.",
        "Ada prefers short answers.",
        "Ada seems to like jazz.",
        "Ada's cat is called Miso.",
    ),
    "zh": ("艾达住在里斯本。", "艾达喜欢简短的回答。", "艾达好像喜欢爵士乐。", "艾达的猫叫味噌。"),
}
LANGUAGES = ("en", "zh")


async def profile_of(api: httpx.AsyncClient, user: str = "ada") -> dict[str, Any]:
    found: dict[str, Any] = body_of(await api.get(f"/v1/users/{user}/profile"))
    return found


def facts_in(profile: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {fact["text"]: fact for section in profile["sections"] for fact in section["facts"]}


async def insight(api: httpx.AsyncClient, text: str, based_on: list[str]) -> dict[str, Any]:
    return await add(api, text, source="derived", metadata={"insight": {"method": "counted", "based_on": based_on}})


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_profile_has_what_was_stated_or_confirmed_with_its_sources_and_insights_apart(
    api: httpx.AsyncClient, language: str
) -> None:
    home, taste, guess, cat = FACTS[language]
    await say(api, "s", home, user_id="ada")
    source = {"session_id": "s", "seqs": [1], "quote": home}
    kept = await add(api, home, key="user.city", value="Lisbon", category="identity", sources=[source])
    await add(api, taste, category="preference")
    guessed = await add(api, guess, source="inferred", category="preference")
    imported = await add(api, cat, source="imported")
    await add(api, "Only here. 仅此处。", session_id="s", user_id="ada")
    concluded = await insight(api, "Often about Lisbon. 常提到里斯本。", [kept["id"]])
    profile = await profile_of(api)
    assert set(facts_in(profile)) == {home, taste}
    fact = facts_in(profile)[home]
    assert (fact["memory_id"], fact["source"], fact["confirmed"]) == (kept["id"], "user_stated", False)
    assert [(one["session_id"], one["seqs"], one["quote"]) for one in fact["sources"]] == [("s", [1], home)]
    assert [one["memory_id"] for one in profile["insights"]] == [concluded["id"]]
    assert profile["insights"][0]["based_on"] == [kept["id"]]
    assert profile["language"] == language
    assert [section["name"] for section in profile["sections"]] == ["identity", "preferences"]
    for one in (guessed, imported):
        body_of(await api.post(f"/v1/memories/{one['id']}/confirm", json={}))
    now = facts_in(await profile_of(api))
    assert now[guess]["confirmed"]
    assert now[cat]["confirmed"]
    assert not now[home]["confirmed"]


async def test_a_profile_of_a_stranger_is_as_absent_as_that_of_nobody(tenant: Tenant, api: httpx.AsyncClient) -> None:
    await add(api, FACTS["en"][0])
    stranger = await tenant.client("member", ["bob"])
    for path in ("profile", "memory.md", "timeline"):
        problem_of(await stranger.get(f"/v1/users/ada/{path}"), 404, "user_not_found")
        problem_of(await api.get(f"/v1/users/nobody/{path}"), 404, "user_not_found")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_first_context_of_a_session_tells_the_profile_and_the_second_does_not(
    api: httpx.AsyncClient, language: str
) -> None:
    home, taste, guess, _ = FACTS[language]
    for number in range(8):
        await add(api, f"{taste[:-1]} {number}{taste[-1]}", importance=9)
    await add(api, home, importance=4)
    await add(api, guess, source="inferred")
    await insight(api, "Often about Lisbon. 常提到里斯本。", [])
    hidden = await add(api, "Hidden. 隐藏。", use="never_in_context", importance=10)
    await open_session(api, "s", user_id="ada")
    await say(api, "s", {"en": "What colour is the sky on Mars?", "zh": "火星的天空是什么颜色?"}[language])
    first = body_of(await api.post("/v1/sessions/s/context", json={"token_budget": 8000}))
    (section,) = [one for one in first["sections"] if one["name"] == "profile"]
    told = [item["text"] for item in section["items"]]
    assert any(home in text for text in told), told
    assert not any(guess in text for text in told)
    assert any("(insight)" in text or "(推断)" in text for text in told) or any(
        item["source"] == "derived" for one in first["sections"] for item in one["items"]
    )
    assert len(set(first["memory_ids"])) == len(first["memory_ids"])
    assert hidden["id"] not in first["memory_ids"]
    await say(api, "s", "Butterscotch. 奶油糖色。", role="assistant")
    await say(api, "s", {"en": "And on Titan?", "zh": "那土卫六呢?"}[language])
    second = body_of(await api.post("/v1/sessions/s/context", json={"token_budget": 8000}))
    (section,) = [one for one in second["sections"] if one["name"] == "profile"]
    assert section["items"] == []


async def test_what_the_user_says_otherwise_now_is_left_out_of_the_profile(api: httpx.AsyncClient) -> None:
    for number in range(8):
        await add(api, f"Ada prefers short answers {number}.", importance=9)
    home = await add(api, "The user lives in Lisbon.", key="user.city", value="Lisbon", importance=3)
    await say(api, "s", "I live in Oslo now, tell me about Mars.", user_id="ada")
    found = body_of(await api.post("/v1/sessions/s/context", json={"token_budget": 8000}))
    assert home["id"] not in found["memory_ids"]
    assert [one["memory_id"] for one in found["conflicts"]] == [home["id"]]
