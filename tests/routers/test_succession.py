"""Messages beside what was learnt from them: one hit for both, and nothing that is history before what is true."""

import httpx
import pytest

from tests.conftest import Tenant
from tests.routers.calls import say, search

ADA = {"user_id": "ada"}
BOTH = {**ADA, "include_messages": True}


@pytest.fixture
def tenant(learning_tenant: Tenant) -> Tenant:
    """A fresh tenant of a service that learns from what is appended."""
    return learning_tenant


async def told(api: httpx.AsyncClient, tenant: Tenant, *texts: str, session: str = "s") -> None:
    """Ada says this, and the worker does its jobs after each."""
    for text in texts:
        await say(api, session, text, **ADA)
        await tenant.work()


@pytest.mark.parametrize(
    ("said", "question"),
    [("I live in Lisbon.", "Where do I live?"), ("我住在杭州。", "我住在哪里?")],
)
async def test_a_message_and_the_memory_drawn_from_it_are_one_hit(
    api: httpx.AsyncClient, tenant: Tenant, said: str, question: str
) -> None:
    await told(api, tenant, said)
    (hit,) = (await search(api, question, **BOTH))["results"]
    assert [source["seqs"] for source in hit["sources"]] == [[1]]
    assert len(hit["similar_ids"]) == 1
    apart = (await search(api, question, **BOTH, collapse=False))["results"]
    assert sorted(hit["type"] for hit in apart) == ["memory", "message"]


@pytest.mark.parametrize(
    ("said", "question", "now"),
    [
        (
            ["My home is in Berlin.", "I moved to Lisbon.", "I moved to Porto last week."],
            "In which city is my home?",
            "Porto",
        ),
        (["我住在上海。", "我搬到了杭州。", "我上周搬到了成都。"], "我住在哪个城市?", "成都"),
    ],
)
async def test_a_question_in_the_words_of_what_is_history_finds_what_is_true(
    api: httpx.AsyncClient, tenant: Tenant, said: list[str], question: str, now: str
) -> None:
    await told(api, tenant, *said)
    found = await search(api, question, **BOTH, explain=True)
    assert now in found["results"][0]["text"]
    assert found["results"][0]["type"] == "memory"
    texts = [hit["text"] for hit in found["results"]]
    assert not set(texts) & set(said[:2])
    heirs = {one["similar_to"] for one in found["explanation"]["left_out"] if one["reason"] == "superseded"}
    assert heirs == {found["results"][0]["id"]}


@pytest.mark.parametrize(
    ("said", "question"),
    [
        (
            [
                "I live in Berlin, and the garage code for the summer house by the lake stands on the yellow note.",
                "I moved to Lisbon.",
            ],
            "Where does the garage code stand?",
        ),
        (
            ["我住在上海,湖边那栋夏天住的房子的车库密码写在冰箱门上的黄色便签上面了。", "我搬到了杭州。"],
            "车库密码写在哪里?",
        ),
    ],
)
async def test_a_message_that_says_more_than_what_is_history_stays(
    api: httpx.AsyncClient, tenant: Tenant, said: list[str], question: str
) -> None:
    await told(api, tenant, *said)
    texts = [hit["text"] for hit in (await search(api, question, **BOTH))["results"]]
    assert said[0] in texts


async def test_what_has_no_successor_in_sight_still_stands_behind(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await told(api, tenant, "I live in Berlin.", "I moved to Lisbon.")
    filters = {"text": {"icontains": "nothing like this"}}
    hits = (await search(api, "Where do I live?", **BOTH, filters=filters))["results"]
    first = next(hit for hit in hits if hit["text"] == "I live in Berlin.")
    assert 0 < first["score"] < hits[0]["score"]


async def test_of_values_in_two_languages_the_one_in_the_questions_comes_first(
    api: httpx.AsyncClient, tenant: Tenant
) -> None:
    await told(api, tenant, "I live in Faro.", "我住在法鲁。")
    for question, first in (("Where do I live?", "Faro"), ("我住在哪里?", "法鲁")):
        hits = (await search(api, question, **ADA))["results"]
        assert [hit["disputed"] for hit in hits] == [True, True]
        assert first in hits[0]["text"]
        assert hits[0]["score"] >= hits[1]["score"]
