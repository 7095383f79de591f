import asyncio

import numpy as np
import pytest

from app.providers.embeddings.base import EmbeddingModel, EmbeddingUnavailable, Vector
from app.providers.embeddings.cache import CachedQueries
from tests.doubles.embeddings import HashedModel


class GatedModel(HashedModel):
    """Answers when its gate opens."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.asked = asyncio.Event()

    async def embed_query(self, text: str) -> Vector:
        self.asked.set()
        vector = await super().embed_query(text)
        await self.gate.wait()
        self._check()
        return vector


async def test_a_question_is_computed_once() -> None:
    model = HashedModel()
    cached = CachedQueries(model, 10)
    first = await cached.embed_query("汇率")
    assert await cached.embed_query("汇率") is first
    assert model.queries == ["汇率"]


async def test_the_least_recently_asked_question_leaves_first() -> None:
    model = HashedModel()
    cached = CachedQueries(model, 2)
    for question in ("a", "b", "a", "c", "a", "b"):
        await cached.embed_query(question)
    assert model.queries == ["a", "b", "c", "b"]


async def test_without_room_nothing_is_kept() -> None:
    model = HashedModel()
    cached = CachedQueries(model, 0)
    await cached.embed_query("a")
    await cached.embed_query("a")
    assert model.queries == ["a", "a"]


async def test_equal_questions_at_once_share_one_computation() -> None:
    model = GatedModel()
    cached = CachedQueries(model, 10)
    asking = [asyncio.create_task(cached.embed_query("汇率")) for _ in range(20)]
    await model.asked.wait()
    model.gate.set()
    vectors = await asyncio.gather(*asking)
    assert all(vector is vectors[0] for vector in vectors)
    assert model.queries == ["汇率"]


async def test_a_caller_who_leaves_does_not_spoil_it_for_the_others() -> None:
    model = GatedModel()
    cached = CachedQueries(model, 10)
    leaving = asyncio.create_task(cached.embed_query("a"))
    await model.asked.wait()
    staying = asyncio.create_task(cached.embed_query("a"))
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    model.gate.set()
    assert (await staying).shape == (64,)
    assert model.queries == ["a"]


async def test_a_failure_is_told_to_all_who_wait_and_not_kept() -> None:
    model = GatedModel()
    cached = CachedQueries(model, 10)
    asking = [asyncio.create_task(cached.embed_query("a")) for _ in range(3)]
    await model.asked.wait()
    model.broken = True
    model.gate.set()
    answers = await asyncio.gather(*asking, return_exceptions=True)
    assert all(isinstance(answer, EmbeddingUnavailable) for answer in answers)
    model.broken = False
    assert (await cached.embed_query("a")).shape == (64,)


async def test_a_kept_vector_cannot_be_changed_by_its_readers() -> None:
    vector = await CachedQueries(HashedModel(), 10).embed_query("a")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1


async def test_passages_and_description_are_those_of_the_model() -> None:
    model = HashedModel(dimension=8, name="double")
    cached: EmbeddingModel = CachedQueries(model, 10)
    assert (cached.name, cached.dimension, cached.metric) == ("double", 8, "cosine")
    assert cached.calibration == model.calibration
    passages = await cached.embed_passages(["a", "b"])
    assert np.array_equal(passages, await model.embed_passages(["a", "b"]))


async def test_closing_forgets_and_closes_the_model() -> None:
    cached = CachedQueries(HashedModel(), 10)
    await cached.embed_query("a")
    await cached.close()
    with pytest.raises(EmbeddingUnavailable):
        await cached.embed_query("a")
