"""Search: the right memory first, in both languages, by words and by meaning, and honest about what was missing."""

from collections.abc import AsyncIterator

import httpx
import pytest

from app.composition import Services, compose
from app.db.scoped import Database
from app.main import create_app
from app.settings import Settings
from tests.conftest import Tenant, tenant_of
from tests.doubles.embeddings import HashedModel
from tests.routers.calls import add, body_of, every, open_session, problem_of, say, search, texts_found

FACTS = {
    "外币汇率换算的工具在桌面上。": "汇率",
    "繁體中文的書在書架上。": "繁体中文",
    "艾达对花生过敏。": "花生过敏",
    "Ada prefers tea over coffee.": "coffee",
    "The deployment runs on port 8443.": "8443",
    "Bob's sister works as a veterinarian in Nairobi.": "veterinarian",
}


async def kept(client: httpx.AsyncClient) -> None:
    for text in FACTS:
        await add(client, text)


@pytest.mark.parametrize(("text", "query"), FACTS.items())
async def test_a_word_finds_its_memory_first(api: httpx.AsyncClient, text: str, query: str) -> None:
    await kept(api)
    assert (await texts_found(api, query, user_id="ada"))[0] == text
    assert (await texts_found(api, query, user_id="ada", legs={"dense": 0}))[0] == text


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("What must Ada not eat because it makes her ill?", "艾达对花生过敏。"),
        ("Which animal doctor is in the family?", "Bob's sister works as a veterinarian in Nairobi."),
        ("艾达早上爱喝什么饮料?", "Ada prefers tea over coffee."),
    ],
)
async def test_a_meaning_finds_its_memory_across_languages(api: httpx.AsyncClient, query: str, text: str) -> None:
    await kept(api)
    assert text in (await texts_found(api, query, user_id="ada", legs={"lexical": 0}))[:2]


@pytest.mark.parametrize("text", FACTS)
async def test_the_same_text_has_a_similarity_of_one(api: httpx.AsyncClient, text: str) -> None:
    await kept(api)
    hit = (await search(api, text, user_id="ada"))["results"][0]
    assert hit["text"] == text
    assert hit["score_breakdown"]["similarity"] >= 0.99
    assert hit["score_breakdown"]["ranks"] == {"dense": 1, "lexical": 1}


async def test_scores_lie_in_0_to_1_and_in_order(api: httpx.AsyncClient) -> None:
    await kept(api)
    await say(api, "s", "Is tea better than coffee? 咖啡还是茶?", user_id="ada")
    for query in (*FACTS.values(), "tea", "完全无关的问题", "?", " ", "the", "\u200b", "a" * 5000, "汇" * 5000):
        results = (await search(api, query, user_id="ada", include_messages=True))["results"]
        scores = [hit["score"] for hit in results]
        assert scores == sorted(scores, reverse=True)
        for hit in results:
            factors = hit["score_breakdown"]
            for value in (hit["score"], *(factors[name] for name in ("relevance", "recency", "importance"))):
                assert 0 <= value <= 1
            assert factors["similarity"] is None or 0 <= factors["similarity"] <= 1
            assert factors["similarity_raw"] is None or -1 <= factors["similarity_raw"] <= 1
            assert factors["bm25"] is None or factors["bm25"] >= 0


async def test_a_score_means_the_same_whatever_else_is_stored(api: httpx.AsyncClient) -> None:
    await add(api, "Ada prefers tea over coffee.")
    question = {"query": "Ada prefers tea over coffee.", "user_id": "ada", "legs": {"lexical": 0}}
    alone = (await search(api, **question))["results"][0]["score_breakdown"]["relevance"]
    await kept(api)
    among = (await search(api, **question))["results"][0]["score_breakdown"]["relevance"]
    assert among == alone


async def test_min_score_leaves_out_and_says_how_many(api: httpx.AsyncClient) -> None:
    await kept(api)
    everything = await search(api, "tea or coffee", user_id="ada")
    assert everything["filtered_count"] == 0
    relevances = [hit["score_breakdown"]["relevance"] for hit in everything["results"]]
    limit = max(relevances)
    strict = await search(api, "tea or coffee", user_id="ada", min_score=limit)
    assert [hit["text"] for hit in strict["results"]] == ["Ada prefers tea over coffee."]
    assert strict["filtered_count"] == len(relevances) - 1
    nothing = await search(api, "tea or coffee", user_id="ada", min_score=1)
    assert (nothing["results"], nothing["filtered_count"]) == ([], len(relevances))


