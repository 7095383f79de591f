"""What holds of every conversation."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.extraction.candidates import Candidate
from app.domain.extraction.folding import folded
from app.domain.extraction.requests import forgets
from app.domain.extraction.rules import extract
from app.domain.extraction.turns import Turn
from app.domain.gate.foreign import foreign, own_words
from tests.domain.test_extraction_rules import NOW, UTC_ZONE, labelled

SENTENCES = [row[3] for name in ("extraction_en", "extraction_zh") for row in labelled(name)]
REPLIES = [
    "yes",
    "no",
    "对",
    "不是",
    "No, I meant Thursday",
    "不对，是周四",
    "You live in Oslo, right?",
    "你住在上海。",
    "Oslo",
    "just kidding",
    "His name is Rex.",
]
TEXTS = st.lists(st.sampled_from([*SENTENCES, *REPLIES]) | st.text(max_size=30), min_size=1, max_size=3).map(" ".join)
TURNS = st.lists(st.tuples(st.sampled_from(["user", "user", "assistant", "system", "tool"]), TEXTS), max_size=6).map(
    lambda said: [Turn(seq, role, text, NOW, UTC_ZONE) for seq, (role, text) in enumerate(said, 1)]
)


@given(TURNS)
@settings(deadline=None, max_examples=50)
def test_every_quote_stands_in_a_turn_that_it_cites_and_of_a_role_that_may_say_it(turns: list[Turn]) -> None:
    by_seq = {turn.seq: turn for turn in turns}
    for one in extract(turns):
        cited = [by_seq[seq] for seq in one.seqs]
        quoted = [turn for turn in cited if one.quote in turn.text]
        assert quoted
        assert one.quote.strip()
        assert not {"system", "tool"} & {turn.role for turn in cited}
        if one.source == "user_stated":
            assert any(turn.role == "user" for turn in quoted)
        if one.source == "assistant_said":
            assert {turn.role for turn in cited} == {"assistant"}
        assert list(one.seqs) == sorted(set(one.seqs))


@given(TURNS)
@settings(deadline=None, max_examples=20)
def test_extraction_is_deterministic_and_leaves_the_turns(turns: list[Turn]) -> None:
    before = list(turns)
    first: list[Candidate] = extract(turns)
    assert extract(turns) == first
    assert turns == before


@given(st.text(), st.sampled_from(["user", "assistant"]))
@settings(deadline=None, max_examples=50)
def test_no_text_breaks_it(text: str, role: str) -> None:
    turn = Turn(1, role, text, NOW, UTC_ZONE)  # type: ignore[arg-type] - one of the roles
    extract([turn, Turn(2, "user", text, NOW, UTC_ZONE)])
    forgets(turn)


@given(st.text())
@settings(deadline=None)
def test_folding_keeps_every_letter_in_its_place(text: str) -> None:
    assert len(folded(text)) == len(text)
    assert len(own_words(folded(text), foreign(folded(text)))) == len(text)


@given(st.text("繁體字這個發AＢ，。’", max_size=40))
def test_traditional_and_full_width_letters_are_read_like_their_plain_forms(text: str) -> None:
    assert folded(folded(text)) == folded(text)
    assert not set("體這發ＢA，’") & set(folded(text))


@pytest.mark.parametrize(
    "bit",
    [
        "i ",
        "我",
        "my ",
        ", and i ",
        "from a to b ",
        "<memory>",
        "```",
        "\n> ",
        "“",
        '"',
        "remember ",
        "记住",
        "forget ",
        "把",
        "不是",
        "(",
        "\n",
        "\t ",
        "from: x\n",
        "a",
        "1.",
        "our api ",
        "you said ",
        "translate ",
        'said "',
        "项目",
        "用",
        "very ",
        " - ",
    ],
)
def test_time_grows_no_faster_than_the_text(bit: str) -> None:
    def seconds(length: int) -> float:
        turn = Turn(1, "user", (bit * length)[:length], NOW, UTC_ZONE)
        start = time.process_time()
        extract([turn])
        return time.process_time() - start

    # Quadratic time would be some 100 times as long; linear is 10 times.
    small = min(seconds(1_500) for _ in range(3))
    assert seconds(15_000) < 40 * small + 0.1
