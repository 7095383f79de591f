"""Long sessions in few sentences: folded in the background and on demand, each sentence with where it comes from."""

import asyncio
from itertools import pairwise
from typing import Any

import httpx
import pytest

from tests.conftest import Tenant
from tests.routers.calls import body_of, open_session, problem_of, say

ADA = {"user_id": "ada"}
LANGUAGES = ("en", "zh")
CONSTRAINT = {"en": "Never book a hotel with stairs, please.", "zh": "请绝对不要订有楼梯的酒店。"}
DECISION = {"en": "We decided to travel on 14 May with Clara.", "zh": "我们决定5月14日和林悦一起出发。"}
QUESTION = {"en": "Which visa does Clara need?", "zh": "林悦需要哪种签证?"}
NO_ANSWER = {"en": "I don't know yet, let me check.", "zh": "我还不清楚,查一下。"}
FIRST = {"en": "The deposit is 200 euros.", "zh": "押金是200欧元。"}
THEN = {"en": "The deposit changed to 350 euros.", "zh": "押金改成350欧元了。"}
SMALL_TALK = {"en": ("Haha, nice!", "Glad to hear it."), "zh": ("哈哈,真好!", "很高兴听到。")}
SYSTEM = {"en": "You are a travel agent. Answer in one paragraph.", "zh": "你是旅行顾问。请用一段话回答。"}


async def told(api: httpx.AsyncClient, session: str, *messages: dict[str, Any]) -> None:
    body_of(await api.post(f"/v1/sessions/{session}/messages", json={**ADA, "messages": list(messages)}), 201)


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


async def chatter(api: httpx.AsyncClient, session: str, language: str, turns: int) -> None:
    said, answered = SMALL_TALK[language]
    await told(api, session, *[one for _ in range(turns) for one in (user(said), assistant(answered))])


async def summary(api: httpx.AsyncClient, session: str = "s") -> dict[str, Any]:
    found: dict[str, Any] = body_of(await api.get(f"/v1/sessions/{session}/summary"))
    return found


