"""Conversations read by a language model on loopback, through HTTP and the worker's jobs, in both languages."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import stamina
import time_machine

from app.composition import Services, compose
from app.core import clock
from app.core.errors import ConfigurationError
from app.core.metrics import Metrics
from app.providers.llm.choice import configured_language_model
from app.services.allowance import renewal
from app.services.extractors.choice import readers
from app.workers.runner import JobRunner
from tests.conftest import Tenant, tenant_of
from tests.doubles import language_model as double
from tests.doubles.language_model import LanguageModelHost, language_model_host, said
from tests.doubles.scripted_host import Turn
from tests.routers.calls import add, body_of, every, say, search

ADA = {"user_id": "ada"}


@dataclass
class Reading:
    """A tenant whose conversations a language model reads, and that model's host."""

    tenant: Tenant
    host: LanguageModelHost
    api: httpx.AsyncClient

    async def run_due(self) -> None:
        """Run what is due now, once."""
        async with self.tenant.services.uow.begin_tenant(self.tenant.id) as tx:
            waiting = [
                job for job in await tx.jobs.page({"state": "queued"}, None, 100) if job["run_after"] <= clock.now()
            ]
        for job in waiting:
            await JobRunner(self.tenant.services).run(self.tenant.id, job["id"])

    async def jobs(self, state: str) -> list[dict[str, Any]]:
        """Extraction's, oldest first."""
        found = await every(self.api, "/v1/jobs", state=state)
        return [job for job in found if job["kind"] == "extract"][::-1]

    async def memories(self, **filters: Any) -> list[dict[str, Any]]:
        """Ada's, oldest first."""
        return (await every(self.api, "/v1/memories", **ADA, **filters))[::-1]


@asynccontextmanager
async def reading_with(services: Services, app: Any, host: LanguageModelHost, **changes: Any) -> AsyncIterator[Reading]:
    """A service that is configured with the host."""
    named = {"llm_base_url": host.url, "llm_model": "double", "llm_attempts": 1, "llm_breaker_failures": 1_000}
    learning = {"extractor": "auto", "extract_debounce_seconds": 0, "job_max_attempts": 2}
    settings = services.settings.model_copy(update={**named, **learning, **changes})
    language = configured_language_model(settings, Metrics())
    made = compose(settings, services.uow.database, services.embedder.model, language=language)
    app.state.services = made
    tenant = await tenant_of(made, app)
    yield Reading(tenant, host, await tenant.client())
    await tenant.close()
    if language is not None:
        await language.close()


@pytest.fixture
async def reading(services: Services, app: Any) -> AsyncIterator[Reading]:
    """With the defaults."""
    with stamina.set_testing(True), language_model_host() as host:
        async with reading_with(services, app, host) as made:
            yield made


def found(*rows: dict[str, Any]) -> Turn:
    """The model proposes these memories."""
    whole = {"kind": "semantic", "category": "identity", "importance": 6}
    return said(json.dumps({"memories": [whole | row for row in rows]}, ensure_ascii=False))


def verdicts(*words: str) -> Turn:
    """The model judges the pairs."""
    rows = [{"pair": number, "verdict": word} for number, word in enumerate(words, 1)]
    return said(json.dumps({"verdicts": rows}))


HOBBY = [
    (
        "On weekends I build wooden boats in the shed behind my house.",
        "The user builds wooden boats on weekends.",
        "I build wooden boats",
    ),
    ("每天早上我都在湖边打太极拳。", "用户每天早上打太极拳。", "打太极拳"),
]


@pytest.mark.parametrize(("text", "told", "quote"), HOBBY)
async def test_what_the_model_finds_and_quotes_becomes_a_memory(
    reading: Reading, text: str, told: str, quote: str
) -> None:
    await say(reading.api, "s", text, **ADA)
    reading.host.script.append(found({"messages": [1], "quote": quote, "text": told}))
    await reading.run_due()
    (memory,) = await reading.memories()
    assert (memory["source"], memory["uncertain"]) == ("user_stated", False)
    assert memory["sources"][0]["quote"] == quote
    (job,) = await reading.jobs("succeeded")
    assert (job["result"]["extractor"], job["result"]["calls"], job["result"]["kept"]) == ("llm", 1, 1)
    assert len(reading.host.requests) == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("On weekends I build wooden boats in the shed.", "The user owns a yacht in Monaco."),
        ("周末我都在棚子里造木船。", "用户在摩纳哥有一艘游艇。"),
    ],
)
async def test_what_the_model_made_up_is_not_kept_as_it_says_it(reading: Reading, text: str, told: str) -> None:
    await say(reading.api, "s", text, **ADA)
    reading.host.script.append(found({"messages": [1], "quote": told, "text": told}))
    await reading.run_due()
    assert all(told not in memory["text"] for memory in await reading.memories())


