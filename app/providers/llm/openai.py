"""Any host that speaks OpenAI's `/v1/chat/completions`."""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Literal

import httpx
import stamina
from pydantic import BaseModel

from app.core.metrics import LanguageModelCall, Metrics
from app.core.text.language import language_of
from app.core.text.normal import clean
from app.providers import http
from app.providers.breaker import CircuitBreaker, CircuitOpen
from app.providers.llm.base import ChatMessage, LanguageModelNonsense, LanguageModelUnavailable, Purpose, Schema
from app.providers.llm.dialect import ADAPTABLE, Dialect, strict_schema
from app.providers.llm.parsing import Unfit, parsed
from app.providers.llm.prompts import Prompt, prompt, prompt_language
from app.providers.llm.reply import NoReply, Reply, read_reply

RETURNED_CHARACTERS: Final = 4_000
"""Of a bad reply, so much is sent back: a model that went round in circles is not shown all of them."""

SAID_CHARACTERS: Final = 2_000
"""Of a refusal, so much is read for the parameter that it names."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A host's model and how it is asked.

    Args:
        base_url: What stands before `/chat/completions`, such as `https://host/v1`.
        model: The model's name at the host.
        api_key: Sent as a bearer token; None where the host wants none.
        timeout: Seconds that one request may take.
        attempts: Requests for the same reply before it is given up for now.
        max_tokens: The longest reply where the caller names no other.
        dialect: What the host is asked at first.
        breaker_failures: Calls of one purpose that fail in a row before the host is left alone.
        breaker_seconds: For how long it is left alone.
    """

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 60.0
    attempts: int = 3
    max_tokens: int = 1_024
    dialect: Dialect = field(default_factory=Dialect)
    breaker_failures: int = 3
    breaker_seconds: float = 30.0


class ChatModel:
    """Asks a host, over a pool of connections that ignores proxies of the environment.

    What the host does not take (a response format, a temperature) is found out once and remembered. Each purpose has
    a circuit breaker of its own: questions that are given up after two seconds say nothing about work that may take
    sixty.

    Args:
        endpoint: Whom to ask, and how.
        metrics: Where calls, times and tokens are counted.

    Raises:
        ConfigurationError: The address is not one.
    """

    def __init__(self, endpoint: Endpoint, metrics: Metrics) -> None:
        self._endpoint = endpoint
        self._metrics = metrics
        self.name: Final = endpoint.model
        self._dialect = endpoint.dialect
        self._url = http.address(
            endpoint.base_url, "/chat/completions", setting="LLM_BASE_URL", key_setting="LLM_API_KEY"
        )
        self._client = http.client(http.authorization(endpoint.api_key, setting="LLM_API_KEY"), timeout=None)
        self._breakers: defaultdict[Purpose, CircuitBreaker] = defaultdict(self._breaker)

    @property
    def dialect(self) -> Dialect:
        """What the host has turned out to take."""
        return self._dialect

    async def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        purpose: Purpose,
        max_tokens: int | None = None,
        temperature: float = 0.0,
        timeout: float | None = None,  # noqa: ASYNC109 - a limit of the provider
    ) -> str:
        """The reply's text. Raises `LanguageModelUnavailable` or `LanguageModelNonsense`."""
        length = max_tokens or self._endpoint.max_tokens
        async with self._call(purpose, timeout) as call:
            reply = await self._asked(call, messages, length, temperature, None)
            fault = (
                f"The reply was cut at {length} tokens." if reply.cut else "" if reply.text else "The reply is empty."
            )
            call.outcome = "nonsense" if fault else "ok"
        if fault:
            raise LanguageModelNonsense(f"{self.name}: {fault}")
        return reply.text

    async def structured(
        self,
        messages: Sequence[ChatMessage],
        schema: type[Schema],
        *,
        purpose: Purpose,
        max_tokens: int | None = None,
        temperature: float = 0.0,
        timeout: float | None = None,  # noqa: ASYNC109 - likewise
    ) -> Schema:
        """A value of the schema. Raises `LanguageModelUnavailable` or `LanguageModelNonsense`."""
        length = max_tokens or self._endpoint.max_tokens
        async with self._call(purpose, timeout) as call:
            reply = await self._asked(call, messages, length, temperature, schema)
            try:
                return parsed(reply, schema)
            except Unfit as unfit:
                repair = [*messages, *_sent_back(reply, unfit, messages)]
            reply = await self._asked(call, repair, length, temperature, schema)
            call.outcome = "repaired"
            try:
                return parsed(reply, schema)
            except Unfit as unfit:
                fault, call.outcome = unfit.short, "nonsense"
        raise LanguageModelNonsense(f"{self.name}: {fault}")

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.aclose()

    def _breaker(self) -> CircuitBreaker:
        endpoint = self._endpoint
        return CircuitBreaker(endpoint.breaker_failures, endpoint.breaker_seconds, _HostFails)

    @asynccontextmanager
    async def _call(self, purpose: Purpose, seconds: float | None) -> AsyncIterator[LanguageModelCall]:
        """One call: counted, in time, and not at all while the host is left alone."""
        with self._metrics.language_model_call(purpose) as call:
            try:
                with self._breakers[purpose].call():
                    async with _in_time(seconds, self.name):
                        yield call
            except CircuitOpen:
                call.outcome = "left_alone"
                raise LanguageModelUnavailable(f"{self.name} failed repeatedly and is left alone for now.") from None
            except LanguageModelUnavailable:
                call.outcome = "unavailable"
                raise

    async def _asked(
        self,
        call: LanguageModelCall,
        messages: Sequence[ChatMessage],
        max_tokens: int,
        temperature: float,
        schema: type[BaseModel] | None,
    ) -> Reply:
        """The reply, in the first dialect that the host takes."""
        dialect = self._dialect
        while True:
            sent = _with_form(messages, schema, dialect)
            body = dialect.request(self._endpoint.model, sent, max_tokens, temperature, schema)
            try:
                reply = await self._repeated(body)
            except _Refused as refusal:
                other = dialect.after_refusal(refusal.said, structured=schema is not None)
                if other is None:
                    raise LanguageModelUnavailable(str(refusal), refusal.status) from None
                dialect = other
            else:
                break
        call.prompt_tokens += reply.prompt_tokens
        call.completion_tokens += reply.completion_tokens
        # Only what passed is remembered: a prompt that is too long is refused in every dialect.
        self._dialect = dialect
        return reply

    async def _repeated(self, body: dict[str, object]) -> Reply:
        reply: Reply | None = None
        async for attempt in stamina.retry_context(
            on=http.pause_before_retry,
            attempts=self._endpoint.attempts,
            timeout=None,
            wait_initial=0.2,
            wait_max=5.0,
            wait_jitter=0.2,
        ):
            with attempt:
                reply = await self._requested(body)
        assert reply is not None  # noqa: S101 - the context raises or comes through
        return reply

    async def _requested(self, body: dict[str, object]) -> Reply:
        if self._client.is_closed:
            raise LanguageModelUnavailable(f"{self.name} is closed.")
        try:
            # As a whole: the client's own limit is one of each read, and a host that trickles keeps within it.
            async with _in_time(self._endpoint.timeout, self.name):
                answer = await http.post(self._client, self._url, body)
        except httpx.HTTPError as error:
            raise _TryAgain(f"{self.name} cannot be reached: {type(error).__name__}") from error
        except http.AnswerTooLarge:
            raise _HostFails(f"{self.name}: the host's answer does not end.") from None
        self._check_status(answer)
        try:
            return read_reply(answer.content)
        except NoReply as error:
            raise _TryAgain(f"{self.name}: {error}") from None

    def _check_status(self, answer: http.Answer) -> None:
        status = answer.status
        if httpx.codes.is_success(status):
            return
        words = f"{self.name}: the host answered {status}."
        if answer.passing:
            raise _TryAgain(words, http.retry_after(answer.headers.get("Retry-After")))
        if status in ADAPTABLE:
            raise _Refused(words, status, answer.content.decode("utf-8", "replace")[:SAID_CHARACTERS])
        if status == httpx.codes.REQUEST_ENTITY_TOO_LARGE:
            raise LanguageModelUnavailable(words, status)
        raise _HostFails(words, status)


