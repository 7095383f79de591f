"""Sealing: AES-256-GCM under named keys, bound to the place where the sealed text stands."""

import base64
import binascii
import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from app.core.errors import ConfigurationError

SEALING_FILE: Final = "sealing.key"
FORM: Final = b"\x01"
ID_BYTES: Final = 4
NONCE_BYTES: Final = 12
KEY_BYTES: Final = 32


class Unsealable(Exception):  # noqa: N818 - a state of affairs
    """The key is not there, or what was sealed was changed or moved."""


@dataclass(frozen=True, slots=True)
class SealingKey:
    """A key; its id is the beginning of its SHA-256, so that equal keys have equal ids everywhere."""

    secret: bytes = field(repr=False)

    @property
    def id(self) -> bytes:
        """What sealed texts name it by."""
        return hashlib.sha256(b"mnemic sealing key" + self.secret).digest()[:ID_BYTES]

    @classmethod
    def read(cls, text: str) -> Self:
        """A key as it is written down: 32 bytes in base64. Raises `ConfigurationError`."""
        try:
            secret = base64.b64decode(text.strip(), validate=True)
        except (binascii.Error, ValueError) as error:
            raise ConfigurationError("A sealing key is 32 bytes in base64: see 'mnemic seal new-key'.") from error
        if len(secret) != KEY_BYTES:
            raise ConfigurationError("A sealing key is 32 bytes in base64: see 'mnemic seal new-key'.")
        return cls(secret)

    @classmethod
    def fresh(cls) -> Self:
        """A new one."""
        return cls(secrets.token_bytes(KEY_BYTES))

    def written(self) -> str:
        """As `read` takes it."""
        return base64.b64encode(self.secret).decode()


@dataclass(slots=True)
class KeyRing:
    """The keys: the first one seals, each of them opens. Those of a file are read again when it has changed."""

    given: Sequence[SealingKey] = ()
    file: Path | None = None
    _read: tuple[SealingKey, ...] = ()
    _stamp: tuple[int, int] | None = None

    @property
    def keys(self) -> tuple[SealingKey, ...]:
        """Newest first."""
        if self.file is not None:
            self._look()
        return (*self.given, *self._read)

    @property
    def current(self) -> SealingKey | None:
        """The key that seals; None: nothing can be sealed here."""
        keys = self.keys
        return keys[0] if keys else None

    def seal(self, text: bytes, place: str) -> bytes:
        """Seal a text for a place. Raises `Unsealable` where there is no key."""
        key = self.current
        if key is None:
            raise Unsealable
        nonce = secrets.token_bytes(NONCE_BYTES)
        return FORM + key.id + nonce + AESGCM(key.secret).encrypt(nonce, text, place.encode())

    def open(self, sealed: bytes, place: str) -> bytes:
        """The text. Raises `Unsealable`."""
        name, rest = sealed[len(FORM) : len(FORM) + ID_BYTES], sealed[len(FORM) + ID_BYTES :]
        key = next((key for key in self.keys if key.id == name), None)
        if key is None or sealed[: len(FORM)] != FORM:
            raise Unsealable
        try:
            return AESGCM(key.secret).decrypt(rest[:NONCE_BYTES], rest[NONCE_BYTES:], place.encode())
        except InvalidTag as error:
            raise Unsealable from error

    def is_current(self, sealed: bytes) -> bool:
        """Whether it was sealed with the newest key."""
        key = self.current
        return key is not None and sealed[len(FORM) : len(FORM) + ID_BYTES] == key.id

    def fingerprint(self, text: str) -> bytes:
        """What equal texts have in common and nobody without the key can guess."""
        key = self.current
        if key is None:
            raise Unsealable
        return hmac.new(key.secret, b"fingerprint" + text.encode("utf-8", "surrogatepass"), hashlib.sha256).digest()

    def add(self, key: SealingKey) -> None:
        """Put a new key before those of the file, readable by its owner alone.

        Raises `ConfigurationError` where keys do not come from a file.
        """
        if self.file is None or self.given:
            raise ConfigurationError(
                "Sealing keys come from SEALING_KEYS here: put the new one first in it, restart, then rotate."
            )
        texts = [one.written() for one in (key, *self.keys)]
        write_keys(self.file, texts)

    def _look(self) -> None:
        assert self.file is not None  # noqa: S101 - asked before
        try:
            found = self.file.stat()
        except FileNotFoundError:
            self._read, self._stamp = (), None
            return
        stamp = (found.st_mtime_ns, found.st_ino)
        if stamp != self._stamp:
            lines = self.file.read_text("ascii").split()
            self._read, self._stamp = tuple(SealingKey.read(line) for line in lines), stamp


def write_keys(file: Path, texts: Sequence[str]) -> None:
    """Write a file of keys in one step, for its owner's eyes."""
    draft = file.with_suffix(".new")
    draft.unlink(missing_ok=True)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as out:
        out.write("".join(f"{text}\n" for text in texts))
        out.flush()
        os.fsync(out.fileno())
    draft.replace(file)


def make_file(file: Path) -> None:
    """Make a file with a first key, if there is none."""
    if not file.exists():
        write_keys(file, [SealingKey.fresh().written()])
