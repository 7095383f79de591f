"""Texts for files that lie about: no secret, no personal number; a credential is the name of its variable."""

import re
from typing import Final

from app.domain.memory_file import CUT, LONGEST_ENTRY
from app.domain.redaction import redact

_PERSONAL: Final = re.compile(r"\[redacted:(?:national_id|card_number|phone_number)\]")
_SECRET: Final = re.compile(r"\s*(?:[=:：]|为|是)?\s*[\"'`“”]?\[redacted:[a-z_]{1,20}\][\"'`“”]?")
_VARIABLE: Final = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b", re.ASCII)
_DATE: Final = re.compile(r"\b(?:19|20)\d\d[-/.年]\s?\d{1,2}(?:[-/.月]\s?\d{1,2}日?)?", re.ASCII)
_LONG_NUMBER: Final = re.compile(r"(?:\d[ \-().]{0,2}){7,}", re.ASCII)


def unrevealing(text: str) -> str | None:
    """The text in one line of at most `LONGEST_ENTRY` characters; None where nothing may stand of it.

    A text with a telephone, card or identity number, or any number of seven digits and more, is left out. Of a
    credential stay the name of its variable and the words around it; without a name it is left out too.
    """
    plain = redact(" ".join(text.split()), phones=True).text
    if _PERSONAL.search(plain) or _LONG_NUMBER.search(_DATE.sub(" ", plain)):
        return None
    if "[redacted:" in plain:
        if _VARIABLE.search(plain) is None:
            return None
        plain = _SECRET.sub("", plain).strip()
    return plain if len(plain) <= LONGEST_ENTRY else f"{plain[: LONGEST_ENTRY - 1].rstrip()}{CUT}"
