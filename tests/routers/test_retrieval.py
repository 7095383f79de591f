"""Retrieval through HTTP, in both languages: legs, fusion, surroundings, likeness, budget, explanations."""

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from app.core import clock
from tests.conftest import Tenant
from tests.routers.calls import add, body_of, open_session, problem_of, say, search, texts_found

NOW = "2026-06-10T12:00:00Z"  # a Wednesday


@pytest.mark.parametrize(
    ("question", "words", "expected"),
    [
        (
            "What did I do last month?",
            ("Visited the dentist.", "Planted tomatoes.", "Read a book."),
            "Planted tomatoes.",
        ),
        ("我上个月做了什么?", ("去看了牙医。", "种了番茄。", "读了一本书。"), "种了番茄。"),
    ],
)
async def test_a_question_that_names_a_time_ranks_memories_of_that_time_higher(
    api: httpx.AsyncClient, question: str, words: tuple[str, ...], expected: str
) -> None:
    for text, month in zip(words, ("03", "05", "06"), strict=True):
        await add(api, text, occurred_at=f"2026-{month}-05T10:00:00Z", kind="episodic")
    found = await search(api, question, user_id="ada", now=NOW, explain=True)
    assert found["results"][0]["text"] == expected
    assert found["results"][0]["score_breakdown"]["signals"]["time"] == 1
    time = found["explanation"]["time"]
    assert (time["since"], time["until"]) == ("2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z")
    off = await search(api, question, user_id="ada", now=NOW, legs={"time": 0}, explain=True)
    assert off["explanation"]["time"] is None


async def test_a_memory_of_the_named_time_is_found_without_a_word_or_a_meaning_in_common(
    api: httpx.AsyncClient,
) -> None:
    for number in range(80):
        await add(api, f"What happened with the harvest, day {number}?", occurred_at="2026-01-05T10:00:00Z")
    await add(api, "Signed the lease.", occurred_at="2026-06-02T10:00:00Z")
    assert "Signed the lease." in await texts_found(api, "What happened last week?", user_id="ada", now=NOW)


@pytest.mark.parametrize(
    ("question", "expected"),
    [("What did we last decide about the budget?", "The budget is 7000."), ("上次预算定了多少?", "预算定为七千。")],
)
async def test_the_latest_of_what_is_relevant_comes_first_when_it_is_asked_for(
    api: httpx.AsyncClient, question: str, expected: str
) -> None:
    texts = (
        ("The budget is 5000.", "预算定为五千。"),
        ("The budget is 6000.", "预算定为六千。"),
        ("The budget is 7000.", "预算定为七千。"),
    )
    for (english, chinese), month in zip(texts, ("02", "04", "06"), strict=True):
        await add(api, english, occurred_at=f"2026-{month}-01T10:00:00Z")
        await add(api, chinese, occurred_at=f"2026-{month}-01T10:00:00Z")
    found = await texts_found(api, question, user_id="ada", now=NOW)
    same_language = [text for text in found if text.isascii() == expected.isascii()]
    assert same_language[0] == expected


async def test_yesterday_is_the_users_own(api: httpx.AsyncClient) -> None:
    """23:30 in Shanghai on the ninth is 15:30 UTC: yesterday there began at 16:00 UTC on the seventh."""
    await add(api, "买了票。", occurred_at="2026-06-08T15:00:00Z")
    body_of(await api.patch("/v1/users/ada", json={"timezone": "Asia/Shanghai"}))
    found = await search(api, "昨天做了什么?", user_id="ada", now="2026-06-09T15:30:00Z", explain=True)
    assert found["explanation"]["time"]["since"] == "2026-06-07T16:00:00Z"
    other = await search(
        api, "昨天做了什么?", user_id="ada", now="2026-06-09T15:30:00Z", timezone="America/New_York", explain=True
    )
    assert other["explanation"]["time"]["since"] == "2026-06-08T04:00:00Z"


