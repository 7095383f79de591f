"""Questions completed by a model on loopback, and by rule where it does not help."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from app.core import clock
from app.core.metrics import Metrics
from app.domain.budget import estimate_tokens
from app.domain.rewriting import rewritten
from app.providers.llm.openai import ChatModel, Endpoint
from app.providers.llm.prompts import VERSIONS, Prompt, prompt
from app.services.rewriting import LONGEST_ANSWER, TURN_CHARACTERS, TURNS, QueryRewriter, Rewritten
from tests.doubles import language_model as double
from tests.doubles.language_model import LanguageModelHost, language_model_host
from tests.doubles.scripted_host import Turn

DIALOGUE = ["We moved the billing service to Kubernetes in March.", "Good."]
QUESTION = "Who has access to it?"
DIALOGUE_ZH = ["我女儿小雨下周三满5岁。", "祝她生日快乐！"]
QUESTION_ZH = "她喜欢什么？"


@pytest.fixture
def host() -> Iterator[LanguageModelHost]:
    with language_model_host() as running:
        yield running


@asynccontextmanager
async def rewriting(host: LanguageModelHost, timeout: float = 10.0, **changes: Any) -> AsyncIterator[QueryRewriter]:  # noqa: ASYNC109 - the rewriter's
    model = ChatModel(Endpoint(base_url=host.url, model="double", attempts=1, **changes), Metrics())
    try:
        yield QueryRewriter(model, timeout)
    finally:
        await model.close()


def by_rule(query: str, turns: list[str], degraded: list[str]) -> Rewritten:
    text = rewritten(query, turns)
    assert text != query
    return Rewritten(text, "rule", degraded)


async def test_the_model_completes_a_question(host: LanguageModelHost) -> None:
    host.content = "Who has access to the billing service on Kubernetes?"
    async with rewriting(host) as rewriter:
        assert await rewriter.rewrite(QUESTION, DIALOGUE) == Rewritten(host.content, "llm", [])
    (contents,) = host.prompts
    assert contents[0] == prompt("rewrite", "en").text
    assert contents[1].splitlines() == [
        "Dialogue:",
        f"- {DIALOGUE[0]}",
        f"- {DIALOGUE[1]}",
        f"Question: {QUESTION}",
        "Rewritten:",
    ]


async def test_a_chinese_dialogue_is_asked_in_chinese(host: LanguageModelHost) -> None:
    host.content = "小雨喜欢什么？"
    async with rewriting(host) as rewriter:
        assert (await rewriter.rewrite(QUESTION_ZH, DIALOGUE_ZH)).text == "小雨喜欢什么？"
        await rewriter.rewrite("那 FastAPI 呢？", ["我们用 Django 写后端。"])
    assert [contents[0] for contents in host.prompts] == [prompt("rewrite", "zh").text] * 2


@pytest.mark.parametrize(
    ("query", "turns"),
    [
        ("Where do I live?", DIALOGUE),
        ("我住在哪里？", DIALOGUE_ZH),
        (QUESTION, []),
        (QUESTION, ["", " \n"]),
        ("", DIALOGUE),
    ],
)
async def test_a_question_that_is_whole_stays_and_costs_no_call(
    host: LanguageModelHost, query: str, turns: list[str]
) -> None:
    async with rewriting(host) as rewriter:
        assert await rewriter.rewrite(query, turns) == Rewritten(query, None, [])
    assert not host.requests


async def test_without_a_model_the_rule_completes_and_nothing_is_missing() -> None:
    rewriter = QueryRewriter(None, 2.0)
    assert await rewriter.rewrite(QUESTION, DIALOGUE) == by_rule(QUESTION, DIALOGUE, [])
    assert await rewriter.rewrite(QUESTION_ZH, DIALOGUE_ZH) == by_rule(QUESTION_ZH, DIALOGUE_ZH, [])


async def test_turns_without_a_word_to_add_leave_the_question() -> None:
    assert await QueryRewriter(None, 2.0).rewrite(QUESTION, ["It is.", "是的"]) == Rewritten(QUESTION, None, [])


@pytest.mark.parametrize(
    "answer",
    [
        "x" * (LONGEST_ANSWER + 1),
        "Who has access to the billing service?\nThe platform team.",
        "Who has access to the billing service since 2021?",
        "who has access to it",
        '"Who has access to it?"',
        "Rewritten:",
        '""',
    ],
)
async def test_an_answer_that_cannot_be_trusted_is_refused_for_the_rule(host: LanguageModelHost, answer: str) -> None:
    host.content = answer
    async with rewriting(host) as rewriter:
        assert await rewriter.rewrite(QUESTION, DIALOGUE) == by_rule(QUESTION, DIALOGUE, ["llm"])
    assert len(host.requests) == 1


@pytest.mark.parametrize(
    ("answer", "kept"), [("小雨5岁生日喜欢什么？", True), ("小雨５岁喜欢什么？", True), ("小雨6岁喜欢什么？", False)]
)
async def test_numbers_are_those_that_were_said(host: LanguageModelHost, answer: str, kept: bool) -> None:
    host.content = answer
    async with rewriting(host) as rewriter:
        assert (await rewriter.rewrite(QUESTION_ZH, DIALOGUE_ZH)).by == ("llm" if kept else "rule")


@pytest.mark.parametrize(
    "answer", ["改写：小雨喜欢什么？", "“小雨喜欢什么？”", "<think>5岁</think>\n小雨喜欢什么？", " 小雨喜欢什么？\n"]
)
async def test_labels_quotes_and_thoughts_are_left_out(host: LanguageModelHost, answer: str) -> None:
    host.content = answer
    async with rewriting(host) as rewriter:
        assert (await rewriter.rewrite(QUESTION_ZH, DIALOGUE_ZH)).text == "小雨喜欢什么？"


FAULTS = {
    **{name: double.UNFIT[name] for name in ("empty", "null", "nothing but thoughts", "cut in a string")},
    **{name: double.PASSING[name] for name in ("busy", "down", "dropped", "a page under 200", "no choices")},
    **{name: double.LASTING[name] for name in ("no key", "too long a prompt")},
}


@pytest.mark.parametrize("turn", list(FAULTS.values()), ids=list(FAULTS))
async def test_a_model_that_fails_leaves_it_to_the_rule(host: LanguageModelHost, turn: Turn) -> None:
    host.otherwise = turn
    async with rewriting(host) as rewriter:
        assert await rewriter.rewrite(QUESTION, DIALOGUE) == by_rule(QUESTION, DIALOGUE, ["llm"])


@pytest.mark.parametrize("turn", [Turn(hang=True), Turn(trickle=True)], ids=["hanging", "trickling"])
async def test_a_slow_model_is_not_waited_for(host: LanguageModelHost, turn: Turn) -> None:
    host.otherwise = turn
    async with rewriting(host, timeout=0.2, breaker_failures=2) as rewriter:
        started = clock.monotonic()
        for _ in range(4):
            assert await rewriter.rewrite(QUESTION, DIALOGUE) == by_rule(QUESTION, DIALOGUE, ["llm"])
        assert clock.monotonic() - started < 8
    assert len(host.requests) == 2, "after two it is left alone"


async def test_a_long_dialogue_stays_within_the_prompts_bounds(host: LanguageModelHost) -> None:
    async with rewriting(host) as rewriter:
        await rewriter.rewrite(QUESTION_ZH, ["很长的话。" * 10_000] * 50)
    (contents,) = host.prompts
    # A Chinese character is a token at most for the models in use: bound the whole by characters.
    assert len(contents[1]) <= TURNS * (TURN_CHARACTERS + 3) + 50
    assert len(contents[0]) + len(contents[1]) < 2_600


@pytest.mark.parametrize("text", ["它\0 呢", "\ud83d 它呢", "它" * 150, "{faults} 它呢"])
async def test_any_question_can_be_asked(host: LanguageModelHost, text: str) -> None:
    host.content = "Kubernetes 呢？"
    async with rewriting(host) as rewriter:
        assert (await rewriter.rewrite(text, ["我们用 Kubernetes。\ud83d\0"])).text.encode("utf-8")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_prompt_is_there_in_both_languages(language: Any) -> None:
    for name, version in VERSIONS.items():
        found = prompt(name, language)
        assert found.name == f"{name}.v{version}.{language}"
        assert found.text
        assert estimate_tokens(found.text) < 2_000


def test_a_prompt_is_filled_once_and_its_places_must_be_there() -> None:
    made = Prompt("x", "{a} and {b} {not}")
    assert made.filled(a="{b}", b="{a}") == "{b} and {a} {not}"
    with pytest.raises(KeyError):
        made.filled(c="x")
