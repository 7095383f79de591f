"""The kinds of secrets, where one stands, and the word that is left in its place."""

import re
from dataclasses import dataclass
from typing import Final, Literal, get_args

SecretKind = Literal["private_key", "api_key", "token", "password", "national_id", "card_number", "phone_number"]
KINDS: Final[tuple[SecretKind, ...]] = get_args(SecretKind)
PLACEHOLDER: Final = re.compile(r"\[redacted:[a-z_]{1,20}+\]")


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret in a text: its characters from `start` up to but not including `end`."""

    start: int
    end: int
    kind: SecretKind


def placeholder(kind: SecretKind) -> str:
    """What is written in the place of a secret: short, the same for every secret of its kind, never a secret itself."""
    return f"[redacted:{kind}]"