@pytest.mark.parametrize(
    ("old", "new", "told", "question"),
    [
        (
            "Our release train leaves every second Tuesday.",
            "The release train leaves every Monday from here on.",
            "The release train leaves every Monday.",
            "When does the release train leave?",
        ),
        (
            "我们的发布班车每两周周二发车。",
            "往后发布班车都是每周一发车。",
            "发布班车每周一发车。",
            "发布班车什么时候发车?",
        ),
    ],
)
async def test_the_model_decides_what_a_new_statement_does_to_the_old_one(
    reading: Reading, old: str, new: str, told: str, question: str
) -> None:
    before = await add(reading.api, old, **ADA)
    await say(reading.api, "s", new, **ADA)
    reading.host.script += [
        found({"messages": [1], "quote": new.rstrip(".。"), "text": told, "category": "project"}),
        verdicts("supersede"),
    ]
    await reading.run_due()
    was = body_of(await reading.api.get(f"/v1/memories/{before['id']}"))
    assert was["status"] == "superseded"
    hits = (await search(reading.api, question, **ADA))["results"]
    assert [hit["id"] for hit in hits] == [was["superseded_by"]]
    prompts = ["\n".join(prompt) for prompt in reading.host.prompts]
    assert len(prompts) == 2, "one call extracts, one judges"
    assert before["id"] not in "".join(prompts), "neighbours are known by small numbers"
    assert old.rstrip(".。") in prompts[1]


async def test_while_the_model_is_down_the_job_fails_visibly_and_a_fresh_one_waits(reading: Reading) -> None:
    reading.host.otherwise = Turn(status=503)
    text, told, quote = HOBBY[0]
    await say(reading.api, "s", text, **ADA)
    await reading.run_due()
    (failed,) = await reading.jobs("failed")
    assert "language model is unavailable" in failed["error"]
    (waiting,) = await reading.jobs("queued")
    assert datetime.fromisoformat(waiting["run_after"]) > clock.now()
    assert await reading.memories() == []
    reading.host.otherwise = found({"messages": [1], "quote": quote, "text": told})
    with time_machine.travel(clock.now() + timedelta(minutes=1), tick=False):
        await reading.run_due()
        assert len(await reading.memories()) == 1


async def test_a_model_that_talks_nonsense_leaves_a_dead_job_that_can_be_run_again(reading: Reading) -> None:
    reading.host.otherwise = said("I am only a teapot.")
    text, told, quote = HOBBY[1]
    await say(reading.api, "s", text, **ADA)
    for _ in range(2):
        with time_machine.travel(clock.now() + timedelta(minutes=1), tick=False):
            await reading.run_due()
    (dead,) = await reading.jobs("dead")
    assert "teapot" not in dead["error"]
    assert dead["attempts"] == 2
    reading.host.otherwise = found({"messages": [1], "quote": quote, "text": told})
    body_of(await reading.api.post(f"/v1/jobs/{dead['id']}/retry"))
    await reading.run_due()
    (memory,) = await reading.memories()
    assert memory["text"] == told


async def test_rules_read_meanwhile_if_they_are_set_to(services: Services, app: Any) -> None:
    with stamina.set_testing(True), language_model_host() as host:
        host.otherwise = Turn(status=500)
        async with reading_with(services, app, host, extractor_fallback="rules") as reading:
            await say(reading.api, "s", "I live in Lisbon.", **ADA)
            await say(reading.api, "s", "我对花生过敏。", **ADA)
            await reading.run_due()
            assert [memory["source"] for memory in await reading.memories()] == ["user_stated"] * 2
            (job,) = await reading.jobs("succeeded")
            assert job["result"]["extractor"] == "rules"


async def test_a_request_is_read_by_rules_where_the_model_fails(reading: Reading) -> None:
    reading.host.otherwise = Turn(status=500)
    body = {**ADA, "messages": [{"role": "user", "content": "我住在杭州。"}]}
    answer = body_of(await reading.api.post("/v1/memories/extract", json=body))
    assert (answer["extractor"], answer["degraded"]) == ("rules", ["llm"])
    assert [one["outcome"] for one in answer["results"]] == ["added"]


async def test_a_tenant_that_used_up_its_tokens_waits_for_the_next_day(reading: Reading) -> None:
    text, told, quote = HOBBY[0]
    body_of(await reading.api.patch("/v1/admin/settings", json={"daily_token_budget": 1}))
    reading.host.otherwise = found({"messages": [1], "quote": quote, "text": told})
    await say(reading.api, "s", text, **ADA)
    await reading.run_due()
    assert len(reading.host.requests) == 1, "the budget is looked at before a call"
    await say(reading.api, "s", HOBBY[1][0], **ADA)
    await reading.run_due()
    assert len(reading.host.requests) == 1
    (failed,) = await reading.jobs("failed")
    assert "tokens of the day" in failed["error"]
    (waiting,) = await reading.jobs("queued")
    due = datetime.fromisoformat(waiting["run_after"])
    assert due.replace(microsecond=0) == renewal(clock.now())
    with time_machine.travel(clock.now() + timedelta(days=1, minutes=1), tick=False):
        await reading.run_due()
    assert len(reading.host.requests) == 2


