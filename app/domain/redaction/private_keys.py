"""Private keys in PEM, also where line ends are escaped as in JSON, and where the end is missing."""

import re
from collections.abc import Iterator
from typing import Final

from app.domain.redaction.folding import Folded
from app.domain.redaction.kinds import Secret

BEGIN: Final = re.compile(r"-----BEGIN (?:[A-Z0-9]{2,10}+ ){0,3}?PRIVATE KEY(?: BLOCK)?+-----")
_END: Final = re.compile(r"-----END (?:[A-Z0-9]{2,10}+ ){0,3}?PRIVATE KEY(?: BLOCK)?+-----")
LINE: Final = re.compile(r"(?:\\[nr]|\s){0,8}+[A-Za-z0-9+/=]{16,}+")
_KEY_MATERIAL: Final = re.compile(r"[A-Za-z0-9+/]{16}")


def find_private_keys(folded: Folded) -> Iterator[Secret]:
    """Whole keys, from BEGIN to END; without an END, the lines of base64 that follow."""
    text = folded.text
    at = text.find("-----BEGIN ")
    closed = True
    while at >= 0:
        begin = BEGIN.match(text, at)
        end = at + 1
        if begin is not None:
            close = _END.search(text, begin.end()) if closed else None
            closed = close is not None
            if close is not None:
                end = close.end()
                secret = _KEY_MATERIAL.search(text, begin.end(), close.start()) is not None
            else:
                end = _end_of_lines(text, begin.end())
                secret = end > begin.end()
            if secret:
                yield Secret(at, end, "private_key")
        at = text.find("-----BEGIN ", end)


def _end_of_lines(text: str, at: int) -> int:
    """Where the lines of base64 end that begin here."""
    line = LINE.match(text, at)
    while line is not None:
        at = line.end()
        line = LINE.match(text, at)
    return at
