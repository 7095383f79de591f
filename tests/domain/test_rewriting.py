"""Which questions need their turns, and what the rule adds to them: measured on labelled dialogues."""

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.text.content import content_terms
from app.core.text.language import Language
from app.core.text.normal import clean
from app.domain.rewriting import LONGEST_QUERY, MOST_TERMS, needs_rewriting, rewritten
from tests.domain.dialogues import HELD_OUT, TUNED, Dialogue, Labelled

LEAST_ACCURACY = 0.9
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=300)


def is_completed(dialogue: Dialogue, language: Language) -> bool:
    text = rewritten(dialogue.question, dialogue.turns)
    return needs_rewriting(dialogue.question, language) and all(word in text for word in dialogue.wanted)


def judged(labelled: Labelled) -> Iterator[tuple[str, bool]]:
    for language, dialogues, whole in (
        ("zh", labelled.zh, labelled.whole_zh),
        ("en", labelled.en, labelled.whole_en),
    ):
        yield from ((one.question, is_completed(one, language)) for one in dialogues)  # type: ignore[arg-type]
        yield from ((one, not needs_rewriting(one, language)) for one in whole)  # type: ignore[arg-type]


def accuracy(results: list[bool]) -> float:
    return sum(results) / len(results)


def test_the_labelled_set_is_large_enough() -> None:
    assert min(len(TUNED.zh), len(TUNED.en)) >= 30
    assert len(TUNED.whole_zh) + len(TUNED.whole_en) >= 30


@pytest.mark.parametrize(("labelled", "name"), [(TUNED, "tuned"), (HELD_OUT, "held out")])
def test_nine_in_ten_questions_are_judged_and_completed_rightly(
    labelled: Labelled, name: str, record_property: Callable[[str, object], None]
) -> None:
    results = list(judged(labelled))
    right = accuracy([result for _, result in results])
    record_property(f"accuracy_{name}", right)
    assert right >= LEAST_ACCURACY, [question for question, result in results if not result]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_neither_language_is_worse_than_nine_in_ten(language: Language) -> None:
    dialogues = getattr(TUNED, language) + getattr(HELD_OUT, language)
    whole = getattr(TUNED, f"whole_{language}") + getattr(HELD_OUT, f"whole_{language}")
    assert accuracy([is_completed(one, language) for one in dialogues]) >= LEAST_ACCURACY
    assert accuracy([not needs_rewriting(one, language) for one in whole]) >= LEAST_ACCURACY


@pytest.mark.parametrize("question", ["它怎么部署？", "How do I deploy it?", "那 FastAPI 呢？", "what about Redis?"])
def test_a_language_that_is_not_known_is_read_by_the_rules_of_both(question: str) -> None:
    assert needs_rewriting(question, "other")


@pytest.mark.parametrize(
    "question", ["", "  ", "???", "。", "🙂", "それは何ですか", "hello there", "thanks, that works"]
)
@pytest.mark.parametrize("language", ["zh", "en", "other"])
def test_what_asks_nothing_is_not_completed(question: str, language: Language) -> None:
    assert not needs_rewriting(question, language)


def test_a_long_question_says_what_it_is_about() -> None:
    assert needs_rewriting("How do I deploy it?", "en")
    assert not needs_rewriting("How do I deploy it? " + "word " * LONGEST_QUERY, "en")


def test_traditional_characters_are_read_as_simplified_ones() -> None:
    assert needs_rewriting("這個怎麼部署？", "zh")
    assert needs_rewriting("那個呢？", "zh")


def test_the_newest_turn_comes_first() -> None:
    text = rewritten("它呢？", ["我用 Django。", "换成了 FastAPI。"])
    assert text.index("FastAPI") < text.index("Django")


def test_what_the_question_says_already_is_not_said_again() -> None:
    text = rewritten("Does FastAPI support it?", ["FastAPI supports fastapi websockets.", "FastAPI!"])
    assert text.casefold().count("fastapi") == 1
    assert "websockets" in text
    assert rewritten("汇率呢？", ["外币汇率", "汇率"]).count("汇率") == 1


def test_only_the_last_turns_count() -> None:
    assert "Paris" not in rewritten("And then?", ["We were in Paris.", "a", "b", "c", "d"])


def test_names_that_go_together_stay_together() -> None:
    assert "New York" in rewritten("And there?", ["I was in New York."])
    assert "PostgreSQL 16" in rewritten("它快吗？", ["升级到了 PostgreSQL 16。"])
    assert "阿里云" in rewritten("它快吗？", ["部署在阿里云。"])


def test_what_is_called_so_is_a_name_that_no_dictionary_knows() -> None:
    assert "蜀香园" in rewritten("远吗？", ["有一家川菜馆叫蜀香园。"])
    assert "咪咪" in rewritten("它呢？", ["我养了一只叫咪咪的猫"])


def test_a_long_turn_does_not_crowd_out_the_one_before() -> None:
    answer = " ".join(f"the {word}" for word in ("table", "chair", "lamp", "window", "door", "carpet", "shelf", "sofa"))
    assert "penicillin" in rewritten("Is that bad?", ["I react to penicillin.", answer])


@given(ANY_TEXT, st.lists(ANY_TEXT, max_size=8))
def test_the_rule_adds_a_few_words_to_any_question(query: str, turns: list[str]) -> None:
    text = rewritten(query, turns)
    asked = clean(query).strip()
    assert text.startswith(asked)
    assert text.encode("utf-8").decode("utf-8") == text
    terms = [term.text for turn in turns for term in content_terms(clean(turn))]
    longest = max(map(len, terms), default=0)
    assert len(text) <= len(asked) + MOST_TERMS * (longest + 1)


@given(ANY_TEXT, st.sampled_from(["zh", "en", "other"]))
def test_any_question_is_judged(query: str, language: Language) -> None:
    assert needs_rewriting(query, language) in {True, False}


@given(ANY_TEXT)
def test_terms_stand_where_they_say(text: str) -> None:
    for term in content_terms(text):
        assert text[term.at : term.at + len(term.text)] == term.text or " " in term.text
