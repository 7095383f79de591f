"""What says the same becomes one memory, and opposites never do, however alike a model finds them."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.core.metrics import Metrics
from app.providers.llm.choice import configured_language_model
from app.services.extractors.judging import JudgeModel
from app.services.forgetting.shortening import Shortener
from app.settings import Settings
from tests.conftest import Tenant
from tests.doubles.language_model import LanguageModelHost, language_model_host
from tests.routers.calls import add, body_of, every, search, texts_found
from tests.routers.test_forgetting import ADA, everything

DATA = Path(__file__).parents[1] / "extraction" / "data"


async def consolidate(api: httpx.AsyncClient, tenant: Tenant, user: str = "ada") -> dict[str, Any]:
    """The result of the job."""
    asked = body_of(await api.post(f"/v1/users/{user}/consolidate", json={}), 202)
    await tenant.work()
    job = body_of(await api.get(f"/v1/jobs/{asked['job_id']}"))
    assert job["status"] == "succeeded", job
    result: dict[str, Any] = job["result"]
    assert result["undo_id"] == asked["undo_id"]
    return result


SAME = {
    "en": ("Ada usually drinks green tea in the morning.", "In the morning Ada usually drinks green tea."),
    "zh": ("艾达每天早上喝一杯绿茶。", "艾达每天早上都要喝一杯绿茶。"),
}


async def said(api: httpx.AsyncClient, texts: tuple[str, str]) -> list[dict[str, Any]]:
    """Both, each from a message of its own."""
    messages = {"messages": [{"role": "user", "content": text} for text in texts]}
    body_of(await api.post("/v1/sessions/s/messages", json=messages), 201)
    return [
        await add(api, text, sources=[{"session_id": "s", "seqs": [seq], "quote": text}], importance=4 + seq)
        for seq, text in enumerate(texts, 1)
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_near_duplicates_become_one_with_all_sources_and_counts_and_back(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    old, new = await said(api, SAME[language])
    await add(api, old["text"])
    await add(api, "Ada owns a blue cup.")
    body_of(await api.post(f"/v1/memories/{old['id']}/feedback", json={"verdict": "used"}))
    await tenant.work()
    before = await everything(tenant, old["id"], new["id"])
    told = body_of(await api.post("/v1/users/ada/consolidate", json={"dry_run": True}))
    assert [(one["keep_id"], one["merged_ids"]) for one in told["merges"]] == [(new["id"], [old["id"]])]
    assert await everything(tenant, old["id"], new["id"]) == before
    result = await consolidate(api, tenant)
    assert (result["compared"], result["merged"], result["disputed"]) == (3, 1, 0)
    kept = body_of(await api.get(f"/v1/memories/{new['id']}"))
    assert (kept["text"], kept["seen_count"], kept["used_count"], kept["importance"]) == (new["text"], 3, 1, 6)
    assert [source["seqs"] for source in kept["sources"]] == [[2], [1]]
    gone = body_of(await api.get(f"/v1/memories/{old['id']}"))
    assert (gone["status"], gone["superseded_by"]) == ("superseded", new["id"])
    assert (await consolidate(api, tenant))["merged"] == 0
    undone = body_of(await api.post("/v1/undo", json={"undo_id": result["undo_id"]}))
    assert set(undone["memory_ids"]) == {old["id"], new["id"]}
    assert await everything(tenant, old["id"], new["id"]) == before
    assert old["text"] in await texts_found(api, old["text"], collapse=False, **ADA)


def pairs(language: str) -> list[dict[str, Any]]:
    lines = (DATA / f"conflicts_{language}.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [row for row in rows if "key" not in row["old"] and "key" not in row["new"]]


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_opposites_and_other_values_are_never_merged(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    rows = pairs(language)
    for name in ("old", "new"):
        items = [{"text": row[name]["text"], "user_id": row["id"]} for row in rows]
        for start in range(0, len(items), 100):
            body_of(await api.post("/v1/memories", json={"memories": items[start : start + 100]}), 201)
    await tenant.work()
    merged, wrongly = 0, []
    for row in rows:
        told = body_of(await api.post(f"/v1/users/{row['id']}/consolidate", json={"dry_run": True}))
        same = row["verdict"] == "reinforce"
        merged += same and told["merged"] == 1
        if told["merged"] and not same:
            wrongly.append(row["id"])
    assert wrongly == []
    assert merged >= 0.7 * sum(row["verdict"] == "reinforce" for row in rows)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user prefers tabs over spaces.", "The user prefers spaces over tabs."),
        ("用户喜欢制表符胜过空格。", "用户喜欢空格胜过制表符。"),
    ],
)
async def test_contradictions_met_on_the_way_go_to_conflict_resolution_and_back(
    api: httpx.AsyncClient, tenant: Tenant, one: str, other: str
) -> None:
    pair = [await add(api, text) for text in (one, other)]
    before = await everything(tenant, *(memory["id"] for memory in pair))
    result = await consolidate(api, tenant)
    assert (result["merged"], result["disputed"]) == (0, 1)
    (conflict,) = await every(api, "/v1/conflicts")
    assert {memory["id"] for memory in conflict["memories"]} == {memory["id"] for memory in pair}
    assert (await consolidate(api, tenant))["disputed"] == 0
    body_of(await api.post("/v1/undo", json={"job_id": result["undo_id"]}))
    assert await every(api, "/v1/conflicts") == []
    assert await everything(tenant, *(memory["id"] for memory in pair)) == before


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {"agent_id": "helper"}),
        ({}, {"source": "inferred"}),
        ({"kind": "episodic"}, {"kind": "semantic"}),
        ({"key": "habit.tea", "value": "green"}, {"key": "habit.morning", "value": "green tea"}),
    ],
)
async def test_memories_of_other_places_sorts_and_certainty_stay_apart(
    api: httpx.AsyncClient, tenant: Tenant, first: dict[str, Any], second: dict[str, Any]
) -> None:
    for text, fields in zip(SAME["en"], (first, second), strict=True):
        await add(api, text, **fields)
    assert (await consolidate(api, tenant))["merged"] == 0


async def test_many_wordings_become_one_with_few_comparisons(api: httpx.AsyncClient, tenant: Tenant) -> None:
    people = ["Mia", "Tom", "Lena", "Omar", "小王", "小李"]
    for person in people:
        await add(api, f"{person} usually drinks green tea in the morning.")
        await add(api, f"In the morning {person} usually drinks green tea.")
    assert (await consolidate(api, tenant))["merged"] == len(people)
    left = {one["text"] for one in await every(api, "/v1/memories")}
    assert left == {f"In the morning {person} usually drinks green tea." for person in people}


LONG = {
    "en": (
        "As Ada has told me more than once, and she was quite clear about it, the meeting with Dr. Keller in Zurich is "
        "at 14:30 on 12 March, and it must not be moved. "
    )
    * 5,
    "zh": "艾达跟我说过好几遍，而且说得非常清楚：和王芳在苏黎世的会议是3月12日14:30，这个时间不能改动。" * 14,
}
SHORT = {
    "en": "Ada said clearly: the meeting with Dr. Keller in Zurich is at 14:30 on 12 March and must not be moved.",
    "zh": "艾达说得清楚：和王芳在苏黎世的会议是3月12日14:30，不能改动。",
}


@pytest.fixture
async def host(tenant: Tenant) -> AsyncIterator[LanguageModelHost]:
    """A language model that the tenant's service may ask for shorter words, and whether two memories say the same."""
    with language_model_host() as running:
        settings = Settings(_env_file=None, llm_base_url=running.url, llm_model="double", llm_structured_output="none")
        model = configured_language_model(settings, Metrics())
        assert model is not None
        service = replace(tenant.services.consolidation, shortener=Shortener(model), judge=JudgeModel(model))
        tenant.services = replace(tenant.services, consolidation=service)
        tenant.app.state.services = tenant.services
        yield running
        await model.close()


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_long_memory_is_shortened_only_if_every_number_and_name_stays(
    api: httpx.AsyncClient, tenant: Tenant, host: LanguageModelHost, language: str
) -> None:
    memory = await add(api, LONG[language])
    before = await everything(tenant, memory["id"])
    wrong = (
        SHORT[language].replace("14:30", "14:00"),
        SHORT[language].replace("Zurich", "Geneva").replace("苏黎世", "日内瓦"),
        SHORT[language].replace("must not", "may").replace("不能", "可以"),
    )
    for reply in wrong:
        host.content = json.dumps({"text": reply})
        assert (await consolidate(api, tenant))["shortened"] == 0
    host.content = json.dumps({"text": SHORT[language]})
    result = await consolidate(api, tenant)
    assert result["shortened"] == 1
    assert body_of(await api.get(f"/v1/memories/{memory['id']}"))["text"] == SHORT[language]
    (hit,) = (await search(api, SHORT[language], **ADA))["results"]
    assert hit["score_breakdown"]["similarity"] > 0.99
    body_of(await api.post("/v1/undo", json={"undo_id": result["undo_id"]}))
    await tenant.work()
    assert await everything(tenant, memory["id"]) == before


