"""Questions that say only half of what they ask, and a rule that completes them from the turns before."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from app.core.text.content import Term, content_terms
from app.core.text.language import Language
from app.core.text.normal import clean, normalise
from app.core.text.stemming import stem
from app.domain import anaphora_en, anaphora_zh

RECENT_TURNS: Final = 4
"""Turns that are looked at, from the newest."""

MOST_NAMES: Final = 6
MOST_TERMS: Final = 10
MOST_OF_A_TURN: Final = 5
"""Nouns and words of one turn: a long answer does not crowd out the question before it."""

LONGEST_QUERY: Final = 200
"""A question of more characters says what it is about."""


def needs_rewriting(query: str, language: Language) -> bool:
    """Whether a question points to what was said before (it, that one, 那个, 她), or leaves out what it is about.

    By rules for Chinese and English; of other languages only what those rules read. The rules err on the side of
    completing: a word too many costs a search little, a word too few its answer.

    Args:
        query: The question.
        language: The one it is asked in.
    """
    query = clean(query).strip()
    if not query or len(query) > LONGEST_QUERY:
        return False
    match language:
        case "zh":
            return anaphora_zh.depends(query)
        case "en":
            return anaphora_en.depends(query)
        case "other":
            return anaphora_zh.depends(query) or anaphora_en.depends(query)


def rewritten(query: str, turns: Sequence[str]) -> str:
    """The question with the names and nouns of the last turns behind it, the newest first; itself where there are none.

    Args:
        query: The question.
        turns: What was said before it, the oldest first.

    Returns:
        The question, then up to 10 words that it does not say already.
    """
    said = _Said(clean(query))
    recent = [content_terms(clean(turn)) for turn in turns[: -RECENT_TURNS - 1 : -1]]
    names = said.new(chain.from_iterable(_of_kinds(turn, "name") for turn in recent), MOST_NAMES)
    rest = list(names)
    for turn in recent:
        ranked = [*_of_kinds(turn, "noun"), *_of_kinds(turn, "word")]
        rest += said.new(ranked, min(MOST_OF_A_TURN, MOST_TERMS - len(rest)))
    return " ".join([clean(query).strip(), *rest])


def _of_kinds(turn: Sequence[Term], kind: str) -> Iterator[str]:
    return (term.text for term in turn if term.kind == kind)


class _Said:
    """What the question says, and what was added to it."""

    def __init__(self, query: str) -> None:
        self._text = normalise(query)
        self._stems = {stem(normalise(term.text)) for term in content_terms(query)}

    def new(self, words: Iterable[str], most: int) -> list[str]:
        """Words that were not said yet, at most so many; they are said from now on."""
        found: list[str] = []
        for word in words:
            if len(found) >= most:
                break
            plain = normalise(word)
            if self._has(plain):
                continue
            found.append(word)
            self._text += f" {plain}"
            self._stems |= {stem(plain), *(stem(part) for part in plain.split())}
        return found

    def _has(self, plain: str) -> bool:
        # Chinese has no spaces to find a word between: it is said where it stands in the text.
        within = not plain.isascii() and plain in self._text
        return within or stem(plain) in self._stems or all(stem(part) in self._stems for part in plain.split())
