"""The rules of forgetting alone: how strength falls, what never fades, what is one topic, what may be merged."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.calibration import DUPLICATE, Calibration
from app.domain.lifecycle.doubting import doubtful
from app.domain.lifecycle.merging import keeper, mergeable, taken_over
from app.domain.lifecycle.policy import ForgettingPolicy
from app.domain.lifecycle.shortening import says_it_shorter
from app.domain.lifecycle.strength import Trace, exempt, half_life, shortest_stay, strength
from app.domain.lifecycle.topics import Episode, digest_text, topics

START = datetime(2026, 1, 1, tzinfo=UTC)
POLICY = ForgettingPolicy()
DAY = timedelta(days=1)

traces = st.builds(
    Trace,
    kind=st.sampled_from(["episodic", "semantic"]),
    importance=st.integers(1, 10),
    accesses=st.integers(0, 1000),
    ignored=st.integers(0, 1000),
    used=st.integers(0, 1000),
    wrong=st.integers(0, 20),
    last=st.just(START),
)
days = st.floats(0, 20_000)
policies = st.builds(ForgettingPolicy, archive_below=st.floats(0.001, 0.5))


def row(**changes: Any) -> dict[str, Any]:
    """A memory's columns."""
    plain: dict[str, Any] = {
        "id": UUID(int=1),
        "owner": "u:ada",
        "agent_id": None,
        "app_id": None,
        "session_id": None,
        "text": "Tea.",
        "kind": "semantic",
        "use": "everywhere",
        "uncertain": False,
        "status": "active",
        "key": None,
        "category": "other",
        "pinned": False,
        "importance": 5,
        "confidence": 0.9,
        "weight": 1.0,
        "metadata": {},
        "seen_count": 1,
        "access_count": 0,
        "used_count": 0,
        "ignored_count": 0,
        "wrong_count": 0,
        "created_at": START,
        "valid_from": START,
        "last_seen_at": START,
        "last_accessed_at": None,
        "expires_at": None,
    }
    return plain | changes


@given(traces, days, days)
def test_strength_falls_with_the_time_since_the_last_use_and_never_rises(trace: Trace, one: float, more: float) -> None:
    sooner, later = strength(trace, START + one * DAY, POLICY), strength(trace, START + (one + more) * DAY, POLICY)
    assert 0 <= later <= sooner <= 1
    assert strength(trace, START - one * DAY, POLICY) == 1


@given(traces, policies)
def test_nothing_used_within_its_half_life_is_archived(trace: Trace, policy: ForgettingPolicy) -> None:
    life = half_life(trace, policy)
    assert life is not None
    assert strength(trace, START + life * DAY, policy) >= policy.archive_below * 0.999


@given(traces, policies)
def test_what_was_of_use_and_not_wrong_is_kept_for_more_than_a_year(trace: Trace, policy: ForgettingPolicy) -> None:
    life = half_life(trace, policy)
    assert life is not None
    if trace.uses and trace.wrong <= trace.used and trace.ignored <= trace.uses:
        assert strength(trace, START + 366 * DAY, policy) > policy.archive_below
    if not trace.wrong:
        assert strength(trace, START + shortest_stay(policy) * 0.999, policy) >= policy.archive_below


@given(traces, st.integers(1, 9))
def test_importance_and_use_make_it_fade_more_slowly(trace: Trace, importance: int) -> None:
    def life(**changes: Any) -> float:
        fields = {name: getattr(trace, name) for name in Trace.__slots__} | changes
        found = half_life(Trace(**fields), POLICY)
        assert found is not None
        return found

    assert life(importance=importance) <= life(importance=importance + 1)
    assert life() <= life(accesses=trace.accesses + 1)
    assert life() >= life(wrong=trace.wrong + 1)


def test_lessons_do_not_fade() -> None:
    lesson = Trace("procedural", 1, 0, 0, 0, 0, START)
    assert (half_life(lesson, POLICY), strength(lesson, START + 9_999 * DAY, POLICY)) == (None, 1.0)


@pytest.mark.parametrize(
    ("changes", "never"),
    [
        ({}, False),
        ({"pinned": True}, True),
        ({"category": "constraint"}, True),
        ({"key": "user.city"}, True),
        ({"key": "user.city", "uncertain": True}, False),
        ({"status": "disputed"}, True),
    ],
)
def test_pinned_constraints_and_facts_are_exempt(changes: dict[str, Any], never: bool) -> None:
    assert exempt(row(**changes)) is never


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"importance": 8}, "old"),
        ({"importance": 6}, None),
        ({"importance": 8, "last_seen_at": START + 100 * DAY}, None),
        ({"importance": 8, "category": "event"}, None),
        ({"importance": 8, "kind": "episodic"}, None),
        ({"importance": 8, "uncertain": True}, None),
        ({"wrong_count": 1}, "wrong"),
        ({"wrong_count": 1, "used_count": 1}, None),
    ],
)
def test_important_old_facts_and_wrong_ones_are_to_be_confirmed(changes: dict[str, Any], reason: str | None) -> None:
    assert doubtful(row(**changes), START + 200 * DAY, POLICY) == reason


