import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.budget import estimate_tokens

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
