"""Procedures and lessons without I/O: rates, order, lessons in words, files with front matter, definitions of tools."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.front_matter import Document, FrontMatterFault, read, slug, written
from app.domain.procedure import Found, in_order, success_rate
from app.domain.reflection import Attempt, body_of, lesson_of, lesson_with, title_of
from app.domain.tooling import TOOL_NAMES, Tool, cost, in_form

TRIED = Attempt("GET /prices", "403", "failure")
WORKED = Attempt("GET with a User-Agent", "200", "success")
PLAIN = Attempt("read the page")


@pytest.mark.parametrize(("tried", "rate"), [((0, 0), 0.5), ((1, 0), 2 / 3), ((0, 1), 1 / 3), ((9, 9), 0.5)])
def test_a_rate_begins_at_one_half_and_follows_what_was_tried(tried: tuple[int, int], rate: float) -> None:
    assert success_rate(*tried) == pytest.approx(rate)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_a_success_raises_the_rate_and_a_failure_lowers_it(good: int, bad: int) -> None:
    assert 0 < success_rate(good, bad + 1) < success_rate(good, bad) < success_rate(good + 1, bad) < 1


def test_warnings_come_first_then_what_is_useful_and_what_fits_badly_is_left_out() -> None:
    found = [
        Found("often fails", 0.5, 0.1),
        Found("works", 0.5, 0.9),
        Found("warns", 0.3, 0.5, warns=True),
        Found("of something else", 0.1, 1.0, warns=True),
    ]
    assert [one.item for one in in_order(found)] == ["warns", "works", "often fails"]
    assert in_order([]) == []


@pytest.mark.parametrize(
    ("steps", "outcome", "evaluation", "en", "zh"),
    [
        ([TRIED], "failure", "Say who you are.", "T: Say who you are.", "T：Say who you are。"),
        ([PLAIN, TRIED], "failure", None, "T: GET /prices → 403 failed.", "T：GET /prices → 403失败了。"),
        ([PLAIN], "failure", None, "T: read the page failed.", "T：read the page失败了。"),
        ([PLAIN], "success", None, "T: read the page worked.", "T：read the page有效。"),
        (
            [PLAIN, TRIED],
            "success",
            None,
            "T: read the page worked better than GET /prices.",
            "T：read the page比GET /prices更有效。",
        ),
        (
            [TRIED, WORKED],
            "success",
            "Do so.",
            "T: GET with a User-Agent worked better than GET /prices. Do so.",
            "T：GET with a User-Agent比GET /prices更有效。Do so。",
        ),
        ([], "success", "Fine", "T: Fine.", "T：Fine。"),
    ],
)
def test_a_lesson_says_what_is_to_be_made_of_it(
    steps: list[Attempt], outcome: Any, evaluation: str | None, en: str, zh: str
) -> None:
    assert lesson_of("T.", steps, outcome, evaluation, "en") == en
    assert lesson_of("T。", steps, outcome, evaluation, "zh") == zh


def test_long_tasks_are_cut_in_lessons_and_titles() -> None:
    assert len(lesson_with("x" * 900, "y", "en")) == 400 + len(": y")
    assert len(title_of("很长的任务" * 50)) == 80
    assert title_of(" two\n lines ") == "two lines"


@pytest.mark.parametrize(("language", "head"), [("en", "## Steps that worked"), ("zh", "## 有效的步骤")])
def test_a_drafted_body_lists_the_steps_that_worked(language: Any, head: str) -> None:
    body = body_of("Lesson", [[TRIED, WORKED], [], [PLAIN]], language)
    assert body.index("Lesson") < body.index(head)
    assert "1. GET with a User-Agent → 200\n" in body
    assert "1. read the page\n" in body
    assert "/prices" not in body
    assert head not in body_of("Lesson", [[]], language)


def test_a_way_that_was_gone_again_is_told_once() -> None:
    again = [Attempt("ｇｅｔ with a user-agent", "204", "success")]
    other = [PLAIN, WORKED]
    body = body_of("Lesson", [[TRIED, WORKED], again, other, [WORKED], [WORKED, PLAIN]], "en")
    assert body.count("1. ") == 3
    assert "204" not in body


NAMES = st.text(st.sampled_from("abc_中"), min_size=1)
VALUES = st.recursive(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.text())
def test_what_is_written_reads_back_the_same(fields: dict[str, Any], body: str) -> None:
    text = written(Document(fields, body))
    again = read(text)
    assert (dict(again.fields), again.body) == (fields, body)
    assert written(again) == text


@pytest.mark.parametrize(
    ("text", "fields", "body"),
    [
        ("---\n---\n", {}, ""),
        ("---\na: 1.10\nb: yes\nc: ~\nd: 2026-01-01\n---", {"a": "1.10", "b": "yes", "c": "~", "d": "2026-01-01"}, ""),
        ("\ufeff---\r\na: b\r\n---\r\nx\r\n---\r\n", {"a": "b"}, "x\r\n---\r\n"),
        ("--- \na: |\n  x\n  y\n---\t\nbody", {"a": "x\ny\n"}, "body"),
        ("---\n# nothing but a comment\n---\nbody", {}, "body"),
    ],
)
def test_front_matter_is_read_as_it_is_written(text: str, fields: dict[str, Any], body: str) -> None:
    document = read(text)
    assert (dict(document.fields), document.body) == (fields, body)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must begin"),
        ("# title\n---\na: b\n---\n", "must begin"),
        ("---\na: b\n", "must begin"),
        ("---\na: [\n---\n", "not YAML"),
        ("---\na: &x b\nc: *x\n---\n", "aliases"),
        ("---\n- a\n---\n", "mapping"),
        ("---\n? [a]\n: b\n---\n", "YAML"),
        ("---\n" + "[" * 1500 + "\n---\n", "not YAML"),
        ("---\na: \x07\n---\n", "not YAML"),
        ("---\na: " + "b" * 50_000 + "\n---\n", "more than"),
    ],
)
def test_what_is_no_front_matter_is_told(text: str, words: str) -> None:
    with pytest.raises(FrontMatterFault, match=words):
        read(text)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Scrape a Web Page!", "scrape-a-web-page"),
        ("抓取网页：价格", "抓取网页-价格"),
        ("???", "procedure"),
        ("..", "procedure"),
    ],
)
def test_a_title_becomes_a_name_of_a_folder(title: str, name: str) -> None:
    assert slug(title) == name


def test_a_definition_is_shortened_to_its_first_sentence_and_what_is_needed() -> None:
    properties = {"query": {"type": "string"}, "page": {"type": "integer"}}
    for description, first in (("Find. Then read.", "Find."), ("查找。然后阅读。", "查找。"), ("Find", "Find.")):
        short = Tool("archival_memory_search", description, properties, ["query"]).shortened()
        assert (short.description, list(short.schema["properties"])) == (first, ["query"])


@pytest.mark.parametrize("form", ["openai", "anthropic", "mcp"])
def test_every_form_carries_the_same_schema(form: Any) -> None:
    tool = Tool("core_memory_append", "Add.", {"label": {"type": "string"}}, ["label"])
    assert json.dumps(tool.schema) in json.dumps(in_form(tool, form))
    assert cost([in_form(tool, form)]) > 10


def test_no_definitions_cost_nothing() -> None:
    assert cost([]) == 0
    assert len(TOOL_NAMES) == 5
