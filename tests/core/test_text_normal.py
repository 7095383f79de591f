import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.text.digest import text_hash
from app.core.text.normal import clean, normalise, unify

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("written", "one_spelling"),
    [
        ("匯率換算", "汇率换算"),
        ("臺灣", "台湾"),
        ("ＡＢＣ１２３", "abc123"),
        ("Straße", "strasse"),
        ("cafe\u0301", "café"),
        ("ﬁle", "file"),
        ("Python", "python"),
        ("外币汇率", "外币汇率"),
    ],
)
def test_spellings_of_one_word_become_equal(written: str, one_spelling: str) -> None:
    assert normalise(written) == one_spelling


def test_unify_keeps_case() -> None:
    assert unify("ＨttpServer 匯率") == "HttpServer 汇率"


def test_nul_is_dropped_and_lone_surrogates_are_replaced() -> None:
    assert clean("a\0b") == "ab"
    assert clean("汇\0率\ud800") == "汇率\ufffd"


@given(ANY_TEXT)
@settings(deadline=None)
def test_clean_text_is_always_utf8_without_nul(text: str) -> None:
    assert "\0" not in clean(text).encode().decode()


@given(ANY_TEXT)
@settings(deadline=None)
def test_every_text_can_be_normalised_and_always_to_the_same(text: str) -> None:
    assert normalise(text) == normalise(text)


def test_a_letter_with_100000_marks_takes_no_time() -> None:
    started = time.perf_counter()
    normalise("a" + "\u0301\u0316" * 50_000)
    assert time.perf_counter() - started < 1


def test_the_hash_of_a_text_has_16_bytes_and_tells_texts_apart() -> None:
    assert len(text_hash("外币汇率")) == 16
    assert text_hash("外币汇率") == text_hash("外币汇率")
    assert text_hash("外币汇率") != text_hash("外币匯率")


@given(ANY_TEXT)
def test_every_text_has_a_hash(text: str) -> None:
    assert len(text_hash(text)) == 16
