"""Short notes of somebody who has told of themselves before: what is kept of them, and what is left."""

from pathlib import Path
from typing import Final

import pytest

from app.domain.extraction.candidates import Candidate
from app.domain.extraction.rules import extract
from app.domain.gate.judging import judge
from tests.domain.test_extraction_rules import talk

DATA: Final = Path(__file__).parent / "data"
TOLD: Final = {"en": ("I live in Oslo.", "A:Noted."), "zh": ("我住在杭州。", "A:好的。")}
LEAST_KEPT: Final = 0.9
MOST_WRONG: Final = 0.12
"""Of sentences that were chosen because they look like facts: most are not kept by chance."""


def notes(language: str, label: str) -> list[str]:
    rows = (line.split("\t") for line in (DATA / f"extraction_notes_{language}.tsv").read_text("utf-8").splitlines())
    return [text for name, text in rows if name == label]


def kept(language: str, text: str) -> list[Candidate]:
    """What passes the gate of a note after a first statement."""
    turns = talk(*TOLD[language], text)
    last = turns[-1]
    return [one for one in extract(turns) if last.seq in one.seqs and judge(one, last).passed]


@pytest.mark.parametrize("language", TOLD)
def test_most_notes_of_lasting_things_are_kept(language: str) -> None:
    rows = notes(language, "keep")
    lost = [text for text in rows if not kept(language, text)]
    assert len(rows) >= 150
    assert len(lost) <= (1 - LEAST_KEPT) * len(rows), lost


@pytest.mark.parametrize("language", TOLD)
def test_most_of_what_is_momentary_made_up_or_known_to_all_is_left(language: str) -> None:
    rows = notes(language, "none")
    wrong = [text for text in rows if kept(language, text)]
    assert len(rows) >= 150
    assert len(wrong) <= MOST_WRONG * len(rows), wrong


@pytest.mark.parametrize(
    ("question", "answer", "text"),
    [
        ("A:How long will you stay?", "10 days.", "How long will you stay? 10 days"),
        ("A:一周能练几天？", "三天吧", "一周能练几天？三天吧"),
    ],
)
def test_an_answer_to_what_follows_up_on_a_statement_is_kept_with_its_question(
    question: str, answer: str, text: str
) -> None:
    told = "I'm flying to Oslo in May." if answer.isascii() else "我在学西班牙语。"
    found = extract(talk(told, question, answer))
    assert (found[-1].text, found[-1].seqs, found[-1].source) == (text, (2, 3), "user_stated")


@pytest.mark.parametrize(
    "offer", ["A:Shall I book it?", "A:Which file do you mean?", "A:要我帮你订吗？", "A:语气要正式吗？"]
)
def test_an_answer_to_an_offer_or_about_the_task_is_not_kept(offer: str) -> None:
    told = "I live in Oslo." if offer.isascii() else "我住在杭州。"
    assert len(extract(talk(told, offer, "the second one" if offer.isascii() else "第二个"))) == 1


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Write a mail to my team. Don't mention the budget.", 0),
        ("Write a mail to my team. From now on, never mention the budget.", 1),
        ("帮我写封邮件。不要提预算。", 0),
        ("帮我写封邮件。以后永远不要提预算。", 1),
    ],
)
def test_how_a_task_is_to_be_done_is_no_standing_wish_unless_it_says_so(text: str, left: int) -> None:
    assert len(extract(talk(text))) == left


@pytest.mark.parametrize("text", ["I'm a pirate, I live on a ship lol", "我其实是海盗，住在船上，哈哈哈"])
def test_what_ends_with_a_laugh_is_not_believed(text: str) -> None:
    assert extract(talk(text)) == []


@pytest.mark.parametrize(
    "texts",
    [
        ("Write me a story about Lily.", "A:What is she like?", "Lily lives in Prague and has 2 cats. She's 30."),
        ("帮我写个故事，主角叫莉莉。", "A:她是什么样的人？", "莉莉住在布拉格，养了两只猫，今年30岁。"),
    ],
)
def test_what_a_made_up_text_is_about_is_no_fact(texts: tuple[str, ...]) -> None:
    assert extract(talk(*texts)) == []
