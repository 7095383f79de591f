"""A model's calibration follows from the cosines that it gives sentences of known meaning."""

import math
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.core.text.language import language_of
from app.domain.calibrating.bounds import Cosines, UnusableMeasurement, measured_calibration, nominated, quantile
from app.domain.calibrating.sets import SENTENCES, Sentences
from app.domain.calibration import IDENTICAL, Calibration

AT = datetime(2026, 12, 1, tzinfo=UTC)
PLAIN = Cosines(identical=(0.9, 0.95), unrelated=(0.0, 0.1, 0.2, 0.3), answers=(0.5,), same=(0.6, 0.8), other=(0.7,))

RAW = st.lists(st.floats(-1, 1), min_size=1, max_size=30).map(tuple)
ANY = st.builds(Cosines, RAW, RAW, RAW, RAW, RAW)


def of_a_model(near: float, far: float) -> st.SearchStrategy[Cosines]:
    """What a model gives that finds texts at least so near to themselves, and unrelated ones at most so near."""
    return st.builds(
        Cosines,
        identical=st.lists(st.floats(near, 1), min_size=1, max_size=20).map(tuple),
        unrelated=st.lists(st.floats(-1, far), min_size=1, max_size=50).map(tuple),
        answers=RAW,
        same=RAW,
        other=RAW,
    )


def measured(cosines: Cosines) -> Calibration | None:
    try:
        return measured_calibration(cosines)
    except UnusableMeasurement:
        return None


@given(ANY)
def test_whatever_a_model_gives_its_calibration_is_sound_or_there_is_none(cosines: Cosines) -> None:
    found = measured(cosines)
    if found is not None:
        assert -1 <= found.low < found.high <= 1
        assert 0 <= found.duplicate <= 1
        assert min(map(found.similarity, cosines.identical)) >= IDENTICAL
        assert quantile(cosines.unrelated, 99) < found.high


@given(of_a_model(near=0.6, far=0.5))
def test_a_model_that_tells_a_text_itself_from_unrelated_ones_is_calibrated(cosines: Cosines) -> None:
    assert measured(cosines) is not None


@given(of_a_model(near=0.6, far=0.5))
@example(Cosines(identical=(1.0,), unrelated=(0.0,), answers=(0.0,), same=(0.9999999999999999,), other=(0.0,)))
def test_the_threshold_leaves_out_at_most_one_in_ten_that_say_the_same(cosines: Cosines) -> None:
    assert nominated(cosines.same, measured_calibration(cosines)) >= 0.9


@given(of_a_model(near=0.6, far=0.5))
def test_a_quarter_of_the_unrelated_pairs_at_most_is_similar_at_all(cosines: Cosines) -> None:
    found = measured_calibration(cosines)
    similar = sum(found.similarity(cosine) > 0.001 for cosine in cosines.unrelated)
    assert similar <= len(cosines.unrelated) / 4 + 1


def test_the_bounds_are_three_quarters_of_the_unrelated_and_the_least_of_the_identical() -> None:
    found = measured_calibration(PLAIN)
    assert (found.low, found.high, found.source) == (0.225, 0.9, "measured")
    assert found.duplicate == pytest.approx((0.6 - 0.225) / (0.9 - 0.225), abs=1e-4)


def test_noise_of_32_bit_numbers_lowers_no_bound() -> None:
    assert measured_calibration(replace(PLAIN, identical=(0.9999997, 1.0000002))).high == 1.0


@pytest.mark.parametrize(
    ("cosines", "told"),
    [
        (replace(PLAIN, identical=(0.95, 0.1)), "no bounds give a text and itself"),
        (replace(PLAIN, identical=(1.0,), unrelated=(1.0, 1.0)), "no bounds give a text and itself"),
        (replace(PLAIN, unrelated=(0.0,) * 40 + (0.97, 0.98)), "would count as identical"),
        (replace(PLAIN, same=(math.nan, 0.8)), "no numbers"),
        (replace(PLAIN, unrelated=(math.inf, 0.8)), "no numbers"),
    ],
)
def test_a_model_that_no_bounds_fit_has_no_calibration(cosines: Cosines, told: str) -> None:
    with pytest.raises(UnusableMeasurement, match=told):
        measured_calibration(cosines)


def test_a_kept_calibration_is_read_as_it_was_written_and_nothing_is_none() -> None:
    found = measured_calibration(PLAIN)
    kept = Calibration.of_json(found.as_json(AT))
    assert kept is not None
    assert (kept, kept.source, kept.measured_at) == (found, "measured", AT)
    assert Calibration.of_json({}) is None


@pytest.mark.parametrize("name", SENTENCES)
def test_every_language_has_enough_of_each_kind_and_says_nothing_twice(name: str) -> None:
    sentences: Sentences = SENTENCES[name]
    assert min(len(sentences.same), len(sentences.other)) >= 40
    for pairs in (sentences.answers, sentences.same, sentences.other):
        assert all(one != two for one, two in pairs)
        assert len(set(pairs)) == len(pairs)
    assert not set(sentences.same) & set(sentences.other)
    spoken = [text for text in sentences.stored if language_of(text) == name]
    assert len(spoken) > 0.95 * len(sentences.stored)


def test_questions_of_all_languages_have_the_same_subjects() -> None:
    english, chinese = (SENTENCES[name].answers for name in ("en", "zh"))
    assert len(english) == len(chinese) >= 20
