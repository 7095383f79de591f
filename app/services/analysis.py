"""What is worked out of a text before it is stored: tokens for the lexical leg, its hash, its length."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from app.core.text.digest import text_hash
from app.core.text.tokens import document_length, term_frequencies
from app.domain.budget import estimate_tokens

INLINE_CHARACTERS: Final = 20_000
"""More than that is analysed off the event loop, where it cannot hold up other requests."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """A text's term frequencies, their sum, its hash (16 bytes) and an estimate of its length in a model's tokens."""

    frequencies: Mapping[str, int]
    length: int
    content_hash: bytes
    tokens: int


def analyse(text: str) -> Analysis:
    """Work it out for one text."""
    frequencies = term_frequencies(text)
    return Analysis(frequencies, document_length(frequencies), text_hash(text), estimate_tokens(text))


async def analyse_all(texts: Sequence[str]) -> list[Analysis]:
    """Work it out for many texts, off the event loop where it takes long."""
    if sum(map(len, texts)) <= INLINE_CHARACTERS:
        return [analyse(text) for text in texts]
    return await asyncio.to_thread(lambda: [analyse(text) for text in texts])
