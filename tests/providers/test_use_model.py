import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest

from app.domain.calibration import IDENTICAL
from app.providers.embeddings.base import EmbeddingModel, EmbeddingUnavailable
from app.providers.embeddings.use import BATCH_CHARACTERS, BATCH_TEXTS, MAX_CHARACTERS, UseModel, _batches


@pytest.fixture(scope="session")
async def model() -> AsyncIterator[UseModel]:
    use = UseModel(threads=2)
    await use.warm()
    yield use
    await use.close()


async def test_vectors_have_the_stated_dimension_and_length_1(model: EmbeddingModel) -> None:
    for vector in await model.embed_passages(["I live in Shanghai", "我住在上海", "", " ", "😀" * 50]):
        assert vector.shape == (model.dimension,)
        assert vector.dtype == np.float32
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("text", ["外币汇率换算", "The deploy failed with E1234", "住" * 5000])
async def test_identical_text_has_a_similarity_of_at_least_99_percent(model: UseModel, text: str) -> None:
    question = await model.embed_query(text)
    (passage,) = await model.embed_passages([text])
    assert model.calibration.similarity(float(question @ passage)) >= IDENTICAL


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("Where does she live?", "Her home is in Berlin", "The build takes nine minutes"),
        ("我有什么忌口的食物？", "用户对花生过敏", "代码提交之前先跑测试"),
        ("What is my pet called?", "我养了一只叫豆豆的猫", "下个月去东京出差"),
        ("出差去哪里", "Next month I travel to Tokyo for work", "My cat sleeps all day"),
    ],
)
async def test_an_answer_is_nearer_than_something_else_in_and_across_languages(
    model: UseModel, question: str, answer: str, other: str
) -> None:
    asked = await model.embed_query(question)
    near, far = await model.embed_passages([answer, other])
    assert asked @ near > asked @ far


@pytest.mark.parametrize("text", ["\0", "a\0b", "汇\ud800率", "\udfff"])
async def test_text_that_no_encoding_takes_is_embedded(model: UseModel, text: str) -> None:
    assert np.isfinite(await model.embed_query(text)).all()


async def test_only_the_beginning_of_a_long_text_is_embedded(model: UseModel) -> None:
    beginning = ("memory service " * MAX_CHARACTERS)[:MAX_CHARACTERS]
    long, short = await model.embed_passages([beginning + "汇率" * 1000, beginning])
    assert np.array_equal(long, short)


async def test_parallel_and_single_embeddings_agree(model: UseModel) -> None:
    texts = [f"turn {n}: 外币汇率换算 costs {n * 7} euros" for n in range(100)]
    alone = [await model.embed_query(text) for text in texts]
    parallel = await asyncio.gather(*(model.embed_query(text) for text in texts))
    batched = await model.embed_passages(texts)
    assert np.array_equal(alone, parallel)
    assert np.abs(np.array(alone) - np.array(batched)).max() < 1e-5


@pytest.mark.parametrize("threads", [1, 2])
async def test_a_query_does_not_wait_for_all_passages_before_it(threads: int) -> None:
    use = UseModel(threads=threads)
    await use.warm()
    passages = asyncio.create_task(use.embed_passages(["外币汇率换算"] * 320))
    await asyncio.sleep(0)
    await use.embed_query("汇率")
    assert not passages.done()
    await passages
    await use.close()


async def test_no_passages_give_no_vectors(model: UseModel) -> None:
    assert await model.embed_passages([]) == []


def test_batches_are_bounded_in_texts_and_characters() -> None:
    texts = ["x"] * 100 + ["y" * (BATCH_CHARACTERS - 1)] * 3
    batches = list(_batches(texts))
    assert [text for batch in batches for text in batch] == texts
    assert max(map(len, batches)) == BATCH_TEXTS
    assert all(sum(map(len, batch)) <= BATCH_CHARACTERS for batch in batches)


async def test_a_closed_model_is_unavailable() -> None:
    use = UseModel(threads=1)
    await use.close()
    with pytest.raises(EmbeddingUnavailable):
        await use.embed_query("汇率")


async def test_vectors_that_are_not_numbers_are_never_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    use = UseModel(threads=1)
    monkeypatch.setattr(use._encoder, "encode", lambda texts: np.full((len(texts), 512), np.nan, dtype=np.float32))
    with pytest.raises(EmbeddingUnavailable):
        await use.embed_passages(["汇率"])
    await use.close()
