"""The language model as a judge of what a new statement means for stored ones; rules check what it says."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.core.text.language import language_of
from app.domain.budget import estimate_tokens
from app.domain.conflict.statements import Decision, Statement, Verdict
from app.providers.llm.base import ChatMessage, LanguageModel, LanguageModelNonsense, LanguageModelUnavailable
from app.providers.llm.prompts import PromptLanguage, prompt_language
from app.providers.llm.prompts import prompt as instructions
from app.services.extractors.replies import JudgeReply

MOST_PAIRS: Final = 30
"""Pairs that one call judges; rules decide about the others."""

LONGEST: Final = 300
"""Characters of a statement that are shown."""

TOKENS_PER_VERDICT: Final = 30

_WORDS: Final[dict[PromptLanguage, tuple[str, str, str]]] = {
    "en": ("OLD: ", " NEW: ", "Answer:"),
    "zh": ("旧：", " 新：", "回答："),
}


@dataclass(frozen=True, slots=True)
class JudgedPairs:
    """Verdicts in the order of the pairs.

    Args:
        decisions: One a pair; None where the model said nothing that can be used: rules decide there.
        calls: Calls of the model.
        tokens: What these took, estimated.
    """

    decisions: Sequence[Decision | None]
    calls: int
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class JudgeModel:
    """Asks a language model about pairs of statements, all in one call.

    Args:
        model: The language model; None where there is none: then rules decide everything.
        timeout: Seconds that it may take; None for the configured ones.
    """

    model: LanguageModel | None
    timeout: float | None = None

    async def judge(self, pairs: Sequence[tuple[Statement, Statement]]) -> JudgedPairs:
        """Verdicts on pairs of a new and a stored statement. Never fails: without the model, rules decide.

        `settle(judged=...)` takes the decisions, and lets stand what the rules allow.

        Args:
            pairs: New and stored; the model knows them by small numbers alone.
        """
        none = [None] * len(pairs)
        if self.model is None or not pairs:
            return JudgedPairs(none, 0)
        asked = pairs[:MOST_PAIRS]
        length = 50 + TOKENS_PER_VERDICT * len(asked)
        prompt = messages_of(asked)
        used = sum(estimate_tokens(message.content) for message in prompt)
        try:
            reply = await self.model.structured(
                prompt, JudgeReply, purpose="judge", max_tokens=length, timeout=self.timeout
            )
        except (LanguageModelUnavailable, LanguageModelNonsense):
            return JudgedPairs(none, 1, used)
        given: dict[int, Verdict | None] = {}
        for row in reply.verdicts:
            # Two verdicts on one pair are none.
            given[row.pair] = row.verdict if given.get(row.pair, row.verdict) == row.verdict else None
        verdicts = [given.get(number) for number in range(1, len(asked) + 1)]
        decided = [None if verdict is None else Decision(verdict, "judged", None) for verdict in verdicts]
        used += estimate_tokens(reply.model_dump_json())
        return JudgedPairs([*decided, *none[len(asked) :]], 1, used)


def messages_of(pairs: Sequence[tuple[Statement, Statement]]) -> list[ChatMessage]:
    """The prompt, in the language of the new statements."""
    language = prompt_language(language_of("\n".join(new.text for new, _ in pairs)))
    stored, said, answer = _WORDS[language]
    lines = [f"{number}. {stored}{_shown(old)}{said}{_shown(new)}" for number, (new, old) in enumerate(pairs, start=1)]
    return [
        ChatMessage("system", instructions("judge", language).text),
        ChatMessage("user", "\n".join([*lines, answer])),
    ]


def _shown(statement: Statement) -> str:
    return " ".join(statement.text.split())[:LONGEST]
