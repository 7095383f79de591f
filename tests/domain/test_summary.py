"""Windows, sentences, ranges, changes and the tree of summaries, as tables and as properties."""

from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.budget import estimate_tokens
from app.domain.extraction.turns import Turn
from app.domain.summary.changing import overtakes, without_overtaken
from app.domain.summary.choosing import chosen, room_for
from app.domain.summary.faithful import figures_of, grounded, names_of
from app.domain.summary.lines import Call, Line, calls_of, groups
from app.domain.summary.salience import salient
from app.domain.summary.sentences import Sentence, shown
from app.domain.summary.tree import Node, corrected, rolled, rolling, to_roll
from app.domain.summary.windows import beyond_window, segments, turns

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ROLES = ("user", "assistant", "system", "tool")


def line(seq: int, role: Any, text: str, calls: tuple[Call, ...] = (), answers: str | None = None) -> Line:
    turn = Turn(seq, role, text, NOW + timedelta(minutes=seq), ZoneInfo("UTC"))
    return Line(turn, calls, answers, estimate_tokens(text))


def dialogue(*said: tuple[str, str]) -> list[Line]:
    return [line(seq, role, text) for seq, (role, text) in enumerate(said, 1)]


def sentence(text: str, seq: int = 1, **more: Any) -> Sentence:
    given = {"role": "user", "sort": "statement", "score": 0.5, **more}
    return Sentence(text, seq, seq, **given)


def seqs(parts: Any) -> list[list[int]]:
    return [[one.seq for one in part] for part in parts]


def lines() -> Any:
    """Any conversation, calls and results in any order."""
    text = st.sampled_from(
        [
            "",
            "Order 7 costs 12 euros.",
            "订单7要12元。",
            "Thanks!",
            "谢谢",
            "Never call before nine.",
            "x" * 900,
            "Which size?",
            "多大的?",
            "Nine",
        ]
    )
    one = st.tuples(st.sampled_from(ROLES), text, st.sampled_from([None, "c1", "c2"]))

    def made(rows: list[tuple[str, str, str | None]]) -> list[Line]:
        found = []
        for seq, (role, said, call) in enumerate(rows, 1):
            calls = (Call(call, "look", "{}"),) if call and role == "assistant" else ()
            found.append(line(seq, role, said, calls, call if role == "tool" else None))
        return found

    return st.lists(one, max_size=60).map(made)


# --- windows ------------------------------------------------------------------------------------------------------


@given(lines(), st.integers(0, 12))
def test_windows_and_segments_lose_nothing_keep_the_order_and_part_no_call_from_its_result(
    said: list[Line], keep: int
) -> None:
    assert list(chain.from_iterable(groups(said))) == said
    assert list(chain.from_iterable(turns(said))) == said
    gone = beyond_window(said, keep)
    flat = list(chain.from_iterable(gone))
    assert flat == said[: len(flat)]
    assert list(chain.from_iterable(segments(gone))) == flat
    cuts = {len(list(chain.from_iterable(segments(gone)[:place]))) for place in range(len(segments(gone)) + 1)}
    inside = 0
    for group in groups(said):
        assert not any(inside < cut < inside + len(group) for cut in cuts)
        inside += len(group)


@given(lines(), st.integers(1, 12))
def test_a_window_holds_its_turns_unless_they_have_very_many_messages(said: list[Line], keep: int) -> None:
    gone = sum(map(len, beyond_window(said, keep)))
    kept = turns(said)[-keep:] if said else []
    assert len(said) - gone <= sum(map(len, kept))
    if sum(map(len, kept)) <= keep * 8:
        assert len(said) - gone == sum(map(len, kept))


def test_a_call_stays_with_results_that_come_late() -> None:
    said = [
        line(1, "user", "go"),
        line(2, "assistant", "", (Call("a", "look", "{}"), Call("b", "look", "{}"))),
        line(3, "tool", "one", answers="a"),
        line(4, "assistant", "wait"),
        line(5, "tool", "two", answers="b"),
        line(6, "assistant", "done"),
    ]
    assert seqs(groups(said)) == [[1], [2, 3, 4, 5], [6]]


