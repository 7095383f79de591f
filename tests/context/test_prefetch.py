"""What is prepared before a context is asked for: used while nothing has changed, never served when it has."""

from datetime import timedelta
from typing import Any

import httpx
import pytest
import time_machine

from app.core import clock
from tests.conftest import Tenant, tenant_of
from tests.context.test_context import ASKED, FACT, HELLO, LANGUAGES, RULE, context
from tests.context.test_summaries import ADA, assistant, fold, told, user
from tests.routers.calls import add, body_of, every, open_session, problem_of, say


async def warm(api: httpx.AsyncClient, session: str = "s", **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = body_of(await api.post(f"/v1/sessions/{session}/context/prefetch", json=fields))
    return found


@pytest.mark.parametrize("language", LANGUAGES)
async def test_after_a_users_message_the_next_context_is_prepared_and_is_the_same_as_one_that_is_not(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    await add(api, FACT[language])
    await add(api, RULE[language], category="constraint", pinned=True)
    await say(api, "s", ASKED[language], **ADA)
    cold = await context(api)
    await tenant.work()
    ready = await context(api)
    assert (cold["prefetched"], ready["prefetched"]) == (False, True)
    assert len(ready["memory_ids"]) == 2
    assert {**ready, "prefetched": False} == cold


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "change",
    ["a new memory", "a changed one", "a deleted one", "a new shared one", "one for no context", "settings", "later"],
)
async def test_a_prefetch_is_not_served_once_something_has_changed(
    api: httpx.AsyncClient, tenant: Tenant, language: str, change: str
) -> None:
    memory = await add(api, FACT[language])
    await say(api, "s", ASKED[language], **ADA)
    await tenant.work()
    assert (await context(api))["prefetched"]
    path, fresh = f"/v1/memories/{memory['id']}", FACT[language].rstrip(".。") + " 2027."
    at = clock.now()
    match change:
        case "a new memory":
            await add(api, fresh)
        case "a changed one":
            body_of(await api.patch(path, json={"text": fresh}))
        case "a deleted one":
            assert (await api.delete(path)).status_code == 204
        case "a new shared one":
            await add(api, fresh, shared=True)
        case "one for no context":
            body_of(await api.patch(path, json={"use": "never_in_context"}))
        case "settings":
            body_of(await api.patch("/v1/admin/settings", json={"search_legs": {"dense": 0}}))
        case "later":
            at += timedelta(hours=2)
    with time_machine.travel(at, tick=True):
        found = await context(api)
    assert not found["prefetched"]
    served = "\n".join(str(message["content"]) for message in found["messages"])
    assert (FACT[language] in served) == (change in {"a new memory", "a new shared one", "settings", "later"})
    assert (fresh in served) == (change in {"a new memory", "a changed one", "a new shared one"})


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_memory_that_ends_meanwhile_is_not_served_from_a_prefetch(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    await add(api, FACT[language], ttl=60)
    await say(api, "s", ASKED[language], **ADA)
    await tenant.work()
    assert (await context(api))["memory_ids"]
    with time_machine.travel(clock.now() + timedelta(seconds=61), tick=True):
        found = await context(api)
    assert (found["prefetched"], found["memory_ids"]) == (False, [])


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_prefetch_is_not_served_for_another_question_or_in_another_place(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    await add(api, FACT[language])
    await say(api, "s", ASKED[language], **ADA)
    await tenant.work()
    other = {"en": "When does the bank open?", "zh": "银行几点开门?"}[language]
    assert not (await context(api, query=other))["prefetched"]
    assert not (await context(api, include_uncertain=True))["prefetched"]
    assert not (await context(api, weights={"recency": 0.9}))["prefetched"]
    assert (await context(api))["prefetched"]
    await told(api, "s", assistant("OK"), user(other), assistant("OK"))
    assert not (await context(api, query=ASKED[language]))["prefetched"]
    assert (await api.delete("/v1/sessions/s/messages/4")).status_code == 204


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_somebody_types_warms_the_context_of_the_message_that_it_becomes(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    await add(api, FACT[language])
    await told(api, "s", user(HELLO[language]), assistant("OK"))
    typed = ASKED[language].rstrip("?")
    warmed = await warm(api, partial_input=typed)
    assert (warmed["prepared"], warmed["memories"], warmed["query"]) == (True, 1, typed)
    await say(api, "s", ASKED[language], **ADA)
    found = await context(api)
    assert found["prefetched"]
    assert FACT[language] in "\n".join(str(message["content"]) for message in found["messages"])
    # One word more is another question.
    await warm(api, partial_input=typed[: len(typed) // 2])
    more = await context(api, query=ASKED[language] + {"en": " Zurich?", "zh": "苏黎世?"}[language])
    assert not more["prefetched"]


@pytest.mark.parametrize(
    ("typed", "asked", "other"),
    [
        ("What did I drink in", "What did I drink in May?", "What did I drink in"),
        ("Who is", "Who is Will?", "Who is  "),
        ("谁是", "谁是的？", "谁是？"),
        ("我喝的是", "我喝的是什么", "我喝的是……"),
    ],
)
async def test_a_word_that_no_index_keeps_makes_another_question_of_what_was_typed(
    api: httpx.AsyncClient, tenant: Tenant, typed: str, asked: str, other: str
) -> None:
    await add(api, FACT["en"])
    await told(api, "s", user("Hello there, my friend."), assistant("OK"))
    await warm(api, partial_input=typed)
    assert (await context(api, query=other))["prefetched"]
    assert not (await context(api, query=asked))["prefetched"]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_an_extraction_or_a_fold_makes_the_prepared_context_anew(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    live = {"en": "I live in Lisbon.", "zh": "我住在杭州。"}[language]
    asked = {"en": "Which city do I live in?", "zh": "我住在哪座城市?"}[language]
    await told(api, "s", user(live), assistant("OK"), user(asked))
    await tenant.work()
    found = await context(api)
    assert (found["prefetched"], len(found["memory_ids"])) == (True, 1)
    await told(api, "s", *[one for _ in range(15) for one in (assistant("OK"), user(asked))])
    await tenant.work()
    assert (await context(api))["prefetched"]
    await fold(api, keep_turns=1)
    assert not (await context(api))["prefetched"]


async def test_what_was_prepared_is_gone_an_hour_later(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await add(api, FACT["en"])
    await say(api, "s", ASKED["en"], **ADA)
    await tenant.work()

    async def swept(at: Any) -> int:
        with time_machine.travel(at, tick=True):
            async with tenant.services.uow.begin_tenant(tenant.id) as tx:
                await tx.jobs.enqueue("sweep", "tenant", clock.now())
            await tenant.work()
        async with tenant.services.uow.begin_tenant(tenant.id) as tx:
            return len(await tx.contexts.prepared("s"))

    assert await swept(clock.now()) == 1
    assert await swept(clock.now() + timedelta(minutes=61)) == 0


@pytest.mark.parametrize("language", LANGUAGES)
async def test_small_talk_and_sessions_without_memory_prepare_nothing(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    await add(api, FACT[language])
    await say(api, "s", HELLO[language], **ADA)
    assert not (await warm(api))["prepared"]
    await open_session(api, "off", user_id="ada", memory="off")
    assert not (await warm(api, "off", partial_input=ASKED[language]))["prepared"]
    await open_session(api, "empty", user_id="ada")
    assert await warm(api, "empty") == {
        "session_id": "empty", "prepared": False, "query": None, "memories": 0, "last_seq": 0,
    }  # fmt: skip
    problem_of(await api.post("/v1/sessions/none/context/prefetch", json={}), 404, "session_not_found")


async def test_hits_stale_ones_and_misses_are_counted(api: httpx.AsyncClient, tenant: Tenant) -> None:
    async def counted() -> dict[str, float]:
        metrics = tenant.services.metrics
        return {one: metrics.prefetches.labels(one)._value.get() for one in ("hit", "stale", "miss")}

    await add(api, FACT["en"])
    await say(api, "s", ASKED["en"], **ADA)
    before = await counted()
    await context(api)
    await tenant.work()
    await context(api)
    await add(api, FACT["zh"])
    await context(api)
    after = await counted()
    assert {one: after[one] - before[one] for one in after} == {"hit": 1, "stale": 1, "miss": 1}
    assert "mnemic_context_prefetches_total" in (await api.get("/metrics")).text


async def test_no_context_is_prepared_for_a_tenant_who_never_asks_for_one(app: Any, tenant: Tenant) -> None:
    other = await tenant_of(tenant.services, app)
    client = await other.client()
    for text in (ASKED["en"], ASKED["zh"]):
        await say(client, "s", text, **ADA)
        await other.work()
    assert "prefetch" not in {job["kind"] for job in await every(client, "/v1/jobs")}
    assert not (await context(client))["prefetched"]
    await say(client, "s", ASKED["en"], **ADA)
    await other.work()
    assert (await context(client))["prefetched"]
    await other.close()
