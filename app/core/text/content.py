"""What a text is about: its names and nouns as they are written, for people and prompts (search has `tokens`)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import rjieba

from app.core.text.scripts import HAN
from app.core.text.stopwords import CHINESE, ENGLISH

Kind = Literal["name", "noun", "word"]
"""A name: quoted, written as one, an identifier, or foreign in a Chinese sentence. A noun: one by what stands before it
or by the dictionary. A word: any other that is not a stop word."""

MAX_CHARACTERS: Final = 4_000
"""Only the beginning of a text is looked at."""

LONGEST_QUOTE: Final = 40
LOOK_BACK: Final = 24

_PIECE = re.compile(
    f'["“「『《`](?P<quoted>[^"“”「」『』《》`\\n]{{1,{LONGEST_QUOTE}}})["”」』》`]'
    f"|(?P<han>[{HAN}]+)"
    f"|(?P<latin>[^\\W_{HAN}](?:[\\w.+#/:@-](?<![{HAN}]))*)"
)
_SENTENCE_END = re.compile(r"(?:^|[.!?。！？\n:：•*-])\s*[\"'“(]*\s*$")
_IDENTIFIER = re.compile(r"[A-Z]{2}|[a-z][A-Z]|\d|[_/@]|\w\.\w")
_DETERMINERS: Final = frozenset(
    "a an the my our your his her its their this that these those some any no every each another new".split()  # noqa: SIM905 - words
)
_NAME_TAGS: Final = frozenset({"nr", "nrt", "nrfg", "ns", "nt", "nz", "nw"})
_NOUN_TAGS: Final = frozenset({"n", "vn", "an", "j", "i", "l", "ng", "s"})
_WORD_TAGS: Final = frozenset({"v", "a", "t"})
_NAMED = re.compile(f"(?:名叫|叫做|叫|名为|代号是?)(?![什我你他她它车人])(?P<name>[{HAN}]{{2,5}}?)(?=的|$)")
_NOT_ALONE = re.compile("^[我你您他她它这那一两几]|[的了过着]$")


@dataclass(frozen=True, slots=True)
class Term:
    """A word, or a few that belong together.

    Args:
        text: As it is written.
        kind: What it is.
        at: Where it begins in the text.
    """

    text: str
    kind: Kind
    at: int


def content_terms(text: str) -> list[Term]:
    """The names, nouns and other words of a text, in their order. Total: any string, linear in its length."""
    text = text[:MAX_CHARACTERS]
    chinese = len(re.findall(f"[{HAN}]", text)) * 2 > len(re.findall(r"[A-Za-z]+", text))
    found: list[Term] = []
    for match in _PIECE.finditer(text):
        if match["quoted"] is not None:
            found.append(Term(match["quoted"].strip(), "name", match.start("quoted")))
        elif match["han"] is not None:
            found.extend(_of_han(match["han"], match.start()))
        else:
            _add_latin(found, text, match, foreign=chinese)
    return [term for term in found if term.text]


def _of_han(run: str, start: int) -> Iterator[Term]:
    """Words by the dictionary's parts of speech; what is said to be called so is a name, also outside of it."""
    given = [Term(match["name"], "name", start + match.start("name")) for match in _NAMED.finditer(run)]
    yield from given
    at = start
    for word, tag in _names_joined(rjieba.tag(run)):
        inside = any(name.at <= at < name.at + len(name.text) for name in given)
        if len(word) > 1 and word not in CHINESE and not inside and not _NOT_ALONE.search(word):
            if tag in _NAME_TAGS:
                yield Term(word, "name", at)
            elif tag in _NOUN_TAGS:
                yield Term(word, "noun", at)
            elif tag in _WORD_TAGS:
                yield Term(word, "word", at)
        at += len(word)


def _names_joined(tagged: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """A name and the single character of a name after it are one: 阿里 + 云."""
    joined: list[tuple[str, str]] = []
    for word, tag in tagged:
        if joined and len(word) == 1 and tag in _NAME_TAGS and joined[-1][1] in _NAME_TAGS:
            joined[-1] = (joined[-1][0] + word, joined[-1][1])
        else:
            joined.append((word, tag))
    return joined


def _add_latin(found: list[Term], text: str, match: "re.Match[str]", *, foreign: bool) -> None:
    """A Latin word; one that goes on with the name before it becomes a part of that."""
    word = re.sub(r"(?:['’]s)?[./:@-]+$", "", match["latin"])
    stop = word.casefold() in ENGLISH and not (word.isupper() and len(word) > 1)
    if stop or (len(word) == 1 and word.islower()):
        return
    last = found[-1] if found else None
    if last is not None and last.kind == "name" and _goes_on(word, last, text, match.start()):
        found[-1] = Term(f"{last.text} {word}", "name", last.at)
        return
    before = text[max(0, match.start() - LOOK_BACK) : match.start()]
    found.append(Term(word, _latin_kind(word, before, foreign=foreign), match.start()))


def _goes_on(word: str, last: Term, text: str, at: int) -> bool:
    """`New York` and `PostgreSQL 16` are one name."""
    beside = text[last.at + len(last.text) : at] == " "
    return beside and last.text[:1].isupper() and (word[:1].isupper() or word[:1].isdigit())


def _latin_kind(word: str, before: str, *, foreign: bool) -> Kind:
    if foreign or _IDENTIFIER.search(word):
        return "name"
    if word[:1].isupper():
        return "noun" if _SENTENCE_END.search(before) else "name"
    previous = re.findall(r"[a-z']+", before.casefold())[-1:]
    return "noun" if previous and previous[0] in _DETERMINERS else "word"
