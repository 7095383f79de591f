"""Numbers that belong to a person: payment cards, Chinese resident ids, and telephone numbers where asked for."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from app.domain.redaction.folding import Folded
from app.domain.redaction.kinds import Secret

LONG_NUMBER: Final = re.compile(
    r"(?<![0-9A-Za-z_.,+\-/])[0-9](?:[ -]?+[0-9]){11,18}+[Xx]?+(?![0-9A-Za-z_])(?![.,][0-9])"
)
"""12 to 19 digits, single spaces or hyphens between, not within a longer word or number; a resident id may end in X."""

DIGITS: Final = re.compile(r"[0-9](?:[ -]?+[0-9]){11}+")
"""Such a number has so many digits."""

_RESIDENT: Final = re.compile(r"([1-9][0-9]{5})[ -]?([0-9]{4})([0-9]{2})([0-9]{2})[ -]?([0-9]{3})([0-9Xx])")
_WEIGHTS: Final = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CHECKS: Final = "10X98765432"
_PROVINCES: Final = frozenset(
    [*range(11, 16), *range(21, 24), *range(31, 38), *range(41, 47), *range(50, 55), *range(61, 66), 71, 81, 82, 83]
)
_FIRST_YEAR: Final = 1880
_LAST_YEAR: Final = 2100
_GROUPED: Final = re.compile(
    r"[0-9]{4}(?:([ -])[0-9]{4})(?:\1[0-9]{4}){1,2}(?:\1[0-9]{1,4})?|[0-9]{4}([ -])[0-9]{6}\2[0-9]{4,5}"
)
_ISSUERS: Final = (
    (re.compile(r"4"), (16,)),
    (
        re.compile(
            r"5[1-5]|2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)|6(?:011|5|4[4-9])|35(?:2[89]|[3-8][0-9])"
        ),
        (16,),
    ),
    (re.compile(r"3[47]"), (15,)),
    (re.compile(r"3(?:0[0-5]|[689])"), (14, 16)),
    (re.compile(r"62"), (16, 17, 18, 19)),
)
"""How the numbers of card networks begin, and how long they are (ISO/IEC 7812)."""

MIN_CARD: Final = 13
"""Digits of a number that is called a card's, whoever issued it."""

_NEAR: Final = 24
_OTHER_NUMBER: Final = re.compile(
    r"order|invoice|tracking|isbn|serial|sku|timestamp|ticket|reference|bytes|iban|member"
    r"|订单|訂單|单号|单據|单据|流水|编号|編號|运单|快递|会员|條碼|条码|批次|发票|时间戳|字节"
)
_CARD: Final = re.compile(r"card|visa|amex|卡")
_ID_WORD: Final = re.compile(r"身份证|身份證|证件|resident id|identity|id card")
PHONES: Final = (
    re.compile(r"(?<![0-9A-Za-z+])(?:\+?86[ -]?)?+1[3-9][0-9][ -]?[0-9]{4}[ -]?[0-9]{4}(?![0-9A-Za-z])"),
    re.compile(r"(?<![0-9A-Za-z])\+[1-9](?:[ .()-]{0,2}+[0-9]){7,14}+(?![0-9A-Za-z])"),
    re.compile(
        r"(?<![0-9A-Za-z+])(?:1[ .-])?+(?:\([2-9][0-9]{2}\) ?|[2-9][0-9]{2}[ .-])[0-9]{3}[ .-][0-9]{4}(?![0-9A-Za-z-])"
    ),
    re.compile(r"(?<![0-9A-Za-z+-])\(?0[1-9][0-9]{1,2}\)?[ -]?[2-9][0-9]{6,7}(?![0-9A-Za-z-])"),
    re.compile(r"(?<![0-9A-Za-z+-])0[1-9][0-9]{1,3} [0-9]{3,4} ?[0-9]{3,4}(?![0-9A-Za-z-])"),
    re.compile(r"(?<![0-9A-Za-z+-])0[1-9](?:[ .][0-9]{2}){4}(?![0-9A-Za-z-])"),
    re.compile(r"(?<![0-9A-Za-z+-])[48]00-?[0-9]{3}-?[0-9]{4}(?![0-9A-Za-z-])"),
)


def find_numbers(folded: Folded) -> Iterator[Secret]:
    """Resident ids by their check digit (GB 11643-1999), cards by Luhn's (ISO/IEC 7812-1) and their issuer."""
    for found in LONG_NUMBER.finditer(folded.text):
        before = folded.lower[max(0, found.start() - _NEAR) : found.start()]
        if _resident(found[0]) and (_OTHER_NUMBER.search(before) is None or _ID_WORD.search(before) is not None):
            yield Secret(found.start(), found.end(), "national_id")
        elif _card(found[0], before, folded.lower[found.end() : found.end() + _NEAR]):
            yield Secret(found.start(), found.end(), "card_number")


def find_phones(folded: Folded) -> Iterator[Secret]:
    """Chinese mobile and landline numbers, international ones (E.164), and the usual national forms."""
    for pattern in PHONES:
        for found in pattern.finditer(folded.text):
            yield Secret(found.start(), found.end(), "phone_number")


def _resident(written: str) -> bool:
    parts = _RESIDENT.fullmatch(written)
    if parts is None or int(parts[1][:2]) not in _PROVINCES:
        return False
    year, month, day = int(parts[2]), int(parts[3]), int(parts[4])
    try:
        born = date(year, month, day)
    except ValueError:
        return False
    digits = "".join(parts.groups()[:-1])
    total = sum(int(digit) * weight for digit, weight in zip(digits, _WEIGHTS, strict=True))
    return _FIRST_YEAR < born.year < _LAST_YEAR and _CHECKS[total % 11] == parts[6].upper()


def _card(written: str, before: str, after: str) -> bool:
    digits = written.replace(" ", "").replace("-", "")
    named = _CARD.search(before) is not None
    if not digits.isdigit() or not _luhn(digits) or len(set(digits)) == 1:
        return False
    if len(digits) != len(written) and _GROUPED.fullmatch(written) is None:
        return False
    if not named and (_OTHER_NUMBER.search(before) or _OTHER_NUMBER.match(after.lstrip())):
        return False
    issued = any(len(digits) in lengths and begins.match(digits) for begins, lengths in _ISSUERS)
    return issued or (named and len(digits) >= MIN_CARD)


def _luhn(digits: str) -> bool:
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(value - 9 * (value > 9) for value in doubled) % 10 == 0  # noqa: PLR2004 - the sum of two digits