@pytest.mark.parametrize(
    ("given_calls", "expected"),
    [
        (None, ()),
        ([{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}], (Call("1", "f", "{}"),)),
        ([{"id": "2", "name": "g", "input": {"城": 1}}], (Call("2", "g", '{"城": 1}'),)),
        ([{"id": 3, "function": None}], (Call(None, "tool", ""),)),
    ],
)
def test_calls_are_read_in_the_forms_of_providers(given_calls: Any, expected: tuple[Call, ...]) -> None:
    assert calls_of(given_calls) == expected


def test_another_topic_begins_another_segment() -> None:
    boats = [("user", f"The boat has a sail and a mast and an anchor in port {n}.") for n in range(7)]
    bread = [("user", "Rye flour, yeast, salt, butter and honey make dough rise slowly overnight in baskets.")]
    assert [part[0] for part in seqs(segments(turns(dialogue(*boats, *bread))))] == [1, 8]


# --- sentences ----------------------------------------------------------------------------------------------------


@given(lines(), st.integers(20, 400))
def test_sentences_without_a_model_are_words_of_their_messages_within_their_room(said: list[Line], room: int) -> None:
    by_seq = {one.seq: one for one in said}
    kept = chosen(salient(said), room, estimate_tokens)
    assert sum(estimate_tokens(one.shown) for one in kept if one.sort != "system") <= room
    assert [one.from_seq for one in kept if one.sort != "system"] == sorted(
        one.from_seq for one in kept if one.sort != "system"
    )
    for one in kept:
        assert one.from_seq <= one.to_seq
        assert one.from_seq in by_seq
        if one.sort != "result":
            told = zip(one.text.split(" user: "), (one.from_seq, one.to_seq), strict=False)
            for text, seq in told:
                assert " ".join(text.split()).rstrip("….!?。") in " ".join(by_seq[seq].turn.text.split())


@pytest.mark.parametrize(
    ("said", "sort"),
    [
        ("Never deploy on Fridays, please.", "constraint"),
        ("请务必不要在周五发布。", "constraint"),
        ("We decided to use PostgreSQL for the ledger.", "decision"),
        ("我们决定账本用PostgreSQL。", "decision"),
        ("I prefer short answers.", "preference"),
        ("我喜欢简短的回答。", "preference"),
    ],
)
def test_what_matters_is_known_by_its_sort(said: str, sort: str) -> None:
    (one,) = salient(dialogue(("user", said), ("assistant", "OK")))
    assert (one.text, one.sort, one.role) == (said, sort, "user")
    assert one.score > 0.5


@pytest.mark.parametrize("said", ["Thanks, that helps!", "Hi!", "谢谢!", "你好呀!", "哈哈"])
def test_small_talk_gives_no_sentence(said: str) -> None:
    assert salient(dialogue(("user", said), ("assistant", "OK"))) == []


def test_a_sentence_comes_back_from_json_as_it_was() -> None:
    one = sentence("text 文", 3, sort="constraint", score=0.5)
    assert Sentence.of(one.stored()) == one
    assert Sentence.of(one.stored() | {"sort": "unheard of"}).sort == "statement"


def test_constraints_and_system_messages_keep_their_place_when_room_is_short() -> None:
    rule = sentence("Never call before nine.", 1, sort="constraint", score=0.1)
    system = sentence("S" * 400, 2, sort="system", role="system", score=1.0)
    other = [sentence(f"Order {n} is important and long and worth a lot.", n, score=0.99) for n in range(3, 9)]
    kept = chosen([rule, system, *other], 16, estimate_tokens)
    assert {one.sort for one in kept} == {"system", "constraint"}
    assert room_for(10) < room_for(600) <= room_for(100_000) == room_for(1_000_000)


# --- changes ------------------------------------------------------------------------------------------------------

