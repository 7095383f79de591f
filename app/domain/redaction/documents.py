"""Secrets in JSON: in every text of a document, and in the fields whose name says what they hold."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from app.domain.redaction import SecretKind, placeholder, redact
from app.domain.redaction.kinds import PLACEHOLDER
from app.domain.redaction.passwords import password_named
from app.domain.redaction.tokens import credential_named
from app.domain.redaction.values import assigned_password, random_like

LARGEST: Final = 10**20
"""No number of more digits is a card's; writing out huge ones is slow."""

KEPT_NAMES: Final = 2048
LONGEST_KEPT_NAME: Final = 64
_plain_names: Final[set[tuple[str, bool]]] = set()
"""Names of fields that were looked through and hold no secret, and whether telephone numbers counted: they recur."""

Path = tuple[str | int, ...]
Finds = list[tuple[Path, SecretKind]]
"""Where in a document secrets stood, and of which kinds."""


def redact_json(value: Any, *, phones: bool = False, name: str | None = None) -> tuple[Any, Finds]:  # noqa: ANN401 - JSON
    """A document without its secrets, and where they stood; the given one stays as it is.

    A field that is called `password`, `api_key`, `token` or 密码 has its whole value replaced if that can be one.
    Names of fields are texts too; two that become the same are numbered.

    Args:
        value: Any JSON.
        phones: Whether telephone numbers count.
        name: The name of the field that holds the document.
    """
    walk = _Walk(phones)
    return walk.through(value, (), name), walk.finds


@dataclass(slots=True)
class _Walk:
    """One way through a document; one frame a level, since documents may be nested deeply."""

    phones: bool
    finds: Finds = field(default_factory=list)

    def through(self, value: Any, path: Path, name: str | None) -> Any:  # noqa: ANN401 - JSON
        if isinstance(value, str):
            return self._text(value, path, name)
        if isinstance(value, list):
            parts = []
            for index, part in enumerate(value):
                parts.append(self.through(part, (*path, index), name))  # no comprehension: it would be a second frame
            return parts
        if isinstance(value, dict):
            kept: dict[str, Any] = {}
            for number, (own, part) in enumerate(value.items()):
                shown = self._name(own, path, kept, number)
                kept[shown] = self.through(part, (*path, shown), own)
            return kept
        if isinstance(value, int) and not isinstance(value, bool):
            return self._number(value, path, name)
        return value

    def _name(self, own: str, path: Path, taken: Mapping[str, Any], number: int) -> str:
        if (own, self.phones) in _plain_names and own not in taken:
            return own
        redacted = redact(own, phones=self.phones)
        if not redacted.kinds and len(own) <= LONGEST_KEPT_NAME and len(_plain_names) < KEPT_NAMES:
            _plain_names.add((own, self.phones))
        shown = redacted.text if redacted.text not in taken else f"{redacted.text} {number}"
        self.finds.extend(((*path, shown), kind) for kind in redacted.kinds)
        return shown

    def _text(self, value: str, path: Path, name: str | None) -> str:
        redacted = redact(value, phones=self.phones)
        kind = None if name is None or redacted.kinds else _kind_of_field(name, value)
        if kind is not None:
            self.finds.append((path, kind))
            return placeholder(kind)
        self.finds.extend((path, found) for found in redacted.kinds)
        return redacted.text

    def _number(self, value: int, path: Path, name: str | None) -> int | str:
        """A number may be a card's, or a PIN under its name; what is put in its place is a text."""
        written = str(value) if abs(value) < LARGEST else ""
        if name is not None and password_named(name) and assigned_password(written):
            self.finds.append((path, "password"))
            return placeholder("password")
        redacted = redact(written, phones=self.phones)
        self.finds.extend((path, found) for found in redacted.kinds)
        return redacted.text if redacted.kinds else value


def _kind_of_field(name: str, value: str) -> SecretKind | None:
    """What a field of this name holds, where its value can be that."""
    if " " in value.strip() or PLACEHOLDER.search(value) is not None:
        return None
    if password_named(name):
        return "password" if assigned_password(value) else None
    kind = credential_named(name)
    return kind if kind is not None and random_like(value) else None
