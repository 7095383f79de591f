import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.budget import estimate_tokens, within_budget

TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("我住在上海。", 6),
        ("我用 FastAPI", 4),
        ("I live in Shanghai.", 5),
        ("привет", 3),
        ("😀", 2),
        ("タワー", 3),
        ("한국어", 3),
    ],
)
def test_tokens_are_estimated_for_chinese_english_and_mixed_text(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(TEXT, TEXT)
def test_parts_never_cost_less_than_the_whole(first: str, second: str) -> None:
    assert estimate_tokens(first + second) <= estimate_tokens(first) + estimate_tokens(second)
    assert estimate_tokens(first + second) >= max(estimate_tokens(first), estimate_tokens(second))


@given(TEXT.filter(bool))
def test_text_is_never_free(text: str) -> None:
    assert estimate_tokens(text) >= 1


def test_a_budget_takes_what_fits_in_the_order_and_passes_over_what_does_not() -> None:
    assert within_budget([5, 9, 4, 2], [False] * 4, 11) == [True, False, True, True]
    assert within_budget([5, 9], [False, False], None) == [True, True]
    assert within_budget([], [], 3) == []


def test_constraints_are_taken_first_and_never_lose_to_length() -> None:
    assert within_budget([5, 5, 8], [False, False, True], 10) == [False, False, True]
    assert within_budget([2, 6, 5], [False, True, True], 10) == [True, True, False]


@given(st.lists(st.tuples(st.integers(1, 50), st.booleans())), st.integers(1, 200))
def test_what_is_taken_never_costs_more_than_the_budget(texts: list[tuple[int, bool]], budget: int) -> None:
    costs, firsts = [cost for cost, _ in texts], [first for _, first in texts]
    kept = within_budget(costs, firsts, budget)
    assert sum(cost for cost, taken in zip(costs, kept, strict=True) if taken) <= budget