@pytest.mark.parametrize("question", ["Which editor do I use?", "我用哪个编辑器?"])
async def test_a_question_that_names_a_key_finds_its_fact(api: httpx.AsyncClient, question: str) -> None:
    for number in range(60):
        await add(api, f"Which one do I use on day {number}? 我用第{number}个")
    body_of(await api.put("/v1/users/ada/facts/editor", json={"value": "vim", "text": "vim"}), 201)
    found = await search(api, question, user_id="ada", explain=True)
    hit = next(hit for hit in found["results"] if hit["key"] == "preference.editor")
    assert hit["score_breakdown"]["signals"] == {"key": 1}
    assert "preference.editor" in found["explanation"]["keys"]
    off = await search(api, question, user_id="ada", legs={"key": 0})
    assert all("key" not in one["score_breakdown"]["signals"] for one in off["results"])


async def test_a_tenants_own_key_is_named_by_its_end_and_by_its_alias(api: httpx.AsyncClient) -> None:
    body_of(await api.put("/v1/keys/project.deploy_window", json={"aliases": ["发布窗口"]}))
    body_of(await api.put("/v1/users/ada/facts/project.deploy_window", json={"value": "Tue", "text": "Tue"}), 201)
    for question in ("When is the deploy window?", "发布窗口是什么时候?"):
        found = (await search(api, question, user_id="ada"))["results"]
        assert [hit["score_breakdown"]["signals"].get("key") for hit in found] == [1], question


@pytest.mark.parametrize(
    ("constraint", "question"),
    [("Never deploy on Fridays.", "Plan my holiday in Norway"), ("周五绝对不能部署。", "帮我安排去挪威的假期")],
)
async def test_pinned_constraints_are_found_whatever_the_question(
    api: httpx.AsyncClient, constraint: str, question: str
) -> None:
    for number in range(120):
        await add(api, f"Holiday in Norway, plan {number}. 挪威假期安排{number}")
    await add(api, constraint, category="constraint", pinned=True)
    assert constraint in await texts_found(api, question, user_id="ada")
    assert constraint not in await texts_found(api, question, user_id="ada", legs={"constraint": 0})
    assert constraint not in await texts_found(api, question, user_id="bob")
    tight = await search(api, question, user_id="ada", top_k=3, token_budget=30)
    assert constraint in [hit["text"] for hit in tight["results"]]


@pytest.mark.parametrize(
    ("constraints", "answers", "question"),
    [
        (
            "Never write to customer {} without asking me first.",
            "The {} visa of Ada is valid for two more years.",
            "Which visas does Ada have?",
        ),
        ("没有问过我,绝对不要给客户{}写信。", "艾达的{}签证还有两年有效。", "艾达有哪些签证?"),
    ],
)
async def test_many_constraints_leave_two_thirds_of_the_places_to_answers(
    api: httpx.AsyncClient, constraints: str, answers: str, question: str
) -> None:
    places = ("Norway", "Japan", "Chile", "Kenya", "India", "Peru", "Oman", "Cuba", "Nepal")
    for place in places:
        await add(api, constraints.format(place), category="constraint", pinned=True, weight=4)
    for place in places[:6]:
        await add(api, answers.format(place))
    found = (await search(api, question, user_id="ada", top_k=9, collapse=False))["results"]
    assert sum(hit["category"] == "constraint" for hit in found) == 3
    assert len(found) == 9
    scores = [hit["score"] for hit in found]
    assert scores == sorted(scores, reverse=True)
    alone = (await search(api, question, user_id="ada", top_k=1))["results"]
    assert alone[0]["category"] != "constraint"


async def test_a_constraint_that_no_longer_holds_is_not_found(api: httpx.AsyncClient) -> None:
    added = await add(api, "Never deploy on Fridays.", category="constraint", pinned=True)
    assert (await api.delete(f"/v1/memories/{added['id']}")).status_code == 204
    assert await texts_found(api, "Plan my holiday", user_id="ada") == []


@pytest.mark.parametrize("method", ["fixed", "rrf", "min_max", "z_score"])
async def test_every_way_of_fusing_orders_by_its_own_score(api: httpx.AsyncClient, method: str) -> None:
    for text in ("Ada drinks green tea.", "艾达喝绿茶。", "Tea grows in Assam.", "The tram is late."):
        await add(api, text)
    for question, first in (("Does Ada drink tea?", "Ada drinks green tea."), ("艾达喝什么茶?", "艾达喝绿茶。")):
        found = (await search(api, question, user_id="ada", fusion={"method": method}))["results"]
        assert found[0]["text"] == first
        scores = [hit["score"] for hit in found]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)