async def test_a_leg_that_is_off_finds_nothing_and_says_nothing(api: httpx.AsyncClient) -> None:
    await kept(api)
    lexical = await search(api, "coffee", user_id="ada", legs={"dense": 0}, explain=True)
    assert [hit["text"] for hit in lexical["results"]] == ["Ada prefers tea over coffee."]
    assert lexical["results"][0]["score_breakdown"]["ranks"] == {"lexical": 1}
    assert lexical["degraded"] == []
    assert lexical["explanation"]["path"] == {"memories": "lexical"}
    assert lexical["explanation"]["embedding_model"] is None
    dense = await search(api, "coffee", user_id="ada", legs={"lexical": 0}, explain=True)
    assert len(dense["results"]) == len(FACTS)
    assert all(hit["score_breakdown"]["bm25"] is None for hit in dense["results"])
    assert dense["explanation"]["tokens"] == []
    assert dense["explanation"]["path"] == {"memories": "exact"}
    only_dense = dense["results"][0]["score_breakdown"]
    assert only_dense["relevance"] == pytest.approx(only_dense["similarity"])


async def test_weights_decide_what_comes_first(api: httpx.AsyncClient) -> None:
    await add(api, "tea with milk", importance=1, occurred_at="2026-01-01T00:00:00Z")
    await add(api, "something about coffee", importance=10, occurred_at="2020-01-01T00:00:00Z")
    for weights, first in (
        ({"relevance": 1, "recency": 0, "importance": 0}, "tea with milk"),
        ({"relevance": 0, "recency": 1, "importance": 0}, "tea with milk"),
        ({"relevance": 0, "recency": 0, "importance": 1}, "something about coffee"),
        ({"relevance": 0.001, "importance": 1000}, "something about coffee"),
    ):
        result = await search(api, "tea with milk", user_id="ada", weights=weights)
        assert result["results"][0]["text"] == first, weights
    one = (await search(api, "tea with milk", user_id="ada", weights={"relevance": 0, "recency": 0}))["results"][0]
    assert one["score"] == pytest.approx(one["score_breakdown"]["importance"])


async def test_top_k_bounds_the_hits(api: httpx.AsyncClient) -> None:
    many = [{"text": f"tea number {number}", "user_id": "ada"} for number in range(60)]
    body_of(await api.post("/v1/memories", json={"memories": many}), 201)
    for top_k in (1, 7, 60, 200):
        assert len((await search(api, "tea", user_id="ada", top_k=top_k))["results"]) == min(top_k, 60)
    assert len((await search(api, "tea", user_id="ada"))["results"]) == 10
    for bad in (0, 201, -1):
        problem_of(await api.post("/v1/memories/search", json={"query": "x", "top_k": bad}), 422, "invalid")


async def test_kinds_choose(api: httpx.AsyncClient) -> None:
    for kind in ("episodic", "semantic", "procedural"):
        await add(api, f"tea, {kind}", kind=kind)
    assert set(await texts_found(api, "tea", user_id="ada")) == {"tea, episodic", "tea, semantic"}
    assert await texts_found(api, "tea", user_id="ada", kinds=["procedural"]) == ["tea, procedural"]
    for kinds in ([], ["other"], "semantic", ["semantic"] * 4):
        problem_of(await api.post("/v1/memories/search", json={"query": "x", "kinds": kinds}), 422, "invalid")


async def test_a_given_scope_field_must_match_and_an_absent_one_does_not_restrict_but_for_sessions(
    api: httpx.AsyncClient,
) -> None:
    await open_session(api, "s", user_id="ada")
    await add(api, "tea one", user_id="ada", agent_id="a", app_id="p")
    await add(api, "tea two", user_id="ada", session_id="s")
    await add(api, "tea three", user_id="bob", agent_id="a")
    await add(api, "tea four", agent_id="a")
    await add(api, "tea five", shared=True)
    for scope, expected in (
        ({}, {"one", "three", "four", "five"}),
        ({"user_id": "ada"}, {"one"}),
        ({"user_id": "ada", "agent_id": "a"}, {"one"}),
        ({"agent_id": "a"}, {"one", "three", "four"}),
        ({"app_id": "p"}, {"one"}),
        ({"session_id": "s"}, {"two"}),
        ({"user_id": "bob", "session_id": "s"}, set()),
        ({"user_id": "nobody"}, set()),
        ({"user_id": "ada", "include_shared": True}, {"one", "five"}),
        ({"user_id": "ada", "agent_id": "a", "include_shared": True}, {"one", "four", "five"}),
    ):
        found = await texts_found(api, "tea", **scope)
        assert {text.removeprefix("tea ") for text in found} == expected, scope


