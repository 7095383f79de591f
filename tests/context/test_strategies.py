"""A long session in each language, by every strategy: what must be in a context, and what appending costs."""

import httpx
import pytest

from app.domain.budget import estimate_tokens
from tests.conftest import Tenant
from tests.context.conftest import Long
from tests.context.test_context import context
from tests.context.test_summaries import assistant, chatter, told, user
from tests.routers.calls import add, body_of, say

LANGUAGES = ("en", "zh")
OF_ALL = ("summary", "hierarchical", "selective")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("strategy", OF_ALL)
async def test_a_context_of_4000_tokens_has_the_early_constraint_the_newest_value_and_the_last_messages(
    long: Long, language: str, strategy: str
) -> None:
    said = long.told[language]
    found = await long.context(
        language,
        strategy,
        token_budget=4_000,
        query=said.fact_question,
        format="text",  # type: ignore[arg-type]
    )
    assert estimate_tokens(found["text"]) <= found["tokens"] <= 4_000
    assert (found["strategy"], found["fell_back_from"]) == (strategy, None)
    assert said.constraint in found["text"]
    assert said.values[-1] in found["text"]
    assert [value for value in said.values[:-1] if value in found["text"]] == []
    for message in said.messages[-6:]:
        assert message["content"] in found["text"]
    assert found["recent"][-1]["seq"] == len(said.messages)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_answers_to_questions_about_it_stand_in_a_context_of_3000_tokens(long: Long, language: str) -> None:
    details = long.told[language].details
    missed = []
    for detail in details:
        found = await long.context(language, token_budget=3_000, query=detail.question, format="text")
        assert found["tokens"] <= 3_000
        if detail.answer not in found["text"]:
            missed.append(detail)
    assert len(details) == 20  # 40 in both languages
    assert len(missed) <= 2, missed


@pytest.mark.parametrize("language", LANGUAGES)
async def test_full_falls_back_to_the_summary_where_the_budget_does_not_hold_it_and_says_so(
    long: Long, language: str
) -> None:
    said = long.told[language]
    small = await long.context(language, "full", token_budget=800, format="text")
    assert (small["strategy"], small["fell_back_from"]) == ("summary", "full")
    assert small["tokens"] <= 800
    large = await long.context(language, "full", token_budget=200_000, format="text")
    assert (large["strategy"], large["fell_back_from"]) == ("full", None)
    assert len(large["recent"]) == len(said.messages)
    assert said.values[0] in large["text"]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_window_is_the_last_turns_or_tokens_and_nothing_else_of_the_conversation(
    long: Long, language: str
) -> None:
    said = long.told[language]
    found = await long.context(language, "window", window_turns=3)
    assert [one["seq"] for one in found["recent"]] == list(range(len(said.messages) - 5, len(said.messages) + 1))
    assert "".join(item["text"] for one in found["sections"] if one["name"] == "summary" for item in one["items"]) == ""
    few = await long.context(language, "window", window_turns=50, window_tokens=120)
    assert 0 < sum(one["tokens"] for one in few["recent"]) <= 120


@pytest.mark.parametrize("language", LANGUAGES)
async def test_selective_shows_what_the_question_is_about_with_what_stood_beside_it(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    asked = {"en": "Which glaze did the potter try?", "zh": "陶艺师试了哪种釉?"}[language]
    told_before = {"en": "The potter tried a glaze yesterday.", "zh": "陶艺师昨天试了一种釉。"}[language]
    beside = {"en": "Was it the celadon one from Longquan?", "zh": "是龙泉的青瓷釉吗?"}[language]
    await chatter(api, "s", language, 3)
    await told(api, "s", user(told_before), assistant(beside), user({"en": "Yes.", "zh": "是的。"}[language]))
    await chatter(api, "s", language, 18)
    await tenant.work()
    found = await context(api, strategy="selective", query=asked, format="text")
    assert told_before in found["text"]
    assert beside in found["text"]
    items = next(one for one in found["sections"] if one["name"] == "summary")["items"]
    assert {item["from_seq"] for item in items} >= {7, 8}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_tenants_own_strategy_budget_and_window_hold_where_a_request_names_none(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    own = {"context_strategy": "window", "context_token_budget": 900, "window_turns": 2}
    assert body_of(await api.patch("/v1/admin/settings", json=own)) | own == body_of(
        await api.get("/v1/admin/settings")
    )
    await chatter(api, "s", language, 6)
    found = await context(api)
    assert (found["strategy"], found["token_budget"], len(found["recent"])) == ("window", 900, 4)
    other = await context(api, strategy="summary", token_budget=500, window_turns=3)
    assert (other["strategy"], other["token_budget"]) == ("summary", 500)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_is_neither_folded_nor_fits_is_still_told(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    """The worker is behind: nothing was folded, and the budget does not hold all messages."""
    decided = {"en": "We decided to paint the boat blue.", "zh": "我们决定把船刷成蓝色。"}[language]
    await told(api, "s", user(decided), assistant("OK"))
    await chatter(api, "s", language, 25)
    found = await context(api, token_budget=400, strategy="summary", format="text")
    assert decided in found["text"]
    assert found["degraded"] == []


async def test_appending_costs_the_same_jobs_and_the_summary_stays_as_long_however_long_the_session_is(
    api: httpx.AsyncClient, tenant: Tenant
) -> None:
    """The times stand in the benchmark; here what is done is counted."""

    async def grown(session: str, messages: int) -> tuple[int, int]:
        for start in range(0, messages, 60):
            turns = range(start // 2, start // 2 + 30)
            said = [one for n in turns for one in (user(f"Parcel {n} weighs {n + 100} grams."), assistant("OK"))]
            await told(api, session, *said)
            await tenant.work()
        await say(api, session, "Parcel 77 is lost.")
        runs = await tenant.work()
        tree = body_of(await api.get(f"/v1/sessions/{session}/summary"))["tree"]
        return runs, sum(node["tokens"] for node in tree if node["current"])

    short, long = await grown("short", 60), await grown("long", 300)
    assert long[0] == short[0]
    assert long[1] <= 1_100


async def test_memories_and_constraints_of_a_user_stand_in_the_context_of_a_long_session_too(long: Long) -> None:
    long.tenant.app.state.services = long.tenant.services
    await add(long.api, "The roof of the barn is made of slate.", user_id="en")
    found = await long.context("en", query="What is the roof of the barn made of?")
    assert len(found["memory_ids"]) == 1
