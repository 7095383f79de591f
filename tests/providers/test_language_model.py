"""The client of `/v1/chat/completions`, against a host and a model that misbehave in every way they can."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
import stamina
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from app.core import clock
from app.core.errors import ConfigurationError
from app.core.metrics import Metrics
from app.providers.llm.base import ChatMessage, LanguageModelNonsense, LanguageModelUnavailable
from app.providers.llm.choice import configured_language_model
from app.providers.llm.dialect import Dialect, strict_schema
from app.providers.llm.openai import ChatModel, Endpoint
from app.providers.llm.parsing import Unfit, parsed
from app.providers.llm.reply import Reply
from app.settings import Settings
from tests.doubles import language_model as double
from tests.doubles.language_model import LanguageModelHost, language_model_host, refusing, said
from tests.doubles.scripted_host import ORDINARY, Turn

KEY = "sk-very-secret"
TEXT = "my private diary 日记"
ASKED = [ChatMessage("system", "Extract facts."), ChatMessage("user", TEXT)]


class Fact(BaseModel):
    text: str
    key: str
    importance: int


class Facts(BaseModel):
    memories: list[Fact]


EXPECTED = Facts.model_validate(double.FACTS)


@pytest.fixture
def host() -> Iterator[LanguageModelHost]:
    with language_model_host() as running:
        yield running


@pytest.fixture
def metrics() -> Metrics:
    return Metrics()


@pytest.fixture
def no_pauses() -> Iterator[None]:
    """Repetitions follow at once, as many as the model was made for."""
    with stamina.set_testing(True, attempts=2, cap=True):
        yield


@asynccontextmanager
async def asking(host: LanguageModelHost, metrics: Metrics | None = None, **changes: Any) -> AsyncIterator[ChatModel]:
    settings = {"attempts": 2, "timeout": 10.0, **changes}
    model = ChatModel(Endpoint(base_url=host.url, model="double", api_key=KEY, **settings), metrics or Metrics())
    try:
        yield model
    finally:
        await model.close()


def counted(metrics: Metrics, name: str, **labels: str) -> float:
    return metrics.registry.get_sample_value(name, labels) or 0.0


def each(turns: Mapping[str, Turn]) -> Any:
    return pytest.mark.parametrize("turn", list(turns.values()), ids=list(turns))


async def test_the_request_is_what_the_protocol_says(host: LanguageModelHost) -> None:
    host.content = "Fine."
    async with asking(host) as model:
        assert await model.complete(ASKED, purpose="summarise", max_tokens=50) == "Fine."
    (request,) = host.requests
    assert request.path == "/v1/chat/completions"
    assert request.authorization == f"Bearer {KEY}"
    assert request.body == {
        "model": "double",
        "messages": [{"role": "system", "content": "Extract facts."}, {"role": "user", "content": TEXT}],
        "max_tokens": 50,
        "temperature": 0.0,
        "stream": False,
    }


async def test_without_a_key_none_is_sent(host: LanguageModelHost, metrics: Metrics) -> None:
    model = ChatModel(Endpoint(host.url, "double"), metrics)
    await model.complete(ASKED, purpose="judge")
    await model.close()
    assert host.requests[0].authorization is None


async def test_a_schema_is_sent_closed_and_without_defaults(host: LanguageModelHost) -> None:
    class Choice(BaseModel):
        reason: str = "none"
        facts: list[Fact]
        counts: dict[str, int]

    schema = strict_schema(Choice)
    assert schema["required"] == ["reason", "facts", "counts"]
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Fact"]["additionalProperties"] is False
    assert schema["properties"]["counts"]["additionalProperties"] == {"type": "integer"}
    assert "default" not in str(schema)
    async with asking(host) as model:
        await model.structured(ASKED, Facts, purpose="extract")
    form = host.requests[0].body["response_format"]
    assert form == {
        "type": "json_schema",
        "json_schema": {"name": "Facts", "strict": True, "schema": strict_schema(Facts)},
    }


@each(double.READABLE)
async def test_a_value_is_found_whatever_is_around_it(host: LanguageModelHost, turn: Turn) -> None:
    host.otherwise = turn
    async with asking(host) as model:
        found = await model.structured(ASKED, Facts, purpose="extract")
    assert [fact.key for fact in found.memories] == [fact.key for fact in EXPECTED.memories]
    assert [fact.importance for fact in found.memories] == [7, 10]
    assert all(text.encode() and "\0" not in text for text in (fact.text for fact in found.memories))
    assert len(host.requests) == 1


@each(double.UNFIT)
async def test_an_unfit_reply_is_repaired_once(host: LanguageModelHost, turn: Turn) -> None:
    host.script.append(turn)
    async with asking(host) as model:
        assert await model.structured(ASKED, Facts, purpose="extract") == EXPECTED
    assert len(host.requests) == 2
    assert [message["role"] for message in host.requests[1].body["messages"]] == ["system", "user", "assistant", "user"]
    assert all(content.strip() for content in host.prompts[1])
    assert len(host.prompts[1][2]) <= 4_000


@each(double.UNFIT)
async def test_a_reply_that_stays_unfit_is_nonsense_after_two_calls(host: LanguageModelHost, turn: Turn) -> None:
    host.otherwise = turn
    async with asking(host) as model:
        with pytest.raises(LanguageModelNonsense):
            await model.structured(ASKED, Facts, purpose="extract")
    assert len(host.requests) == 2


@each(double.PASSING)
async def test_what_may_pass_is_tried_again(host: LanguageModelHost, no_pauses: None, turn: Turn) -> None:
    host.script.append(turn)
    async with asking(host) as model:
        assert await model.structured(ASKED, Facts, purpose="extract") == EXPECTED
    assert len(host.requests) == 2


@each(double.PASSING)
async def test_what_does_not_pass_is_unavailable_after_the_attempts(
    host: LanguageModelHost, no_pauses: None, turn: Turn
) -> None:
    host.otherwise = turn
    async with asking(host) as model:
        with pytest.raises(LanguageModelUnavailable):
            await model.complete(ASKED, purpose="judge")
    assert len(host.requests) == 2


@each(double.LASTING)
async def test_what_cannot_pass_is_unavailable_at_once(host: LanguageModelHost, turn: Turn) -> None:
    host.otherwise = turn
    async with asking(host, timeout=0.3 if turn.hang or turn.trickle else 10.0) as model:
        with pytest.raises(LanguageModelUnavailable):
            await asyncio.wait_for(model.complete(ASKED, purpose="judge"), 15)
    assert len(host.requests) == 1


@each({**double.READABLE, **double.UNFIT, **double.PASSING, **double.LASTING})
async def test_free_text_is_text_or_one_of_the_two_failures(host: LanguageModelHost, turn: Turn) -> None:
    host.otherwise = turn
    async with asking(host, attempts=1, timeout=0.3 if turn.hang or turn.trickle else 10.0) as model:
        try:
            text = await model.complete(ASKED, purpose="summarise")
        except (LanguageModelUnavailable, LanguageModelNonsense):
            return
    assert text.strip()
    assert text.encode("utf-8")
    assert "<think>" not in text


def test_there_are_at_least_40_kinds_of_bad_replies() -> None:
    assert len({**double.UNFIT, **double.PASSING, **double.LASTING}) >= 40


@pytest.mark.parametrize(
    "turn", [said("half a sen", "length"), said(""), said("<think>a</think>")], ids=["cut", "empty", "thought"]
)
async def test_free_text_that_is_cut_or_empty_is_nonsense(host: LanguageModelHost, turn: Turn) -> None:
    host.otherwise = turn
    async with asking(host) as model:
        with pytest.raises(LanguageModelNonsense):
            await model.complete(ASKED, purpose="summarise")
    assert len(host.requests) == 1


async def test_free_text_comes_without_the_thoughts(host: LanguageModelHost) -> None:
    host.content = "<think>She means Anna.</think>\n\nWhat can Anna not eat?"
    async with asking(host) as model:
        assert await model.complete(ASKED, purpose="rewrite") == "What can Anna not eat?"


async def test_a_cut_reply_is_told_to_be_shorter(host: LanguageModelHost) -> None:
    host.script.append(double.UNFIT["the same row many times, then cut"])
    async with asking(host) as model:
        await model.structured([ChatMessage("user", "I moved to Porto.")], Facts, purpose="extract")
    assert "too long" in host.prompts[1][-1]


@pytest.mark.parametrize(
    ("asked", "words"), [("Extract the facts of this dialogue.", "cannot be used"), ("提取对话中的事实。", "不能使用")]
)
async def test_the_repair_names_the_fault_in_the_prompts_language(
    host: LanguageModelHost, asked: str, words: str
) -> None:
    host.script.append(double.UNFIT["missing field"])
    async with asking(host) as model:
        await model.structured([ChatMessage("user", asked)], Facts, purpose="extract")
    assert words in host.prompts[1][-1]
    assert "memories.0.importance: Field required" in host.prompts[1][-1]


async def test_a_host_without_schemas_is_asked_for_json_and_then_by_words(host: LanguageModelHost) -> None:
    unavailable = refusing("This response_format type is unavailable now")
    host.script.extend([unavailable, unavailable])
    async with asking(host) as model:
        await model.structured(ASKED, Facts, purpose="extract")
        assert model.dialect.output == "none"
        await model.structured(ASKED, Facts, purpose="extract")
    assert host.forms == ["json_schema", "json_object", None, None]
    assert "JSON schema" in host.prompts[-1][0]
    assert '"importance"' in host.prompts[-1][0]
    assert host.prompts[-1][0].startswith("Extract facts.")


@pytest.mark.parametrize("status", [400, 422])
async def test_a_host_that_takes_json_objects_is_asked_for_those(host: LanguageModelHost, status: int) -> None:
    host.script.append(refusing("json_schema is not supported", status=status))
    async with asking(host) as model:
        await model.structured([ChatMessage("user", "提取事实。")], Facts, purpose="extract")
        await model.structured([ChatMessage("user", "提取事实。")], Facts, purpose="extract")
    assert host.forms == ["json_schema", "json_object", "json_object"]
    assert "必须符合这个 JSON schema" in host.prompts[-1][0]


async def test_a_prompt_that_is_refused_in_every_form_teaches_nothing(host: LanguageModelHost) -> None:
    host.script.extend([double.LASTING["too long a prompt"]] * 3)
    async with asking(host) as model:
        with pytest.raises(LanguageModelUnavailable, match="400") as failure:
            await model.structured(ASKED, Facts, purpose="extract")
        assert failure.value.status == 400
        await model.structured(ASKED, Facts, purpose="extract")
    assert host.forms == ["json_schema", "json_object", None, "json_schema"]


async def test_a_configured_form_is_kept(host: LanguageModelHost) -> None:
    host.script.append(refusing("json_object is not supported"))
    async with asking(host, dialect=Dialect(output="json_object", adapts=False)) as model:
        with pytest.raises(LanguageModelUnavailable):
            await model.structured(ASKED, Facts, purpose="extract")
    assert host.forms == ["json_object"]


async def test_parameters_that_a_host_does_not_take_are_left_out(host: LanguageModelHost) -> None:
    host.script.extend(
        [
            refusing("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
            refusing("Unsupported value: 'temperature' does not support 0.0 with this model."),
        ]
    )
    async with asking(host) as model:
        await model.complete(ASKED, purpose="judge", max_tokens=9)
        await model.complete(ASKED, purpose="judge", max_tokens=9)
    assert len(host.requests) == 4
    for request in host.requests[2:]:
        assert request.body["max_completion_tokens"] == 9
        assert not {"max_tokens", "temperature"} & set(request.body)


@pytest.mark.parametrize("text", ["", "\0", "\ud83d half", "a" * 100_000, "{}", "{schema} {faults}"])
async def test_any_text_can_be_asked(host: LanguageModelHost, text: str) -> None:
    host.script.extend([refusing("no json_schema"), double.UNFIT["words"]])
    async with asking(host) as model:
        assert await model.structured([ChatMessage("user", text)], Facts, purpose="extract") == EXPECTED


async def test_the_host_says_when_to_come_back(host: LanguageModelHost) -> None:
    host.script.append(Turn(status=429, headers={"Retry-After": "1"}))
    async with asking(host) as model:
        started = clock.monotonic()
        await model.complete(ASKED, purpose="judge")
        assert clock.monotonic() - started >= 0.9


@pytest.mark.parametrize(
    "turn", [Turn(hang=True), Turn(trickle=True), Turn(status=503)], ids=["hang", "trickle", "503"]
)
async def test_a_call_with_a_time_limit_ends_in_time_repetitions_included(host: LanguageModelHost, turn: Turn) -> None:
    host.otherwise = turn
    async with asking(host, attempts=20) as model:
        started = clock.monotonic()
        with pytest.raises(LanguageModelUnavailable, match=r"0\.4 s"):
            await asyncio.wait_for(model.complete(ASKED, purpose="rewrite", timeout=0.4), 10)
        assert clock.monotonic() - started < 8


async def test_a_repair_that_fails_is_unavailable(host: LanguageModelHost) -> None:
    host.script.extend([double.UNFIT["words"], double.LASTING["no key"]])
    async with asking(host) as model:
        with pytest.raises(LanguageModelUnavailable, match="401"):
            await model.structured(ASKED, Facts, purpose="extract")


async def test_nobody_at_the_address_is_unavailable(metrics: Metrics) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}/v1"
    model = ChatModel(Endpoint(url, "double", attempts=2), metrics)
    with pytest.raises(LanguageModelUnavailable, match="ConnectError"):
        await model.complete(ASKED, purpose="judge")
    await model.close()
    with pytest.raises(LanguageModelUnavailable, match="closed"):
        await model.complete(ASKED, purpose="judge")


async def test_a_host_that_fails_in_a_row_is_left_alone(host: LanguageModelHost, metrics: Metrics) -> None:
    host.otherwise = Turn(status=500)
    async with asking(host, metrics, attempts=1, breaker_failures=2, breaker_seconds=60) as model:
        for _ in range(5):
            with pytest.raises(LanguageModelUnavailable):
                await model.complete(ASKED, purpose="rewrite")
        assert len(host.requests) == 2
        host.otherwise = ORDINARY
        with pytest.raises(LanguageModelUnavailable, match="left alone"):
            await model.complete(ASKED, purpose="rewrite")
        assert await model.structured(ASKED, Facts, purpose="extract") == EXPECTED, "another purpose goes on"
    assert counted(metrics, "mnemic_llm_calls_total", purpose="rewrite", outcome="unavailable") == 2
    assert counted(metrics, "mnemic_llm_calls_total", purpose="rewrite", outcome="left_alone") == 4


@pytest.mark.parametrize("name", ["too long a prompt", "too large", "unprocessable"])
async def test_a_prompt_that_is_refused_does_not_stop_the_others(host: LanguageModelHost, name: str) -> None:
    host.script.extend([double.LASTING[name]] * 4)
    async with asking(host, attempts=1, breaker_failures=2) as model:
        for _ in range(4):
            with pytest.raises(LanguageModelUnavailable):
                await model.complete(ASKED, purpose="judge")
        assert await model.complete(ASKED, purpose="judge")


async def test_nonsense_says_that_the_host_is_up(host: LanguageModelHost) -> None:
    host.script.extend([Turn(status=500), said(""), Turn(status=500), said("")])
    async with asking(host, attempts=1, breaker_failures=2) as model:
        for failure in [LanguageModelUnavailable, LanguageModelNonsense] * 2:
            with pytest.raises(failure):
                await model.complete(ASKED, purpose="judge")
        assert await model.complete(ASKED, purpose="judge")


async def test_calls_are_counted_by_purpose_and_outcome_with_their_tokens(
    host: LanguageModelHost, metrics: Metrics
) -> None:
    host.script.extend([ORDINARY, double.answer({"choices": [{"message": {"content": "words"}}]}), ORDINARY])
    async with asking(host, metrics) as model:
        await model.structured(ASKED, Facts, purpose="extract")
        await model.structured(ASKED, Facts, purpose="extract")
        host.otherwise = said("words")
        with pytest.raises(LanguageModelNonsense):
            await model.structured(ASKED, Facts, purpose="extract")
    for outcome in ("ok", "repaired", "nonsense"):
        assert counted(metrics, "mnemic_llm_calls_total", purpose="extract", outcome=outcome) == 1
    assert counted(metrics, "mnemic_llm_seconds_count", purpose="extract") == 3
    assert counted(metrics, "mnemic_llm_tokens_total", purpose="extract", part="prompt") == 500
    assert counted(metrics, "mnemic_llm_tokens_total", purpose="extract", part="completion") == 100


async def test_cancelled_calls_leave_no_connection_behind(host: LanguageModelHost, metrics: Metrics) -> None:
    host.otherwise = Turn(hang=True)
    async with asking(host, metrics, breaker_failures=1) as model:
        asked = [asyncio.create_task(model.complete(ASKED, purpose="rewrite")) for _ in range(20)]
        assert await asyncio.to_thread(host.wait_for, lambda: len(host.requests) == 20)
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
        assert all(task.cancelled() for task in asked)
        assert await asyncio.to_thread(host.wait_for, lambda: host.open == 0)
        host.otherwise = ORDINARY
        await asyncio.gather(*(model.complete(ASKED, purpose="rewrite") for _ in range(40)))
    assert counted(metrics, "mnemic_llm_calls_total", purpose="rewrite", outcome="cancelled") == 20


async def test_connections_are_used_again(host: LanguageModelHost) -> None:
    async with asking(host) as model:
        for _ in range(5):
            await model.complete(ASKED, purpose="judge")
    assert host.connections == 1


async def test_a_proxy_of_the_environment_is_not_used(host: LanguageModelHost, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with asking(host) as model:
        await model.complete(ASKED, purpose="judge")


@each({**double.UNFIT, **double.PASSING, "echo": refusing(KEY, TEXT), "echo down": Turn(status=500, raw=KEY.encode())})
async def test_failures_name_neither_key_nor_prompt_nor_reply(
    host: LanguageModelHost, no_pauses: None, turn: Turn, capsys: pytest.CaptureFixture[str]
) -> None:
    host.otherwise = turn
    async with asking(host, attempts=2) as model:
        with pytest.raises((LanguageModelUnavailable, LanguageModelNonsense)) as failure:
            await model.structured(ASKED, Facts, purpose="extract")
        assert KEY not in repr(model._endpoint)
    error: BaseException | None = failure.value
    words = "".join(capsys.readouterr())
    while error is not None:
        words += f"{error} {error!r} {vars(error)}"
        error = error.__cause__
    assert not [secret for secret in (KEY, TEXT, "杭州", "memories.0") if secret in words]


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://host/v1", "http:///v1", "http://user:word@host/v1", ""])
def test_an_address_that_is_none_is_refused(url: str, metrics: Metrics) -> None:
    with pytest.raises(ConfigurationError, match="LLM_BASE_URL"):
        ChatModel(Endpoint(url, "double"), metrics)


@pytest.mark.parametrize("key", ["sk-钥匙", "sk-\nX-Evil: 1"])
def test_a_key_that_no_header_carries_is_refused_without_naming_it(key: str, metrics: Metrics) -> None:
    with pytest.raises(ConfigurationError, match="LLM_API_KEY") as refused:
        ChatModel(Endpoint("http://host/v1", "double", api_key=key), metrics)
    assert key not in str(refused.value)


async def test_the_settings_choose_the_model(host: LanguageModelHost, metrics: Metrics) -> None:
    assert configured_language_model(Settings(_env_file=None), metrics) is None
    with pytest.raises(ConfigurationError, match="LLM_MODEL"):
        configured_language_model(Settings(_env_file=None, llm_base_url=host.url), metrics)
    chosen = Settings(
        _env_file=None,
        llm_base_url=host.url,
        llm_model="qwen",
        llm_api_key=KEY,  # type: ignore[arg-type]
        llm_structured_output="json_object",
        llm_max_tokens=77,
    )
    model = configured_language_model(chosen, metrics)
    assert model is not None
    await model.structured(ASKED, Facts, purpose="extract")
    await model.close()
    assert model.name == "qwen"
    assert host.forms == ["json_object"]
    assert (host.requests[0].authorization, host.requests[0].body["max_tokens"]) == (f"Bearer {KEY}", 77)


@given(st.text(st.characters(exclude_categories=())), st.text(), st.booleans())
def test_any_reply_is_a_value_or_unfit(content: str, arguments: str, cut: bool) -> None:
    told = "fits"
    try:
        assert isinstance(parsed(Reply(content, arguments, cut=cut), Facts), Facts)
    except Unfit as unfit:
        told = unfit.told
    assert told.encode("utf-8")


@given(st.text(alphabet="ab杭{}[]\"':,`<>/think \n\\", max_size=60))
def test_a_value_is_found_after_any_words_without_brackets(words: str) -> None:
    before = "".join(word for word in words if word not in '{}[]"`<>\\')
    assert parsed(Reply(before + double.GOOD_JSON), Facts) == EXPECTED