@pytest.mark.parametrize(
    ("changes", "may"),
    [
        ({}, True),
        ({"agent_id": "a"}, False),
        ({"session_id": "s"}, False),
        ({"kind": "episodic"}, False),
        ({"uncertain": True}, False),
        ({"use": "this_app"}, False),
        ({"status": "disputed"}, True),
        ({"status": "superseded"}, False),
        ({"key": "x"}, True),
    ],
)
def test_only_memories_of_one_place_and_sort_are_merged(changes: dict[str, Any], may: bool) -> None:
    assert mergeable(row(), row(**changes)) is may
    assert mergeable(row(**changes), row()) is may
    assert not mergeable(row(key="x"), row(key="y"))


@pytest.mark.parametrize(
    ("once", "again"),
    [("I went running on Monday.", "I went running again on Monday."), ("周一我去跑步了。", "周一我又去跑步了。")],
)
def test_what_was_done_again_is_not_what_was_done_once(once: str, again: str) -> None:
    first, second = row(kind="episodic", text=once), row(kind="episodic", text=again)
    assert mergeable(first, first)
    assert not mergeable(first, second)
    assert mergeable(row(text=once), row(text=again))


def test_the_newest_wording_stays_and_takes_over_counts_and_the_rest() -> None:
    old = row(seen_count=2, access_count=3, importance=8, last_accessed_at=START, metadata={"a": 1, "b": 1})
    new = row(id=UUID(int=2), valid_from=START + DAY, used_count=1, metadata={"b": 2}, expires_at=START + 9 * DAY)
    assert keeper([old, new]) is new
    assert keeper([old | {"key": "x"}, new])["key"] == "x"
    assert taken_over(new, [old]) == {
        "seen_count": 3,
        "access_count": 3,
        "importance": 8,
        "last_accessed_at": START,
        "metadata": {"a": 1, "b": 2},
        "expires_at": None,
    }
    assert taken_over(new, [row(seen_count=0, expires_at=START)]) == {}


def episodes(*texts: str, scope: tuple[str | None, ...] = (None,)) -> list[Episode]:
    return [Episode(UUID(int=n), text, scope, START + n * DAY) for n, text in enumerate(texts, 1)]


BIKE = ("the bike had a flat tyre", "the bike chain came off", "the bike brakes squeak", "rain at noon")
FAHRRAD = ("自行车爆了胎", "自行车链条掉了", "自行车刹车响", "中午下雨")


@pytest.mark.parametrize("texts", [BIKE, FAHRRAD])
def test_episodes_about_one_thing_are_one_topic(texts: tuple[str, ...]) -> None:
    vector = np.array([1.0, 0.0], dtype=np.float32)
    other = np.array([0.0, 1.0], dtype=np.float32)
    found = episodes(*texts)
    vectors = {one.id: vector for one in found[:3]} | {found[3].id: other}
    (group,) = topics(found, vectors, Calibration())
    assert [one.text for one in group] == list(texts[:3])
    assert topics(found[:2], vectors, Calibration()) == []
    apart = [*found[:2], *episodes(texts[2], scope=("agent",))]
    assert topics(apart, vectors, Calibration()) == []


def test_without_vectors_common_words_make_a_topic() -> None:
    (group,) = topics(episodes("tea with Mia", "tea with Tom", "tea with Mia again", "snow"), {}, Calibration())
    assert len(group) == 3


def test_a_digest_says_from_when_to_when_and_how_many() -> None:
    group = episodes(*BIKE[:3])
    assert digest_text(group, ["a.", "b."]) == "2026-01-02 – 2026-01-04 (3): a. b."
    assert digest_text(group[:1], ["a."]) == "2026-01-02 (1): a."


LONG = "The meeting with Dr. Keller is at 14:30 on 12 March and must not be moved, as was said many times before now."


@pytest.mark.parametrize(
    ("shorter", "good"),
    [
        ("The meeting with Dr. Keller: 14:30, 12 March, must not be moved.", True),
        ("The meeting with Dr. Keller: 14:30, March, must not be moved.", False),
        ("The meeting with Dr. Weber: 14:30, 12 March, must not be moved.", False),
        ("The meeting with Dr. Keller: 14:30, 12 March, can be moved.", False),
        ("The meeting with Dr. Keller in room 7: 14:30, 12 March, must not be moved.", False),
        (LONG, False),
        ("", False),
        ("与 Dr. Keller 的会议：March 12，14:30，不能改。", False),
    ],
)
def test_a_shorter_wording_keeps_every_number_name_and_negation(shorter: str, good: bool) -> None:
    assert says_it_shorter(shorter, LONG) is good


def test_an_unmeasured_model_nominates_duplicates_from_high_on() -> None:
    assert Calibration().duplicate == DUPLICATE == 0.92
