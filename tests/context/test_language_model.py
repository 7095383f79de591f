"""Summaries and choices by a language model, against one that invents, fails and chatters."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest

from app.composition import Services, chooser, summariser
from app.core.metrics import Metrics
from app.domain.summary.faithful import figures_of, names_of
from app.providers.llm.openai import ChatModel, Endpoint
from tests.conftest import Tenant, tenant_of
from tests.context.conftest import at_work
from tests.context.test_context import context
from tests.context.test_summaries import CONSTRAINT, LANGUAGES, assistant, chatter, fold, summary, texts, told, user
from tests.doubles.language_model import LanguageModelHost
from tests.doubles.scripted_host import Body, Request, Turn, serving
from tests.routers.calls import body_of

INVENTED = {
    "en": ["Zorblax will pay for the trip.", "The total is 98765 euros.", "Quentin Harker said that it rains."],
    "zh": ["王小虎负责付款。", "总价是98765欧元。", "他们住在“风车酒店”。"],
}
LINE = re.compile(r"^\[(\d+)\] (\w+): (.*)$", re.MULTILINE)


@dataclass
class Inventing(LanguageModelHost):
    """Repeats every other message of the user's, half of them with wrong numbers, and invents between them."""

    language: str = "en"
    kinds: list[str] = field(default_factory=list)

    def ordinary(self, request: Request) -> Body:
        body = request.body["messages"][1]["content"]
        lines = [(int(seq), text) for seq, role, text in LINE.findall(body) if role == "user"]
        invented = INVENTED[self.language]
        rows: list[dict[str, Any]] = []
        for place, (seq, text) in enumerate(lines[::2]):
            cited = [seq] if place % 2 else [9_999]
            rows += [{"text": text, "messages": cited}, {"text": invented[place % 3], "messages": [seq]}]
        self.content = json.dumps({"sentences": rows[:12]}, ensure_ascii=False)
        return super().ordinary(request)


@pytest.fixture
def host() -> Iterator[Inventing]:
    made = Inventing()
    with serving(made):
        yield made


@pytest.fixture
async def tenant(services: Services, app: Any, host: Inventing) -> AsyncIterator[Tenant]:
    """A fresh tenant of a service with a language model."""
    model = ChatModel(Endpoint(base_url=host.url, model="double", attempts=1, timeout=5.0), Metrics())
    working = at_work(services, extractor="off", selection="llm")
    asked = replace(
        working,
        folding=replace(working.folding, summariser=summariser(working.settings, model)),
        contexts=replace(working.contexts, chooser=chooser(working.settings, model)),
    )
    app.state.services = asked
    made = await tenant_of(asked, app)
    yield made
    await made.close()
    await model.close()


def noun(language: str, number: int) -> str:
    if language == "en":
        return f"Crate {number + 300} goes to {['Lisbon', 'Riga', 'Ghent', 'Oslo'][number % 4]} with lot {number * 7}."
    return f"第{number + 300}号箱运到{['里斯本', '南京', '成都', '大连'][number % 4]},批次{number * 7}。"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_an_inventing_model_says_is_kept_only_where_its_range_bears_out_each_number_and_name(
    api: httpx.AsyncClient, tenant: Tenant, host: Inventing, language: str, full_size: bool
) -> None:
    host.language = language
    wanted, number = (50 if full_size else 8), 0
    while len(host.requests) < wanted:
        said = [one for n in range(number, number + 8) for one in (user(noun(language, n)), assistant("OK"))]
        await told(api, "s", *said)
        number += 8
        await fold(api, keep_turns=0)
    found = await summary(api)
    folded = [node for node in found["tree"] if node["level"] == 0]
    assert len(folded) >= wanted
    assert {node["made_by"] for node in folded} == {"llm"}
    models = 0
    for node in found["tree"]:
        for sentence in node["sentences"]:
            span = {"from_seq": sentence["from_seq"], "to_seq": sentence["to_seq"], "limit": 200}
            page = body_of(await api.get("/v1/sessions/s/messages", params=span))
            heard = "\n".join(message["content"] for message in page["results"])
            assert figures_of(sentence["text"]) <= figures_of(heard), sentence
            assert all(name in heard.casefold() for name in names_of(sentence["text"])), sentence
            assert sentence["text"] not in INVENTED[language]
            models += sentence["role"] is None
    assert models > wanted


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_constraint_that_the_model_leaves_out_is_kept_in_its_own_words(
    api: httpx.AsyncClient, tenant: Tenant, host: Inventing, language: str
) -> None:
    host.otherwise = Turn(change=lambda ordinary: _saying(ordinary, '{"sentences": []}'))
    await told(api, "s", user(CONSTRAINT[language]), assistant("OK"), user(noun(language, 3)), assistant("OK"))
    assert CONSTRAINT[language] in texts(await fold(api, keep_turns=0))


