"""Sessions as agents really have them: long messages, emoji, prompts of the host, facts that change again and again."""

from dataclasses import replace
from typing import Any

import httpx
import pytest

from app.services.context.prefetching import PrefetchService
from app.services.context.recalled import Recalled
from tests.conftest import Tenant
from tests.context.test_context import ASKED, FACT, context, section, shown
from tests.context.test_summaries import (
    ADA,
    CONSTRAINT,
    DECISION,
    LANGUAGES,
    SYSTEM,
    assistant,
    chatter,
    fold,
    summary,
    texts,
    told,
    user,
)
from tests.routers.calls import add, body_of, open_session, say

VALUES = {
    "en": (
        "My budget for the trip is 1200 euros.",
        "We raised the budget for the trip to 1500 euros.",
        "The trip budget is now 1800 euros.",
        "Actually, make the budget 2100 euros.",
    ),
    "zh": (
        "这次旅行的预算是1200欧元。",
        "旅行预算提高到1500欧元。",
        "旅行的预算现在是1800欧元。",
        "其实预算改成2100欧元吧。",
    ),
}
PASSAGE = {"en": "The ferry to Lofoten leaves from quay 17.", "zh": "去罗弗敦的渡轮从17号码头出发。"}
ABOUT = {"en": "From which quay does the ferry to Lofoten leave?", "zh": "去罗弗敦的渡轮从几号码头出发?"}
NOTES = {"en": "The archive keeps maps of the coast in boxes by parish. ", "zh": "档案馆按教区把海岸的地图放在盒子里。"}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_of_a_fact_that_changed_three_times_another_session_is_told_the_last_value_alone(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    for value in VALUES[language]:
        await told(api, "first", user(value), assistant("OK"))
        await tenant.work()
    asked = {"en": "What is the budget for the trip?", "zh": "旅行的预算是多少?"}[language]
    await say(api, "second", asked, **ADA)
    told_now = shown(await context(api, "second"))
    assert "2100" in told_now
    assert [old for old in ("1200", "1500", "1800") if old in told_now] == []


@pytest.mark.parametrize("language", LANGUAGES)
async def test_of_a_very_long_message_the_passage_is_shown_that_the_question_is_about(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    pages = "".join(NOTES[language].replace("parish", f"parish {n}").replace("教区", f"教区{n}") for n in range(40))
    await told(api, "s", user(pages + PASSAGE[language] + NOTES[language] * 5), assistant("OK"))
    await chatter(api, "s", language, 18)
    await tenant.work()
    found = await context(api, query=ABOUT[language], strategy="selective")
    items = [item for item in section(found, "summary")["items"] if "17" in item["text"]]
    assert items
    assert items[0]["from_seq"] == items[0]["to_seq"] == 1
    assert max(len(item["text"]) for item in items) < 500


@pytest.mark.parametrize("language", LANGUAGES)
async def test_figures_alone_are_told_with_the_sentence_that_says_of_what(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    said = {"en": "🎉🎉 We booked the flights! ✈️ TP 1357", "zh": "🎉🎉机票订好了! ✈️ TP 1357"}[language]
    await told(api, "s", user(said), assistant("👍"))
    assert texts(await fold(api, keep_turns=0)) == [said]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("turns", [2, 16])
async def test_the_hosts_system_message_stands_first_and_stays_where_the_budget_is_small(
    api: httpx.AsyncClient, tenant: Tenant, language: str, turns: int
) -> None:
    await told(api, "s", {"role": "system", "content": SYSTEM[language]}, user(DECISION[language]), assistant("OK"))
    await chatter(api, "s", language, turns)
    await tenant.work()
    await say(api, "s", ASKED[language], **ADA)
    for budget, strategy in ((200, "summary"), (2_000, "summary"), (200, "window"), (2_000, "window")):
        found = await context(api, token_budget=budget, strategy=strategy)
        assert found["messages"][0] == {"role": "system", "content": SYSTEM[language]}
        assert found["messages"][-1] == {"role": "user", "content": ASKED[language]}
        assert sum(message["content"] == SYSTEM[language] for message in found["messages"]) == 1


@pytest.mark.parametrize("language", LANGUAGES)
async def test_two_sessions_at_once_do_not_see_each_others_messages(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    await open_session(api, "a", user_id="ada", memory="off")
    await open_session(api, "b", user_id="ada", memory="off")
    for n in range(16):
        await told(api, "a", user(f"ALPHA {n} {DECISION[language]}"), assistant("OK"))
        await told(api, "b", user(f"BETA {n} {CONSTRAINT[language]}"), assistant("OK"))
    await tenant.work()
    for own, other, session in (("ALPHA", "BETA", "a"), ("BETA", "ALPHA", "b")):
        text = shown(await context(api, session))
        assert own in text
        assert other not in text


@pytest.mark.parametrize("language", LANGUAGES)
async def test_preferences_numbers_and_names_are_kept_by_the_summary(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    likes = {"en": "I prefer window seats to aisle seats.", "zh": "我更喜欢靠窗的座位。"}[language]
    await told(api, "s", user(likes), assistant("OK"), user(DECISION[language]), assistant("OK"))
    await chatter(api, "s", language, 8)
    found = await fold(api, keep_turns=0)
    assert texts(found) == [likes, DECISION[language]]
    assert found["sentences"][0]["sort"] == "preference"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_segment_ends_where_another_topic_begins(api: httpx.AsyncClient, tenant: Tenant, language: str) -> None:
    boat = {
        "en": "We sand the hull of the boat and varnish the deck of the boat with {n} coats before the hull dries.",
        "zh": "我们先打磨小船的船体,再给小船的甲板刷{n}层清漆,等船体晾干。",
    }[language]
    tax = {
        "en": "The accountant wants {n} receipts about office furniture for the yearly tax declaration of our company.",
        "zh": "会计为公司年度报税还要{n}张办公家具的发票。",
    }[language]
    said = [(boat.format(n=n + 2), "Ahoy") for n in range(4)] + [(tax.format(n=n + 30), "Noted") for n in range(4)]
    await told(api, "s", *[one for text, answer in said for one in (user(text), assistant(answer))])
    tree = (await fold(api, keep_turns=0))["tree"]
    spans = sorted((node["from_seq"], node["to_seq"]) for node in tree if node["level"] == 0)
    assert spans == [(1, 8), (9, 16)]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_hierarchical_opens_the_summary_where_the_question_points(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    body_of(await api.patch("/v1/admin/settings", json={"summary_max_tokens": 150, "window_turns": 2}))
    template = {"en": "The order number {n} goes to shelf {m}.", "zh": "订单号{n}放到{m}号货架。"}[language]
    for part in range(9):
        lines = [template.format(n=1000 + 17 * part + number, m=50 + 5 * part + number) for number in range(4)]
        await told(api, "s", *[one for text in lines for one in (user(text), assistant("OK"))])
        await tenant.work()
    wanted = {"en": "To which shelf goes the order number 1017?", "zh": "订单号1017放到几号货架?"}[language]
    answer = template.format(n=1017, m=55)
    assert answer not in (await summary(api))["text"]
    opened = await context(api, query=wanted, strategy="hierarchical", format="text")
    assert answer in opened["text"]
    assert answer not in (await context(api, query=wanted, strategy="summary", format="text"))["text"]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_is_prepared_of_a_long_session_is_the_same_in_every_strategy_as_what_is_not(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    await add(api, FACT[language])
    await told(api, "s", {"role": "system", "content": SYSTEM[language]}, user(CONSTRAINT[language]), assistant("OK"))
    for value in VALUES[language]:
        await told(api, "s", user(value), assistant("OK"))
        await chatter(api, "s", language, 6)
        await tenant.work()
    await say(api, "s", ASKED[language], **ADA)
    wishes = [
        {"strategy": one, "token_budget": 900} for one in ("full", "window", "summary", "hierarchical", "selective")
    ]
    cold = [await context(api, **wish) for wish in wishes]
    body_of(await api.post("/v1/sessions/s/context/prefetch", json={}))
    ready = [await context(api, **wish) for wish in wishes]
    assert {one["prefetched"] for one in cold} == {False}
    assert ready == [{**one, "prefetched": True} for one in cold]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_message_that_is_taken_back_while_the_context_is_prepared_is_not_kept(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    await told(api, "s", user(DECISION[language]), assistant("OK"))
    await chatter(api, "s", language, 16)
    await tenant.work()
    await say(api, "s", ASKED[language], **ADA)
    prefetch = tenant.services.prefetch

    class Late:
        """Finds, and is overtaken by a redaction before what was found is kept."""

        async def recall(self, *given: Any) -> Recalled:
            found = await prefetch.retrieving.recall(*given)
            assert (await api.delete("/v1/sessions/s/messages/1")).status_code == 204
            return found

    late: PrefetchService = replace(prefetch, retrieving=Late())  # type: ignore[arg-type]
    tenant.app.state.services = replace(tenant.services, prefetch=late)
    body_of(await api.post("/v1/sessions/s/context/prefetch", json={}))
    tenant.app.state.services = tenant.services
    found = await context(api, strategy="summary")
    assert (found["prefetched"], DECISION[language] in shown(found)) == (False, False)
