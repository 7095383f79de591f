"""What observations say together: by a language model that is checked, else by counting."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Final, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from app.domain.budget import estimate_tokens
from app.domain.context.words import Tongue
from app.domain.fence import cut
from app.domain.insights.checking import Flaw, flaw_in
from app.domain.insights.counting import Finding, Observation, patterns
from app.providers.llm.base import ChatMessage, LanguageModel, LanguageModelNonsense, LanguageModelUnavailable
from app.providers.llm.prompts import prompt

MOST_TOLD: Final = 100
"""Observations that a model is told of: the newest."""

LONGEST_TOLD: Final = 200
"""Characters of each."""

USUAL: Final = 3
MOST: Final = 5
"""Insights of one reflection: so many are asked for, and so many taken at most."""


class InsightReply(BaseModel):
    """An insight as a model draws it."""

    text: str
    sources: list[int]


class InsightsReply(BaseModel):
    """What a model answers."""

    insights: list[InsightReply] = Field(default_factory=list, max_length=50)


@dataclass(frozen=True, slots=True)
class Found:
    """What was found, by whom, what was refused and why, and what the model took."""

    findings: list[Finding]
    by: Literal["llm", "counted"]
    refused: Counter[Flaw] = field(default_factory=Counter)
    degraded: bool = False
    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class InsightFinder:
    """Holds no connection. Without a model it counts, and says so in what it finds."""

    model: LanguageModel | None

    async def find(
        self,
        observations: Sequence[Observation],
        counted: Sequence[Finding],
        known: Sequence[str],
        zone: tzinfo,
        tongue: Tongue,
        *,
        whose: str | None,
        ask: bool,
    ) -> Found:
        """Insights; never fails.

        Args:
            observations: The eldest first.
            counted: Corrections that were counted already.
            known: What was concluded before.
            zone: Of the user, for weekdays.
            tongue: The user's language.
            whose: The user's id.
            ask: Whether the model may be asked.
        """
        model = self.model if ask else None
        if model is None:
            by_count = [*counted, *patterns(observations, zone, tongue, whose)]
            return Found([one for one in by_count if one.text not in known][:USUAL], "counted")
        told = list(observations)[-MOST_TOLD:]
        lines = [f"{number}. {_line(one)}" for number, one in enumerate(told, 1)]
        asked = [ChatMessage("system", prompt("insight", tongue).text), ChatMessage("user", "\n".join(lines))]
        used = sum(estimate_tokens(one.content) for one in asked)
        try:
            reply = await model.structured(asked, InsightsReply, purpose="insight")
        except (LanguageModelUnavailable, LanguageModelNonsense):
            without = await self.find(observations, counted, known, zone, tongue, whose=whose, ask=False)
            return Found(without.findings, "counted", degraded=True, calls=1, tokens=used)
        findings, refused = checked(reply, told, known, tongue)
        answered = sum(estimate_tokens(one.text) for one in reply.insights)
        return Found(findings, "llm", refused, calls=1, tokens=used + answered)


def checked(
    reply: InsightsReply, told: Sequence[Observation], known: Sequence[str], tongue: Tongue
) -> tuple[list[Finding], Counter[Flaw]]:
    """Of what a model has drawn what its sources bear, at most `MOST`; and why the rest is refused."""
    kept: list[Finding] = []
    refused: Counter[Flaw] = Counter()
    for one in reply.insights:
        text = " ".join(one.text.replace("\0", "").split())
        places = dict.fromkeys(number - 1 for number in one.sources if 0 < number <= len(told))
        sources = [told[place] for place in places]
        if len(set(one.sources)) != len(places):  # it names what is not there
            refused["sources"] += 1
            continue
        seen = [*known, *(other.text for other in kept), *(source.text for source in sources)]
        flaw = flaw_in(text, [source.text for source in sources], seen, tongue)
        if flaw is not None:
            refused[flaw] += 1
        elif len(kept) < MOST:
            kept.append(Finding(text, tuple(source.id for source in sources), f"llm:{text}"))
    return kept, refused


def _line(one: Observation) -> str:
    text = " ".join(cut(one.text).split())[:LONGEST_TOLD]
    return f"{text} ({one.happened_at.date().isoformat()})"


def ids_of(findings: Sequence[Finding]) -> list[UUID]:
    """The memories that findings name, each once."""
    return list(dict.fromkeys(source for one in findings for source in one.sources))
