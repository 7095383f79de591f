"""What the service has served into a prompt comes back: nothing is learnt from it, whatever served it."""

import httpx
import pytest

from app.domain.fence import is_genuine
from tests.conftest import Tenant
from tests.context.test_context import ASKED, FACT, LANGUAGES, context, section
from tests.routers.calls import add, body_of, problem_of, say
from tests.routers.test_lessons import SCRAPING, learn
from tests.routers.test_tools import call, error_of, make_block, text_of

SAID = {"en": "I live in Lisbon and my cat is called Biscuit.", "zh": "我住在杭州，我的猫叫豆豆。"}
NEW = {"en": "I live in Porto.", "zh": "我住在苏州。"}
PASTED = {"en": "Look:\n", "zh": "看：\n"}
QUERY = {"en": "Lisbon cat Biscuit", "zh": "杭州 猫 豆豆"}


async def everything_served(api: httpx.AsyncClient, tenant: Tenant, language: str) -> list[str]:
    """What a context and every tool that reads or repeats memory give to a model."""
    await add(api, SAID[language])
    await add(api, FACT[language])
    await make_block(api, SAID[language])
    await say(api, "first", SAID[language], user_id="ada")
    await say(api, "first", ASKED[language])
    found = await context(api, "first", format="text", query=f"{QUERY[language]} {ASKED[language]}")
    assert SAID[language] in section(found, "facts")["text"]
    return [
        *(one["text"] for one in found["sections"] if one["items"]),
        await text_of(api, "archival_memory_search", {"query": QUERY[language]}),
        await text_of(api, "conversation_search", {"query": QUERY[language]}),
        await text_of(api, "core_memory_replace", {"label": "human", "old_content": "。", "new_content": "。"})
        if language == "zh"
        else await text_of(api, "core_memory_replace", {"label": "human", "old_content": ".", "new_content": "."}),
    ]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_a_tool_serves_is_signed_with_the_key_of_the_tenants_contexts(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    key = (await tenant.principal()).defaults.fence_key
    for text in await everything_served(api, tenant, language):
        assert is_genuine(text[text.index("[[") :], key=key), text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("way", ["messages", "turns", "extract"])
async def test_a_context_and_tool_results_that_are_pasted_back_give_no_memory(
    api: httpx.AsyncClient, tenant: Tenant, language: str, way: str
) -> None:
    served = await everything_served(api, tenant, language)
    await tenant.work()
    bob = {"user_id": "bob"}
    messages = [{"role": "user", "content": PASTED[language] + text} for text in served]
    messages += [{"role": "tool", "content": text, "tool_call_id": "c1"} for text in served]
    messages.append({"role": "user", "content": f"{served[0]}\n{NEW[language]}\n> {served[1]}"})
    match way:
        case "messages":
            body_of(await api.post("/v1/sessions/b/messages", json=bob | {"messages": messages}), 201)
        case "turns":
            body_of(await api.post("/v1/sessions/b/turns", json=bob | {"messages": messages}), 201)
        case _:
            body_of(await api.post("/v1/memories/extract", json=bob | {"messages": messages}))
    await tenant.work()
    listed = body_of(await api.get("/v1/memories", params={**bob, "include_uncertain": True}))["results"]
    assert [memory["text"].rstrip(".。") for memory in listed] == [NEW[language].rstrip(".。")]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_model_that_keeps_what_it_was_given_is_told_so_and_keeps_its_own_words_alone(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    served = await everything_served(api, tenant, language)
    for text in (one[one.index("[[") :] for one in served):
        told = await error_of(api, "archival_memory_insert", {"content": text})
        assert "已经保存过了" in told or "kept already" in told
        assert (await call(api, "core_memory_append", {"label": "human", "content": text}))["is_error"]
    kept = await text_of(api, "archival_memory_insert", {"content": f"{served[0]}\n{NEW[language]}"})
    assert NEW[language] in kept
    both = {"user_id": "ada", "include_uncertain": True}
    listed = body_of(await api.get("/v1/memories", params=both))["results"]
    assert sorted(memory["text"] for memory in listed) == sorted([SAID[language], FACT[language], NEW[language]])
    block = body_of(await api.get("/v1/blocks/human?user_id=ada"))
    assert block["text"] == SAID[language]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_pasted_context_is_not_what_is_searched_for(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    served = (await everything_served(api, tenant, language))[0]
    await say(api, "s", f"{served}\n{ASKED[language]}", user_id="ada")
    found = await context(api)
    facts = [item["text"] for item in section(found, "facts")["items"] if FACT[language] in item["text"]]
    assert facts
    await say(api, "only", served, user_id="ada")
    assert (await context(api, "only"))["rewritten_query"] is None
    problem_of(await api.post("/v1/sessions/none/context", json={}), 404, "session_not_found")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_an_attempt_teaches_nothing_of_what_memory_served_into_it(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    for served in await everything_served(api, tenant, language):
        steps = [{"action": "GET /", "result": served, "outcome": "failure"}, {"action": served, "outcome": "failure"}]
        evaluation = f"{SCRAPING[language]['evaluation']}\n{served}"
        told = SCRAPING[language] | {"steps": steps, "evaluation": evaluation}
        learnt = await learn(api, told, user_id="ada")
        assert "User-Agent" in learnt["lesson"]["text"]
        assert SAID[language] not in learnt["lesson"]["text"]
