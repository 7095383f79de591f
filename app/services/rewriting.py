"""A question completed from the turns before it: by a language model in time, or by rule."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from app.core.text.language import language_of
from app.core.text.normal import clean
from app.domain.rewriting import needs_rewriting, rewritten
from app.providers.llm.base import ChatMessage, LanguageModel, LanguageModelNonsense, LanguageModelUnavailable
from app.providers.llm.prompts import PromptLanguage, prompt, prompt_language

LONGEST_ANSWER: Final = 400
"""Characters; a longer one is no question."""

ANSWER_TOKENS: Final = 300
TURNS: Final = 6
TURN_CHARACTERS: Final = 300
"""Of the last turns, so much goes into the prompt: with its words it stays below 2,000 tokens."""

_NUMBER = re.compile(r"\d+")
_LABEL = re.compile(r"^(?:rewritten(?: question)?|question|改写后?(?:的问题)?|问题)\s*[:：]\s*", re.IGNORECASE)
_QUOTED = re.compile(r"^[\"'“「`](?P<inside>[^\"“”「」`]+)[\"'”」`]$")
_WORDS: Final[dict[PromptLanguage, tuple[str, str, str]]] = {
    "en": ("Dialogue:", "Question: ", "Rewritten:"),
    "zh": ("对话：", "问题：", "改写："),
}


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A question as it is searched for.

    Args:
        text: The question, completed or as it was.
        by: What completed it; None where it is as it was.
        degraded: `llm` where a language model is configured and did not help.
    """

    text: str
    by: Literal["llm", "rule"] | None
    degraded: list[str]


@dataclass(frozen=True, slots=True)
class QueryRewriter:
    """Completes questions that point to what was said before them.

    Args:
        model: The language model; None where there is none.
        timeout: Seconds that a search waits for it.
    """

    model: LanguageModel | None
    timeout: float

    async def rewrite(self, query: str, turns: Sequence[str]) -> Rewritten:
        """The question, completed where it needs it. Never fails.

        Args:
            query: The question.
            turns: What was said before it, the oldest first.
        """
        said = [turn for turn in turns if turn.strip()]
        if not said or not needs_rewriting(query, language_of(query)):
            return Rewritten(query, None, [])
        if self.model is None:
            return _by_rule(query, said, [])
        answer = await self._asked(self.model, query, said[-TURNS:])
        if answer is None:
            return _by_rule(query, said, ["llm"])
        return Rewritten(answer, "llm", [])

    async def _asked(self, model: LanguageModel, query: str, turns: Sequence[str]) -> str | None:
        """The model's question; None where there is none that can be trusted."""
        messages = _messages(query, [turn[:TURN_CHARACTERS] for turn in turns])
        try:
            answer = await model.complete(messages, purpose="rewrite", max_tokens=ANSWER_TOKENS, timeout=self.timeout)
        except (LanguageModelUnavailable, LanguageModelNonsense):
            return None
        return usable(answer, query, turns)


def usable(answer: str, query: str, turns: Sequence[str]) -> str | None:
    """A model's answer without its label and quotes; None where it is no completed question.

    Refused: nothing, several lines, more than 400 characters, the question as it was, and numbers that nobody said.
    """
    bare = _LABEL.sub("", clean(answer).strip()).strip()
    quoted = _QUOTED.match(bare)
    bare = quoted["inside"].strip() if quoted else bare
    if len(bare) > LONGEST_ANSWER or len(bare.splitlines()) > 1:
        return None
    if _plain(bare) in {"", _plain(query)}:
        return None
    return bare if _numbers([bare]) <= _numbers([query, *turns]) else None


def _by_rule(query: str, turns: Sequence[str], degraded: list[str]) -> Rewritten:
    text = rewritten(query, turns)
    return Rewritten(text, "rule", degraded) if text != query.strip() else Rewritten(query, None, degraded)


def _messages(query: str, turns: Sequence[str]) -> list[ChatMessage]:
    language = prompt_language(language_of("\n".join([*turns, query])))
    dialogue, question, answer = _WORDS[language]
    lines = [
        dialogue,
        *(f"- {' '.join(turn.split())}" for turn in turns),
        f"{question}{' '.join(query.split())}",
        answer,
    ]
    return [ChatMessage("system", prompt("rewrite", language).text), ChatMessage("user", "\n".join(lines))]


def _plain(text: str) -> str:
    return "".join(re.findall(r"\w+", text.casefold()))


def _numbers(texts: Sequence[str]) -> set[str]:
    """Runs of digits, however wide they are written."""
    return {run for text in texts for run in _NUMBER.findall(unicodedata.normalize("NFKC", text))}