async def fold(api: httpx.AsyncClient, session: str = "s", **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = body_of(await api.post(f"/v1/sessions/{session}/summary", json=fields))
    return found


def texts(found: dict[str, Any]) -> list[str]:
    return [sentence["text"] for sentence in found["sentences"]]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_leaves_the_window_is_folded_in_the_background_and_the_window_is_not(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    await told(api, "s", user(CONSTRAINT[language]), assistant("OK"), user(DECISION[language]), assistant("OK"))
    await chatter(api, "s", language, 12)
    await tenant.work()
    found = await summary(api)
    assert texts(found) == [CONSTRAINT[language], DECISION[language]]
    assert [one["sort"] for one in found["sentences"]] == ["constraint", "decision"]
    assert (found["from_seq"], found["to_seq"], found["unfolded"]) == (1, 8, 20)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_each_sentence_leads_to_the_message_that_it_was_said_in(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    await chatter(api, "s", language, 3)
    await told(api, "s", user(DECISION[language]), assistant("OK"), user(FIRST[language]), assistant("OK"))
    found = await fold(api, keep_turns=0)
    assert found["sentences"]
    for sentence in found["sentences"]:
        page = await api.get(
            "/v1/sessions/s/messages", params={"from_seq": sentence["from_seq"], "to_seq": sentence["to_seq"]}
        )
        assert sentence["text"] in "\n".join(message["content"] for message in body_of(page)["results"])
    assert "14" in found["text"]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_only_what_newly_leaves_the_window_is_folded(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    await told(api, "s", user(DECISION[language]), assistant("OK"))
    first = await fold(api, keep_turns=0)
    await told(api, "s", user(FIRST[language]), assistant("OK"))
    second = await fold(api, keep_turns=0)
    old, new = second["tree"]
    assert [(old["from_seq"], old["to_seq"]), (new["from_seq"], new["to_seq"])] == [(1, 2), (3, 4)]
    assert old == first["tree"][0]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_an_overtaken_value_is_not_told_as_current(api: httpx.AsyncClient, tenant: Tenant, language: str) -> None:
    await told(api, "s", user(FIRST[language]), assistant("OK"))
    assert "200" in (await fold(api, keep_turns=0))["text"]
    await told(api, "s", user(THEN[language]), assistant("OK"))
    found = await fold(api, keep_turns=0)
    assert "350" in found["text"]
    assert "200" not in found["text"]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_sentence_whose_memory_was_superseded_elsewhere_is_not_told_as_current(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    first = {"en": "I live in Berlin.", "zh": "我住在上海。"}[language]
    then = {"en": "I moved from Berlin to Lisbon last month.", "zh": "我上个月从上海搬到了杭州。"}[language]
    await told(api, "s", user(first), assistant("OK"))
    await tenant.work()
    assert texts(await fold(api, keep_turns=0)) == [first]
    await say(api, "another", then, **ADA)
    await tenant.work()
    assert texts(await summary(api)) == []


@pytest.mark.parametrize("language", LANGUAGES)
async def test_open_questions_are_kept_and_answered_ones_are_not(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    other = {"en": "What is the capital of Peru?", "zh": "秘鲁的首都是哪里?"}[language]
    await told(api, "s", user(QUESTION[language]), assistant(NO_ANSWER[language]), user(other), assistant("Lima."))
    found = await fold(api, keep_turns=0)
    assert [one["text"] for one in found["sentences"] if one["sort"] == "question"] == [QUESTION[language]]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_system_messages_are_kept_word_for_word(api: httpx.AsyncClient, tenant: Tenant, language: str) -> None:
    long_text = SYSTEM[language] * 40
    await told(api, "s", {"role": "system", "content": long_text}, user(DECISION[language]), assistant("OK"))
    found = await fold(api, keep_turns=0)
    assert texts(found) == [long_text, DECISION[language]]
    assert found["sentences"][0]["sort"] == "system"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_tool_call_is_never_parted_from_its_result(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    city = {"en": "Porto", "zh": "波尔图"}[language]
    call = {"id": "c1", "type": "function", "function": {"name": "find_hotel", "arguments": f'{{"city": "{city}"}}'}}
    await told(
        api,
        "s",
        user(DECISION[language]),
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "Hotel Miramar, 120 EUR", "tool_call_id": "c1"},
        assistant("OK"),
    )
    found = await fold(api, keep_turns=0)
    (result,) = [one for one in found["sentences"] if one["sort"] == "result"]
    assert (result["from_seq"], result["to_seq"]) == (2, 3)
    assert city in result["text"]
    assert "Miramar" in result["text"]
    # In the window, too: the call that begins it comes with its result.
    context = body_of(await api.post("/v1/sessions/s/context", json={"window_turns": 1, "strategy": "window"}))
    roles = [message["role"] for message in context["messages"]]
    assert ("tool" in roles) == any("tool_calls" in message for message in context["messages"])


@pytest.mark.parametrize("language", LANGUAGES)
async def test_many_summaries_become_summaries_of_summaries_and_the_text_stays_short(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    body_of(await api.patch("/v1/admin/settings", json={"summary_max_tokens": 200, "window_turns": 2}))
    await told(api, "s", user(CONSTRAINT[language]), assistant("OK"))
    template = {"en": "The order number {n} goes to shelf {m}.", "zh": "订单号{n}放到{m}号货架。"}[language]
    for part in range(9):
        said = [template.format(n=1000 + 17 * part + number, m=50 + number) for number in range(4)]
        await told(api, "s", *[one for text in said for one in (user(text), assistant("OK"))])
        await tenant.work()
    found = await fold(api, keep_turns=0)
    assert max(node["level"] for node in found["tree"]) >= 1
    assert found["tokens"] <= 200
    assert texts(found)[0] == CONSTRAINT[language]
    current = sorted((node["from_seq"], node["to_seq"]) for node in found["tree"] if node["current"])
    assert current[0][0] == 1
    assert all(end + 1 == start for (_, end), (start, _) in pairwise(current))
    by_id = {node["id"]: node for node in found["tree"]}
    for node in found["tree"]:
        below = [by_id[name] for name in node["made_from"]]
        assert bool(below) == (node["level"] > 0)
        if below:
            assert (node["from_seq"], node["to_seq"]) == (below[0]["from_seq"], below[-1]["to_seq"])
            assert not any(one["current"] for one in below)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_folding_where_nothing_has_left_the_window_is_a_409(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    await told(api, "s", user(DECISION[language]), assistant("OK"))
    problem_of(await api.post("/v1/sessions/s/summary"), 409, "nothing_to_fold")
    await fold(api, keep_turns=0)
    problem_of(await api.post("/v1/sessions/s/summary", json={"keep_turns": 0}), 409, "nothing_to_fold")
    assert texts(await summary(api)) == [DECISION[language]]


async def test_the_same_call_of_a_fold_is_done_once(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await told(api, "s", user(DECISION["en"]), assistant("OK"), user(DECISION["zh"]), assistant("OK"))
    once = {"Idempotency-Key": "fold-1"}
    first = await api.post("/v1/sessions/s/summary", json={"keep_turns": 0}, headers=once)
    again = await api.post("/v1/sessions/s/summary", json={"keep_turns": 0}, headers=once)
    assert body_of(again) == body_of(first)
    assert again.headers["idempotent-replayed"] == "true"


async def test_a_session_without_messages_has_an_empty_summary(api: httpx.AsyncClient) -> None:
    await open_session(api, "s")
    found = await summary(api)
    assert (found["text"], found["sentences"], found["tree"], found["to_seq"]) == ("", [], [], 0)
    problem_of(await api.get("/v1/sessions/none/summary"), 404, "session_not_found")
    problem_of(await api.post("/v1/sessions/none/summary"), 404, "session_not_found")
    problem_of(await api.post("/v1/sessions/s/summary", json={"keep_turns": -1}), 422, "invalid")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_closing_a_session_folds_all_of_it_and_resume_gives_the_state_and_that_summary(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    await told(api, "s", user(DECISION[language]), assistant("OK"), user(CONSTRAINT[language]), assistant("OK"))
    state = {"task": {"goal": "trip", "pending_steps": ["hotel", "签证"]}, "n": 1}
    body_of(await api.put("/v1/sessions/s/state", json={"state": state}))
    await tenant.work()
    assert (await summary(api))["text"] == ""
    body_of(await api.post("/v1/sessions/s/close"))
    await tenant.work()
    found = body_of(await api.get("/v1/sessions/s/resume"))
    assert (found["session"]["status"], found["state"]["state"]) == ("closed", state)
    assert found["task"]["pending_steps"] == ["hotel", "签证"]
    assert DECISION[language] in found["summary"]["text"]
    assert CONSTRAINT[language] in found["summary"]["text"]
    assert (found["summary"]["to_seq"], found["summary"]["unfolded"]) == (4, 0)
    problem_of(await api.get("/v1/sessions/none/resume"), 404, "session_not_found")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_is_taken_out_of_a_session_is_taken_out_of_its_summary(
    api: httpx.AsyncClient, tenant: Tenant, language: str
) -> None:
    await told(api, "s", user(DECISION[language]), assistant("OK"), user(FIRST[language]), assistant("OK"))
    await fold(api, keep_turns=0)
    assert (await api.delete("/v1/sessions/s/messages/1")).status_code == 204
    found = await summary(api)
    assert texts(found) == [FIRST[language]]
    assert all(one["text"] != DECISION[language] for node in found["tree"] for one in node["sentences"])
    body_of(await api.delete("/v1/sessions/s/messages"))
    assert (await summary(api))["tree"] == []
    await told(api, "s", user(CONSTRAINT[language]), assistant("OK"))
    assert texts(await fold(api, keep_turns=0)) == [CONSTRAINT[language]]


async def test_two_who_fold_at_once_fold_nothing_twice(api: httpx.AsyncClient, tenant: Tenant) -> None:
    await told(api, "s", *[one for n in range(30) for one in (user(f"The order {n} costs {n + 7} euros."),
                                                              assistant("OK"))])  # fmt: skip
    answers = await asyncio.gather(
        *(api.post("/v1/sessions/s/summary", json={"keep_turns": 0}) for _ in range(4)), tenant.work()
    )
    assert {answer.status_code for answer in answers[:4]} <= {200, 409}  # type: ignore[union-attr]
    stretches = sorted(
        (node["from_seq"], node["to_seq"]) for node in (await summary(api))["tree"] if node["level"] == 0
    )
    assert stretches[0][0] == 1
    assert stretches[-1][1] == 60
    assert all(end + 1 == start for (_, end), (start, _) in pairwise(stretches))


@pytest.mark.parametrize(
    ("interview", "small"),
    [
        (
            [
                ("I want to plan a trip.", "Where are you going?"),
                ("Kyoto", "How long will you stay there?"),
                ("Ten days", "Which airport do you leave from?"),
                ("Faro", "Shall I look for direct flights?"),
                ("Yes", "Noted."),
            ],
            "en",
        ),
        (
            [
                ("我想计划一次旅行。", "您打算去哪里？"),
                ("京都", "您在那里住多久？"),
                ("十天", "您从哪个机场出发？"),
                ("虹桥", "要不要找直飞的航班？"),
                ("要的", "好的。"),
            ],
            "zh",
        ),
    ],
)
async def test_an_answer_in_a_word_is_told_with_its_question_also_where_a_fold_parts_them(
    api: httpx.AsyncClient, small: str, interview: list[tuple[str, str]]
) -> None:
    for said, asked in interview:
        await told(api, "s", user(said), assistant(asked))
    for keep in range(len(interview) - 1, 0, -1):  # each question is folded without its answer
        await fold(api, keep_turns=keep)
    await chatter(api, "s", small, 1)
    found = await fold(api, keep_turns=0)
    answers = [f"{asked} user: {said}" for (_, asked), (said, _) in pairwise(interview)]
    assert texts(found)[-len(answers) :] == answers
    ranges = [(one["from_seq"], one["to_seq"]) for one in found["sentences"][-len(answers) :]]
    assert ranges == [(2 * place, 2 * place + 1) for place in range(1, len(answers) + 1)]
    assert (await api.delete("/v1/sessions/s/messages/4")).status_code == 204
    left = [text for text in texts(await summary(api)) if " user: " in text]
    assert left == [answers[0], *answers[2:]], "a question that is taken away takes its answer's sentence along"
