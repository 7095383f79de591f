"""The write gate: what is refused, and why."""

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.extraction.candidates import Candidate
from app.domain.extraction.turns import Role, Turn
from app.domain.gate.judging import DEFAULT_THRESHOLD, judge, score
from app.domain.gate.prefilter import prefilter
from app.domain.gate.refusals import REFUSALS
from app.domain.memory import CATEGORIES, Category, default_importance
from tests.domain.test_extraction_rules import labelled, taken, talk

NOW = datetime(2026, 3, 4, 10, tzinfo=UTC)


def turn(text: str, role: Role = "user") -> Turn:
    return Turn(1, role, text, NOW, ZoneInfo("UTC"))


def candidate(quote: str, category: Category = "identity", text: str | None = None) -> Candidate:
    return Candidate(
        text or quote, "semantic", category, "user_stated", (1,), quote, importance=default_importance(category)
    )


@pytest.mark.parametrize(
    ("said", "quote", "reason"),
    [
        ("Thanks a lot!", "Thanks a lot!", "greeting"),
        ("好的，收到", "好的，收到", "greeting"),
        ("I'm tired now", "I'm tired now", "state"),
        ("No, make it 8 people.", "No, make it 8 people", "fragment"),
        ("不对，改成1800。", "改成1800", "fragment"),
        ("我有点困", "我有点困", "state"),
        ("Where do I live?", "Where do I live?", "question"),
        ("我住在哪里？", "我住在哪里？", "question"),
        ("If I lived in Oslo, I would ski.", "I lived in Oslo", "hypothetical"),
        ("如果我住在上海", "如果我住在上海", "hypothetical"),
        ("I might move to Berlin", "I might move to Berlin", "hypothetical"),
        ("ok\n```\nmy name is Bob\n```", "my name is Bob", "code"),
        ("see:\n2026-03-04 10:00:01 my name is Bob", "my name is Bob", "log"),
        ("> I live in Oslo", "I live in Oslo", "quoted"),
        ("翻译一下：我住在上海", "我住在上海", "quoted"),
        ("<memories>I live in Paris</memories> hi", "I live in Paris", "recalled"),
        ("Let's role-play. I live in a castle.", "I live in a castle", "role_play"),
        ("我养了老虎，开玩笑的", "我养了老虎", "joke"),
        ("Fix this bug please", "Fix this bug please", "task"),
        ("Forget that I live in Oslo", "Forget that I live in Oslo", "forget"),
        ("I live in Oslo", "I live in Rome", "unquoted"),
        ("I live in Oslo", " ", "empty"),
        ("I " + "really " * 100 + "live in Oslo", "I " + "really " * 100 + "live in Oslo", "too_long"),
    ],
)
def test_each_refusal_has_its_name(said: str, quote: str, reason: str) -> None:
    verdict = judge(candidate(quote), turn(said))
    assert (verdict.passed, verdict.reason, verdict.score) == (False, reason, 0)


@pytest.mark.parametrize("role", ["system", "tool", "assistant"])
def test_what_another_role_says_is_not_the_users(role: Role) -> None:
    assert judge(candidate("I live in Oslo"), turn("I live in Oslo", role)).reason == "not_the_users"


def test_an_observation_of_a_tool_is_judged_by_its_score_alone() -> None:
    seen = replace(candidate("staging runs 2.3.1", "project"), source="tool_observed")
    assert judge(seen, turn("staging runs 2.3.1", "tool")).passed


@pytest.mark.parametrize("name", ["extraction_en", "extraction_zh"])
def test_what_the_rules_take_passes_the_gate(name: str) -> None:
    refused = []
    for label, _, _, text in labelled(name):
        if label == "keep":
            verdicts = [judge(one, turn(text)) for one in taken(text)]
            refused += [(text, verdict) for verdict in verdicts if not verdict.passed]
    assert refused == []


def test_what_was_asked_to_be_remembered_always_passes() -> None:
    asked = replace(candidate("the sky is purple", "other"), explicit=True, importance=1)
    verdict = judge(asked, turn("Remember that the sky is purple"), novelty=0, threshold=1)
    assert (verdict.passed, verdict.score) == (True, 1)


@pytest.mark.parametrize("text", ["Water boils at 100 degrees", "水在一百度沸腾", "Paris is the capital of France"])
def test_general_knowledge_does_not_reach_the_threshold(text: str) -> None:
    known = replace(candidate(text, "other"), importance=3)
    assert judge(known, turn(text)).reason == "low_score"


@pytest.mark.parametrize("text", ["To deploy, run make ship and then tag it", "部署的步骤是先跑测试再打标签"])
def test_a_method_is_procedural_and_no_fact(text: str) -> None:
    assert judge(candidate(text, "project"), turn(text)).kind == "procedural"


def test_a_fact_in_a_question_passes_by_its_own_words() -> None:
    said = "I'm vegetarian, what can I eat in Oslo?"
    assert judge(candidate("I'm vegetarian"), turn(said)).passed


@given(st.sampled_from(CATEGORIES), st.integers(1, 10), st.floats(0, 1), st.floats(0, 1))
def test_what_is_newer_or_more_important_scores_no_less(
    category: Category, importance: int, one: float, other: float
) -> None:
    fact = replace(candidate("I live in Oslo", category), importance=importance)
    more = replace(fact, importance=min(importance + 1, 10))
    low, high = sorted((one, other))
    assert 0 <= score(fact, low) <= score(fact, high) <= score(more, high) <= 1


@given(st.sampled_from(CATEGORIES), st.floats(0, 1), st.floats(0, 1))
def test_the_threshold_decides(category: Category, novelty: float, threshold: float) -> None:
    verdict = judge(candidate("I live in Oslo", category), turn("I live in Oslo"), novelty=novelty, threshold=threshold)
    assert verdict.passed == (verdict.score >= threshold)
    assert verdict.reason == (None if verdict.passed else "low_score")


def test_the_threshold_is_one_half_where_none_is_given() -> None:
    assert DEFAULT_THRESHOLD == 0.5


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(["user", "assistant", "system", "tool"]))
def test_any_text_is_judged(said: str, quote: str, role: Role) -> None:
    verdict = judge(candidate(quote), turn(said, role))
    assert verdict.reason is None or verdict.reason in REFUSALS
    assert verdict.passed == (verdict.reason is None)
    assert prefilter(turn(said, role)) in {None, *REFUSALS}


@pytest.mark.parametrize("name", ["extraction_en", "extraction_zh", "extraction_casual_en", "extraction_casual_zh"])
def test_the_prefilter_never_keeps_a_fact_from_the_extractor(name: str) -> None:
    stopped = [text for label, _, _, text in labelled(name) if label == "keep" and prefilter(turn(text)) is not None]
    assert stopped == []


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("thanks!", "greeting"),
        ("哈哈哈", "greeting"),
        ("I'm tired now", "state"),
        ("我好饿啊", "state"),
        ("", "empty"),
        ("```\nx = 1\n```", "code"),
        ("> quoted", "quoted"),
        ("<memories>I live</memories>", "recalled"),
        ("假装你是海盗", "role_play"),
    ],
)
def test_the_prefilter_spares_the_extractor_what_holds_nothing(said: str, reason: str) -> None:
    assert prefilter(talk(said)[0] if said else turn(said)) == reason
