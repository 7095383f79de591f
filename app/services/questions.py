"""A question as the legs take it: embedded and tokenised before any connection is taken."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.core.text.tokens import tokens
from app.domain.calibration import Calibration
from app.domain.fusion import FusionRule, Leg
from app.repositories.search import EXACT_UP_TO, DenseQuery, LegQuery
from app.services.embedding import Embedder

MAX_TOKENS: Final = 64
"""Distinct tokens of a question that are looked up."""

LEAST_CANDIDATES: Final = 50
CANDIDATES_PER_HIT: Final = 3


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its tokens, its vector and the rule that its legs are fused by."""

    tokens: list[str]
    dense: DenseQuery | None
    rule: FusionRule
    calibration: Calibration

    def legs(self, owners: Sequence[str], corpus: int, mean_length: float, hits: int) -> LegQuery:
        """The query of the legs over a corpus of so many texts."""
        return LegQuery(
            owners=owners,
            tokens=self.tokens,
            dense=self.dense,
            corpus=corpus,
            mean_length=mean_length,
            limit=max(LEAST_CANDIDATES, CANDIDATES_PER_HIT * hits),
            path="exact" if corpus <= EXACT_UP_TO else "hnsw",
        )


async def ask(embedder: Embedder, text: str, asked: Mapping[Leg, float | None]) -> tuple[Question, list[str]]:
    """The question, and what was missing; a leg that cannot speak is left out of the fusion.

    Args:
        embedder: Embeds the text, if the dense leg is on.
        text: The question.
        asked: Weights that replace the default ones; 0 switches a leg off.
    """
    default = FusionRule().weights
    weights = {leg: default[leg] if weight is None else weight for leg, weight in asked.items()}
    words = list(dict.fromkeys(tokens(text)))[:MAX_TOKENS]
    dense = await embedder.question(text) if weights[Leg.DENSE] > 0 else None
    degraded = ["embedding"] if dense is None and weights[Leg.DENSE] > 0 else []
    if dense is None:
        weights[Leg.DENSE] = 0.0
    if not words:
        weights[Leg.LEXICAL] = 0.0
    lexical = words if weights[Leg.LEXICAL] > 0 else []
    return Question(lexical, dense, replace(FusionRule(), weights=weights), embedder.calibration), degraded
