"""Which language a text is written in, cheaply: it decides the language of prompts and of extracted memories."""

import re
from typing import Final, Literal

from app.core.text.scripts import HAN, UNSPACED
from app.core.text.stopwords import ENGLISH

Language = Literal["zh", "en", "other"]

MAX_CHARACTERS: Final = 10_000
"""Only the beginning of a text is looked at."""

_HAN_PER_WORD: Final = 1.7
"""Chinese characters that weigh as much as one Latin word: the mean length of a Chinese word."""

_FOREIGN_SHARE: Final = 0.1
"""Letters outside ASCII (of all Latin and other letters) from which a text is no longer taken for English."""

_HAN_CHARACTER = re.compile(f"[{HAN}]")
_CHINESE_GRAMMAR = re.compile("[的了是在我你他她们这那不吗呢有和用把也都很]")
_UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")
_WORD = re.compile(f"[^\\W\\d_{HAN}{UNSPACED}]+")


def language_of(text: str) -> Language:
    """The language of the sentence, not of the names in it: `我用 FastAPI 和 Redis` is Chinese.

    Compares the Chinese characters with the words in other letters and counts the grammar of either language once
    more. Text without letters, and any language but Chinese and English, is "other".
    """
    text = text[:MAX_CHARACTERS]
    han = len(_HAN_CHARACTER.findall(text))
    unspaced = len(_UNSPACED_CHARACTER.findall(text))
    words = _WORD.findall(text)
    chinese = han / _HAN_PER_WORD + len(_CHINESE_GRAMMAR.findall(text))
    english = len(words) + sum(word.lower() in ENGLISH for word in words)
    if unspaced > max(han, len(words)):
        return "other"
    if han and chinese >= english:
        # Kana are the grammar of a Japanese sentence: a share of them outweighs any number of Chinese characters.
        return "other" if unspaced * 4 > han else "zh"
    return "en" if words and not _mostly_foreign(words) else "other"


def _mostly_foreign(words: list[str]) -> bool:
    letters = sum(map(len, words))
    return sum(not letter.isascii() for word in words for letter in word) > letters * _FOREIGN_SHARE
