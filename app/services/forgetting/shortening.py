"""Long memories in fewer words, by a language model whose wording is checked."""

from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel

from app.core.text.language import language_of
from app.domain.budget import estimate_tokens
from app.domain.lifecycle.shortening import says_it_shorter
from app.providers.llm.base import ChatMessage, LanguageModel, LanguageModelNonsense, LanguageModelUnavailable
from app.providers.llm.prompts import prompt, prompt_language

LONGEST: Final = 8_000
"""Characters: a longer text is left as it is."""


class ShortenReply(BaseModel):
    """What a model answers."""

    text: str


@dataclass(frozen=True, slots=True)
class Shorter:
    """What became of a text: None where it stays; calls of the model, and the tokens that these took, estimated."""

    text: str | None
    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Shortener:
    """Asks the language model; without one every text stays."""

    model: LanguageModel | None

    async def shorter(self, text: str) -> Shorter:
        """A wording that has every number, name and negation of the text and no other. Never fails."""
        if self.model is None or len(text) > LONGEST:
            return Shorter(None)
        instructions = prompt("shorten", prompt_language(language_of(text))).text
        asked = [ChatMessage("system", instructions), ChatMessage("user", text)]
        used = sum(estimate_tokens(one.content) for one in asked)
        try:
            reply = await self.model.structured(
                asked, ShortenReply, purpose="shorten", max_tokens=estimate_tokens(text) + 50
            )
        except (LanguageModelUnavailable, LanguageModelNonsense):
            return Shorter(None, 1, used)
        plain = " ".join(reply.text.split())
        return Shorter(plain if says_it_shorter(plain, text) else None, 1, used + estimate_tokens(plain))
