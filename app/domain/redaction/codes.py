"""Codes that open something, once or always: of doors, safes, cards, logins by message, and of recovering accounts."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from app.domain.redaction.folding import Folded
from app.domain.redaction.kinds import Secret, SecretKind
from app.domain.redaction.values import strong

_LINK: Final = r"(?:\s{0,2}+(?:is|was|are|were|[:=]|是|为|為|就是|改成了?|换成了?|:)){0,2}+\s{0,2}+(?:[:]\s?)?+"
_SURE: Final = r"(?:\s{0,2}+(?:is|was|are|were|[:=]|是|为|為)){1,2}+\s{0,2}+(?:[:]\s?)?+"
"""A word or a sign that says what it is."""

_ON: Final = r"(?:\s(?:for|to|of|on|at|in)\s[^.,;:!?\n0-9]{1,40}?)?(?:\s(?:just now|now|today))?"

_BY_THE_DOZEN: Final = ("backup code", "recovery code")

_CODES: Final[Sequence[tuple[tuple[str, ...], SecretKind, re.Pattern[str]]]] = (
    (
        ("code",),
        "password",
        re.compile(
            r"(?<![a-z])(?:alarm|door|gate|entry|access|garage|lockbox|keypad|unlock|safe)\scodes?"
            + _ON
            + _SURE
            + r"(?P<value>[#*]?[0-9]{4,10}+[#*]?)(?![0-9a-z]|[.,-][0-9])"
        ),
    ),
    (
        ("with code", "with the code", "using code"),
        "password",
        re.compile(
            r"(?<![a-z])(?:opens?|unlocks?|enter|disarm(?:s|ed)?)\s(?:\S{1,20}\s){0,3}(?:with|using)\s(?:the\s)?code\s"
            r"(?P<value>[#*]?[0-9]{4,10}+[#*]?)(?![0-9a-z]|[.,-][0-9])"
        ),
    ),
    (
        ("combination",),
        "password",
        re.compile(r"(?<![a-z])combination" + _ON + _SURE + r"(?P<value>[0-9]{1,2}(?:[ -][0-9]{1,2}){2,5}+)(?![0-9-])"),
    ),
    (
        ("code", "otp"),
        "password",
        re.compile(
            r"(?<![a-z])(?:one[- ]time (?:pass)?code|verification code|login code|sms code|2fa code|otp)"
            + _ON
            + _LINK
            + r"(?P<value>[0-9]{3}[ -]?[0-9]{3}(?:[0-9]{2})?|[0-9]{4,5})(?![0-9])"
        ),
    ),
    (
        _BY_THE_DOZEN,
        "password",
        re.compile(
            r"(?<![a-z])(?:backup|recovery) codes?"
            + _ON
            + _LINK
            + r"(?P<value>[0-9a-z]{4,5}[ -][0-9a-z]{4,5})(?![0-9a-z])"
        ),
    ),
    (
        ("cvv", "cvc", "security code"),
        "card_number",
        re.compile(
            r"(?<![a-z])(?:cvv2?|cvc2?|(?:card )?security code)(?:\s(?:on|of)\s[^.,;:!?\n0-9]{1,40}?)?"
            + _LINK
            + r"(?P<value>[0-9]{3,4})(?![0-9])"
        ),
    ),
    (
        ("social security", "ssn"),
        "national_id",
        re.compile(
            r"(?<![a-z])(?:social security (?:number|no\.?)|ssn)"
            + _LINK
            + r"(?P<value>[0-9]{3}[ -]?[0-9]{2}[ -]?[0-9]{4})(?![0-9])"
        ),
    ),
    (
        ("seed phrase", "recovery phrase", "mnemonic"),
        "private_key",
        re.compile(
            r"(?<![a-z])(?:seed phrase|recovery phrase|mnemonic(?: phrase)?)"
            + _ON
            + _LINK
            + r"[\"'“]?(?P<value>[a-z]{3,12}(?:[ ,]{1,2}+[a-z]{3,12}){11,23}+)"
        ),
    ),
    (
        ("passphrase",),
        "password",
        re.compile(
            r"(?<![a-z])passphrase" + _ON + r"(?:\s(?:is|was)|:)\s[\"'“]?"
            r"(?P<value>[a-z0-9]{3,16}(?:[ -][a-z0-9]{3,16}){3,11}+)(?=[\"'”]?\s{0,2}+(?:$|[.,;!\n]))"
        ),
    ),
    (
        ("验证码", "驗證碼", "动态码", "校验码", "動態碼"),
        "password",
        re.compile(r"(?:验证码|驗證碼|动态码|動態碼|校验码)" + _LINK + r"(?P<value>[0-9]{4,8})(?![0-9a-z.-])"),
    ),
    (
        ("开锁码", "开门码", "门禁码", "门禁密码", "門禁密碼", "開鎖碼"),
        "password",
        re.compile(
            r"(?:开锁码|开门码|门禁码|门禁密码|門禁密碼|開鎖碼)"
            + _LINK
            + r"(?P<value>[#*]?[0-9]{3,10}[#*]?)(?![0-9a-z])"
        ),
    ),
    (
        ("圈",),
        "password",
        re.compile(r"(?P<value>(?:[左右向][转轉]?[一二两兩三四五六0-9]{1,2}圈[到至]?[0-9]{1,3}[,，、\s]?){2,6}+)"),
    ),
    (
        ("cvv", "cvc", "安全码", "安全碼"),
        "card_number",
        re.compile(
            r"(?:cvv2?|cvc2?|(?<=[,，、\s卡面])安全[码碼])(?:码|碼)?" + _LINK + r"(?P<value>[0-9]{3})(?![0-9a-z])"
        ),
    ),
    (
        ("助记词", "助記詞"),
        "private_key",
        re.compile(
            r"(?:助记词|助記詞)"
            + _LINK
            + r"(?P<value>[\u4e00-\u9fffa-z]{1,12}(?:[ ,、，]{1,2}+[\u4e00-\u9fffa-z]{1,12}){11,23}+)"
        ),
    ),
    (
        ("私钥", "私鑰", "private key"),
        "private_key",
        re.compile(r"(?:私钥|私鑰|private key)" + _LINK + r"(?P<value>(?:0x)?[0-9a-z]{40,100}+)"),
    ),
)
"""Words of which one must stand in a text, the kind, and what is looked for; all in lower case."""

PATTERNS: Final = tuple(pattern for _, _, pattern in _CODES)

_MORE: Final = re.compile(r"(?:(?:,\s|\s|,|\sand\s)[0-9a-z]{4,5}[ -][0-9a-z]{4,5}(?![0-9a-z])){1,16}+")
"""Codes that are given by the dozen."""

_RUN: Final = re.compile(r"[\x21-\x7e]{4,64}+")
_LOGINS: Final = (
    re.compile(r"(?<![a-z])(?:logs?|logged|sign|signed) ?in(?:to)?\s[^\n]{0,30}?as\s\S{1,30}\swith\s"),
    re.compile(r"(?<![a-z])credentials?\s?:\s{0,2}+[^\s,;/]{1,60}+\s?[,;/]\s?"),
    re.compile(r"(?<![a-z0-9])(?:root|admin|administrator)\s?[,，/]\s?"),
)
_LOGIN_WORDS: Final = ("log", "sign", "credential", "root", "admin")
_UNLIKE_A_NAME: Final = re.compile(r"[!@#$%^&*+=~?]|[a-z][A-Z]|[0-9][A-Z]|[a-z]{4}[0-9]{1,4}[a-z]{3}")
_MAIL_OR_PATH: Final = re.compile(r"[^@]{1,64}@[a-z0-9.-]{1,60}\.[a-z]{2,10}$|/|[a-z0-9_-]{1,40}/")

SIGNS: Final = (*(word for words, _, _ in _CODES for word in words), *_LOGIN_WORDS)
"""One of them stands in a text that has a code, in lower case."""


def find_codes(folded: Folded) -> Iterator[Secret]:
    """Codes by what they are called, and passwords that stand behind the name of who logs in with them."""
    lower = folded.lower
    for words, kind, pattern in _CODES:
        if any(word in lower for word in words):
            for found in pattern.finditer(lower):
                start, end = found.span("value")
                more = _MORE.match(lower, end) if words == _BY_THE_DOZEN else None
                yield Secret(start, end if more is None else more.end(), kind)
    if any(word in lower for word in _LOGIN_WORDS):
        for pattern in _LOGINS:
            yield from _of_logins(folded, pattern)


def _of_logins(folded: Folded, pattern: re.Pattern[str]) -> Iterator[Secret]:
    for found in pattern.finditer(folded.lower):
        run = _RUN.match(folded.text, found.end())
        if run is None:
            continue
        value = run[0].rstrip(".,;:)\"'")
        start, end = run.start(), run.start() + len(value)
        if strong(value) and _UNLIKE_A_NAME.search(value) and _MAIL_OR_PATH.match(value.lower()) is None:
            yield Secret(start, end, "password")
