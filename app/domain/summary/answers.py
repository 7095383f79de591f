"""Answers in a few words: which of them mean nothing without the question before."""

import re
from collections.abc import Sequence
from typing import Final

from app.core.text.scripts import HAN
from app.domain.extraction.folding import folded
from app.domain.gate.sentences import is_question

MOST_WORDS: Final = 7
MOST_SIGNS: Final = 14
"""Words, or Chinese signs, of what is no statement of its own."""

_SIGN: Final = re.compile(f"[{HAN}]")
_WORD: Final = re.compile(f"[^\\W_{HAN}]+(?:['.:/+-][^\\W_{HAN}]+)*")
_BARE: Final = re.compile(
    r"(?:yes|yeah|yep|no|nope|sure|ok|okay|right|correct|exactly|agreed|absolutely|of course|please|neither|both|"
    r"是的?|对的?|好的?|行|可以|没错|当然|同意|不|不是|不用|不行|不要|没有|都行|都不)"
    r"(?:[ ,]*(?:please|do|thanks|thank you|谢谢))?"
)
"""Yes and no: they hold something, but no word of what."""

_OFFER: Final = re.compile(
    r"\banything else\b|\b(?:does|did|is) (?:that|this|it) (?:help|make sense|clear|work|ok)|"
    r"\b(?:how|what) (?:else )?can i (?:help|do)\b|\bmake sense\b|\bany (?:other )?questions\b|"
    r"\bhow are you\b|还有(?:什么|别的|其他|问题)|有帮助吗|明白了?吗|清楚了?吗|(?:怎么|如何)帮|可以帮您?什么|您?好吗"
)
"""What an assistant asks to be polite."""


def answered_question(said: Sequence[str], answer: str) -> str | None:
    """The question at an assistant's end that a user's message answers without saying what it is about; else None.

    Args:
        said: The assistant's sentences.
        answer: The user's message.
    """
    question = said[-1] if said else ""
    plain, asked = folded(answer.strip()), folded(question)
    if not is_question(asked) or _OFFER.search(asked) or is_question(plain) or not re.search(r"\w", plain):
        return None
    signs, words = len(_SIGN.findall(plain)), len(_WORD.findall(plain))
    return question if signs + words * MOST_SIGNS / MOST_WORDS <= MOST_SIGNS else None


def is_bare(answer: str) -> bool:
    """Whether an answer is a yes or a no and nothing else."""
    return _BARE.fullmatch(folded(answer).strip(" .!,。！，")) is not None
