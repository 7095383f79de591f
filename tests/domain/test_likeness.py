import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.likeness import Wording


def same(first: str, second: str) -> bool:
    return Wording.of(first).says_the_same_as(Wording.of(second))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Ada drinks green tea.", "ada drinks green tea"),
        ("艾達住在里斯本", "艾达住在里斯本。"),
        ("Ｍｅｅｔｉｎｇ at 3 pm", "meeting at 3 PM!"),
        (
            "The quarterly report is due on the first Monday of the month in the shared folder",
            "The quarterly report is due on the first Monday of the month, in the shared folder as usual",
        ),
        ("季度报告要在每个月的第一个周一之前放到共享文件夹里", "季度报告要在每个月的第一个周一之前放到共享文件夹里哦"),
    ],
)
def test_another_spelling_or_one_word_more_says_the_same(first: str, second: str) -> None:
    assert same(first, second)
    assert same(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("tabs over spaces", "spaces over tabs"),
        ("I prefer tabs over spaces in the whole code base", "I prefer spaces over tabs in the whole code base"),
        ("艾达住在里斯本", "艾达住过里斯本"),
        ("He lives in Oslo", "He lived in Oslo"),
        ("The server in the cellar has 16 GB of memory", "The server in the cellar has 32 GB of memory"),
        ("会议定在下周二下午三点在二楼小会议室", "会议定在下周二下午四点在二楼小会议室"),
        ("我喜欢在办公室里大声听音乐的同事", "我不喜欢在办公室里大声听音乐的同事"),
        (
            "The team will deploy on a Friday when all of us agree",
            "The team won't deploy on a Friday when all of us agree",
        ),
        ("", "tea"),
        ("Ada goes to the market in Oslo on every second day", "Ada goes to the market in Riga on every second day"),
        ("他每天早上都开车去机场旁边的仓库上班", "他以前每天早上都开车去机场旁边的仓库上班"),
    ],
)
def test_another_order_number_tense_or_a_negation_says_something_else(first: str, second: str) -> None:
    assert not same(first, second)
    assert not same(second, first)


@given(st.text(max_size=300))
def test_every_text_says_the_same_as_itself(text: str) -> None:
    assert same(text, text)


@given(st.text(max_size=100), st.text(max_size=100))
def test_likeness_is_mutual(first: str, second: str) -> None:
    assert same(first, second) == same(second, first)