async def test_a_tenant_that_used_up_the_tokens_of_the_month_loses_no_message(reading: Reading) -> None:
    operator = await reading.tenant.client("operator")
    body_of(await operator.patch("/v1/admin/quotas", json={"llm_tokens": 1}))
    for n, (text, told, quote) in enumerate(HOBBY):
        reading.host.script.append(found({"messages": [1], "quote": quote, "text": told}))
        await say(reading.api, f"s{n}", text, **ADA)
        await reading.run_due()
    assert len(reading.host.requests) == 1, "the quota is looked at before a call"
    used = body_of(await operator.get("/v1/admin/quotas"))["llm_tokens"]
    assert used["used"] >= used["limit"] == 1
    (failed,) = await reading.jobs("failed")
    assert "tokens of the month" in failed["error"]
    (waiting,) = await reading.jobs("queued")
    assert datetime.fromisoformat(waiting["run_after"]).replace(microsecond=0) == renewal(clock.now(), "month")
    with time_machine.travel(renewal(clock.now(), "month") + timedelta(minutes=1), tick=False):
        await reading.run_due()
    assert {memory["text"] for memory in await reading.memories()} == {told for _, told, _ in HOBBY}


async def test_a_service_that_is_to_read_by_a_model_needs_one(services: Services) -> None:
    settings = services.settings.model_copy(update={"extractor": "llm"})
    with pytest.raises(ConfigurationError, match="LLM_BASE_URL"):
        readers(settings, None)
    assert readers(settings.model_copy(update={"extractor": "auto"}), None).jobs.name == "rules"


BAD = {**double.UNFIT, **double.PASSING, **double.LASTING}
"""Answers that hold no memories."""

LOOPS = (Path(__file__).parents[1] / "providers" / "data" / "loops_until_cut.txt").read_text("utf-8")


def careless() -> dict[str, Turn]:
    """Answers of the right form whose rows are wrong in every way."""
    rows: dict[str, Any] = {
        "no quote": {"quote": ""},
        "a quote of nobody": {"quote": "I own a castle"},
        "a number that is none": {"messages": ["first"]},
        "a message that is not there": {"messages": [99]},
        "no message": {"messages": []},
        "an importance of a thousand": {"importance": 1_000},
        "an importance of words": {"importance": "very"},
        "a kind that nobody knows": {"kind": "fact"},
        "a category that nobody knows": {"category": "stuff"},
        "a list for a key": {"key": ["a"]},
        "an object for a value": {"key": "user.hobby", "value": {"a": 1}},
        "an empty text": {"text": ""},
        "a text of another language": {"text": "用户造木船。"},
        "a text that denies it": {"text": "The user does not build wooden boats."},
        "half of a character": {"text": "boats \ud83d"},
        "NUL": {"text": "boats \x00"},
        "a change without a word of it": {"change": "ends"},
        "a before that was never said": {"before": "a yacht"},
        "a text of 10,000 characters": {"text": "boats " * 2_000},
    }
    sound = {"messages": [1], "quote": "I build wooden boats", "text": "The user builds wooden boats."}
    made = {name: found(sound | row) for name, row in rows.items()}
    made["the same row 200 times"] = found(*[sound] * 200)
    made["rows until it was cut"] = said(LOOPS, "length")
    return made


WORSE = {**BAD, **careless()}


async def test_no_bad_answer_loses_a_message_and_every_job_can_be_seen_and_run_again(
    services: Services, app: Any, full_size: bool
) -> None:
    names = sorted(WORSE) if full_size else sorted(WORSE)[::9]
    assert len(WORSE) >= 90
    with stamina.set_testing(True), language_model_host() as host:
        async with reading_with(services, app, host, llm_timeout_seconds=0.3, job_max_attempts=1) as reading:
            for number, name in enumerate(names):
                text, told, quote = HOBBY[number % 2]
                host.otherwise = WORSE[name]
                user = {"user_id": f"u{number}"}
                await say(reading.api, f"s{number}", text, **user)
                await reading.run_due()
                ended = next(
                    one
                    for one in await every(reading.api, "/v1/jobs", subject=f"s{number}")
                    if one["kind"] == "extract" and one["state"] != "queued"
                )
                assert ended["state"] in {"succeeded", "failed", "dead"}, name
                assert (ended["error"] is None) == (ended["state"] == "succeeded"), name
                host.otherwise = found({"messages": [1], "quote": quote, "text": told})
                if ended["state"] == "dead":
                    body_of(await reading.api.post(f"/v1/jobs/{ended['id']}/retry"))
                with time_machine.travel(clock.now() + timedelta(hours=1), tick=False):
                    await reading.run_due()
                stored = body_of(await reading.api.get(f"/v1/sessions/s{number}/messages"))["results"]
                assert [message["content"] for message in stored] == [text], name
                kept = await every(reading.api, "/v1/memories", **user)
                if ended["state"] != "succeeded":
                    assert [memory["text"] for memory in kept] == [told], name
                assert all("castle" not in memory["text"] and "yacht" not in memory["text"] for memory in kept), name
