"""Who puts a stretch of conversation into few sentences: rules that choose, or a language model that is checked."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from pydantic import BaseModel, Field

from app.core.text.language import language_of
from app.core.text.tokens import tokens
from app.domain.budget import estimate_tokens
from app.domain.smalltalk import worth_retrieving
from app.domain.summary.choosing import chosen
from app.domain.summary.faithful import MOST_SENTENCES, grounded
from app.domain.summary.lines import Line
from app.domain.summary.salience import salient
from app.domain.summary.sentences import Sentence
from app.providers.llm.base import ChatMessage, LanguageModel, LanguageModelNonsense, LanguageModelUnavailable
from app.providers.llm.prompts import PromptLanguage, prompt, prompt_language

REPLY_TOKENS: Final = 900
LINE_CHARACTERS: Final = 1_500
"""Of one message, so much goes into the prompt."""

MUST_SCORE: Final = 0.7
"""What the rules hold for this important is kept although a model left it out."""

COVERED: Final = 0.6
"""Share of a sentence's words from which another one says it too."""

_WORDS: Final[dict[PromptLanguage, tuple[str, str]]] = {"en": ("Dialogue:", "Answer:"), "zh": ("对话：", "回答：")}


@dataclass(frozen=True, slots=True)
class Summarised:
    """What a stretch gives.

    Args:
        sentences: In order.
        by: `rules`, or `llm`.
        dropped: Sentences of a model's that nothing bears out.
    """

    sentences: list[Sentence]
    by: str
    dropped: int = 0


class Summariser(Protocol):
    """Puts stretches into sentences. Never fails for the model's sake."""

    async def summarise(self, lines: Sequence[Line], room: int, before: Line | None = None) -> Summarised:
        """Few sentences within `room` tokens, each with the range of messages that bear it out.

        `before` is the message before these: it is not to be summarised, but the first one may answer it.
        """
        ...


class RulesSummariser:
    """The conversation's own sentences."""

    async def summarise(self, lines: Sequence[Line], room: int, before: Line | None = None) -> Summarised:
        """In a thread: a stretch takes some milliseconds."""
        found = await asyncio.to_thread(lambda: chosen(salient(lines, before), room, estimate_tokens))
        return Summarised(found, "rules")


class SummaryRow(BaseModel):
    """A sentence of a model's."""

    text: str
    messages: list[int] = Field(default_factory=list)


class SummaryReply(BaseModel):
    """What a model answers."""

    sentences: list[SummaryRow]


@dataclass(frozen=True, slots=True)
class LanguageModelSummariser:
    """A language model, of which only what the messages bear out is kept.

    One call a stretch. What the rules hold for important and the model leaves out is added in its own words; where the
    model gives nothing usable, the rules do all of it: a context cannot wait.
    """

    model: LanguageModel

    async def summarise(self, lines: Sequence[Line], room: int, before: Line | None = None) -> Summarised:
        """Asks, checks, and completes."""
        own = await asyncio.to_thread(salient, lines, before)
        shown = lines if before is None else [before, *lines]
        try:
            reply = await self.model.structured(
                prompt_of(shown, room), SummaryReply, purpose="summarise", max_tokens=REPLY_TOKENS
            )
        except (LanguageModelUnavailable, LanguageModelNonsense):
            return Summarised(chosen(own, room, estimate_tokens), "rules")
        return await asyncio.to_thread(_checked, reply.sentences, own, shown, room)


def prompt_of(lines: Sequence[Line], room: int) -> list[ChatMessage]:
    """The prompt for a stretch, in the language of its users."""
    said = [line.turn.text for line in lines if line.turn.role == "user"]
    language = prompt_language(language_of("\n".join(said)))
    dialogue, answer = _WORDS[language]
    most = str(max(2, min(MOST_SENTENCES, room // 25)))
    body = [dialogue, *(_line(line) for line in lines if line.turn.role != "system"), answer]
    instructions = prompt("summarise", language).filled(most=most)
    return [ChatMessage("system", instructions), ChatMessage("user", "\n".join(body))]


def _line(line: Line) -> str:
    """One line, whatever the text holds: it cannot pass for another message."""
    calls = " ".join(f"{call.name}({call.arguments})" for call in line.calls)
    text = " ".join(f"{line.turn.text} {calls}".split())[:LINE_CHARACTERS]
    return f"[{line.seq}] {line.turn.role}: {text}"


def _checked(rows: Sequence[SummaryRow], own: Sequence[Sentence], lines: Sequence[Line], room: int) -> Summarised:
    spoken = [line for line in lines if line.turn.role != "system"]
    worth = [row for row in rows[:MOST_SENTENCES] if worth_retrieving(row.text)]
    believed = [grounded(row.text, row.messages, spoken) for row in worth]
    kept = [_weighed(one, own) for one in believed if one is not None]
    missed = [one for one in own if _must(one) and not any(_covers(other, one) for other in kept)]
    dropped = len(rows) - len(kept)
    return Summarised(chosen([*kept, *missed], room, estimate_tokens), "llm" if kept else "rules", dropped)


def _must(sentence: Sentence) -> bool:
    return sentence.sort in {"system", "constraint"} or sentence.score >= MUST_SCORE


def _weighed(sentence: Sentence, own: Sequence[Sentence]) -> Sentence:
    """A model's sentence matters as much as the most important statement that it takes in."""
    taken = [one for one in own if one.sort != "system" and _covers(sentence, one)]
    best = max(taken, key=lambda one: one.score, default=None)
    if best is None or best.score < sentence.score:
        return sentence
    return replace(sentence, sort=best.sort, score=best.score)


def _covers(sentence: Sentence, other: Sentence) -> bool:
    if other.sort == "system" or not (sentence.from_seq <= other.to_seq and other.from_seq <= sentence.to_seq):
        return False
    words = set(tokens(other.text))
    return bool(words) and len(words & set(tokens(sentence.text))) >= COVERED * len(words)