async def test_messages_are_searched_in_the_scope_of_their_session(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await say(api, "s1", "tea one", user_id="ada", agent_id="a", app_id="p")
    await say(api, "s2", "tea two", user_id="ada")
    await say(api, "s3", "tea three", user_id="bob", agent_id="a")
    await say(api, "s4", "tea four", app_id="p")
    await say(api, "s5", "tea five")
    for worked in (False, True):
        if worked:
            await tenant.work()
        for scope, expected in (
            ({}, {"one", "two", "three", "four", "five"}),
            ({"user_id": "ada"}, {"one", "two"}),
            ({"agent_id": "a"}, {"one", "three"}),
            ({"app_id": "p"}, {"one", "four"}),
            ({"user_id": "ada", "app_id": "p"}, {"one"}),
            ({"session_id": "s5"}, {"five"}),
            ({"session_id": "s1", "user_id": "bob"}, set()),
        ):
            found = await texts_found(api, "tea", include_messages=True, **scope)
            assert {text.removeprefix("tea ") for text in found} == expected, scope
        assert await texts_found(api, "tea") == []


async def test_a_message_hit_names_its_source_and_has_a_memorys_shape(api: httpx.AsyncClient) -> None:
    said = await say(api, "s", "tea", external_id="e", metadata={"k": 1}, occurred_at="2026-01-01T00:00:00Z")
    await add(api, "tea as a memory", sources=[{"session_id": "s", "seqs": [1], "quote": "tea"}])
    hits = (await search(api, "tea", include_messages=True, collapse=False))["results"]
    message, memory = sorted(hits, key=lambda hit: hit["type"], reverse=True)
    assert message.keys() == memory.keys()
    assert (message["type"], message["id"], message["role"]) == ("message", said["id"], "user")
    assert message["metadata"] == {"k": 1}
    assert message["occurred_at"] == "2026-01-01T00:00:00Z"
    source = {"session_id": "s", "seqs": [1], "message_ids": [said["id"]], "external_ids": ["e"]}
    assert message["sources"] == [source | {"quote": None}]
    assert memory["sources"] == [source | {"quote": "tea"}]
    assert memory["metadata"] == {}


async def test_recency_counts_from_now_or_from_the_time_that_is_named(api: httpx.AsyncClient) -> None:
    await add(api, "tea old", occurred_at="2026-01-01T00:00:00Z")
    await add(api, "tea new", occurred_at="2026-01-03T00:00:00Z")
    by_text = {hit["text"]: hit for hit in (await search(api, "tea", user_id="ada"))["results"]}
    assert by_text["tea new"]["score_breakdown"]["recency"] == pytest.approx(1)
    assert by_text["tea old"]["score_breakdown"]["recency"] == pytest.approx(0.995**48)
    named = {"now": "2026-06-01T00:00:00+08:00"}
    assert len((await search(api, "tea", user_id="ada", **named))["results"]) == 2


async def test_an_empty_store_answers_with_an_empty_list(api: httpx.AsyncClient) -> None:
    result = await search(api, "anything", include_messages=True, include_shared=True, explain=True)
    assert (result["results"], result["filtered_count"], result["degraded"]) == ([], 0, [])
    problem_of(await api.post("/v1/memories/search", json={"query": ""}), 422, "invalid")


async def test_quotes_operators_and_wildcards_in_a_query_are_words_only(api: httpx.AsyncClient) -> None:
    await kept(api)
    for query in ("' OR 1=1 --", "%", "_", "* AND (tea", "\\", "tea:*", "{}[]", "$1", ":tokens", "tea & !coffee"):
        await search(api, query, user_id="ada")
        assert await texts_found(api, query, user_id="' OR '1'='1") == []


class Hashed:
    """The application with a model that can be broken."""

    def __init__(self, model: HashedModel, tenant: Tenant, client: httpx.AsyncClient) -> None:
        self.model = model
        self.tenant = tenant
        self.client = client


@pytest.fixture
async def hashed(hashed_store: Database, settings: Settings) -> AsyncIterator[Hashed]:
    model = HashedModel()
    own = compose(settings, hashed_store, model)
    held = await served_tenant(own, settings)
    yield Hashed(model, held, await held.client())
    await held.close()


async def served_tenant(own: Services, settings: Settings) -> Tenant:
    """A fresh tenant of an application of its own."""
    app = create_app(settings)
    app.state.services = own
    return await tenant_of(own, app)


async def test_with_the_embedder_down_an_add_is_stored_found_by_words_and_embedded_later(hashed: Hashed) -> None:
    hashed.model.broken = True
    response = await hashed.client.post("/v1/memories", json={"text": "Ada prefers tea.", "user_id": "ada"})
    memory = body_of(response, 201)
    assert memory["degraded"] == ["embedding"]
    found = await search(hashed.client, "tea", user_id="ada")
    assert [hit["id"] for hit in found["results"]] == [memory["id"]]
    assert found["degraded"] == ["embedding"]
    assert found["results"][0]["score_breakdown"]["similarity"] is None
    jobs = await every(hashed.client, "/v1/jobs", kind="embed_memories")
    assert [job["state"] for job in jobs] == ["queued"]
    hashed.model.broken = False
    await hashed.tenant.work()
    assert (await every(hashed.client, "/v1/jobs", kind="embed_memories"))[0]["state"] == "succeeded"
    found = await search(hashed.client, "Ada prefers tea.", user_id="ada")
    assert found["degraded"] == []
    assert found["results"][0]["score_breakdown"]["similarity"] >= 0.99


async def test_with_the_embedder_down_a_list_is_stored_with_the_job_that_embeds_it(hashed: Hashed) -> None:
    hashed.model.broken = True
    many = {"memories": [{"text": "tea", "user_id": "ada"}, {"text": "coffee", "user_id": "bob"}]}
    answer = body_of(await hashed.client.post("/v1/memories", json=many), 201)
    assert (answer["degraded"], answer["status"]) == (["embedding"], "queued")
    assert body_of(await hashed.client.get(f"/v1/jobs/{answer['job_id']}"))["state"] == "queued"


async def test_with_the_embedder_down_a_correction_drops_the_old_vector(hashed: Hashed) -> None:
    memory = await add(hashed.client, "coffee")
    hashed.model.broken = True
    body_of(await hashed.client.patch(f"/v1/memories/{memory['id']}", json={"text": "tea"}))
    assert await texts_found(hashed.client, "tea", user_id="ada") == ["tea"]
    hashed.model.broken = False
    assert await texts_found(hashed.client, "coffee", user_id="ada", legs={"lexical": 0}) == []
    await hashed.tenant.work()
    hit = (await search(hashed.client, "tea", user_id="ada", legs={"lexical": 0}))["results"][0]
    assert (hit["text"], hit["score_breakdown"]["similarity"] >= 0.99) == ("tea", True)


async def test_a_vector_made_from_an_older_text_is_not_used(hashed: Hashed) -> None:
    hashed.model.broken = True
    memory = await add(hashed.client, "coffee")
    hashed.model.broken = False
    body_of(await hashed.client.patch(f"/v1/memories/{memory['id']}", json={"text": "tea"}))
    await hashed.tenant.work()
    assert hashed.model.passages == ["tea"]
    assert (await search(hashed.client, "tea", user_id="ada"))["results"][0]["score_breakdown"]["similarity"] >= 0.99


async def test_a_job_whose_memory_was_deleted_meanwhile_brings_nothing_back(hashed: Hashed) -> None:
    hashed.model.broken = True
    memory = await add(hashed.client, "coffee")
    assert (await hashed.client.delete(f"/v1/memories/{memory['id']}")).status_code == 204
    hashed.model.broken = False
    await hashed.tenant.work()
    assert await texts_found(hashed.client, "coffee", user_id="ada") == []


async def test_a_model_of_another_dimension_is_a_clear_error_that_names_the_way_on(
    hashed_store: Database, settings: Settings
) -> None:
    held = await served_tenant(compose(settings, hashed_store, HashedModel(dimension=32)), settings)
    client = await held.client()
    for path, body in (
        ("/v1/memories", {"text": "x", "user_id": "ada"}),
        ("/v1/memories/search", {"query": "x", "user_id": "ada"}),
    ):
        problem = problem_of(await client.post(path, json=body), 503, "misconfigured")
        assert "32 dimensions" in problem["detail"]
        assert "64" in problem["detail"]
        assert "re-embed" in problem["detail"]
    checks = body_of(await client.get("/readyz"), 503)["checks"]
    assert "32 dimensions" in checks["embedder"]
    assert await every(client, "/v1/memories") == []
    await held.close()


async def test_without_the_model_that_serves_texts_are_kept_and_found_by_words(
    hashed_store: Database, settings: Settings
) -> None:
    held = await served_tenant(compose(settings, hashed_store, HashedModel(name="never heard of")), settings)
    client = await held.client()
    added = body_of(await client.post("/v1/memories", json={"text": "Green tea 绿茶", "user_id": "a"}), 201)
    assert added["degraded"] == ["embedding"]
    found = body_of(await client.post("/v1/memories/search", json={"query": "绿茶", "user_id": "a"}))
    assert found["degraded"] == ["embedding"]
    assert [hit["id"] for hit in found["results"]] == [added["id"]]
    await held.close()