@pytest.mark.parametrize(
    ("question", "before", "turn"),
    [
        ("Where did Ada buy the bicycle?", "Ada, where did you buy that bicycle?", "In the shop behind the station."),
        ("艾达在哪里买的自行车?", "艾达,你那辆自行车在哪里买的?", "车站后面的店里。"),
    ],
)
async def test_a_turn_is_found_by_the_question_before_it(
    api: httpx.AsyncClient, tenant: Tenant, question: str, before: str, turn: str
) -> None:
    for number in range(30):
        await say(
            api, f"noise-{number}", f"The weather was fine on day {number}. 第{number}天天气不错。", user_id="ada"
        )
    await say(api, "s", before, user_id="ada")
    said = await say(api, "s", turn, user_id="ada")
    await say(api, "s", "Nice! 真好!", user_id="ada")
    await tenant.work()
    found = await search(api, question, user_id="ada", include_messages=True, neighbours=1)
    texts = [hit["text"] for hit in found["results"]]
    assert turn in texts[:3]
    hit = next(hit for hit in found["results"] if hit["text"] == turn)
    assert [source["message_ids"] for source in hit["sources"]] == [[said["id"]]]
    assert hit["score_breakdown"]["context"] > 0
    assert [message["text"] for message in hit["context_before"]] == [before]
    assert [message["text"] for message in hit["context_after"]] == ["Nice! 真好!"]


async def test_a_memory_carries_what_stood_around_its_source(api: httpx.AsyncClient) -> None:
    for text in ("first", "second", "third"):
        await say(api, "s", text, user_id="ada")
    source = {"session_id": "s", "seqs": [2]}
    await add(api, "Ada counts.", sources=[source])
    (hit,) = (await search(api, "Ada counts", user_id="ada", neighbours=1))["results"]
    assert [one["text"] for one in (*hit["context_before"], *hit["context_after"])] == ["first", "third"]
    assert hit["sources"][0]["seqs"] == [2]


@pytest.mark.parametrize(
    ("older", "newer", "other"),
    [
        (
            "Ada always drinks green tea in the morning.",
            "Ada always drinks green tea in the morning!",
            "Ada never drinks green tea in the morning.",
        ),
        (
            "艾达每天早上都喝一杯绿茶再去上班。",
            "艾达每天早上都喝一杯绿茶再去上班!",
            "艾达每天早上都不喝一杯绿茶再去上班。",
        ),
    ],
)
async def test_what_says_the_same_is_shown_once_in_its_newest_wording(
    api: httpx.AsyncClient, older: str, newer: str, other: str
) -> None:
    first = await add(api, older, occurred_at="2026-01-01T00:00:00Z")
    await add(api, newer, occurred_at="2026-02-01T00:00:00Z")
    await add(api, other, occurred_at="2026-03-01T00:00:00Z")
    found = (await search(api, older, user_id="ada"))["results"]
    assert {hit["text"] for hit in found} == {newer, other}
    assert next(hit for hit in found if hit["text"] == newer)["similar_ids"] == [first["id"]]
    assert len((await search(api, older, user_id="ada", collapse=False))["results"]) == 3


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "I prefer tabs over spaces in every file of the project.",
            "I prefer spaces over tabs in every file of the project.",
        ),
        ("会议改到周二下午三点,在二楼的小会议室。", "会议改到周二下午四点,在二楼的小会议室。"),
        ("The server has 16 GB of memory and runs in Oslo.", "The server has 32 GB of memory and runs in Oslo."),
        ("我喜欢在办公室里听很大声的音乐。", "我不喜欢在办公室里听很大声的音乐。"),
    ],
)
async def test_opposites_are_two_hits(api: httpx.AsyncClient, first: str, second: str) -> None:
    await add(api, first)
    await add(api, second)
    assert {first, second} == set(await texts_found(api, first, user_id="ada"))


