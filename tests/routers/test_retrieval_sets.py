"""Labelled questions about one user's memories, asked of the bundled model with default settings, in both languages."""

import csv
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from app.composition import Services
from tests.conftest import tenant_of
from tests.routers.calls import body_of, search

DATA = Path(__file__).parent / "data"
LANGUAGES = ("zh", "en")
KINDS = ("lexical", "paraphrase", "exact")

LEAST = {"zh": 0.95, "en": 0.92}
"""Share of all questions; of those that share a word or name a name it is .95 in both."""


class Question(NamedTuple):
    """What is asked, in which way it resembles its answer, and the memory that answers it."""

    kind: str
    answer: str
    text: str


class Outcome(NamedTuple):
    """A question and the place of its answer among the results, from 1; 0 if it is not among the first ten."""

    question: Question
    rank: int


class Outcomes(NamedTuple):
    """One set's questions as they were answered."""

    language: str
    asked: list[Outcome]


def labelled(language: str) -> tuple[dict[str, str], list[Question]]:
    """The set's memories by their label, and its questions."""
    memories: dict[str, str] = {}
    questions: list[Question] = []
    with (DATA / f"retrieval_{language}.tsv").open(encoding="utf-8", newline="") as file:
        for kind, label, text in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if kind == "memory":
                memories[label] = text
            else:
                questions.append(Question(kind, label, text))
    return memories, questions


def hit_rate(outcomes: list[Outcome], top: int) -> float:
    """The share of the questions whose answer is among the first `top` results."""
    return sum(0 < outcome.rank <= top for outcome in outcomes) / len(outcomes)


def missed(outcomes: list[Outcome], top: int) -> list[str]:
    """The questions whose answer is not among the first `top` results, each with its answer's place."""
    return [f"{outcome.question.text} ({outcome.rank})" for outcome in outcomes if not 0 < outcome.rank <= top]


async def ask_all(client: httpx.AsyncClient, language: str) -> list[Outcome]:
    """Keep the set's memories, each labelled in its metadata, then ask its questions one by one."""
    memories, questions = labelled(language)
    rows = [{"text": text, "user_id": "ada", "metadata": {"label": label}} for label, text in memories.items()]
    for start in range(0, len(rows), 100):  # of more than a hundred the vectors would come later, by a job
        body_of(await client.post("/v1/memories", json={"memories": rows[start : start + 100]}), 201)
    outcomes = []
    for question in questions:
        found = await search(client, question.text, user_id="ada", top_k=10)
        labels = [hit["metadata"]["label"] for hit in found["results"]]
        outcomes.append(Outcome(question, labels.index(question.answer) + 1 if question.answer in labels else 0))
    return outcomes


@pytest.fixture(scope="module", params=LANGUAGES)
async def outcomes(request: pytest.FixtureRequest, services: Services, app: Any) -> AsyncIterator[Outcomes]:
    """One set's outcomes, from a tenant of their own."""
    app.state.services = services
    tenant = await tenant_of(services, app)
    yield Outcomes(request.param, await ask_all(await tenant.client(), request.param))
    await tenant.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_question_of_a_set_has_one_answer_among_its_memories(language: str) -> None:
    memories, questions = labelled(language)
    assert len(memories) >= 60
    assert len(set(memories.values())) == len(memories)
    assert len({question.text for question in questions}) == len(questions) >= 60
    assert {question.answer for question in questions} <= memories.keys()
    assert {question.kind for question in questions} == set(KINDS)


def test_the_answer_is_among_the_first_three_for_nearly_all_questions(outcomes: Outcomes) -> None:
    """Paraphrases without a word in common are what is missed."""
    assert hit_rate(outcomes.asked, 3) >= LEAST[outcomes.language], missed(outcomes.asked, 3)


@pytest.mark.parametrize("kind", ["lexical", "exact"])
def test_a_shared_word_or_name_brings_the_answer_among_the_first_three(outcomes: Outcomes, kind: str) -> None:
    alike = [outcome for outcome in outcomes.asked if outcome.question.kind == kind]
    assert hit_rate(alike, 3) >= 0.95, missed(alike, 3)