CHANGED = [
    ("The budget for the trip is 5000 euros.", "Let's raise the budget to 6000 euros."),
    ("Noted, the trip budget is 5000 euros.", "Actually the budget is 7500 euros now."),
    ("Our launch date is May 3.", "The launch date moved to June 9."),
    ("The meeting room is Cedar.", "The meeting room is now Maple."),
    ("The budget is 1200 euros.", "Actually make the budget 1500 euros."),
    ("旅行预算是5000欧元。", "预算提高到6000欧元。"),
    ("发布日期是5月3日。", "发布日期改到6月9日。"),
    ("会议室是青松厅。", "会议室改为红枫厅。"),
    ("门禁密码是4471。", "门禁密码改成9902了。"),
]
BESIDE = [
    ("The server runs on port 8080.", "The mail server runs on port 25."),
    ("My sister lives in Oslo.", "My brother lives in Rome."),
    ("The invoice number is 1001.", "The order number is 2002."),
    ("The food budget is 300 euros.", "The budget for the trip changed to 7000 euros."),
    ("Order 5 costs 12 euros.", "Order 6 costs 13 euros."),
    ("我姐姐住在上海。", "我哥哥住在杭州。"),
    ("订单5要12元。", "订单6要13元。"),
    ("发票号是1001。", "订单号是2002。"),
]


@pytest.mark.parametrize(("old", "new"), CHANGED)
def test_a_later_statement_overtakes_the_one_it_changes(old: str, new: str) -> None:
    assert overtakes(new, old)
    kept = without_overtaken([sentence(old, 1, score=0.9), sentence(new, 2, score=0.3)])
    assert [(one.text, one.score) for one in kept] == [(new, 0.9)]
    assert without_overtaken([sentence(old, 1)], [sentence(new, 2)]) == []
    assert len(without_overtaken([sentence(new, 1), sentence(old, 2)])) in {1, 2}


@pytest.mark.parametrize(("old", "new"), BESIDE)
def test_statements_about_different_things_stand_beside_each_other(old: str, new: str) -> None:
    assert not overtakes(new, old)
    assert len(without_overtaken([sentence(old, 1), sentence(new, 2)])) == 2


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        ("Marta leads it, the deadline is June 9.", "The deadline moved to June 23.", "Marta leads it"),
        ("王敏负责迁移,截止日期是6月9日。", "截止日期改到6月23日。", "王敏负责迁移"),
    ],
)
def test_of_a_sentence_the_clauses_stay_that_nobody_took_back(old: str, new: str, left: str) -> None:
    assert [one.text for one in without_overtaken([sentence(old, 1), sentence(new, 2)])] == [left, new]
    nodes = [node(0, 0, sentence(old, 1))]
    changed, fresh = corrected(nodes, [sentence(new, 21)], estimate_tokens)
    assert [one.text for one in changed[0].sentences] == [left]
    assert len(fresh) == 1


def test_neither_questions_nor_tools_nor_an_assistant_overtake_a_constraint() -> None:
    rule = sentence("The budget must never exceed 500 euros.", 1, sort="constraint")
    for later in (
        sentence("Is the budget now 900 euros?", 2, sort="question"),
        sentence("The budget changed to 900 euros.", 2, role="assistant"),
        sentence("The budget changed to 900 euros.", 2, role="tool", sort="result"),
    ):
        assert rule in without_overtaken([rule, later])


# --- what a model says --------------------------------------------------------------------------------------------

SAID = dialogue(
    ("user", "We stay at Hotel Miramar with Clara from 4 May."),
    ("assistant", "It costs 120 EUR a night."),
    ("user", "我们决定账本服务用PostgreSQL，由王小虎负责。"),
    ("user", "The deposit of 1,500 euros is due."),
)


@pytest.mark.parametrize(
    ("text", "cited", "span"),
    [
        ("The user stays at Hotel Miramar with Clara.", [1], (1, 1)),
        ("Hotel Miramar costs 120 EUR.", [1], (1, 2)),
        ("The deposit is 1500 euros.", [4], (4, 4)),
        ("The deposit is 1500 euros.", [77], (4, 4)),
        ("Zorblax joins them.", [1], None),
        ("The deposit is 1600 euros.", [4], None),
        ("They stay with Quentin.", [1], None),
        ("", [1], None),
        ("a " * 400, [1], None),
        ("They travel together.", [77], None),
    ],
)
def test_a_models_sentence_is_believed_where_its_numbers_and_names_were_said(
    text: str, cited: list[int], span: tuple[int, int] | None
) -> None:
    one = grounded(text, cited, SAID)
    assert (None if one is None else (one.from_seq, one.to_seq)) == span


