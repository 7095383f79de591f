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

    An episode joins, of the groups whose first episode it is like, the one to whose episodes it is most like on the
    whole: no chain leads from one topic to another, and a verb that both have in common does not decide.
    """
    groups: list[list[Episode]] = []
    near = _Nearness({one.id: set(tokens(one.text)) for one in episodes}, vectors, calibration)
    for one in sorted(episodes, key=lambda each: (each.happened_at, each.id)):
        open_to_it = [group for group in groups if len(group) < MOST_EPISODES and near.alike(group[0], one)]
        if open_to_it:
            max(open_to_it, key=lambda group: near.to_all(group, one)).append(one)
        else:
            groups.append([one])
    return [group for group in groups if len(group) >= LEAST_EPISODES]


def digest_text(group: Sequence[Episode], sentences: Sequence[str]) -> str:
    """What stays of a group: from when to when, how many there were, and what they said; in no language of its own."""
    first, last = group[0].happened_at.date().isoformat(), group[-1].happened_at.date().isoformat()
    span = first if first == last else f"{first} – {last}"
    return f"{span} ({len(group)}): {' '.join(sentences)}"


@dataclass(frozen=True, slots=True)
class _Nearness:
    words: Mapping[UUID, set[str]]
    vectors: Mapping[UUID, Vector]
    calibration: Calibration

    def alike(self, first: Episode, other: Episode) -> bool:
        """Whether they may be about one thing: one scope, a common word, and near enough."""
        if first.scope != other.scope or not self.words[first.id] & self.words[other.id]:
            return False
        measured = first.id in self.vectors and other.id in self.vectors
        return self._of(first, other) >= (ALIKE if measured else WORDS_ALIKE)

    def to_all(self, group: Sequence[Episode], other: Episode) -> float:
        """How near it is to the episodes of a group on the average."""
        return sum(self._of(each, other) for each in group) / len(group)

    def _of(self, first: Episode, other: Episode) -> float:
        one, two = self.vectors.get(first.id), self.vectors.get(other.id)
        if one is None or two is None:
            mine, its = self.words[first.id], self.words[other.id]
            return len(mine & its) / max(len(mine | its), 1)
        return self.calibration.similarity(float(one @ two))
