"""The one tokenizer: what it makes of a document is what it makes of a question."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from app.core.text.normal import unify
from app.core.text.scripts import HAN, UNSPACED
from app.core.text.segmentation import segment
from app.core.text.stemming import stem
from app.core.text.stopwords import ENGLISH
from app.core.text.variants import one_word

TOKENIZER_VERSION: Final = 2
"""Raised whenever `tokens()` gives other tokens for the same text: postings of another version are to be rebuilt."""

MAX_TOKEN: Final = 64
"""Characters of the longest token; a longer word is found by its digest, as a whole only."""

MAX_PARTS: Final = 32
"""Parts of one compound that are indexed: a path has fewer, an encoded blob has more and means nothing."""

_UNSPACED = f"{HAN}{UNSPACED}"
_MARKS = "\u0300-\u036f\u0591-\u05bd\u064b-\u0652\u0900-\u0dff"
_LETTERS = f"(?:(?![_{_UNSPACED}])[\\w{_MARKS}])++"
_JOINT = r"(?:://|::|_++|[./\\:@+#~&=?%'’-])"

# Possessive quantifiers: nothing is tried twice, so that no input takes more than linear time.
_TOKEN = re.compile(
    f"(?P<unspaced>[{_UNSPACED}]++)|(?P<compound>{_LETTERS}(?:{_JOINT}{_LETTERS})*+(?:\\+\\+|#)?)",
)
_APOSTROPHE = re.compile("['’]")
_JOINTS = re.compile(f"[^\\w{_MARKS}]+|_+")
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_BARE_VERSION = re.compile(r"[vV]?\d+(?:\.\d+)+")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\WA-Za-z\d]+")
_CLITICS: Final = frozenset({"s", "m", "re", "ve", "ll", "d"})
_NEGATED: Final = frozenset(
    """
    ain aren can couldn didn doesn don hadn hasn haven isn mightn mustn needn shouldn wasn weren won wouldn
    """.split()  # noqa: SIM905 - a list of words is read as words
)


def tokens(text: str) -> list[str]:
    """The search tokens of a text, repetitions kept, each of 1 to 64 characters.

    Latin words are stemmed, Chinese is segmented, stop words are dropped, and one word stands for several that mean the
    same. Identifiers, versions, addresses, paths and
    error codes are kept whole and also split at their joints, case changes and digits: `app.userName` gives itself,
    `app`, `usernam`, `user`, `name`. Total (any string, also with NUL and lone surrogates), deterministic, linear.
    """
    found: list[str] = []
    for match in _TOKEN.finditer(unify(text)):
        if match.lastgroup == "unspaced":
            found.extend(_capped(one_word(word)) for word in segment(match.group()))
        else:
            compound = match.group()
            found.extend(_of_short_compound(compound) if len(compound) <= MAX_TOKEN else _of_compound(compound))
    return found


def term_frequencies(text: str) -> dict[str, int]:
    """How often each token occurs in the text, in the order of first occurrence."""
    return dict(Counter(tokens(text)))


def document_length(frequencies: Mapping[str, int]) -> int:
    """The length that BM25 normalises by: tokens with their repetitions."""
    return sum(frequencies.values())


@lru_cache(maxsize=32_768)
def _of_short_compound(compound: str) -> tuple[str, ...]:
    return tuple(_of_compound(compound))


def _of_compound(written: str) -> Iterator[str]:
    plain = _without_clitic(written)
    if plain.isalpha() and (plain.islower() or plain.istitle() or plain.isupper()):
        yield from _of_word(plain)
        return
    seen = {""}
    # A word in camelCase is often asked for in lower case, and then stemmed: its stem stands for the whole.
    stemmed = plain.isalpha() and 1 < len(plain) <= MAX_TOKEN
    whole = "" if stemmed else _capped(_APOSTROPHE.sub("", plain).casefold())
    for part in (whole, *_parts(plain)):
        if part not in seen:
            seen.add(part)
            yield part


def _without_clitic(written: str) -> str:
    """`Alice's` is about Alice, and `don't` about nothing."""
    head, apostrophe, tail = written.replace("’", "'").casefold().rpartition("'")
    if not apostrophe:
        return written
    if tail == "t" and head in _NEGATED:
        return ""
    return written[: -len(tail) - 1] if tail in _CLITICS else written


def _of_word(word: str) -> Iterator[str]:
    # IT, US and WHO are names where they are written as such.
    lower = word.casefold()
    if lower not in ENGLISH or (word.isupper() and len(word) > 1):
        yield _capped(stem(one_word(lower)))


def _parts(compound: str) -> Iterator[str]:
    for version in _VERSION.findall(compound[: MAX_PARTS * MAX_TOKEN]):
        yield from _version_and_series(version)
    if _BARE_VERSION.fullmatch(compound):
        return
    for piece in _JOINTS.split(compound, MAX_PARTS)[:MAX_PARTS]:
        if 1 < len(piece) <= MAX_TOKEN:
            yield from _of_piece(piece)


def _version_and_series(version: str) -> Iterator[str]:
    """3.11.7 is also 3.11, and every other series it belongs to but the bare major number."""
    if len(version) <= MAX_TOKEN:
        numbers = version.split(".")
        yield from (".".join(numbers[:end]) for end in range(len(numbers), 1, -1))


def _of_piece(piece: str) -> Iterator[str]:
    yield from _of_word(piece)
    humps = _HUMP.findall(piece)
    if len(humps) > 1:
        for hump in humps:
            if len(hump) > 1:
                yield from _of_word(hump)


def _capped(token: str) -> str:
    """The token itself, or the digest that stands for a longer one."""
    if len(token) <= MAX_TOKEN:
        return token
    return "#" + blake2b(token.encode(), digest_size=12).hexdigest()
