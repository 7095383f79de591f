"""A question as the legs take it: embedded, tokenised, its time and its keys found, before any connection is taken."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from app.core.text.tokens import tokens
from app.domain.asked_keys import asked_keys
from app.domain.calibration import Calibration
from app.domain.fusion import DEFAULT_WEIGHTS, Fusion, FusionRule, Leg
from app.domain.keys import MOST_NAMED, named_keys
from app.domain.overtaking import asks_for_the_past
from app.domain.periods import AskedTime, asked_time, asks_for_latest
from app.repositories.search import DenseQuery
from app.services.embedding import Embedder

MAX_TOKENS: Final = 64
"""Distinct tokens of a question that are looked up."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for.

    Args:
        text: The question.
        tokens: Its words, empty where the lexical leg is off.
        dense: Its vector; None where the dense leg is off or the model is away.
        time: The period it names.
        latest: Whether it asks for what was last.
        keys: Keys that it may name.
        rule: How the legs that can speak are fused.
        calibration: Of the model that made the vector.
        model_id: Whose vectors of texts may be compared with each other; None where there is no such model.
    """

    text: str
    tokens: list[str]
    dense: DenseQuery | None
    time: AskedTime | None
    latest: bool
    keys: list[str]
    rule: FusionRule
    calibration: Calibration
    model_id: int | None = None

    @property
    def current(self) -> bool:
        """Whether it asks how things are now, not how they were or what a certain time brought."""
        return self.time is None and not asks_for_the_past(self.text)

    def by(self, weights: Mapping[Leg, float | None]) -> "Question":
        """The same question by other weights of meaning and words; no leg speaks that did not."""
        heard = {
            leg: (weights.get(leg) or 0.0) if self.rule.weights.get(leg) else 0.0 for leg in (Leg.DENSE, Leg.LEXICAL)
        }
        silent = dict.fromkeys(Leg, 0.0)
        return replace(self, time=None, latest=False, keys=[], rule=replace(self.rule, weights=silent | heard))

    def in_zone(self, zone: str, at: datetime) -> "Question":
        """The same question where 昨天 is yesterday of this zone."""
        return replace(self, time=asked_time(self.text, at, ZoneInfo(zone)))


async def ask(
    embedder: Embedder, text: str, asked: Mapping[Leg, float | None], at: datetime, fusion: FusionRule | None = None
) -> tuple[Question, list[str]]:
    """The question, and what was missing; a leg that cannot speak is left out of the fusion.

    Args:
        embedder: Embeds the text, if the dense leg is on.
        text: The question.
        asked: Weights that replace the default ones; 0 switches a leg off.
        at: From when 昨天 is counted, in UTC until the zone is known.
        fusion: How legs are fused, its weights apart.
    """
    weights = {leg: DEFAULT_WEIGHTS[leg] if asked.get(leg) is None else asked[leg] or 0.0 for leg in Leg}
    dense = await embedder.question(text) if weights[Leg.DENSE] > 0 else None
    degraded = ["embedding"] if dense is None and weights[Leg.DENSE] > 0 else []
    words = list(dict.fromkeys(tokens(text)))[:MAX_TOKENS] if weights[Leg.LEXICAL] > 0 else []
    time = asked_time(text, at, ZoneInfo("UTC")) if weights[Leg.TIME] > 0 else None
    latest = weights[Leg.TIME] > 0 and time is None and asks_for_latest(text)
    keys = [*asked_keys(text), *named_keys(text)] if weights[Leg.KEY] > 0 else []
    keys = list(dict.fromkeys(keys))[:MOST_NAMED]
    silent = {
        Leg.DENSE: dense is None,
        Leg.LEXICAL: not words,
        Leg.TIME: time is None and not latest,
        Leg.KEY: not keys,
    }
    speaking = {leg: 0.0 if silent.get(leg, False) else weight for leg, weight in weights.items()}
    rule = replace(fusion or FusionRule(Fusion.FIXED), weights=speaking)
    model_id = None if dense is None else dense.model.id
    return Question(text, words, dense, time, latest, keys, rule, embedder.calibration, model_id), degraded
