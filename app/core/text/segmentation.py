"""Words of scripts that put no spaces between them."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import rjieba

from app.core.text.scripts import HAN
from app.core.text.stopwords import CHINESE

_NAME_LENGTH: Final = 3
_NEVER_NAMES: Final = frozenset("我你您他她它们不没有去来会要想说看做用住叫")
_HAN_ONLY = re.compile(f"[{HAN}]+")


def segment(run: str) -> list[str]:
    """Search words of a run of unspaced script, stop words left out.

    Chinese: the words of jieba and, as in its search mode, the dictionary words inside long ones. What the dictionary
    does not know is cut differently in a question and in a document, so that a name would not meet itself: words of
    three characters, unknown words and what follows a lone character also give their bigrams. Other scripts,
    and Japanese with its mixture, give overlapping bigrams.
    """
    if len(run) == 1:
        return [] if run in CHINESE else [run]
    if not _HAN_ONLY.fullmatch(run):
        return _bigrams(run)
    words = rjieba.cut(run)
    found = [token for word in words for token in _inside(word)]
    found.extend(_seams(words))
    return found


def _inside(word: str) -> Iterator[str]:
    if word not in CHINESE:
        yield word
        if len(word) == _NAME_LENGTH or (len(word) > _NAME_LENGTH and not rjieba.has_word(word)):
            yield from _bigrams(word)
        elif len(word) > _NAME_LENGTH:
            yield from (part for part in rjieba.cut_for_search(word) if part not in CHINESE and part != word)


def _seams(words: list[str]) -> Iterator[str]:
    """The bigram from each lone character into the next word: it may be a surname (张 + 伟大 hides 张伟)."""
    for left, right in pairwise(words):
        if len(left) == 1 and left not in CHINESE and left not in _NEVER_NAMES and right not in CHINESE:
            yield left + right[0]


def _bigrams(text: str) -> list[str]:
    return [first + second for first, second in pairwise(text)]
