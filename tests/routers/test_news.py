"""News stands above what it may have changed, though no rule has seen that it did."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from app.composition import Services
from tests.conftest import Tenant, tenant_of
from tests.routers.calls import body_of, search

STORIES = {
    "en": (
        ["Our landlord is Mr Okafor.", "Our cat sleeps on the landing."],
        "The flat was sold, so we rent from a Mrs Quist now.",
        "Who is our landlord?",
        "Who was our landlord before?",
    ),
    "zh": (
        ["我的健身教练是孙浩。", "我的猫睡在楼梯上。"],
        "孙浩离职了,健身房给我安排了周雯当教练。",
        "我的健身教练是谁?",
        "我以前的健身教练是谁?",
    ),
}
OLD, NEW = "2026-01-05T09:00:00Z", "2026-03-05T09:00:00Z"


@pytest.fixture(scope="module")
async def served(services: Services, app: Any) -> AsyncIterator[Tenant]:
    app.state.services = services
    tenant = await tenant_of(services, app)
    client = await tenant.client()
    for language, (facts, news, _, _) in STORIES.items():
        rows = [{"text": text, "user_id": language, "occurred_at": OLD} for text in facts]
        rows.append({"text": news, "user_id": language, "occurred_at": NEW})
        body_of(await client.post("/v1/memories", json={"memories": rows}), 201)
    yield tenant
    await tenant.close()


@pytest.mark.parametrize("language", sorted(STORIES))
async def test_news_comes_first_where_it_is_asked_how_things_are(served: Tenant, language: str) -> None:
    (old, _), news, now, before = STORIES[language]
    client = await served.client()
    found = await search(client, now, user_id=language, explain=True)
    assert [hit["text"] for hit in found["results"]][:2] == [news, old]
    marks = [hit["score"] for hit in found["results"]]
    assert marks == sorted(marks, reverse=True)
    again = await client.post("/v1/memories/search/replay", json={"explanation_id": found["explanation"]["id"]})
    assert [hit["id"] for hit in body_of(again)["results"]] == [hit["id"] for hit in found["results"]]
    past = await search(client, before, user_id=language)
    assert past["results"][0]["text"] == old
    then = await search(client, now, user_id=language, as_of=OLD)
    assert then["results"][0]["text"] == old


@pytest.mark.parametrize("language", sorted(STORIES))
async def test_news_comes_first_in_a_context(served: Tenant, language: str) -> None:
    (old, _), news, now, _ = STORIES[language]
    client = await served.client()
    await client.post("/v1/sessions", json={"id": f"news-{language}", "user_id": language})
    body = {"query": now, "retrieval": "always"}
    context = body_of(await client.post(f"/v1/sessions/news-{language}/context", json=body))
    facts = next(section["text"] for section in context["sections"] if section["name"] == "facts")
    assert 0 <= facts.index(news) < facts.index(old)
