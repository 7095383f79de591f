import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.text.language import language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("我住在上海", "zh"),
        ("我用 FastAPI、PostgreSQL 和 Redis", "zh"),
        ("臺灣的同事負責設計", "zh"),
        ("请帮我 deploy 这个服务", "zh"),
        ("诸葛孔明", "zh"),
        ("I live in Shanghai", "en"),
        ("I visited 北京大学 yesterday", "en"),
        ("My name is José and I love café culture in general", "en"),
        ("Alice", "en"),
        ("東京タワーに行きました", "other"),
        ("안녕하세요 반갑습니다", "other"),
        ("Где находится библиотека", "other"),
        ("12345 !?", "other"),
        ("", "other"),
    ],
)
def test_the_language_is_that_of_the_sentence(text: str, language: str) -> None:
    assert language_of(text) == language


@given(st.text(st.characters(exclude_categories=())))
@settings(deadline=None)
def test_every_text_has_a_language(text: str) -> None:
    assert language_of(text) in {"zh", "en", "other"}
