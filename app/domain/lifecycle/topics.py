"""Old episodes by what they are about, and what is left of each group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import numpy as np
import numpy.typing as npt

from app.core.text.tokens import tokens
from app.domain.calibration import Calibration

LEAST_EPISODES: Final = 3
"""Fewer are archived as they are."""

MOST_EPISODES: Final = 12
ALIKE: Final = 0.4
"""Calibrated similarity to a group's first episode; and one word at least must be common to both."""

WORDS_ALIKE: Final = 0.25
"""Where there are no vectors: the share of common words among all of both."""

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Episode:
    """An episode that fades.

    Args:
        id: Its memory's.
        text: What it says.
        scope: Agent, app and session: only episodes of one scope are condensed together.
        happened_at: When it was.
    """

    id: UUID
    text: str
    scope: tuple[str | None, ...]
    happened_at: datetime


def topics(
    episodes: Sequence[Episode], vectors: Mapping[UUID, Vector], calibration: Calibration
) -> list[list[Episode]]:
    """Groups of episodes about one thing, each in the order of time, the first of each its eldest.

    An episode joins the first group whose first episode it is like: no chain leads from one topic to another.
    """
    groups: list[list[Episode]] = []
    words = {one.id: set(tokens(one.text)) for one in episodes}
    for one in sorted(episodes, key=lambda each: (each.happened_at, each.id)):
        for group in groups:
            first = group[0]
            if (
                len(group) < MOST_EPISODES
                and first.scope == one.scope
                and _alike(first, one, words, vectors, calibration)
            ):
                group.append(one)
                break
        else:
            groups.append([one])
    return [group for group in groups if len(group) >= LEAST_EPISODES]


def digest_text(group: Sequence[Episode], sentences: Sequence[str]) -> str:
    """What stays of a group: from when to when, how many there were, and what they said; in no language of its own."""
    first, last = group[0].happened_at.date().isoformat(), group[-1].happened_at.date().isoformat()
    span = first if first == last else f"{first} – {last}"
    return f"{span} ({len(group)}): {' '.join(sentences)}"


def _alike(
    first: Episode,
    other: Episode,
    words: Mapping[UUID, set[str]],
    vectors: Mapping[UUID, Vector],
    calibration: Calibration,
) -> bool:
    common = words[first.id] & words[other.id]
    if not common:
        return False
    one, two = vectors.get(first.id), vectors.get(other.id)
    if one is None or two is None:
        return len(common) >= WORDS_ALIKE * len(words[first.id] | words[other.id])
    return calibration.similarity(float(one @ two)) >= ALIKE