async def test_a_budget_cuts_by_score_and_says_what_it_dropped(api: httpx.AsyncClient) -> None:
    for number in range(8):
        await add(api, f"Tea note {number}: " + "green tea " * 10)
    whole = await search(api, "green tea", user_id="ada", collapse=False)
    budget = whole["results"][0]["tokens"] * 3
    cut = await search(api, "green tea", user_id="ada", collapse=False, token_budget=budget, explain=True)
    assert [hit["id"] for hit in cut["results"]] == [hit["id"] for hit in whole["results"][:3]]
    assert cut["tokens"] == sum(hit["tokens"] for hit in cut["results"]) <= budget
    assert cut["dropped_count"] == 5
    dropped = [one for one in cut["explanation"]["left_out"] if one["reason"] == "over_budget"]
    assert [one["id"] for one in dropped] == [hit["id"] for hit in whole["results"][3:]]


async def test_a_long_text_that_does_not_fit_leaves_room_for_shorter_ones(api: httpx.AsyncClient) -> None:
    await add(api, "绿茶" * 300)
    await add(api, "艾达在早上会喝绿茶。")
    found = await search(api, "绿茶", user_id="ada", token_budget=40)
    assert [hit["text"] for hit in found["results"]] == ["艾达在早上会喝绿茶。"]
    assert found["dropped_count"] == 1


async def test_an_explanation_tells_the_way_the_factors_and_why_the_next_ones_were_left_out(
    api: httpx.AsyncClient,
) -> None:
    ids = [(await add(api, f"The harbour at dawn, picture {number}."))["id"] for number in range(6)]
    await add(api, "发票已经付了。")
    found = await search(api, "the harbour at dawn", user_id="ada", top_k=2, min_score=0.12, explain=True)
    told = found["explanation"]
    assert told["path"] == {"memories": "exact"}
    assert told["rows_in_scope"] == {"memories": 7}
    assert told["candidates"] == {"memory": 7}
    assert sum(told["legs"].values()) == pytest.approx(1)
    assert told["weights"] == {"relevance": 1.0, "recency": 0.03, "importance": 0.03, "confidence": 0.0}
    assert told["query"] == "the harbour at dawn"
    reasons = {one["id"]: one["reason"] for one in told["left_out"]}
    shown = {hit["id"] for hit in found["results"]}
    assert {reasons[one] for one in ids if one not in shown} == {"below_top_k"}
    assert found["filtered_count"] == told["filtered_count"] == list(reasons.values()).count("min_score")
    assert len(shown) == 2


