"""Which earlier messages a question needs, by a language model's choice where that is configured."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel

from app.core.text.language import language_of
from app.domain.fence import cut
from app.providers.llm.base import ChatMessage, LanguageModel, LanguageModelNonsense, LanguageModelUnavailable
from app.providers.llm.prompts import PromptLanguage, prompt, prompt_language
from app.repositories.base import RowLike

MOST_CHOSEN: Final = 8
REPLY_TOKENS: Final = 120
LINE_CHARACTERS: Final = 300
_WORDS: Final[dict[PromptLanguage, tuple[str, str, str]]] = {
    "en": ("Messages:", "Question: ", "Answer:"),
    "zh": ("消息：", "问题：", "回答："),
}


class ChoiceReply(BaseModel):
    """What a model answers."""

    messages: list[int]


@dataclass(frozen=True, slots=True)
class Chooser:
    """Asks a language model within a time limit; without an answer in time the search's own order holds.

    Args:
        model: The language model.
        timeout: Seconds that a context waits for it.
    """

    model: LanguageModel
    timeout: float

    async def choose(self, query: str, rows: Sequence[RowLike]) -> list[int] | None:
        """The numbers of those messages that the question needs, best first; None where there is no answer."""
        if not rows:
            return []
        language = prompt_language(language_of(query))
        messages, question, answer = _WORDS[language]
        lines = [
            f"[{row['seq']}] {row['role']}: {' '.join(cut(row['text']).split())[:LINE_CHARACTERS]}" for row in rows
        ]
        body = "\n".join([messages, *lines, f"{question}{' '.join(query.split())}", answer])
        instructions = prompt("choose", language).filled(most=str(MOST_CHOSEN))
        try:
            reply = await self.model.structured(
                [ChatMessage("system", instructions), ChatMessage("user", body)],
                ChoiceReply,
                purpose="choose",
                max_tokens=REPLY_TOKENS,
                timeout=self.timeout,
            )
        except (LanguageModelUnavailable, LanguageModelNonsense):
            return None
        known = {row["seq"] for row in rows}
        return [seq for seq in dict.fromkeys(reply.messages) if seq in known][:MOST_CHOSEN]
