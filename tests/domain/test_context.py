"""Who gets how much of a budget, and that no context exceeds it."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.domain.budget import estimate_tokens
from app.domain.context.defaults import SECTIONS, ordered
from app.domain.context.layout import Layout
from app.domain.context.parts import MESSAGE_TOKENS, Part, Piece, Spoken, newest_within, pieces_within
from app.domain.context.words import marks_of, status_lines

KEY = b"key"


def piece(text: str, rank: float = 0.0) -> Piece:
    return Piece(text, estimate_tokens(text) + 1, text[:8], rank)


def spoken(seq: int, role: str, text: str) -> Spoken:
    return Spoken(seq, role, text, {"role": role, "content": text}, estimate_tokens(f"{role}: {text}") + MESSAGE_TOKENS)


def clumsy(text: str) -> int:
    """A counter that nobody foresaw."""
    return len(text.encode()) // 2 + text.count("\n") * 3


WORDS = st.text(alphabet="ab 你好,.\n", max_size=80)


@given(
    st.lists(st.lists(WORDS, max_size=5), max_size=4),
    st.lists(st.tuples(st.sampled_from(["user", "assistant"]), WORDS), max_size=8),
    st.integers(0, 400),
    st.permutations(SECTIONS),
    st.booleans(),
)
def test_a_layout_never_costs_more_than_its_budget_in_either_form(
    texts: list[list[str]], said: list[tuple[str, str]], budget: int, order: list[Any], odd: bool
) -> None:
    count = clumsy if odd else estimate_tokens
    names = ("blocks", "summary", "facts", "constraints")
    parts = [
        Part(name, "Heading:", "memories", tuple(map(piece, pieces)))  # type: ignore[arg-type]
        for name, pieces in zip(names, texts, strict=False)
    ]
    messages = [
        Spoken(seq, role, text, {"role": role, "content": text}, count(f"{role}: {text}") + MESSAGE_TOKENS)
        for seq, (role, text) in enumerate(said, 1)
    ]
    layout = Layout(parts, messages, tuple(order), KEY, count)
    layout.fit(budget)
    assert layout.tokens() <= budget
    assert count(layout.text()) <= budget + 40 * odd  # a counter that counts lines meets the joints
    cost = sum(count(one["content"]) + MESSAGE_TOKENS for one in layout.messages())
    assert cost <= budget + 40 * odd
    told = len(layout.dropped) + sum(len(part.pieces) for part in layout.parts) + len(layout.spoken)
    assert told == sum(len(part) for part in texts[: len(parts)]) + len(said)


@given(st.lists(st.tuples(WORDS, st.floats(-5, 5)), max_size=9), st.integers(0, 100))
def test_pieces_that_fit_keep_their_order_and_higher_ranks_go_first(
    given_pieces: list[tuple[str, float]], room: int
) -> None:
    pieces = [piece(text, rank) for text, rank in given_pieces]
    kept, left_out, left = pieces_within(pieces, room)
    assert sum(one.tokens for one in kept) + left == room
    assert len(kept) + len(left_out) == len(pieces)
    assert kept == [one for one in pieces if any(one is other for other in kept)]
    for one in left_out:
        before = [other.tokens for other in kept if other.rank > one.rank]
        assert sum(before) + one.tokens > room or any(other.rank >= one.rank for other in kept)


@given(
    st.lists(st.lists(st.integers(1, 30), min_size=1, max_size=3), max_size=8), st.integers(0, 120), st.integers(0, 6)
)
def test_the_newest_messages_are_taken_without_a_gap_and_groups_stay_whole(
    costs: list[list[int]], room: int, least: int
) -> None:
    groups, seq = [], 0
    for group in costs:
        made = []
        for cost in group:
            seq += 1
            made.append(Spoken(seq, "user", "", {}, cost))
        groups.append(made)
    taken, older, left = newest_within(groups, room, least)
    assert [one.seq for one in [*older, *taken]] == list(range(1, seq + 1))
    assert sum(one.tokens for one in taken) + left == room
    borders = {group[0].seq for group in groups} | {seq + 1}
    assert (taken[0].seq if taken else seq + 1) in borders


def test_neighbouring_sections_are_one_system_message_and_the_question_stands_last() -> None:
    parts = [
        Part("blocks", "Core:", "blocks", (piece("PERSONA"),)),
        Part("summary", "Earlier:", "session:s", (piece("SUMMARY"),)),
        Part("facts", "Known:", "memories", (piece("FACT"),)),
        Part("profile", "Profile:", "memories"),
    ]
    said = [spoken(1, "user", "one"), spoken(2, "assistant", "two"), spoken(3, "user", "three")]
    messages = Layout(parts, said, SECTIONS, KEY, estimate_tokens).messages()
    assert [one["role"] for one in messages] == ["system", "user", "assistant", "system", "user"]
    assert messages[0]["content"].index("PERSONA") < messages[0]["content"].index("SUMMARY")
    assert "FACT" in messages[3]["content"]
    assert messages[-1]["content"] == "three"
    answered = Layout(parts, said[:2], SECTIONS, KEY, estimate_tokens).messages()
    assert [one["role"] for one in answered] == ["system", "user", "assistant", "system"]


def test_an_order_that_names_some_sections_is_completed() -> None:
    whole = ordered(("facts", "blocks"))
    assert whole[:2] == ("facts", "blocks")
    assert set(whole) == set(SECTIONS)
    assert whole[-1] == "question"
    assert ordered(("question",))[-1] == "question"
    assert ordered(("question", "facts"))[:2] == ("question", "facts")


def test_words_of_the_status_agree_in_number() -> None:
    given_words: dict[str, Any] = {"goal": None, "next_step": None, "number": None, "memories": 1, "constraints": 2}
    assert status_lines("en", **given_words) == ["found 1 memory, 2 constraints"]
    assert status_lines("zh", **given_words | {"number": 3}) == ["相关会话第 3 次；找到 1 条记忆，2 条限制"]
    assert marks_of("imported", None, uncertain=True, disputed=True) == "(imported, uncertain, disputed)"
