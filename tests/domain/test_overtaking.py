"""News stands above what it may have changed, and nothing else is moved."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.overtaking import LIKENESS, MOST_TOKENS, Said, asks_for_the_past, involved, overtaken

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def said(text: str, day: int, score: float = 0.5, *, tokens: int = 8, of: str = "u:ada") -> Said:
    return Said(text, tokens, of, BEGIN + timedelta(days=day), score)


def all_alike(one: int, other: int) -> float:
    return 1.0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Lisbon.", "We ended up in Porto."),
        ("Our landlord is Mr Okafor.", "We got a new landlord, Mrs Quist."),
        ("我的健身教练是孙浩。", "私教换人了,现在是周雯带我。"),
        ("我家房贷在招商银行。", "转贷刚办完,以后房贷还给中信银行。"),
    ],
)
def test_news_stands_above_the_older_statement_that_fits_the_question_better(old: str, new: str) -> None:
    assert overtaken([said(old, 0, 0.6), said(new, 30, 0.3)], all_alike) == [1, 0]
    assert overtaken([said(old, 30, 0.6), said(new, 0, 0.3)], all_alike) == [0, 1]


OLD, NEW = "The standup is at 9.", "The standup got pushed to 10."


@pytest.mark.parametrize(
    ("older", "newer", "alike"),
    [
        (said(OLD, 0), said("The standup room is nice.", 1), 1.0),
        (said(OLD, 0), said(NEW, 1, tokens=MOST_TOKENS + 1), 1.0),
        (said(OLD, 0, tokens=MOST_TOKENS + 1), said(NEW, 1), 1.0),
        (said(OLD, 0), said("Is the new standup at 10?", 1), 1.0),
        (said(OLD, 0), said("站会改到10点了吗?", 1), 1.0),
        (said(OLD, 0), said(NEW, 1, of="u:bob"), 1.0),
        (said(OLD, 0, 0.8), said(NEW, 1, 0.1), 1.0),
        (said(OLD, 0), said(NEW, 1), LIKENESS - 0.01),
    ],
    ids=["no news", "long", "of long", "question", "问题", "another's", "hardly relevant", "about something else"],
)
def test_what_may_be_no_change_stays_where_it_is(older: Said, newer: Said, alike: float) -> None:
    assert overtaken([older, newer], lambda one, other: alike) == [0, 1]


def test_the_newest_of_three_values_comes_first() -> None:
    values = [said(OLD, 0, 0.6), said(NEW, 30, 0.5), said("The standup moved to 11.", 60, 0.4)]
    assert overtaken(values, all_alike)[0] == 2
    assert overtaken([values[1], values[2], values[0]], all_alike)[0] == 1


def test_what_is_none_of_a_users_statements_is_passed_and_passes_nothing() -> None:
    assert overtaken([None, said(OLD, 0), None, said(NEW, 1)], all_alike) == [0, 3, 1, 2]


@pytest.mark.parametrize(
    ("question", "past"),
    [
        ("Where do I live?", False),
        ("Where did I live before?", True),
        ("我的教练是谁?", False),
        ("我以前的教练是谁?", True),
        ("我原來的教練是誰?", True),
    ],
)
def test_a_question_about_the_past_is_known(question: str, past: bool) -> None:
    assert asks_for_the_past(question) is past


MANY = st.lists(
    st.none()
    | st.builds(
        said,
        st.sampled_from([OLD, NEW, "换到十点了。", "站会九点。", "Now it is at noon."]),
        st.integers(0, 4),
        st.floats(0, 1),
        of=st.sampled_from(["u:ada", "u:bob"]),
    ),
    max_size=9,
)


@given(MANY, st.randoms(use_true_random=False))
def test_every_candidate_keeps_a_place_and_only_those_involved_change_theirs(
    candidates: list[Said | None], random: Random
) -> None:
    marks: dict[frozenset[int], float] = {}
    order = overtaken(candidates, lambda one, other: marks.setdefault(frozenset((one, other)), random.random()))
    assert sorted(order) == list(range(len(candidates)))
    rest = [place for place in range(len(candidates)) if place not in involved(candidates)]
    assert [place for place in order if place in rest] == rest
