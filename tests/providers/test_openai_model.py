"""The client of `/v1/embeddings`, against a host that misbehaves in every way it can."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import numpy as np
import pytest

from app.core import clock
from app.core.errors import ConfigurationError
from app.domain.calibration import Calibration
from app.providers.embeddings.base import EmbeddingUnavailable
from app.providers.embeddings.openai import Endpoint, OpenAIModel
from app.providers.http import CONNECTIONS
from tests.doubles import openai_server as double
from tests.doubles.openai_server import EmbeddingHost, Turn, embedding_host

KEY = "sk-very-secret"
TEXT = "my private diary"


@pytest.fixture
def host() -> Iterator[EmbeddingHost]:
    with embedding_host() as running:
        yield running


@asynccontextmanager
async def asking(host: EmbeddingHost, **changes: Any) -> AsyncIterator[OpenAIModel]:
    settings = {"attempts": 3, "timeout": 10, "query_timeout": 10, **changes}
    model = OpenAIModel(Endpoint(base_url=host.url, model="double", api_key=KEY, **settings))
    yield model
    await model.close()


async def test_the_request_is_what_the_protocol_says(host: EmbeddingHost) -> None:
    async with asking(host) as model:
        await model.embed_query("汇率")
    (request,) = host.requests
    assert request.path == "/v1/embeddings"
    assert request.authorization == f"Bearer {KEY}"
    assert request.body == {"model": "double", "input": ["汇率"], "encoding_format": "float"}


async def test_without_a_key_none_is_sent(host: EmbeddingHost) -> None:
    model = OpenAIModel(Endpoint(host.url, "double"))
    await model.embed_query("汇率")
    await model.close()
    assert host.requests[0].authorization is None


async def test_the_dimension_is_asked_of_the_host(host: EmbeddingHost) -> None:
    async with asking(host) as model:
        assert model.dimension is None
        await model.prepare()
        assert model.dimension == host.dimension
    assert len(host.requests) == 1


async def test_wanted_dimensions_are_sent_and_part_of_the_name(host: EmbeddingHost) -> None:
    async with asking(host, dimensions=12) as model:
        assert (await model.embed_query("汇率")).shape == (12,)
        assert model.name == "double@12"
    assert host.requests[0].body["dimensions"] == 12


async def test_a_host_that_ignores_the_wanted_dimensions_is_misconfigured(host: EmbeddingHost) -> None:
    host.otherwise = double.other_dimension(32)
    async with asking(host, dimensions=12) as model:
        with pytest.raises(ConfigurationError, match="32 dimensions instead of 12"):
            await model.prepare()


async def test_4000_dimensions_are_taken(host: EmbeddingHost) -> None:
    host.dimension = 4_000
    async with asking(host) as model:
        assert (await model.embed_query("汇率")).shape == (4_000,)


async def test_more_dimensions_than_the_database_holds_are_refused(host: EmbeddingHost) -> None:
    host.dimension = 4_001
    async with asking(host) as model:
        with pytest.raises(ConfigurationError, match="EMBEDDING_DIMENSIONS"):
            await model.prepare()


async def test_a_host_that_is_down_can_be_asked_again_later(host: EmbeddingHost) -> None:
    host.script.append(double.DOWN)
    async with asking(host) as model:
        with pytest.raises(EmbeddingUnavailable, match="503"):
            await model.prepare()
        assert model.dimension is None
        await model.prepare()
        assert model.dimension == host.dimension


async def test_texts_go_in_batches_and_come_back_in_order(host: EmbeddingHost) -> None:
    texts = [f"turn {number}" for number in range(23)]
    async with asking(host, batch_size=10) as model:
        vectors = await model.embed_passages(texts)
        host.otherwise = double.REVERSED
        again = await model.embed_passages(texts)
    assert host.texts[:3] == [texts[:10], texts[10:20], texts[20:]]
    assert np.array_equal(vectors, again)
    assert len({vector.tobytes() for vector in vectors}) == 23


async def test_prefixes_tell_questions_from_passages(host: EmbeddingHost) -> None:
    async with asking(host, query_prefix="query: ", passage_prefix="passage: ") as model:
        question = await model.embed_query("汇率")
        (passage,) = await model.embed_passages(["汇率"])
    assert host.texts == [["query: 汇率"], ["passage: 汇率"]]
    assert question @ passage == pytest.approx(1)


async def test_only_the_beginning_of_a_text_is_sent(host: EmbeddingHost) -> None:
    async with asking(host, max_characters=100) as model:
        await model.embed_passages(["汇" * 5_000])
    assert host.texts == [["汇" * 100]]


@pytest.mark.parametrize("text", ["", "  ", "\0", "\n"])
async def test_a_text_without_words_is_never_sent_empty(host: EmbeddingHost, text: str) -> None:
    async with asking(host) as model:
        await model.embed_query(text)
    assert host.texts[0][0].strip()


@pytest.mark.parametrize(
    "turn",
    [
        double.BUSY,
        double.DOWN,
        Turn(status=500),
        Turn(status=408),
        double.DROPPED,
        double.NONSENSE,
        double.NO_LIST,
        double.TOO_FEW,
        double.TOO_MANY,
        double.MISNUMBERED,
        double.NOT_NUMBERS,
        double.INFINITE,
        double.ZEROS,
        double.filled_with("words"),
    ],
    ids=lambda turn: None,
)
async def test_what_may_pass_is_tried_again(host: EmbeddingHost, turn: Turn) -> None:
    host.script.append(turn)
    async with asking(host) as model:
        assert len(await model.embed_passages(["a", "b"])) == 2
    assert len(host.requests) == 2


@pytest.mark.parametrize(
    "turn",
    [double.DOWN, double.BUSY, double.DROPPED, double.NONSENSE, double.TOO_FEW, double.NOT_NUMBERS, double.ZEROS],
    ids=lambda turn: None,
)
async def test_what_does_not_pass_is_unavailable_after_the_attempts(host: EmbeddingHost, turn: Turn) -> None:
    host.otherwise = turn
    async with asking(host, attempts=2) as model:
        with pytest.raises(EmbeddingUnavailable):
            await model.embed_passages(["a", "b"])
    assert len(host.requests) == 2


@pytest.mark.parametrize("status", [401, 403, 404, 301])
async def test_what_cannot_pass_is_not_tried_again(host: EmbeddingHost, status: int) -> None:
    host.otherwise = Turn(status=status, headers={"Location": "/elsewhere"})
    async with asking(host) as model:
        with pytest.raises(EmbeddingUnavailable, match=str(status)):
            await model.embed_passages(["a"])
    assert len(host.requests) == 1


async def test_another_dimension_than_before_is_unavailable(host: EmbeddingHost) -> None:
    async with asking(host) as model:
        await model.prepare()
        host.otherwise = double.other_dimension(31)
        with pytest.raises(EmbeddingUnavailable, match="31 dimensions instead of 32"):
            await model.embed_query("汇率")
        assert model.dimension == 32


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        (lambda: "1", 0.9, 5.0),
        (lambda: format_datetime(clock.now() + timedelta(seconds=2), usegmt=True), 0.9, 5.0),
        (lambda: format_datetime(clock.now() - timedelta(hours=1), usegmt=True), 0.0, 0.9),
        (lambda: "soon", 0.0, 3.0),
        (lambda: "-5", 0.0, 3.0),
        (lambda: "nan", 0.0, 3.0),
    ],
    ids=["seconds", "date", "past date", "words", "negative", "nan"],
)
async def test_the_host_says_when_to_come_back(
    host: EmbeddingHost, header: Callable[[], str], least: float, most: float
) -> None:
    host.script.append(Turn(status=429, headers={"Retry-After": header()}))
    async with asking(host) as model:
        started = clock.monotonic()
        await model.embed_passages(["a"])
        assert least <= clock.monotonic() - started <= most + 5  # a busy machine is slower, never faster


async def test_a_wait_that_is_too_long_is_left_to_the_job(host: EmbeddingHost) -> None:
    host.otherwise = Turn(status=429, headers={"Retry-After": "3600"})
    async with asking(host) as model:
        with pytest.raises(EmbeddingUnavailable, match="429"):
            await asyncio.wait_for(model.embed_passages(["a"]), 10)
    assert len(host.requests) == 1


async def test_a_batch_that_is_too_large_is_halved(host: EmbeddingHost) -> None:
    host.longest = 100
    texts = ["short", "x" * 1_000, "汇" * 90]
    async with asking(host) as model:
        vectors = await model.embed_passages(texts)
    assert len(vectors) == 3
    assert ["x" * 62] in host.texts
    assert ["汇" * 90] in host.texts


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_a_short_text_that_is_refused_is_unavailable_soon(host: EmbeddingHost, status: int) -> None:
    host.otherwise = Turn(status=status)
    async with asking(host) as model:
        with pytest.raises(EmbeddingUnavailable, match=str(status)):
            await model.embed_passages(["x" * 2_000] * 64)
    assert len(host.requests) <= 13


async def test_a_host_that_hangs_costs_a_question_its_time_limit(host: EmbeddingHost) -> None:
    host.otherwise = double.HANGING
    async with asking(host, query_timeout=0.2) as model:
        with pytest.raises(EmbeddingUnavailable, match=r"0\.2 s"):
            await asyncio.wait_for(model.embed_query("汇率"), 10)


async def test_a_host_that_hangs_costs_passages_theirs(host: EmbeddingHost) -> None:
    host.otherwise = double.HANGING
    async with asking(host, timeout=0.2, attempts=2) as model:
        with pytest.raises(EmbeddingUnavailable, match="Timeout"):
            await asyncio.wait_for(model.embed_passages(["a"]), 10)
    assert len(host.requests) == 2


async def test_nobody_at_the_address_is_unavailable() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}/v1"
    model = OpenAIModel(Endpoint(url, "double", attempts=2))
    with pytest.raises(EmbeddingUnavailable, match="ConnectError"):
        await model.embed_query("汇率")
    await model.close()


async def test_connections_are_used_again(host: EmbeddingHost) -> None:
    async with asking(host) as model:
        for number in range(10):
            await model.embed_query(f"question {number}")
    assert host.connections == 1


async def test_200_cancelled_questions_leave_the_connections_usable(host: EmbeddingHost) -> None:
    host.otherwise = double.HANGING
    async with asking(host) as model:
        for done in range(4):
            asked = [asyncio.create_task(model.embed_query("汇率")) for _ in range(50)]
            wanted = CONNECTIONS * (done + 1)  # every connection waits for its answer
            assert await asyncio.to_thread(host.wait_for, lambda wanted=wanted: len(host.requests) >= wanted)
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        host.otherwise = double.ORDINARY
        assert len(await asyncio.gather(*(model.embed_query("汇率") for _ in range(40)))) == 40


async def test_a_proxy_of_the_environment_is_not_used(host: EmbeddingHost, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with asking(host) as model:
        await model.embed_query("汇率")


@pytest.mark.parametrize(
    "turn",
    [double.DOWN, double.REFUSED, double.NONSENSE, double.DROPPED, Turn(status=400, raw=f"{KEY} {TEXT}".encode())],
    ids=lambda turn: None,
)
async def test_failures_name_neither_the_key_nor_the_text(
    host: EmbeddingHost, turn: Turn, capsys: pytest.CaptureFixture[str]
) -> None:
    host.otherwise = turn
    async with asking(host, attempts=2) as model:
        with pytest.raises(EmbeddingUnavailable) as failure:
            await model.embed_passages([TEXT])
        assert KEY not in repr(model._endpoint)
    said: list[BaseException | None] = [failure.value, failure.value.__cause__]
    words = " ".join(f"{one} {one!r}" for one in said) + "".join(capsys.readouterr())
    assert KEY not in words
    assert TEXT not in words


@pytest.mark.parametrize(
    "url", ["localhost:8000/v1", "ftp://host/v1", "http:///v1", "http://user:word@host/v1", "", "http://[::1/v1"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="EMBEDDING_BASE_URL") as refused:
        OpenAIModel(Endpoint(url, "double"))
    assert "word" not in str(refused.value).replace("password", "")


@pytest.mark.parametrize("key", ["sk-钥匙", "sk-\nX-Evil: 1"])
def test_a_key_that_no_header_carries_is_refused_without_naming_it(key: str) -> None:
    with pytest.raises(ConfigurationError, match="EMBEDDING_API_KEY") as refused:
        OpenAIModel(Endpoint("http://host/v1", "double", api_key=key))
    assert key not in str(refused.value)


async def test_the_configured_calibration_is_the_models() -> None:
    model = OpenAIModel(Endpoint("http://host/v1/", "double", calibration=Calibration(0.7, 0.9)))
    assert model.calibration == Calibration(0.7, 0.9)
    await model.close()
