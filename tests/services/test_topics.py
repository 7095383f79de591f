"""Which old episodes are about one thing: labelled ones in both languages, by the bundled embedding model."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from app.domain.lifecycle.topics import Episode, topics
from app.providers.embeddings.use import UseModel

LABELLED = json.loads((Path(__file__).parents[1] / "domain" / "data" / "topics.json").read_text("utf-8"))
START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
async def model() -> AsyncIterator[UseModel]:
    """The bundled model."""
    use = UseModel(threads=1)
    yield use
    await use.close()


def mixed(subjects: list[list[str]]) -> tuple[list[Episode], dict[UUID, int]]:
    """Episodes as a life has them, one subject after the other in turn, and the subject of each."""
    told = [(subject, text) for turn in zip(*subjects, strict=True) for subject, text in enumerate(turn)]
    episodes = [
        Episode(UUID(int=n), text, (None, None, None), START + timedelta(days=n)) for n, (_, text) in enumerate(told, 1)
    ]
    return episodes, {UUID(int=n): subject for n, (subject, _) in enumerate(told, 1)}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("part", list(LABELLED))
async def test_episodes_of_one_digest_are_about_one_subject(model: UseModel, part: str, language: str) -> None:
    subjects: list[list[str]] = LABELLED[part][language]
    episodes, subject_of = mixed(subjects)
    vectors: dict[UUID, Any] = dict(
        zip(subject_of, await model.embed_passages([one.text for one in episodes]), strict=True)
    )
    groups = topics(episodes, vectors, model.calibration)
    strangers = sum(
        len(group) - max(sum(subject_of[one.id] == subject for one in group) for subject in range(len(subjects)))
        for group in groups
    )
    grouped = sum(len(group) for group in groups)
    assert strangers <= (1 if part == "held_out" else 0)  # "the billing service" comes to "the electricity bill"
    assert grouped >= 0.8 * len(episodes)
