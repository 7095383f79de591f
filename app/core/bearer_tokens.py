"""JSON Web Tokens (RFC 7519) of an identity provider: signature and times are checked against keys in a file.

Nothing is asked over the network: whoever runs the service puts the provider's JWKS (RFC 7517) into the file, and what
is put there later is read again.
"""

import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import jwt
import structlog
from jwt.exceptions import PyJWTError

from app.core.errors import ConfigurationError

log = structlog.get_logger()

KEY_TYPES: Final = {"RS256": "RSA", "ES256": "EC", "EdDSA": "OKP"}
"""The algorithms that are taken, and the keys that they need. A shared secret (HS256) or `none` is never taken."""

ALGORITHMS: Final = tuple(KEY_TYPES)

REQUIRED: Final = ("exp", "iss", "aud", "sub")
MOST_CHARACTERS: Final = 16_384
MOST_KEYS: Final = 100

UNREADABLE: Final = (OSError, ValueError, RecursionError, PyJWTError)
"""A file that is away, half written, or no JWKS: the keys that were read before stay."""


class TokenRefused(Exception):  # noqa: N818 - what happened to it
    """The token is not to be trusted; the message is for the log and has nothing of the token in it."""


@dataclass(frozen=True, slots=True)
class _Read:
    """The keys of the file by their ids and algorithms, and how the file stood when it was read."""

    stamp: tuple[int, int, int]
    keys: Mapping[tuple[str, str], jwt.PyJWK]


@dataclass(slots=True)
class TokenVerifier:
    """Checks tokens of one issuer for one audience.

    Args:
        jwks_file: The issuer's public keys, each with a `kid`.
        issuer: What `iss` must be.
        audience: What `aud` must be, or must have among others.
        leeway_seconds: By how much the issuer's clock may differ from ours.
    """

    jwks_file: Path
    issuer: str
    audience: str
    leeway_seconds: float = 30.0
    _read: _Read | None = field(default=None)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def load(self) -> None:
        """Read the keys. Raises `ConfigurationError` where the file has none that can be used."""
        try:
            self._read = _keys_of(self.jwks_file)
        except UNREADABLE as error:
            raise ConfigurationError(f"JWT_JWKS_FILE {self.jwks_file} cannot be read: {error}") from error

    def claims(self, token: str) -> dict[str, Any]:
        """What a token says.

        Raises:
            TokenRefused: It is malformed, signed by nobody known or by a way that is not taken, for somebody else,
                from somebody else, over, or not valid yet.
        """
        if len(token) > MOST_CHARACTERS:
            raise TokenRefused("too long")
        try:
            header = jwt.get_unverified_header(token)
            algorithm = header.get("alg")
            if algorithm not in KEY_TYPES:
                raise TokenRefused("algorithm")
            key = self._key(header.get("kid"), algorithm)
            if key.key_type != KEY_TYPES[algorithm]:
                raise TokenRefused("algorithm of another key")
            return dict(
                jwt.decode(
                    token,
                    key.key,
                    algorithms=[algorithm],
                    issuer=self.issuer,
                    audience=self.audience,
                    leeway=self.leeway_seconds,
                    options={"require": list(REQUIRED)},
                )
            )
        except (PyJWTError, ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            raise TokenRefused(type(error).__name__) from error

    def _key(self, key_id: object, algorithm: str) -> jwt.PyJWK:
        if not isinstance(key_id, str) or (key := self._current().get((key_id, algorithm))) is None:
            raise TokenRefused("unknown key")
        return key

    def _current(self) -> Mapping[tuple[str, str], jwt.PyJWK]:
        """The keys of the file as it stands; those of before where it cannot be read, half written as it may be."""
        with self._lock:
            known = self._read
            try:
                if known is None or _stamp(self.jwks_file) != known.stamp:
                    self._read = known = _keys_of(self.jwks_file)
                    log.info("jwks_read", keys=len(known.keys))
            except UNREADABLE as error:
                log.warning("jwks_unreadable", reason=type(error).__name__)
            return {} if known is None else known.keys


def looks_like_token(secret: str) -> bool:
    """Whether it has the three parts of a signed token, which no API key has."""
    return secret.count(".") == 2  # noqa: PLR2004 - header, payload, signature


def _stamp(file: Path) -> tuple[int, int, int]:
    stat = file.stat()
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def _keys_of(file: Path) -> _Read:
    """The signing keys in a file. Those of other kinds and uses are passed over, as the standard has it."""
    stamp = _stamp(file)
    document = json.loads(file.read_text("utf-8"))
    given = document.get("keys") if isinstance(document, dict) else None
    keys: dict[tuple[str, str], jwt.PyJWK] = {}
    for one in given[:MOST_KEYS] if isinstance(given, list) else ():
        with suppress(PyJWTError, ValueError, TypeError, AttributeError, KeyError):  # one bad key hides no other
            key = jwt.PyJWK.from_dict(one)
            if isinstance(key.key_id, str) and key.public_key_use in {None, "sig"} and key.algorithm_name in KEY_TYPES:
                keys.setdefault((key.key_id, key.algorithm_name), key)
    if not keys:
        raise ValueError("it has no key with a kid for " + ", ".join(ALGORITHMS))
    return _Read(stamp, keys)
