import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.calibration import Calibration
from app.domain.fusion import Evidence, Fusion, FusionRule, Leg, ranks, relevance, saturate, similarity

RAW = Calibration()
WEIGHTS = st.dictionaries(st.sampled_from(Leg), st.floats(0, 1e6))
RULES = st.builds(
    FusionRule, method=st.sampled_from(Fusion), weights=WEIGHTS, bm25_half=st.floats(0.1, 100), rrf_k=st.floats(0, 1000)
)


@dataclass(frozen=True)
class Candidate:
    """One row of the evidence."""

    id: Any
    similarity_raw: float | None = None
    bm25: float | None = None
    coverage: float = 1.0
    signals: dict[Leg, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Fused:
    """What became of it."""

    id: Any
    relevance: float


CANDIDATES = st.lists(
    st.builds(
        Candidate,
        id=st.integers(),
        similarity_raw=st.none() | st.floats(-1, 1),
        bm25=st.none() | st.floats(0, 1e4),
        signals=st.dictionaries(st.sampled_from([Leg.TIME, Leg.KEY, Leg.CONSTRAINT]), st.floats(0, 1)),
    ),
    max_size=20,
)


def column(values: list[float | None]) -> Any:
    return np.array([math.nan if value is None else value for value in values], np.float64)


def evidence_of(candidates: list[Candidate]) -> Evidence:
    legs = {leg for candidate in candidates for leg in candidate.signals}
    return Evidence(
        column([candidate.similarity_raw for candidate in candidates]),
        column([candidate.bm25 for candidate in candidates]),
        column([candidate.coverage for candidate in candidates]),
        {leg: column([candidate.signals.get(leg) for candidate in candidates]) for leg in legs},
    )


def fuse(candidates: list[Candidate], rule: FusionRule, calibration: Calibration) -> list[Fused]:
    """The candidates with their relevance, best first, equals as they came."""
    found = relevance(evidence_of(candidates), rule, calibration).tolist()
    fused = [Fused(candidate.id, value) for candidate, value in zip(candidates, found, strict=True)]
    return sorted(fused, key=lambda hit: -hit.relevance)


@given(CANDIDATES, RULES)
@settings(deadline=None)
def test_relevance_is_in_bounds_and_agrees_with_the_order(candidates: list[Candidate], rule: FusionRule) -> None:
    fused = fuse(candidates, rule, RAW)
    assert sorted(hit.id for hit in fused) == sorted(candidate.id for candidate in candidates)
    assert all(0 <= hit.relevance <= 1 for hit in fused)
    assert all(first.relevance >= second.relevance for first, second in pairwise(fused))
    assert fused == fuse(candidates, rule, RAW)


@given(CANDIDATES, st.floats(-1, 1), st.floats(0, 1e4))
@settings(deadline=None)
def test_under_fixed_maps_a_relevance_does_not_depend_on_the_others(
    others: list[Candidate], cosine: float, bm25: float
) -> None:
    one = Candidate("one", similarity_raw=cosine, bm25=bm25)
    alone = fuse([one], FusionRule(), RAW)[0].relevance
    among = [hit for hit in fuse([*others, one], FusionRule(), RAW) if hit.id == "one"]
    assert [hit.relevance for hit in among] == [alone]


@pytest.mark.parametrize("method", Fusion)
def test_what_is_better_in_every_leg_comes_first(method: Fusion) -> None:
    better = Candidate("a", similarity_raw=0.9, bm25=9.0)
    worse = Candidate("b", similarity_raw=0.5, bm25=2.0)
    assert [hit.id for hit in fuse([worse, better], FusionRule(method), RAW)] == ["a", "b"]


def test_fixed_maps_give_the_weighted_mean_of_cosine_and_saturated_bm25() -> None:
    rule = FusionRule(weights={Leg.DENSE: 1, Leg.LEXICAL: 3}, bm25_half=4)
    (hit,) = fuse([Candidate(1, similarity_raw=0.8, bm25=4.0)], rule, RAW)
    assert hit.relevance == pytest.approx((0.8 + 3 * 0.5) / 4)


def test_a_word_in_common_counts_by_its_share_of_what_the_question_tells() -> None:
    rule = FusionRule(weights={Leg.LEXICAL: 1}, bm25_half=4)
    whole, part = Candidate("whole", bm25=4.0), Candidate("part", bm25=4.0, coverage=0.25)
    assert [hit.relevance for hit in fuse([part, whole], rule, RAW)] == [0.5, 0.125]


def test_identical_text_is_fully_relevant_by_its_cosine_alone() -> None:
    (hit,) = fuse([Candidate(1, similarity_raw=1.0)], FusionRule(weights={Leg.DENSE: 1}), RAW)
    assert hit.relevance == 1


def test_rrf_is_1_for_the_first_in_every_leg_and_falls_with_the_rank() -> None:
    rule = FusionRule(Fusion.RRF, weights={Leg.DENSE: 1, Leg.LEXICAL: 1}, rrf_k=60)
    first = Candidate("a", similarity_raw=0.99, bm25=2.0)
    half = Candidate("b", similarity_raw=0.95)
    fused = fuse([half, first], rule, RAW)
    assert [hit.relevance for hit in fused] == [pytest.approx(1), pytest.approx(0.5 * 61 / 62)]


def test_min_max_spreads_a_leg_over_0_to_1_and_gives_equals_1() -> None:
    rule = FusionRule(Fusion.MIN_MAX, weights={Leg.LEXICAL: 1})
    spread = fuse([Candidate(n, bm25=float(n)) for n in (2, 4, 6)], rule, RAW)
    assert [hit.relevance for hit in spread] == [1, 0.5, 0]
    assert [hit.relevance for hit in fuse([Candidate(n, bm25=3.0) for n in (1, 2)], rule, RAW)] == [1, 1]


def test_z_score_gives_the_mean_one_half() -> None:
    rule = FusionRule(Fusion.Z_SCORE, weights={Leg.LEXICAL: 1})
    spread = fuse([Candidate(n, bm25=float(n)) for n in (2, 4, 6)], rule, RAW)
    assert spread[1].relevance == pytest.approx(0.5)
    assert spread[0].relevance == pytest.approx(1 - spread[2].relevance)
    assert fuse([Candidate(1, bm25=3.0)], rule, RAW)[0].relevance == 0.5


@pytest.mark.parametrize("method", [Fusion.FIXED, Fusion.MIN_MAX, Fusion.Z_SCORE])
@pytest.mark.parametrize("leg", [Leg.TIME, Leg.KEY, Leg.CONSTRAINT])
def test_a_signal_of_another_leg_raises_what_carries_it(method: Fusion, leg: Leg) -> None:
    marked = Candidate("marked", similarity_raw=0.4, signals={leg: 1.0})
    plain = Candidate("plain", similarity_raw=0.41)
    rule = FusionRule(method, weights={Leg.DENSE: 0.5, leg: 1.0})
    assert fuse([plain, marked], rule, RAW)[0].id == "marked"


def test_a_leg_that_is_switched_off_says_nothing() -> None:
    rule = FusionRule(weights={Leg.DENSE: 1, Leg.LEXICAL: 0})
    (hit,) = fuse([Candidate(1, similarity_raw=0.3, bm25=50.0)], rule, RAW)
    assert hit.relevance == pytest.approx(0.3)


def test_with_every_leg_off_nothing_is_relevant() -> None:
    assert fuse([Candidate(1, similarity_raw=1.0)], FusionRule(weights={}), RAW)[0].relevance == 0


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0.1, 1e3))
def test_saturation_keeps_the_order_of_bm25(first: float, second: float, half: float) -> None:
    low, high = sorted([first, second])
    least, most = saturate(np.array([low, high]), half).tolist()
    assert 0 <= least <= most <= 1


def test_similarity_is_calibrated_and_a_missing_cosine_stays_missing() -> None:
    found = similarity(np.array([0.55, 0.05, math.nan]), Calibration(low=0.1)).tolist()
    assert found[:2] == [pytest.approx(0.5), 0]
    assert math.isnan(found[2])


def test_ranks_count_from_one_and_leave_out_what_the_leg_did_not_find() -> None:
    assert ranks(np.array([0.2, math.nan, 0.9, 0.2])) == [2, None, 1, 3]
    assert ranks(np.array([])) == []


@pytest.mark.parametrize(
    "numbers",
    [
        {"weights": {Leg.DENSE: -1.0}},
        {"weights": {Leg.DENSE: math.nan}},
        {"weights": {Leg.DENSE: math.inf}},
        {"bm25_half": 0.0},
        {"bm25_half": math.inf},
        {"rrf_k": -1.0},
        {"rrf_k": math.nan},
    ],
)
def test_a_rule_that_could_leave_the_bounds_is_refused(numbers: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="finite"):
        FusionRule(**numbers)
