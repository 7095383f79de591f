"""The passage of a long text that a question is about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.text.excerpts import CUT, excerpt


@pytest.mark.parametrize(
    ("before", "passage", "query"),
    [
        (
            "The archive keeps maps of the coast. ",
            "The ferry leaves from quay 17.",
            "From which quay does the ferry leave?",
        ),
        ("档案馆保存着海岸的地图。", "渡轮从17号码头出发。", "渡轮从几号码头出发?"),
    ],
)
def test_an_excerpt_begins_where_the_words_of_the_question_are(before: str, passage: str, query: str) -> None:
    assert excerpt(before * 100 + passage, query, 100) == f"{CUT}{passage}"
    assert excerpt(passage + before * 100, query, 100).startswith(passage)
    assert excerpt(passage, query, 100) == passage


@given(st.text(max_size=600), st.text(max_size=40), st.integers(10, 200))
def test_an_excerpt_is_never_longer_than_asked_for(text: str, query: str, most: int) -> None:
    assert len(excerpt(text, query, most)) <= most