async def test_a_stored_explanation_is_replayed_with_other_weights(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await add(api, "Ada drinks green tea.", importance=1, occurred_at="2020-01-01T00:00:00Z")
    await add(api, "艾达喜欢喝绿茶。", importance=1, occurred_at="2021-01-01T00:00:00Z")
    heavy = await add(api, "Ada's passport expires in May.", importance=10, occurred_at="2026-01-01T00:00:00Z")
    first = await search(api, "Does Ada drink green tea?", user_id="ada", explain=True)
    assert first["results"][0]["text"] == "Ada drinks green tea."
    asked = {"explanation_id": first["explanation"]["id"]}
    again = body_of(await api.post("/v1/memories/search/replay", json=asked))
    assert [(hit["id"], hit["score"]) for hit in again["results"]] == [
        (hit["id"], pytest.approx(hit["score"])) for hit in first["results"]
    ]
    weights = {"relevance": 0, "recency": 0, "importance": 1}
    other = body_of(await api.post("/v1/memories/search/replay", json={**asked, "weights": weights, "top_k": 1}))
    assert [hit["id"] for hit in other["results"]] == [heavy["id"]]
    words = body_of(await api.post("/v1/memories/search/replay", json={**asked, "legs": {"dense": 0}}))
    assert words["explanation"]["legs"]["dense"] == 0 if "dense" in words["explanation"]["legs"] else True
    assert (await api.delete(f"/v1/memories/{heavy['id']}")).status_code == 204
    gone = body_of(await api.post("/v1/memories/search/replay", json={**asked, "weights": weights}))
    assert heavy["id"] not in [hit["id"] for hit in gone["results"]]
    stranger = await tenant.client(role="admin")
    problem_of(await stranger.post("/v1/memories/search/replay", json=asked), 404, "explanation_not_found")
    problem_of(
        await api.post("/v1/memories/search/replay", json={"explanation_id": "nonsense"}), 404, "explanation_not_found"
    )


async def test_a_rules_question_is_answered_by_kind_and_not_by_an_old_event(api: httpx.AsyncClient) -> None:
    await add(api, "How to deploy: run make release, then check the dashboard.", kind="procedural")
    await add(api, "On Monday the deploy failed because the disk was full.", kind="episodic")
    await add(api, "部署步骤:先运行发布脚本,再看监控。", kind="procedural")
    await add(api, "周一部署失败了,因为磁盘满了。", kind="episodic")
    for question in ("How do I deploy?", "怎么部署?"):
        rules = (await search(api, question, user_id="ada", kinds=["procedural"]))["results"]
        assert {hit["kind"] for hit in rules} == {"procedural"}
        assert rules[0]["text"].isascii() == question.isascii()
        usual = (await search(api, question, user_id="ada"))["results"]
        assert {hit["kind"] for hit in usual} == {"episodic"}


async def test_a_memorys_own_weight_moves_its_score_within_bounds(api: httpx.AsyncClient) -> None:
    for text, weight in (("艾达住在里斯本", 1.0), ("艾达住在里斯本的山上", 3.0), ("艾达住过里斯本", 0.0)):
        await add(api, text, weight=weight)
    found = {hit["text"]: hit["score"] for hit in (await search(api, "艾达住在哪里", user_id="ada"))["results"]}
    assert found["艾达住过里斯本"] == 0
    assert 1 > found["艾达住在里斯本的山上"] > found["艾达住在里斯本"] > 0


async def test_confidence_scales_the_score_where_it_is_asked_to(api: httpx.AsyncClient) -> None:
    added = await add(api, "Ada lives in Lisbon.")
    body_of(await api.patch(f"/v1/memories/{added['id']}", json={"confidence": 0.5}))
    (plain,) = (await search(api, "Where does Ada live?", user_id="ada"))["results"]
    (scaled,) = (await search(api, "Where does Ada live?", user_id="ada", weights={"confidence": 1}))["results"]
    assert scaled["score"] == pytest.approx(plain["score"] * 0.5)


async def test_recency_may_be_a_half_life_since_the_memorys_own_time(api: httpx.AsyncClient) -> None:
    await add(api, "Ada lives in Lisbon.", occurred_at="2026-05-11T12:00:00Z")
    weights = {"recency_of": "creation", "half_life_days": 30}
    (hit,) = (await search(api, "Lisbon", user_id="ada", now=NOW, weights=weights))["results"]
    assert hit["score_breakdown"]["recency"] == pytest.approx(0.5)


async def test_a_tenants_own_weights_hold_where_a_request_names_none(api: httpx.AsyncClient) -> None:
    await add(api, "Ada drinks tea.", importance=1)
    await add(api, "The passport expires.", importance=10)
    settings = {"search_weights": {"relevance": 0, "recency": 0, "importance": 1}, "search_legs": {"constraint": 0}}
    body_of(await api.patch("/v1/admin/settings", json=settings))
    assert (await texts_found(api, "Does Ada drink tea?", user_id="ada"))[0] == "The passport expires."
    named = {"relevance": 1, "importance": 0}
    assert (await texts_found(api, "Does Ada drink tea?", user_id="ada", weights=named))[0] == "Ada drinks tea."
    first = await search(api, "Does Ada drink tea?", user_id="ada", weights=named, explain=True)
    asked = {"explanation_id": first["explanation"]["id"]}
    again = body_of(await api.post("/v1/memories/search/replay", json=asked))
    assert again["results"][0]["text"] == "Ada drinks tea.", "a replay keeps what the first request named"
    body_of(await api.patch("/v1/admin/settings", json={"search_weights": None, "search_legs": None}))


async def test_accesses_are_counted_outside_of_the_read(api: httpx.AsyncClient, tenant: Tenant) -> None:
    added = await add(api, "Ada lives in Lisbon.")
    await search(api, "Lisbon", user_id="ada")
    await search(api, "里斯本", user_id="ada")
    await search(api, "Lisbon", user_id="ada", explain=True)
    path = f"/v1/memories/{added['id']}"
    assert body_of(await api.get(path))["access_count"] == 0
    await tenant.services.accesses.flush()
    read = body_of(await api.get(path))
    assert (read["access_count"], read["version"], read["updated_at"]) == (2, added["version"], added["updated_at"])
    last = datetime.fromisoformat(read["last_accessed_at"])
    assert abs((clock.now() - last).total_seconds()) < 60
    assert last.tzinfo == UTC


@pytest.mark.parametrize("text", ["Thanks, that helps!", "好的,谢谢!", "Good morning :)", "哈哈哈"])
async def test_small_talk_finds_nothing_where_retrieval_is_auto(api: httpx.AsyncClient, text: str) -> None:
    await add(api, "Good morning is what Ada says. 好的谢谢。")
    found = await search(api, text, user_id="ada", retrieval="auto")
    assert (found["results"], found["skipped"]) == ([], "small_talk")
    assert (await search(api, text, user_id="ada"))["skipped"] is None


@pytest.mark.parametrize("text", ["What did I say about the tram?", "我之前说过电车的事吗?"])
async def test_a_question_is_looked_up_where_retrieval_is_auto_and_never_where_it_is_never(
    api: httpx.AsyncClient, text: str
) -> None:
    await add(api, "The tram is late. 电车晚点了。")
    assert (await search(api, text, user_id="ada", retrieval="auto"))["results"]
    never = await search(api, text, user_id="ada", retrieval="never")
    assert (never["results"], never["skipped"]) == ([], "never")


@pytest.mark.parametrize(
    ("turns", "question", "wanted"),
    [
        (["我们决定用 Kubernetes 部署计费服务。"], "那这个怎么部署?", "计费服务用 Kubernetes 的蓝绿部署。"),
        (
            ["Let us talk about the billing service on Kubernetes."],
            "How do we deploy it?",
            "The billing service is deployed blue-green on Kubernetes.",
        ),
    ],
)
async def test_a_question_full_of_pronouns_is_completed_from_the_turns_before_it(
    api: httpx.AsyncClient, turns: list[str], question: str, wanted: str
) -> None:
    for number in range(30):
        await add(api, f"How do we deploy the website number {number}? 网站{number}怎么部署?")
    await add(api, wanted)
    found = await search(api, question, user_id="ada", recent={"messages": turns})
    assert found["results"][0]["text"] == wanted
    assert "Kubernetes" in found["rewritten_query"]
    for text in turns:
        await say(api, "talk", text, user_id="ada")
    by_session = await search(api, question, user_id="ada", recent={"session_id": "talk"})
    assert by_session["rewritten_query"] == found["rewritten_query"]
    assert by_session["degraded"] == []


async def test_recent_turns_of_a_foreign_session_are_not_read(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await say(api, "private", "We talk about Zanzibar.", user_id="bob")
    bound = await tenant.client(users=["ada"])
    found = await search(bound, "How do we get there?", recent={"session_id": "private"})
    assert "Zanzibar" not in str(found)


async def test_without_a_reranker_the_fused_order_stands_and_it_is_said(api: httpx.AsyncClient) -> None:
    await add(api, "Ada lives in Lisbon. 艾达住在里斯本。")
    found = await search(api, "Lisbon", user_id="ada", rerank=True)
    assert found["degraded"] == ["rerank"]
    assert len(found["results"]) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"legs": {"dense": 0, "lexical": 0, "time": 0, "key": 0, "constraint": 0}},
        {"legs": {"vibes": 1}},
        {"fusion": {"method": "magic"}},
        {"recent": {}},
        {"recent": {"session_id": "s", "messages": ["a"]}},
        {"retrieval": "sometimes"},
        {"token_budget": 0},
        {"neighbours": 6},
        {"weights": {"confidence": 1.5}},
        {"timezone": "Mars/Olympus"},
    ],
)
async def test_what_makes_no_search_is_refused(api: httpx.AsyncClient, body: dict[str, Any]) -> None:
    problem_of(await api.post("/v1/memories/search", json={"query": "tea", **body}), 422)


async def test_a_search_by_constraints_alone_needs_no_words(api: httpx.AsyncClient) -> None:
    await add(api, "Never share prices.", category="constraint", pinned=True)
    await open_session(api, "s", user_id="ada")
    only = {"dense": 0, "lexical": 0, "time": 0, "key": 0}
    assert await texts_found(api, "…", user_id="ada", legs=only) == ["Never share prices."]
