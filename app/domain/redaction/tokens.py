"""Tokens: JSON web tokens, Authorization headers, and what is assigned to a name such as api_key or 密钥."""

import re
from collections.abc import Iterator
from typing import Final

from app.domain.redaction.folding import Folded
from app.domain.redaction.kinds import Secret, SecretKind
from app.domain.redaction.values import is_uuid, placeholder_like, random_like

JWT: Final = re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,2000}+\.[A-Za-z0-9_-]{8,}+")
JWT_PART: Final = re.compile(r"\.[A-Za-z0-9_-]{1,}+")
MAX_PARTS: Final = 3
"""After the header and the payload: a signature, or what encryption adds."""

HEADER: Final = re.compile(
    r"(?:authorization[\"'\\]{0,3}+\s{0,2}+[:=]\s{0,2}+[\"'\\]{0,3}+(?:(?P<scheme>bearer|basic|token|bot|apikey|digest|key)\s{1,3}+)?+"
    r"|(?<![a-z0-9])(?P<bearer>bearer)\s{1,3}+)"
)
VALUE: Final = re.compile(r"[A-Za-z0-9._~+/=-]{8,}+")
_LINK: Final = (
    r"[\"'`\\*]{0,3}+\s{0,2}+"
    r"(?:(?:is|was|[:=]{1,2}|=>|>|是|为|為|就是|改成|换成|设成|设为|设置为)\s{0,3}+){0,2}+[\"'`“「\\*]{0,3}+"
)
NAMED: Final = re.compile(
    r"(?P<key>api[ _-]?key|apikey|access[ _-]?key|secret[ _-]?key|account[ _-]?key"
    r"|subscription[ _-]?key|client[ _-]?secret"
    r"|app[ _-]?secret|encryption[ _-]?key|signing[ _-]?key|secret|密钥|密鑰|秘钥|秘鑰)(?:[ _-]?(?:id|secret|value))?+"
    + _LINK
    + r"|(?P<token>token|令牌|cookie)"
    + _LINK
)
CREDENTIAL_SIGNS: Final = ("key", "secret", "token", "密钥", "密鑰", "秘钥", "秘鑰", "令牌", "cookie")
_HEADER_SIGNS: Final = ("authorization", "bearer")
TOKEN_SIGNS: Final = ("eyj", *_HEADER_SIGNS)
MIN_BASIC: Final = 8


def find_tokens(folded: Folded) -> Iterator[Secret]:
    """JSON web tokens, and what an Authorization header carries."""
    if "eyJ" in folded.text:
        for found in JWT.finditer(folded.text):
            end = found.end()
            for _ in range(MAX_PARTS):
                part = JWT_PART.match(folded.text, end)
                end = end if part is None else part.end()
            yield Secret(found.start(), end, "token")
    if not any(sign in folded.lower for sign in _HEADER_SIGNS):
        return
    for header in HEADER.finditer(folded.lower):
        value = VALUE.match(folded.text, header.end())
        if value is not None and _is_credential(value[0], header["scheme"]):
            yield Secret(value.start(), value.start() + len(value[0].rstrip(".")), "token")


def find_credentials(folded: Folded) -> Iterator[Secret]:
    """Random values under a name: `api_key: ...`, `--token ...`, `密钥是……`."""
    if not any(name in folded.lower for name in CREDENTIAL_SIGNS):
        return
    for named in NAMED.finditer(folded.lower):
        value = VALUE.match(folded.text, named.end())
        if value is None:
            continue
        kind: SecretKind = "api_key" if named["token"] is None else "token"
        bare = value[0].rstrip(".-")
        linked = _linked(named[0])
        if random_like(bare) and (linked or _no_name(bare)) and not (kind == "token" and is_uuid(bare)):
            yield Secret(value.start(), value.start() + len(bare), kind)


def credential_named(name: str) -> SecretKind | None:
    """The kind of secret that a field of this name holds, if it is one of credentials."""
    found = NAMED.search(name.lower())
    if found is None or found.end() != len(name):
        return "token" if name.lower() == "authorization" else None
    return "api_key" if found["token"] is None else "token"


def _is_credential(value: str, scheme: str | None) -> bool:
    if scheme == "basic":
        return len(value) >= MIN_BASIC and not placeholder_like(value)
    return random_like(value)


def _linked(matched: str) -> bool:
    return re.search(r"[:=>]|is\s|was\s|是|为|為|成", matched) is not None


def _no_name(value: str) -> bool:
    """Whether, without a word between, a value is still no name: it mixes cases, or is long hexadecimal."""
    mixed = any("A" <= one <= "Z" for one in value) and any("a" <= one <= "z" for one in value)
    return "." not in value and "/" not in value and (mixed or re.fullmatch(r"[0-9a-f]{32,64}", value) is not None)