@pytest.mark.parametrize("language", LANGUAGES)
async def test_more_sentences_than_asked_for_are_cut_and_another_language_is_not_taken(
    api: httpx.AsyncClient, tenant: Tenant, host: Inventing, language: str
) -> None:
    other = {"en": "用户想要这个。", "zh": "The user wants this and that for the trip."}[language]
    rows = [{"text": other, "messages": [1]}] + [{"text": noun(language, 3), "messages": [1]} for _ in range(40)]
    content = json.dumps({"sentences": rows}, ensure_ascii=False)
    host.otherwise = Turn(change=lambda ordinary: _saying(ordinary, content))
    await told(api, "s", user(noun(language, 3)), assistant("OK"))
    found = await fold(api, keep_turns=0)
    assert texts(found) == [noun(language, 3)]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_small_talk_that_the_model_repeats_is_not_kept(
    api: httpx.AsyncClient, tenant: Tenant, host: Inventing, language: str
) -> None:
    thanks = {"en": "Thank you!", "zh": "谢谢!"}[language]
    rows = [{"text": noun(language, 3), "messages": [1]}, {"text": thanks, "messages": [3]}]
    content = json.dumps({"sentences": rows}, ensure_ascii=False)
    host.otherwise = Turn(change=lambda ordinary: _saying(ordinary, content))
    await told(api, "s", user(noun(language, 3)), assistant("OK"), user(thanks), assistant("OK"))
    assert texts(await fold(api, keep_turns=0)) == [noun(language, 3)]


@pytest.mark.parametrize(
    "turn",
    [
        Turn(status=503),
        Turn(status=401),
        Turn(raw=b"<html>"),
        Turn(change=lambda one: _saying(one, "I cannot do that.")),
    ],
    ids=["down", "refused", "nonsense", "chatty"],
)
async def test_a_model_that_is_of_no_use_leaves_the_summary_to_the_rules(
    api: httpx.AsyncClient, tenant: Tenant, host: Inventing, turn: Turn
) -> None:
    host.otherwise = turn
    await told(api, "s", user(CONSTRAINT["en"]), assistant("OK"), user(CONSTRAINT["zh"]), assistant("OK"))
    found = await fold(api, keep_turns=0)
    assert texts(found) == [CONSTRAINT["en"], CONSTRAINT["zh"]]
    assert {node["made_by"] for node in found["tree"]} == {"rules"}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_model_is_asked_once_for_several_turns_in_the_language_of_the_user(
    api: httpx.AsyncClient, tenant: Tenant, host: Inventing, language: str
) -> None:
    host.language = language
    await told(api, "s", *[one for n in range(16) for one in (user(noun(language, n)), assistant("OK"))])
    await tenant.work()
    assert len(host.requests) == 1
    (system, body) = host.prompts[0]
    assert ("对话" in system) == (language == "zh")
    assert body.startswith({"en": "Dialogue:", "zh": "对话："}[language])
    assert "[1] user: " in body


@pytest.mark.parametrize("language", LANGUAGES)
async def test_of_earlier_messages_a_selective_context_shows_those_that_the_model_chooses(
    api: httpx.AsyncClient, tenant: Tenant, host: Inventing, language: str
) -> None:
    host.otherwise = Turn(status=503)
    await told(api, "s", *[one for n in range(4) for one in (user(noun(language, n)), assistant("OK"))])
    await chatter(api, "s", language, 16)
    await tenant.work()
    asked = {"en": "Where do the crates go?", "zh": "箱子运到哪里?"}[language]
    host.otherwise = Turn(change=lambda ordinary: _saying(ordinary, '{"messages": [5, 77]}'))
    chosen = await context(api, query=asked, strategy="selective")
    items = next(one for one in chosen["sections"] if one["name"] == "summary")["items"]
    assert chosen["degraded"] == []
    assert any(item["from_seq"] == 5 and noun(language, 2) in item["text"] for item in items)
    assert "[5] user: " in host.prompts[-1][1]
    host.otherwise = Turn(status=503)
    assert "llm" in (await context(api, query=asked + "?", strategy="selective"))["degraded"]


def _saying(ordinary: Body, content: str) -> Body:
    message = {"role": "assistant", "content": content}
    return {**ordinary, "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
