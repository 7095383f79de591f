"""Passwords in addresses and connection strings: only the password goes, so that host and database stay useful."""

import re
from collections.abc import Iterator
from typing import Final

from app.domain.redaction.folding import Folded
from app.domain.redaction.kinds import Secret
from app.domain.redaction.values import placeholder_like, random_like

REST: Final = re.compile(r"[!#-&(-;=?-_a-~]{1,512}+")
"""What may follow ://: ASCII without spaces, quotes and angle brackets."""

_SCHEME_END: Final = "://"
_AUTHORITY_END: Final = re.compile(r"[/?#]")
_STAND_INS: Final = frozenset({"password", "passwd", "pass", "pwd", "pw"})
MIN_KEY_AS_USER: Final = 20


def find_url_passwords(folded: Folded) -> Iterator[Secret]:
    """Of `scheme://user:password@host` the password; of `scheme://key@host` the key."""
    text = folded.text
    at = text.find(_SCHEME_END)
    while at >= 0:
        begin = at + len(_SCHEME_END)
        rest = REST.match(text, begin)
        if rest is not None:
            found = _of_authority(rest[0], begin)
            if found is not None:
                yield found
        at = text.find(_SCHEME_END, begin)


def _of_authority(rest: str, begin: int) -> Secret | None:
    userinfo = _userinfo(rest)
    if userinfo is None:
        return None
    user, colon, password = userinfo.partition(":")
    if not colon:
        if len(user) >= MIN_KEY_AS_USER and random_like(user):
            return Secret(begin, begin + len(user), "api_key")
        return None
    if not password or placeholder_like(password) or password.lower() in _STAND_INS:
        return None
    return Secret(begin + len(user) + 1, begin + len(userinfo), "password")


def _userinfo(rest: str) -> str | None:
    """What stands before the host; a password may hold / and @ that were not escaped."""
    end = _AUTHORITY_END.search(rest)
    authority = rest if end is None else rest[: end.start()]
    if "@" in authority:
        if end is not None and end[0] == "/":
            later = rest[end.start() :].partition("@")
            host = later[2]
            if (
                later[1]
                and ":" in authority.rpartition("@")[0]
                and "." in host
                and "." not in authority.rpartition("@")[2]
            ):
                return authority + later[0]
        return authority.rpartition("@")[0]
    host, colon, port = authority.partition(":")
    beyond = rest[len(authority) :].partition("@")
    if colon and host and port and not port.isdigit() and not port.startswith("$") and beyond[1]:
        return authority + beyond[0]
    return None