class _HostFails(LanguageModelUnavailable):
    """A failure that says something about the host, and not about one prompt."""


class _TryAgain(http.MayPass, _HostFails):
    """Patience may help."""

    def __init__(self, words: str, pause: float | None = None) -> None:
        _HostFails.__init__(self, words)
        self.pause = pause


class _Refused(LanguageModelUnavailable):
    """The host does not take this request; `said` is its reason, which may quote the prompt and goes nowhere."""

    def __init__(self, words: str, status: int, said: str) -> None:
        super().__init__(words, status)
        self.said = said


@asynccontextmanager
async def _in_time(seconds: float | None, name: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise _HostFails(f"{name} did not answer in time" + (f" ({seconds:g} s)." if seconds else ".")) from None


def _with_form(messages: Sequence[ChatMessage], schema: type[BaseModel] | None, dialect: Dialect) -> list[ChatMessage]:
    """The messages as they are sent. The form stands in words where the host is not held to the schema."""
    cleaned = [ChatMessage(message.role, clean(message.content)) for message in messages]
    if schema is None or dialect.output == "json_schema":
        return cleaned
    words = _words_for(cleaned, "form").filled(schema=json.dumps(strict_schema(schema), ensure_ascii=False))
    if cleaned and cleaned[0].role == "system":
        return [ChatMessage("system", f"{cleaned[0].content}\n\n{words}"), *cleaned[1:]]
    return [ChatMessage("system", words), *cleaned]


def _sent_back(reply: Reply, unfit: Unfit, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    said = (reply.content or reply.arguments)[:RETURNED_CHARACTERS]
    faults = _words_for(messages, "repair").filled(faults=unfit.told)
    # Some hosts refuse an empty message of the assistant.
    return [ChatMessage("assistant", said if said.strip() else "..."), ChatMessage("user", faults)]


def _words_for(messages: Sequence[ChatMessage], name: Literal["form", "repair"]) -> Prompt:
    """In the language of the prompt: the reply keeps it."""
    return prompt(name, prompt_language(language_of("\n".join(message.content for message in messages))))
