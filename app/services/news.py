"""What may have changed, among the candidates of a search for how things are now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from app.domain.calibration import Calibration
from app.domain.overtaking import Said, involved
from app.repositories.base import RowLike
from app.repositories.vectors import Vector
from app.services.questions import Question
from app.services.ranking import Scored
from app.uow import Transaction


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike texts are, by their vectors; two of which one has none are not."""

    vectors: Mapping[UUID, Vector]
    calibration: Calibration

    def of(self, one: UUID, other: UUID) -> float:
        """Calibrated, in [0, 1]."""
        first, second = self.vectors.get(one), self.vectors.get(other)
        if first is None or second is None:
            return 0.0
        lengths = float(np.linalg.norm(first) * np.linalg.norm(second))
        return self.calibration.similarity(float(first @ second) / lengths) if lengths else 0.0


async def likeness_of_news(
    tx: Transaction, question: Question, best: Sequence[Scored], rows: Mapping[UUID, RowLike]
) -> Likeness | None:
    """What decides between news and what it may have changed; None where nothing is asked of the present, or is news.

    One more statement, where a short statement sounds like news of another one.
    """
    if question.model_id is None or not question.current:
        return None
    present = [hit for hit in best if hit.id in rows]
    found = involved([said_of(hit, rows[hit.id]) for hit in present])
    if not found:
        return None
    vectors = await tx.vectors.of_texts(question.model_id, [present[place].id for place in sorted(found)])
    return Likeness(vectors, question.calibration)


def said_of(hit: Scored, row: RowLike) -> Said | None:
    """A user's own statement of fact; None for everything else."""
    if hit.type == "memory":
        own = row["source"] == "user_stated" and row["kind"] != "procedural" and not row["pinned"]
    else:
        own = row["role"] == "user"
    return Said(row["text"], row["tokens"], row["owner"], hit.happened, hit.score) if own else None
