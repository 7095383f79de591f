"""Messages: what is acknowledged is kept, in order, once, and found by its words at once."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.conftest import Tenant
from tests.routers.calls import body_of, every, open_session, problem_of, say, search, texts_found

PATH = "/v1/sessions/s/messages"


async def test_an_object_in_gives_the_object_out(api: httpx.AsyncClient) -> None:
    given = {
        "role": "assistant",
        "content": "恭喜!新家还习惯吗?\n  ",
        "name": "planner",
        "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": "{}"}}],
        "tool_call_id": "c0",
        "external_id": "their/1",
        "occurred_at": "2026-01-01T00:00:00Z",
        "timezone": "Asia/Shanghai",
        "metadata": {"k": [1, None]},
    }
    response = await api.post(PATH, json=given | {"user_id": "ada", "agent_id": "a", "app_id": "p"})
    message = body_of(response, 201)
    assert {name: message[name] for name in given} == given
    assert (message["seq"], message["session_id"], message["remembered"]) == (1, "s", [])
    assert message["tokens"] > 0
    got = body_of(await api.get(f"{PATH}/1"))
    assert got == {name: value for name, value in message.items() if name not in {"remembered", "forgotten"}}
    session = body_of(await api.get("/v1/sessions/s"))
    assert (session["user_id"], session["agent_id"], session["app_id"]) == ("ada", "a", "p")


async def test_a_list_in_gives_results_in_input_order_also_of_one(api: httpx.AsyncClient) -> None:
    one = body_of(await api.post(PATH, json={"messages": [{"role": "user", "content": "a"}]}), 201)
    assert [message["seq"] for message in one["results"]] == [1]
    assert one["remembered"] == []
    assert "id" not in one
    three = {"messages": [{"role": "user", "content": text} for text in "bcd"], "timezone": "Asia/Shanghai"}
    results = body_of(await api.post(PATH, json=three), 201)["results"]
    assert [(message["seq"], message["content"]) for message in results] == [(2, "b"), (3, "c"), (4, "d")]
    assert {message["timezone"] for message in results} == {"Asia/Shanghai"}


async def test_a_thousand_messages_go_in_one_call_and_one_more_is_a_422(api: httpx.AsyncClient, tenant: Tenant) -> None:
    messages = [
        {"role": "user", "content": f"第{number}条 message", "external_id": f"x{number}"} for number in range(1000)
    ]
    results = body_of(await api.post(PATH, json={"messages": messages}), 201)["results"]
    assert [message["seq"] for message in results] == list(range(1, 1001))
    more = {"messages": [*messages, {"role": "user", "content": "x"}]}
    problem_of(await api.post("/v1/sessions/t/messages", json=more), 422, "invalid")
    problem_of(await api.post("/v1/sessions/t/messages", json={"messages": []}), 422, "invalid")
    problem_of(await api.get("/v1/sessions/t"), 404)


async def test_of_a_bad_list_nothing_is_stored(api: httpx.AsyncClient) -> None:
    bad: list[dict[str, Any]] = [
        {"role": "user", "content": ""},
        {"role": "someone", "content": "x"},
        {"role": "user", "content": "x" * 100_001},
        {"role": "user", "content": []},
        {"role": "user", "content": ["x"]},
        {"role": "user"},
        {"content": "x"},
        {"role": "user", "content": "x", "timezone": "Nowhere/Town"},
    ]
    for one in bad:
        batch = {"messages": [{"role": "user", "content": "fine"}, one]}
        problem = problem_of(await api.post(PATH, json=batch), 422, "invalid")
        assert [fault["loc"] for fault in problem["errors"] if 1 in fault["loc"]]
    assert await every(api, "/v1/sessions") == []
    assert (await search(api, "fine", include_messages=True))["results"] == []


async def test_parts_come_back_as_given_and_their_texts_are_found(api: httpx.AsyncClient) -> None:
    parts = [
        {"type": "text", "text": "Look at this kingfisher"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "text", "text": "翠鸟很漂亮"},
        {"type": "other", "text": 5},
    ]
    message = body_of(await api.post(PATH, json={"role": "user", "content": parts}), 201)
    assert message["content"] == parts
    assert body_of(await api.get(f"{PATH}/1"))["content"] == parts
    for query in ("kingfisher", "翠鸟"):
        assert await texts_found(api, query, include_messages=True) == ["Look at this kingfisher\n翠鸟很漂亮"]


async def test_content_is_kept_as_given_to_the_last_space(api: httpx.AsyncClient, tenant: Tenant) -> None:
    for content in ("  two  spaces  ", "\n\ttabs\r\n", "e\u0301 \ufeff\u200b", "   ", "Ａ１", "汇率"):
        assert (await say(api, "s", content))["content"] == content
    assert [one["content"] for one in await every(api, PATH)] == [
        "  two  spaces  ", "\n\ttabs\r\n", "e\u0301 \ufeff\u200b", "   ", "Ａ１", "汇率",
    ]  # fmt: skip
    await tenant.work()
    assert {job["state"] for job in await every(api, "/v1/jobs")} == {"succeeded"}


async def test_messages_are_found_by_a_word_at_once(api: httpx.AsyncClient) -> None:
    await say(api, "s", "我需要外币汇率换算的工具", user_id="ada")
    await say(api, "s", "Her dentist is Dr. Okonkwo.", user_id="ada")
    for query, text in (("汇率", "我需要外币汇率换算的工具"), ("Okonkwo", "Her dentist is Dr. Okonkwo.")):
        found = await search(api, query, user_id="ada", include_messages=True)
        assert found["results"][0]["text"] == text
        assert found["results"][0]["type"] == "message"
        assert found["degraded"] == []


async def test_order_is_by_seq_also_when_times_are_equal_or_reversed(api: httpx.AsyncClient) -> None:
    times = ["2026-01-01T00:00:05Z", "2026-01-01T00:00:05Z", "2026-01-01T00:00:04Z", "2025-01-01T00:00:00Z",
             "2026-01-01T08:00:05+08:00"]  # fmt: skip
    batch = [{"role": "user", "content": f"b{n}", "occurred_at": time} for n, time in enumerate(times)]
    await api.post(PATH, json={"messages": batch})
    for number, time in enumerate(times):
        await say(api, "s", f"s{number}", occurred_at=time)
    listed = await every(api, PATH, limit=3)
    assert [one["content"] for one in listed] == [*(f"b{n}" for n in range(5)), *(f"s{n}" for n in range(5))]
    assert [one["seq"] for one in listed] == list(range(1, 11))


async def test_parallel_appends_get_gapless_numbers_and_keep_batches_together(api: httpx.AsyncClient) -> None:
    batches = [[{"role": "user", "content": f"{n}.{k}"} for k in range(3)] for n in range(20)]
    answers = await asyncio.gather(*(api.post(PATH, json={"messages": batch}) for batch in batches))
    assert {answer.status_code for answer in answers} == {201}
    listed = await every(api, PATH)
    assert [one["seq"] for one in listed] == list(range(1, 61))
    contents = [one["content"] for one in listed]
    for start in range(0, 60, 3):
        number = contents[start].split(".")[0]
        assert contents[start : start + 3] == [f"{number}.{k}" for k in range(3)]


async def test_expected_seq_makes_an_append_conditional(api: httpx.AsyncClient) -> None:
    message = {"role": "user", "content": "x"}
    problem = problem_of(await api.post(PATH, json=message | {"expected_seq": 1}), 412, "seq_mismatch")
    assert problem["current_seq"] == 0
    problem_of(await api.get("/v1/sessions/s"), 404)
    body_of(await api.post(PATH, json=message | {"expected_seq": 0}), 201)
    batch = {"messages": [message, message | {"external_id": "e"}], "expected_seq": 1}
    body_of(await api.post(PATH, json=batch), 201)
    problem = problem_of(await api.post(PATH, json=batch), 412, "seq_mismatch")
    assert problem["current_seq"] == 3
    assert len(await every(api, PATH)) == 3


async def test_of_parallel_appends_on_one_seq_one_wins(api: httpx.AsyncClient) -> None:
    calls = (api.post(PATH, json={"role": "user", "content": f"m{n}", "expected_seq": 0}) for n in range(10))
    assert sorted(answer.status_code for answer in await asyncio.gather(*calls)) == [201, *[412] * 9]
    assert len(await every(api, PATH)) == 1


async def test_an_external_id_is_stored_once(api: httpx.AsyncClient) -> None:
    first = await say(api, "s", "hello", external_id="e1")
    again = await say(api, "s", "hello, differently", external_id="e1")
    assert (again["id"], again["content"]) == (first["id"], "hello")
    mixed = {
        "messages": [
            {"role": "user", "content": "plain"},
            {"role": "user", "content": "new", "external_id": "e2"},
            {"role": "user", "content": "known", "external_id": "e1"},
            {"role": "user", "content": "new again", "external_id": "e2"},
            {"role": "user", "content": "plain"},
        ]
    }
    results = body_of(await api.post(PATH, json=mixed), 201)["results"]
    assert [(one["seq"], one["content"]) for one in results] == [
        (2, "plain"), (3, "new"), (1, "hello"), (3, "new"), (4, "plain"),
    ]  # fmt: skip
    session = body_of(await api.get("/v1/sessions/s"))
    assert (session["last_seq"], session["message_count"]) == (4, 4)
    # Another session has external ids of its own.
    assert (await say(api, "t", "hello", external_id="e1"))["id"] != first["id"]


async def test_parallel_appends_of_one_external_id_store_it_once(api: httpx.AsyncClient) -> None:
    said = await asyncio.gather(*(say(api, "s", f"m{number}", external_id="e") for number in range(10)))
    assert len({one["id"] for one in said}) == 1
    assert body_of(await api.get("/v1/sessions/s"))["last_seq"] == 1


async def test_parallel_first_appends_open_one_session(api: httpx.AsyncClient) -> None:
    await asyncio.gather(*(say(api, "s", f"m{number}", user_id="ada") for number in range(10)))
    assert [one["message_count"] for one in await every(api, "/v1/sessions")] == [10]


async def test_a_session_of_one_scope_refuses_another(api: httpx.AsyncClient) -> None:
    await open_session(api, "s", user_id="ada", agent_id="a", app_id="p")
    for field in ("user_id", "agent_id", "app_id"):
        other = {"role": "user", "content": "x", field: "other"}
        problem_of(await api.post(PATH, json=other), 409, "id_taken")
    await say(api, "s", "fine", user_id="ada", agent_id="a")
    assert len(await every(api, PATH)) == 1


async def test_a_tool_call_needs_no_content_and_nothing_at_all_is_a_422(api: httpx.AsyncClient) -> None:
    call = {"role": "assistant", "tool_calls": [{"id": "c"}]}
    assert body_of(await api.post(PATH, json=call), 201)["tool_calls"] == [{"id": "c"}]
    problem_of(await api.post(PATH, json={"role": "assistant", "tool_calls": []}), 422, "invalid")
    as_providers_send_it = {"role": "assistant", "content": None, "tool_calls": [{"id": "d"}]}
    assert body_of(await api.post(PATH, json=as_providers_send_it), 201)["content"] == ""
    problem_of(await api.post(PATH, json={"role": "user", "content": None}), 422, "invalid")


async def test_an_absent_message_or_session_is_a_404(api: httpx.AsyncClient) -> None:
    problem_of(await api.get(PATH), 404, "session_not_found")
    problem_of(await api.get(f"{PATH}/1"), 404, "session_not_found")
    await open_session(api, "s")
    assert await every(api, PATH) == []
    problem_of(await api.get(f"{PATH}/1"), 404, "message_not_found")


@pytest.mark.parametrize("seq", ["0", "-1", "x", "1.5", str(2**63), "9" * 5000, "%00", "١"])
async def test_a_seq_that_is_no_number_is_a_422(api: httpx.AsyncClient, seq: str) -> None:
    await say(api, "s", "x")
    response = await api.get(f"{PATH}/{seq}")
    assert response.status_code in {400, 422} or (seq == "١" and response.status_code == 200)
    for name in ("from_seq", "to_seq"):
        if seq not in {"0", "١"}:
            problem_of(await api.get(PATH, params={name: seq.replace("%00", "\0")}), 422, "invalid")


async def test_an_acknowledged_append_is_embedded_by_one_job(api: httpx.AsyncClient, tenant: Tenant) -> None:
    for number in range(3):
        await say(api, "s", f"The cat sleeps, part {number}.", user_id="ada")
    assert await tenant.work() == 1
    jobs = await every(api, "/v1/jobs", kind="embed_messages")
    assert [(job["state"], job["result"], job["input_window"]) for job in jobs] == [
        ("succeeded", {"embedded": 3}, {"from_seq": 1, "to_seq": 3})
    ]
    found = await search(api, "a sleeping animal", user_id="ada", include_messages=True)
    assert len(found["results"]) == 3
    assert all(hit["score_breakdown"]["similarity_raw"] is not None for hit in found["results"])