LIKE = {
    "en": ("Ada is learning to play the cello on weekends.", "On weekends Ada takes lessons to play the cello."),
    "zh": ("艾达周末在学拉大提琴。", "艾达周末上课学习演奏大提琴。"),
}
APART = {
    "en": ("Ada is allowed to eat peanuts at work.", "Ada is not allowed to eat peanuts at work."),
    "zh": ("艾达上班时可以吃花生。", "艾达上班时不可以吃花生。"),
}


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_language_model_confirms_what_words_do_not_and_merges_no_opposites(
    api: httpx.AsyncClient, tenant: Tenant, host: LanguageModelHost, language: str
) -> None:
    for text in (*LIKE[language], *APART[language]):
        await add(api, text)
    host.content = json.dumps({"verdicts": []})
    assert (await consolidate(api, tenant))["merged"] == 0
    host.content = json.dumps({"verdicts": [{"pair": number, "verdict": "reinforce"} for number in range(1, 9)]})
    asked = len(host.requests)
    result = await consolidate(api, tenant)
    assert (result["merged"], len(host.requests)) == (1, asked + 1)
    left = {one["text"] for one in await every(api, "/v1/memories", status="active")}
    left |= {one["text"] for one in await every(api, "/v1/memories", status="disputed")}
    assert left == {LIKE[language][1], *APART[language]}
