from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.smalltalk import MAX_CHARACTERS, worth_retrieving

DATA = Path(__file__).parent / "data"
HALVES = ("tuning", "held_out")


def labelled(half: str) -> list[tuple[bool, str, str]]:
    rows = [line.split("\t") for line in (DATA / f"smalltalk_{half}.tsv").read_text("utf-8").splitlines()]
    return [(label == "skip", language, text) for label, language, text in rows]


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("language", ["zh", "en"])
def test_what_is_skipped_is_small_talk_and_most_small_talk_is_skipped(half: str, language: str) -> None:
    rows = [(skip, text) for skip, of, text in labelled(half) if of == language]
    skipped = [skip for skip, text in rows if not worth_retrieving(text)]
    assert len(rows) >= 100
    assert sum(skipped) / len(skipped) >= 0.97
    assert sum(skipped) / sum(skip for skip, _ in rows) >= 0.85


def test_the_halves_share_no_utterance() -> None:
    tuning, held_out = ({text.casefold() for _, _, text in labelled(half)} for half in HALVES)
    assert not tuning & held_out


@pytest.mark.parametrize(
    "text",
    [
        "謝謝你",
        "ＯＫ",
        "哈哈哈哈哈哈哈哈",
        "OK，谢谢！",
        "Thanks 👍",
        "👍🎉",
        ":)",
        "",
        " ",
        "？",
        "I’m sorry",
        "hahahaha lol",
        "noooo",
        "…",
    ],
)
def test_small_talk_is_known_in_any_script_width_and_length(text: str) -> None:
    assert not worth_retrieving(text)


@pytest.mark.parametrize(
    "text",
    [
        "thanks! what was my dog's name?",
        "continue with the plan we made yesterday",
        "继续昨天的方案",
        "謝謝，我的航班幾點",
        "你朋友",
        "my friend",
        "42",
        "ありがとう",
        "спасибо",
        "forget it",
    ],
)
def test_what_could_need_a_memory_is_worth_retrieving(text: str) -> None:
    assert worth_retrieving(text)


def test_a_long_text_is_worth_retrieving_whatever_it_says() -> None:
    assert not worth_retrieving("thanks " * 10)
    assert worth_retrieving("thanks " * MAX_CHARACTERS)


@given(st.text(max_size=300))
def test_every_string_is_judged(text: str) -> None:
    assert worth_retrieving(text) in {True, False}


@given(
    st.sampled_from([text for skip, _, text in labelled("tuning") if not skip]),
    st.sampled_from(["谢谢！", "Hi, ", "嗯，", "ok. "]),
)
def test_a_task_stays_worth_retrieving_after_a_greeting(task: str, greeting: str) -> None:
    assert worth_retrieving(greeting + task)