@pytest.mark.parametrize(
    ("text", "believed"),
    [
        ("账本服务用PostgreSQL，由王小虎负责。", True),
        ("账本服务用MySQL。", False),
        ("李大勇负责账本服务。", False),
        ("账本服务有3个。", False),
    ],
)
def test_the_same_in_chinese(text: str, believed: bool) -> None:
    assert (grounded(text, [3], SAID[2:3]) is not None) == believed


@given(st.text(max_size=120), st.lists(st.integers(0, 9), max_size=3))
def test_whatever_a_model_says_its_numbers_and_names_stand_in_its_range_or_it_is_dropped(
    text: str, cited: list[int]
) -> None:
    one = grounded(text, cited, SAID)
    if one is not None:
        heard = "\n".join(said.turn.text for said in SAID if one.from_seq <= said.seq <= one.to_seq)
        assert figures_of(one.text) <= figures_of(heard)
        assert names_of(one.text) <= names_of(heard) | {word.casefold() for word in heard.split()} | names_of(text)


# --- the tree -----------------------------------------------------------------------------------------------------


def node(level: int, first: int, *sentences: Sentence) -> Node:
    return Node(uuid4(), level, first, first + 9, sentences, estimate_tokens(shown(sentences)))


def test_the_oldest_of_too_many_are_gathered_and_pairs_where_they_are_too_long() -> None:
    few = [node(0, 10 * n, sentence(f"Fact {n}.", 10 * n)) for n in range(6)]
    assert to_roll(few, 1_000) == []
    assert to_roll([*few, node(0, 60)], 1_000) == few
    assert to_roll(few, 10) == few[:2]
    assert to_roll(few[:1], 1) == []


def test_a_summary_of_summaries_keeps_ranges_and_what_matters_most() -> None:
    nodes = [node(0, 10 * n, sentence(f"Crate {n} went to Lisbon by ship.", 10 * n, score=n / 10)) for n in range(7)]
    kept = rolled(nodes[:6], 60, estimate_tokens)
    assert {one.from_seq for one in kept} <= {10 * n for n in range(6)}
    assert max(one.score for one in kept) == 0.5
    assert estimate_tokens(shown(rolling(nodes, 30, estimate_tokens))) <= 30


def test_a_fresh_sentence_takes_what_it_overtakes_out_of_the_current_summaries() -> None:
    old, other = sentence(CHANGED[0][0], 1, score=0.8), sentence("The cat is called Mila.", 2)
    nodes = [node(0, 0, old, other), node(0, 10, sentence("The dog is called Rex.", 11))]
    changed, fresh = corrected(nodes, [sentence(CHANGED[0][1], 21, score=0.2)], estimate_tokens)
    assert [(one.id, [s.text for s in one.sentences]) for one in changed] == [(nodes[0].id, [other.text])]
    assert [one.score for one in fresh] == [0.8]


@pytest.mark.parametrize(
    ("question", "answer", "kept"),
    [
        ("Lovely. How long will you stay in Kyoto?", "Ten days", True),
        ("Which airport do you leave from?", "Faro, I think", True),
        ("Shall we store it in PostgreSQL?", "Yes please", True),
        ("Is there anything else I can help with?", "No thanks", False),
        ("How long will you stay in Kyoto?", "Why do you ask?", False),
        ("I have noted it.", "Great stuff", False),
        ("好的。您打算在京都住多久？", "十天", True),
        ("您从哪个机场出发？", "虹桥吧", True),
        ("要不要用 PostgreSQL 存？", "可以", True),
        ("还有什么可以帮您？", "没有了", False),
        ("您打算在京都住多久？", "怎么了？", False),
    ],
)
def test_an_answer_in_a_word_or_two_is_kept_with_its_question(question: str, answer: str, kept: bool) -> None:
    said = dialogue(("user", "Let us plan the trip."), ("assistant", question), ("user", answer))
    found = [one for one in salient(said) if answer in one.text and "user:" in one.text]
    assert [(one.from_seq, one.to_seq, one.role) for one in found] == ([(2, 3, "assistant")] if kept else [])
    if kept:
        asked = question.replace("Lovely. ", "").replace("好的。", "")
        assert found[0].shown == f"assistant: {asked} user: {answer}"
        assert found[0] in salient(said[2:], said[1]), "also where it begins a stretch"
        assert found[0] not in salient(said[2:], said[0]), "what was not said just before is not answered"
