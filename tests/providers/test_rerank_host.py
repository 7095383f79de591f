"""The client of `/rerank`, against hosts of both shapes and of none, and the deadline of a search."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import clock
from app.core.errors import ConfigurationError
from app.core.metrics import Metrics
from app.providers.rerank.base import Reranker, RerankUnavailable, sigmoid
from app.providers.rerank.choice import configured_reranker
from app.providers.rerank.deadline import FAILURES, TimedReranker
from app.providers.rerank.host import Endpoint, HttpReranker
from app.settings import Settings
from tests.doubles import rerank_server as double
from tests.doubles.rerank_server import RerankHost, rerank_host
from tests.doubles.scripted_host import ORDINARY, Turn

KEY = "sk-very-secret"
QUERY = "berlin 汇率"
TEXTS = ["tea", "berlin", "berlin 汇率"]
WANTED = [0.0, 0.5, 1.0]


@pytest.fixture
def host() -> Iterator[RerankHost]:
    with rerank_host() as running:
        yield running


@asynccontextmanager
async def asking(host: RerankHost, **changes: Any) -> AsyncIterator[HttpReranker]:
    reranker = HttpReranker(Endpoint(base_url=host.url, model="double", api_key=KEY, **changes))
    try:
        yield reranker
    finally:
        await reranker.close()


async def test_the_request_is_what_the_protocol_says(host: RerankHost) -> None:
    async with asking(host) as reranker:
        assert await reranker.scores(QUERY, TEXTS) == WANTED
    (request,) = host.requests
    assert request.path == "/v1/rerank"
    assert request.authorization == f"Bearer {KEY}"
    assert request.body == {"model": "double", "query": QUERY, "documents": TEXTS, "top_n": 3}


async def test_no_texts_need_no_host(host: RerankHost) -> None:
    async with asking(host) as reranker:
        assert await reranker.scores(QUERY, []) == []
    assert not host.requests


async def test_without_model_and_key_none_is_sent(host: RerankHost) -> None:
    reranker = HttpReranker(Endpoint(host.url))
    await reranker.scores(QUERY, TEXTS)
    await reranker.close()
    assert "model" not in host.requests[0].body
    assert host.requests[0].authorization is None


async def test_a_host_of_the_bare_shape_is_found_out_once(host: RerankHost) -> None:
    host.texts_only = True
    async with asking(host) as reranker:
        assert await reranker.scores(QUERY, TEXTS) == WANTED
        assert await reranker.scores(QUERY, TEXTS) == WANTED
    assert ["texts" in request.body for request in host.requests] == [False, True, True]


async def test_a_request_that_both_shapes_refuse_teaches_nothing(host: RerankHost) -> None:
    host.documents_only = True
    host.script.extend([Turn(status=422), Turn(status=422)])
    async with asking(host) as reranker:
        with pytest.raises(RerankUnavailable, match="422"):
            await reranker.scores(QUERY, TEXTS)
        assert await reranker.scores(QUERY, TEXTS) == WANTED
    assert len(host.requests) == 3


async def test_raw_marks_become_scores_between_0_and_1(host: RerankHost) -> None:
    host.raw = True
    async with asking(host) as reranker:
        scores = await reranker.scores(QUERY, TEXTS)
        assert scores == [sigmoid(-8), sigmoid(0), sigmoid(8)]
        host.otherwise = double.marked(0.5)
        assert await reranker.scores(QUERY, ["tea"]) == [sigmoid(0.5)], "a host that gives raw marks goes on doing so"


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2))
def test_the_map_of_raw_marks_keeps_their_order_in_the_unit_interval(marks: list[float]) -> None:
    scores = [sigmoid(mark) for mark in sorted(marks)]
    assert scores == sorted(scores)
    assert all(0 <= score <= 1 for score in scores)
    assert sigmoid(-marks[0]) == pytest.approx(1 - sigmoid(marks[0]))


@pytest.mark.parametrize("turn", list(double.BAD.values()), ids=list(double.BAD))
async def test_answers_without_an_order_are_unavailable(host: RerankHost, turn: Turn) -> None:
    host.otherwise = turn
    async with asking(host) as reranker:
        with pytest.raises(RerankUnavailable) as failure:
            await reranker.scores(QUERY, TEXTS)
    words = f"{failure.value!r} {failure.value.__cause__!r}"
    assert KEY not in words
    assert "汇率" not in words


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud83d", "汇" * 100_000])
async def test_any_text_can_be_sent(host: RerankHost, text: str) -> None:
    async with asking(host, max_characters=100) as reranker:
        assert len(await reranker.scores(text, [text, "berlin"])) == 2
    sent = host.requests[0].body["documents"][0]
    assert sent.strip()
    assert len(sent) <= 100


async def test_nobody_at_the_address_is_unavailable() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    reranker = HttpReranker(Endpoint(url))
    with pytest.raises(RerankUnavailable, match="ConnectError"):
        await reranker.scores(QUERY, TEXTS)
    await reranker.close()
    with pytest.raises(RerankUnavailable, match="closed"):
        await reranker.scores(QUERY, TEXTS)


@pytest.mark.parametrize("turn", [Turn(hang=True), Turn(trickle=True)], ids=["hanging", "trickling"])
async def test_a_search_waits_until_the_deadline_and_leaves_no_connection(host: RerankHost, turn: Turn) -> None:
    host.otherwise = turn
    async with asking(host) as bare:
        reranker = TimedReranker(bare, 0.2, Metrics())
        started = clock.monotonic()
        with pytest.raises(RerankUnavailable, match=r"0\.2 s"):
            await reranker.scores(QUERY, TEXTS)
        assert clock.monotonic() - started < 5
        assert await asyncio.to_thread(host.wait_for, lambda: host.open == 0)


async def test_a_reranker_that_fails_in_a_row_is_left_alone(host: RerankHost) -> None:
    metrics = Metrics()
    host.otherwise = Turn(status=503)
    async with asking(host) as bare:
        reranker = TimedReranker(bare, 10, metrics)
        for _ in range(FAILURES + 2):
            with pytest.raises(RerankUnavailable):
                await reranker.scores(QUERY, TEXTS)
    assert len(host.requests) == FAILURES
    value = metrics.registry.get_sample_value("mnemic_rerank_calls_total", {"outcome": "RerankUnavailable"})
    assert value == FAILURES + 2


async def test_a_question_that_is_cancelled_says_nothing_about_the_host(host: RerankHost) -> None:
    host.otherwise = Turn(hang=True)
    async with asking(host) as bare:
        reranker = TimedReranker(bare, 30, Metrics())
        asked = [asyncio.create_task(reranker.scores(QUERY, TEXTS)) for _ in range(20)]
        assert await asyncio.to_thread(host.wait_for, lambda: len(host.requests) == 20)
        for task in asked:
            task.cancel()
        await asyncio.gather(*asked, return_exceptions=True)
        assert await asyncio.to_thread(host.wait_for, lambda: host.open == 0)
        host.otherwise = ORDINARY
        assert await reranker.scores(QUERY, TEXTS) == WANTED
        assert await reranker.scores(QUERY, []) == []
        assert reranker.name == "double"


class Misconfigured:
    name = "tiny"

    async def scores(self, query: str, texts: object) -> list[float]:
        raise ConfigurationError("The model is not one.")

    async def close(self) -> None:
        pass


async def test_a_misconfigured_reranker_costs_a_search_its_order_only() -> None:
    broken: Reranker = Misconfigured()
    with pytest.raises(RerankUnavailable, match="misconfigured"):
        await TimedReranker(broken, 1, Metrics()).scores(QUERY, TEXTS)


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://host/v1", "http://user:word@host/v1", ""])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="RERANK_BASE_URL"):
        HttpReranker(Endpoint(url))


def test_a_key_that_no_header_carries_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="RERANK_API_KEY"):
        HttpReranker(Endpoint("http://host/v1", api_key="钥匙"))


async def test_the_settings_choose_the_reranker(host: RerankHost) -> None:
    def settings(**given: Any) -> Settings:
        return Settings(_env_file=None, **given)

    assert configured_reranker(settings(), Metrics()) is None
    for provider, needed in (("http", "RERANK_BASE_URL"), ("onnx", "RERANK_MODEL_DIR")):
        with pytest.raises(ConfigurationError, match=needed):
            configured_reranker(settings(rerank_provider=provider), Metrics())
    chosen = settings(
        rerank_provider="http",
        rerank_base_url=host.url,
        rerank_model="bge",
        rerank_api_key=KEY,
        rerank_deadline_seconds=10,
        rerank_max_characters=64,
    )
    reranker = configured_reranker(chosen, Metrics())
    assert reranker is not None
    await reranker.scores(QUERY, ["a" * 100])
    await reranker.close()
    assert reranker.name == "bge"
    assert host.requests[0].body["documents"] == ["a" * 64]
    assert host.requests[0].authorization == f"Bearer {KEY}"
