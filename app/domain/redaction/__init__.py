"""Secrets in texts: found, and replaced by a word that says what stood there.

Every rule reads a text in linear time. A rule is a literal that is looked for, and a pattern of bounded parts that is
tried where it stands; what is unbounded comes last, is possessive and cannot fail, so no character is read again.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from app.domain.redaction import codes, passwords
from app.domain.redaction.api_keys import KEY_RUN, find_api_keys
from app.domain.redaction.codes import find_codes
from app.domain.redaction.folding import OPAQUE, Folded, fold
from app.domain.redaction.kinds import KINDS, Secret, SecretKind, placeholder
from app.domain.redaction.numbers import DIGITS, find_numbers, find_phones
from app.domain.redaction.passwords import find_passwords
from app.domain.redaction.private_keys import find_private_keys
from app.domain.redaction.tokens import CREDENTIAL_SIGNS, TOKEN_SIGNS, find_credentials, find_tokens
from app.domain.redaction.urls import find_url_passwords

__all__ = ["KINDS", "Redacted", "Secret", "SecretKind", "find_secrets", "placeholder", "redact"]

PASSES: Final = 4
"""What a replacement leaves may look like a secret only now; so often it is looked at again."""

LEAST_BESIDE: Final = 3
BINARY_FROM: Final = 2_000
_BINARY: Final = re.compile(r"(?:data:[a-z]{1,20}+/[A-Za-z0-9.+-]{1,80}+;base64,)?+[A-Za-z0-9+/_=\r\n-]++")
"""Files in base64, which are no text: a long enough one has every short prefix in it by chance."""

_RULES: Final[Sequence[tuple[tuple[str, ...], Callable[[Folded], Iterator[Secret]]]]] = (
    (("-----BEGIN ",), find_private_keys),
    ((), find_api_keys),
    ((), find_tokens),
    (("://",), find_url_passwords),
    ((), find_passwords),
    ((), find_credentials),
    ((), find_codes),
    ((), find_numbers),
)
"""What must stand in a text for a rule to speak, and the rule; where two meet, the earlier one names the kind."""

_WORDS: Final = (
    *(sign.lower() for signs, _ in _RULES for sign in signs),
    *(*TOKEN_SIGNS, *CREDENTIAL_SIGNS, *passwords.SIGNS, *codes.SIGNS),
)
_SIGNS: Final = re.compile("|".join((*map(re.escape, _WORDS), KEY_RUN.pattern, DIGITS.pattern)))
"""Without one of these in its lower-case form, no rule speaks of a text."""

SHORT: Final = 200
"""Up to here one look for all signs is quicker than asking rule by rule: so with names, labels and numbers."""


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and the kinds that were found, each once, in the order of `KINDS`."""

    text: str
    kinds: tuple[SecretKind, ...]


def find_secrets(text: str, *, phones: bool = False) -> list[Secret]:
    """The secrets of a text, in their order, none overlapping.

    Args:
        text: Any string. Full-width forms and invisible characters hide nothing.
        phones: Whether telephone numbers count.
    """
    if len(text) >= BINARY_FROM and _BINARY.fullmatch(text) is not None:
        return []
    folded = fold(text)
    silent = len(folded.lower) <= SHORT and _SIGNS.search(folded.lower) is None
    found = [] if silent else _found(folded)
    if phones:
        found += find_phones(folded)
    if not found:
        return []
    return [Secret(*folded.span(one.start, one.end), one.kind) for one in _joined(found) if not _taken_out(folded, one)]


def _found(folded: Folded) -> list[Secret]:
    """What the rules find, rule by rule."""
    return [
        secret
        for signs, rule in _RULES
        if not signs or any(sign in folded.text for sign in signs)
        for secret in rule(folded)
    ]


def redact(text: str, *, phones: bool = False) -> Redacted:
    """The text with a placeholder for each secret. Redacting what is redacted changes nothing."""
    kinds = set[SecretKind]()
    for _ in range(PASSES):
        found = find_secrets(text, phones=phones)
        if not found:
            break
        kinds.update(secret.kind for secret in found)
        text = _replaced(text, found)
    return Redacted(text, tuple(kind for kind in KINDS if kind in kinds))


def _taken_out(folded: Folded, secret: Secret) -> bool:
    """Whether a placeholder stands there already, with nothing to speak of beside it."""
    text = folded.text[secret.start : secret.end]
    return OPAQUE in text and sum(one.isalnum() for one in text) < LEAST_BESIDE


def _replaced(text: str, found: Sequence[Secret]) -> str:
    parts, at = list[str](), 0
    for secret in found:
        parts += [text[at : secret.start], placeholder(secret.kind)]
        at = secret.end
    return "".join([*parts, text[at:]])


def _joined(found: Sequence[Secret]) -> list[Secret]:
    """Overlapping finds as one, of the kind that the earlier rule says."""
    order = sorted(range(len(found)), key=lambda index: (found[index].start, index))
    joined = list[tuple[Secret, int]]()
    for index in order:
        secret = found[index]
        if joined and secret.start < joined[-1][0].end:
            last, rank = joined[-1]
            kind = last.kind if rank < index else secret.kind
            joined[-1] = (Secret(last.start, max(last.end, secret.end), kind), min(rank, index))
        else:
            joined.append((secret, index))
    return [secret for secret, _ in joined]
