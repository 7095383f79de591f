"""A turn is found by what stands around it: the answer stands next to the words of the question."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.domain.fusion import Column

Place = tuple[str, int]
"""A message's session and its number there."""


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """How much of its surroundings' relevance a turn takes on.

    Measured in ADR 12: of the better of both sides only, because a sum rewards long talk about the same thing.

    Args:
        near: The share of the better of the turns directly before and after.
        far: The share of the better of the turns two before and two after.
        session: The share of what the session's best turns have on average.
        best: How many of the session's turns that average is taken over.
    """

    near: float = 0.5
    far: float = 0.3
    session: float = 0.2
    best: int = 3

    def __post_init__(self) -> None:
        """Refuses shares outside [0, 1]."""
        if not all(0 <= share <= 1 for share in (self.near, self.far, self.session)) or self.best < 1:
            raise ValueError("A share of the neighbourhood is in [0, 1], and it has at least one best turn.")


def in_context(relevance: Column, places: Sequence[Place], shares: Neighbourhood) -> Column:
    """Each turn's relevance with its surroundings', in [0, 1]; never less than its own.

    r' = 1 - (1 - r)(1 - near * n)(1 - far * f)(1 - session * s): turns that are not among the candidates count as 0.
    """
    rows = {place: row for row, place in enumerate(places)}
    own = [*relevance.tolist(), 0.0]  # the last stands for a turn that is not here

    def better(step: int) -> Column:
        return np.array(
            [
                max(own[rows.get((session, seq - step), -1)], own[rows.get((session, seq + step), -1)])
                for session, seq in places
            ]
        )

    average = _averages(relevance, places, shares.best)
    kept = (
        (1 - relevance) * (1 - shares.near * better(1)) * (1 - shares.far * better(2)) * (1 - shares.session * average)
    )
    return np.clip(1 - kept, 0.0, 1.0) if len(places) else relevance


def _averages(relevance: Column, places: Sequence[Place], best: int) -> Column:
    sessions: dict[str, list[float]] = {}
    for (session, _), value in zip(places, relevance.tolist(), strict=True):
        sessions.setdefault(session, []).append(value)
    means = {session: sum(sorted(values)[-best:]) / best for session, values in sessions.items()}
    return np.array([means[session] for session, _ in places])
