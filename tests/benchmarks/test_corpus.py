import numpy as np
import pytest

from app.core.text.tokens import term_frequencies
from benchmarks.corpus import CHUNK, TEN, THOUSAND, Clauses, Corpus, clauses

POOL = 4_000
SAMPLE = 400


@pytest.fixture(scope="module")
def known() -> Clauses:
    texts = clauses()[:POOL]
    vectors = np.random.default_rng(1).normal(size=(POOL, 8)).astype(np.float32)
    return Clauses(texts, vectors, [term_frequencies(text) for text in texts])


def test_tokens_put_together_from_clauses_are_the_tokens_of_the_text(known: Clauses) -> None:
    corpus = Corpus.skewed(known, 12_000)
    chunk = next(corpus.chunks())
    sample = list(zip(chunk.numbers, chunk.pairs, chunk.texts, strict=True))[:SAMPLE]
    put_together = [corpus.frequencies(number, pair) for number, pair, _ in sample]
    assert put_together == [term_frequencies(text) for _, _, text in sample]


def test_every_owner_gets_as_many_texts_as_it_is_said_to_have(known: Clauses) -> None:
    corpus = Corpus.skewed(known, 12_000)
    counted: dict[str, int] = {}
    for chunk in corpus.chunks():
        for user_id in chunk.user_ids:
            counted[user_id] = counted.get(user_id, 0) + 1
    assert counted == dict(corpus.stores)
    assert counted[TEN] == 10
    assert counted[THOUSAND] == 1_000


def test_the_largest_owner_has_a_twentieth_of_a_million(known: Clauses) -> None:
    (largest, size), *others = Corpus.skewed(known, 1_000_000).stores
    assert largest == "user-0000"
    assert 49_000 <= size <= 51_000
    assert sum(size for _, size in others) + size == 1_000_000


def test_a_corpus_is_the_same_in_every_run(known: Clauses) -> None:
    one, other = (next(Corpus.skewed(known, 12_000).chunks()) for _ in range(2))
    assert one.texts == other.texts
    assert one.user_ids == other.user_ids
    assert np.array_equal(one.vectors, other.vectors)


def test_chunks_are_of_bounded_size_and_their_vectors_of_length_one(known: Clauses) -> None:
    for chunk in Corpus.skewed(known, 12_000).chunks():
        assert len(chunk.texts) <= CHUNK
        assert np.allclose(np.linalg.norm(chunk.vectors, axis=1), 1, atol=1e-5)


def test_questions_are_asked_by_large_owners_more_often(known: Clauses) -> None:
    asked = [user_id for user_id, _ in Corpus.skewed(known, 12_000).questions(2_000)]
    assert asked.count("user-0000") > 10 * max(1, asked.count("user-0900"))
